"""The reading desk and the page of comparisons: showing an item, keeping its answer, going on."""

from dataclasses import replace

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRedirect, HttpResponseLocation, reswap, retarget

from annotation import progress, responses
from annotation.models import Assignment, Response
from annotation.participation import claims
from annotation.progress import Part, Place, languages
from annotation.progress.refusals import READABLE, Refusal
from annotation.progress.work import Work
from annotation.responses import quotes as quoting
from annotation.views.rater import addresses, cloze, overview
from annotation.views.rater.guards import Request, for_assignment
from annotation.views.rater.presenters import pages, questions
from annotation.views.rater.presenters.pages import Refused
from annotation.views.rater.routing import show_or_do
from studies.items import InvalidAnswer
from studies.models import Step
from studies.typography.paragraphs import paragraphs


@for_assignment
@require_safe
def resume(request: Request, work: Work) -> HttpResponse:
    """Back to the very item where the rater was; to the receipt if the group is submitted."""
    if work.assignment.status == Assignment.Status.SUBMITTED and work.assignment.seat:
        return redirect("annotation:receipt", work.assignment.code)
    if work.assignment.seat is None or work.refusal:
        return redirect("annotation:home")
    stop = progress.resume(work.parts, work.letters, work.answers, place=work.assignment.place)
    if isinstance(stop, Part) and stop.kind == "cloze":
        return redirect(cloze.landing(work, stop))
    return redirect(addresses.of_stop(work, stop))


@for_assignment
@show_or_do
def item(request: Request, work: Work, step: str, item: str, letter: str = "") -> HttpResponse:
    """One item. GET shows it where it is asked; POST keeps its answer and, if asked to, goes on."""
    part, place = work.place(step, item, letter)
    if request.method == "POST":
        response = save(request, work, place)
        # The page believes only an answer that has this: a proxy too may answer with 200, or with 400.
        response["Quire-Saved"] = "yes" if response.status_code < 400 else "no"
        return response
    if work.refusal_at(place.step, letter) is Refusal.UNOPENED:
        return redirect(addresses.of_stop(work, part))
    if moved := elsewhere(work, place.step, letter):
        return moved
    if part.kind != "desk":
        return redirect(f"{addresses.of_stop(work, part)}#item-{place.id}")
    claims.touch(work.assignment, place=place.path, at=timezone.now())
    return show(request, work, part, place)


def save(request: Request, work: Work, place: Place) -> HttpResponse:
    """Keep the answer, or say why it was not kept."""
    if refusal := work.refusal_at(place.step, place.letter):
        return pages.refuse(request, refusal)
    now = timezone.now()
    posted = questions.posted(request, work, place)
    try:
        questions.check(posted)
        quotes = quoting.read_quotes(posted.quotes, work.text(place.letter)) if posted.quotes else []
        response = responses.record(
            work.assignment,
            step=place.step,
            item=place.item,
            story=work.story_reference(place.letter),
            answer=responses.Answer(
                value=posted.value, rationale=posted.rationale, quotes=quoting.serialise_quotes(quotes)
            ),
            at=now,
            base=posted.base,
            key=posted.key,
            n_pasted=posted.n_pasted,
            is_confirmation="again" in request.POST,
        )
    except InvalidAnswer as error:
        return invalid(request, work, place, Refused(place, str(error), posted))
    except responses.Stale as stale:
        return conflict(request, work, place, posted, stale.response)
    except responses.AssignmentEnded as refused:
        return pages.refuse(request, refused)
    if direction := request.POST.get("go", ""):
        return go(request, work, place, direction)
    if request.htmx and place.step.layout == Step.Layout.CLOZE:
        return cloze.saved(request, work, place, at=now)
    if request.htmx:
        state = progress.response_state(response, place.item)
        has_index = place.step.scope == Step.Scope.STORY
        context = {"id": place.id, "revision": response.revision, "state": state, "at": now}
        context |= {
            "has_index": has_index,
            "is_lacking": bool(responses.find_shortfall(response, place.item)),
            "oob": True,
        }
        return render(request, "annotation/item.html#saved", context)
    return redirect(addresses.of_stop(work, place))


def show(request: Request, work: Work, part: Part, place: Place, refused: Refused | None = None) -> HttpResponse:
    """The page on which the place is asked; of the desk only the questions, if the story is there already."""
    is_checked = pages.is_checked(request, work)
    status = 400 if refused else 200
    if part.kind == "cloze":
        sheet = cloze.opened(work, part, refused=refused, is_checked=is_checked)
        return cloze.show(request, work, part, sheet, status=status)
    if part.kind != "desk":
        context = pages.together(work, part, refused=refused, is_checked=is_checked)
        return render(request, "annotation/together.html", context, status=status)
    context = pages.desk(work, part, place, refused=refused, is_checked=is_checked)
    context |= overview.about(request, work, place, at=timezone.now())
    has_story = request.htmx.target == "questions" and not request.htmx.history_restore_request
    template = "annotation/desk.html#questions" if has_story else "annotation/desk.html"
    return render(request, template, context | {"has_story": has_story}, status=status)


def invalid(request: Request, work: Work, place: Place, refused: Refused) -> HttpResponse:
    """The same page with the reason at the item, and what was posted still in it."""
    if request.htmx and place.step.layout == Step.Layout.CLOZE:
        return cloze.invalid(request, place, refused.problem)
    if request.htmx:
        context = {"id": place.id, "problem": refused.problem, "oob": True}
        return render(request, "annotation/item.html#not_saved", context, status=400)
    part, place = work.place(place.step.key, place.item.key, place.letter)
    return show(request, work, part, place, replace(refused, place=place))


def conflict(request: Request, work: Work, place: Place, given: questions.Posted, stored: Response) -> HttpResponse:
    """Both versions of an answer that was changed in two windows, to choose from. Nothing has been overwritten."""
    if request.htmx and place.step.layout == Step.Layout.CLOZE:
        return cloze.conflict(request, work, place, stored)
    _part, place = work.place(place.step.key, place.item.key, place.letter)
    context = pages.common(work) | {
        "place": place,
        "name": languages.item_title(place, work.assignment.study),
        # Only where a passage is quoted does the page say in which language the story is.
        "story": work.story_by_letter[place.letter] if place.letter and (given.quotes or stored.quotes) else None,
        "url": addresses.of_stop(work, place),
        "stored": stored,
        "stored_words": questions.words_of(work, stored, place),
        "given": given,
        "given_words": questions.words_given(work, given, place),
        "given_quotes": quoting.readable_quotes(given.quotes),
        "stored_quotes": quoting.readable_quotes(stored.quotes),
        "fields": [(n, v) for n, given in request.POST.lists() if n.startswith((place.name, "quotes")) for v in given],
    }
    template = "annotation/conflict.html#conflict" if request.htmx else "annotation/conflict.html"
    response = render(request, template, context, status=409)
    return reswap(retarget(response, f"#item-{place.id}"), "outerHTML") if request.htmx else response


def go(request: Request, work: Work, place: Place, direction: str) -> HttpResponse:
    """On to the next place or back to the one before; within a story only the questions are exchanged."""
    part, place = work.place(place.step.key, place.item.key, place.letter)
    before, after = progress.neighbours(work.parts, part, work.letters, place)
    stop = before if direction == "previous" else after
    if not request.htmx:
        return redirect(addresses.of_stop(work, stop))
    if isinstance(stop, Place) and stop.letter == place.letter:
        return HttpResponseLocation(addresses.of_stop(work, stop), target="#questions", swap="outerHTML")
    return HttpResponseClientRedirect(addresses.of_stop(work, stop))


@for_assignment
@show_or_do
def part(request: Request, work: Work, step: str) -> HttpResponse:
    """A page of several items, or of a text, within a group. Opening one that locks what came before takes a POST."""
    current = work.part(step)
    if work.assignment.seat is None:
        return redirect(addresses.of_stop(work, current))
    if current.key == step and work.refusal_at(current.steps[0]) is Refusal.UNOPENED:
        return review(request, work, current)
    if current.kind == "desk" or current.key != step:
        return redirect(first(work, current))
    if moved := elsewhere(work, current.steps[0]):
        return moved
    if current.kind == "cloze" and request.method == "POST":
        return fill(request, work, current)
    claims.touch(work.assignment, place=current.key, at=timezone.now())
    is_checked = pages.is_checked(request, work)
    if current.kind == "cloze":
        return cloze.show(request, work, current, cloze.opened(work, current, is_checked=is_checked))
    if current.kind == "text":
        after = progress.neighbours(work.parts, current, work.letters)[1]
        text = current.steps[0]
        context = pages.common(work) | {
            "step": text,
            "paragraphs": paragraphs(text.text),
            "next_url": addresses.of_stop(work, after),
        }
        return render(request, "annotation/briefing.html", context)
    return render(request, "annotation/together.html", pages.together(work, current, is_checked=is_checked))


def fill(request: Request, work: Work, part: Part) -> HttpResponse:
    """Keep all fields of a cloze at once, as browsers without JavaScript post them."""
    if refusal := work.refusal_at(part.steps[0]):
        return pages.refuse(request, refusal)
    try:
        sheet = cloze.keep(request, cloze.opened(work, part), at=timezone.now())
    except responses.AssignmentEnded as refused:
        return pages.refuse(request, refused)
    return cloze.kept(request, work, part, sheet)


def review(request: Request, work: Work, opening: Part) -> HttpResponse:
    """All answers before a part that locks them: to look through once more, and to lock."""
    earlier = work.parts[: work.parts.index(opening)]
    context = pages.review(work, earlier) | {"opening": opening, "proceed": addresses.of_stop(work, opening)}
    if request.method == "POST" and not context["lacking"]:
        claims.open_step(work.assignment, opening.steps[0])
        return redirect(addresses.of_stop(work, opening))
    return pages.checked(request, work, context)


@for_assignment
@require_safe
def story(request: Request, work: Work, letter: str) -> HttpResponse:
    """A story to read again, without questions."""
    if letter not in work.letters:
        raise Http404
    if work.refusal or not work.may_read(letter):
        return redirect("annotation:assignment", work.assignment.code)
    text = work.story_by_letter[letter]
    context = pages.common(work) | {
        "letter": letter,
        "n_stories": len(work.letters),
        "n_stories_in_words": questions.counted(len(work.letters)),
        "story": text,
        "is_recognised": pages.is_recognised(work, text),
        "paragraphs": quoting.mark_quotes(paragraphs(text.text), []),
        "premise": work.premise,
    }
    return render(request, "annotation/story.html", context)


def elsewhere(work: Work, step: Step, letter: str = "") -> HttpResponse | None:
    """The way to where the rater belongs, if it is not here: the group has ended, or this step comes later."""
    if work.refusal_at(step, letter) not in READABLE:
        return redirect("annotation:assignment", work.assignment.code)
    return None


def first(work: Work, part: Part) -> str:
    """Where a part begins."""
    return addresses.of_stop(work, progress.list_places(part, work.letters)[0] if part.kind == "desk" else part)
