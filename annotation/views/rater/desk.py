"""The reading desk and the page of comparisons: showing an item, keeping its answer, going on."""

from dataclasses import replace

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRedirect, push_url, reswap, retarget

from annotation import progress, responses
from annotation.models import Assignment, Response
from annotation.participation import claims
from annotation.progress import Part, Place, languages
from annotation.progress.refusals import READABLE, Refusal
from annotation.progress.work import Work
from annotation.responses import quotes as quoting
from annotation.views.rater import addresses, cloze, overview, posted_page
from annotation.views.rater.guards import Request, for_assignment
from annotation.views.rater.presenters import pages, questions
from annotation.views.rater.presenters.pages import RefusedAnswer
from annotation.views.rater.routing import allow_get_and_post
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
        return redirect(cloze.resume_url(work, stop))
    return redirect(addresses.of_stop(work, stop))


@for_assignment
@allow_get_and_post
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
    if redirection := redirect_if_refused(work, place.step, letter):
        return redirection
    if part.kind != "desk":
        return redirect(f"{addresses.of_stop(work, part)}#item-{place.id}")
    claims.remember_place(work.assignment, place=place.path, at=timezone.now())
    return render_place(request, work, part, place)


def save(request: Request, work: Work, place: Place) -> HttpResponse:
    """Keep the answer, or say why it was not kept."""
    if refusal := work.refusal_at(place.step, place.letter):
        return pages.refuse(request, refusal)
    now = timezone.now()
    posted = questions.parse_answer(request, work, place)
    try:
        questions.check_storable(posted)
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
        return render_invalid(request, work, place, RefusedAnswer(place, str(error), posted))
    except responses.Stale as stale:
        return render_conflict(request, work, place, posted, stale.response)
    except responses.AssignmentEnded as refused:
        return pages.refuse(request, refused)
    if direction := request.POST.get("go", ""):
        return redirect_to_neighbour(request, work, place, direction)
    if request.htmx and place.step.layout == Step.Layout.CLOZE:
        return cloze.render_saved(request, work, place, at=now)
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


def render_place(
    request: Request,
    work: Work,
    part: Part,
    place: Place,
    refused: RefusedAnswer | None = None,
    *,
    has_story: bool = False,
) -> HttpResponse:
    """The page on which the place is asked; of the desk only the questions, if the story is there already."""
    shows_shortfalls = pages.shows_shortfalls(request, work)
    status = 400 if refused else 200
    if part.kind == "cloze":
        sheet = cloze.load_sheet(work, part, refused=refused, shows_shortfalls=shows_shortfalls)
        return cloze.render_page(request, work, part, sheet, status=status)
    if part.kind != "desk":
        context = pages.together_context(
            work, part, refused=[refused] if refused else [], shows_shortfalls=shows_shortfalls
        )
        return render(request, "annotation/together.html", context, status=status)
    context = pages.desk_context(work, part, place, refused=refused, shows_shortfalls=shows_shortfalls)
    context |= overview.progress_context(request, work, place, at=timezone.now())
    has_story = has_story or (request.htmx.target == "questions" and not request.htmx.history_restore_request)
    template = "annotation/desk.html#questions" if has_story else "annotation/desk.html"
    return render(request, template, context | {"has_story": has_story}, status=status)


def render_invalid(request: Request, work: Work, place: Place, refused: RefusedAnswer) -> HttpResponse:
    """The same page with the reason at the item, and what was posted still in it."""
    if request.htmx and place.step.layout == Step.Layout.CLOZE:
        return cloze.render_invalid(request, place, refused.problem)
    if request.htmx:
        context = {"id": place.id, "problem": refused.problem, "oob": True}
        return render(request, "annotation/item.html#not_saved", context, status=400)
    part, place = work.place(place.step.key, place.item.key, place.letter)
    return render_place(request, work, part, place, replace(refused, place=place))


def render_conflict(
    request: Request, work: Work, place: Place, posted: questions.PostedAnswer, stored: Response
) -> HttpResponse:
    """Both versions of an answer that was changed in two windows, to choose from. Nothing has been overwritten."""
    if request.htmx and place.step.layout == Step.Layout.CLOZE:
        return cloze.render_conflict(request, work, place, stored)
    _part, place = work.place(place.step.key, place.item.key, place.letter)
    context = pages.base_context(work) | {
        "place": place,
        "name": languages.item_title(place, work.assignment.study),
        # Only where a passage is quoted does the page say in which language the story is.
        "story": work.story_by_letter[place.letter] if place.letter and (posted.quotes or stored.quotes) else None,
        "url": addresses.of_stop(work, place),
        "stored": stored,
        "stored_words": questions.response_in_words(work, stored, place),
        "posted": posted,
        "both_reasons": questions.join_reasons(stored.rationale, posted.rationale),
        "posted_words": questions.posted_in_words(work, posted, place),
        "posted_quotes": quoting.readable_quotes(posted.quotes),
        "stored_quotes": quoting.readable_quotes(stored.quotes),
        "fields": [
            (n, v) for n, values in request.POST.lists() if n.startswith((place.name, "quotes")) for v in values
        ],
    }
    template = "annotation/conflict.html#conflict" if request.htmx else "annotation/conflict.html"
    response = render(request, template, context, status=409)
    return reswap(retarget(response, f"#item-{place.id}"), "outerHTML") if request.htmx else response


def redirect_to_neighbour(request: Request, work: Work, place: Place, direction: str) -> HttpResponse:
    """On to the next place or back to the one before; within a story only the questions are exchanged."""
    part, place = work.place(place.step.key, place.item.key, place.letter)
    before, after = progress.neighbours(work.parts, part, work.letters, place)
    stop = before if direction == "previous" else after
    if not request.htmx:
        return redirect(addresses.of_stop(work, stop))
    if isinstance(stop, Place) and stop.letter == place.letter:
        return render_exchange(request, work, stop)
    return HttpResponseClientRedirect(addresses.of_stop(work, stop))


def render_exchange(request: Request, work: Work, place: Place) -> HttpResponse:
    """The answer to going on within a story: the next question, in place of the one just saved."""
    part, place = work.place(place.step.key, place.item.key, place.letter)
    claims.remember_place(work.assignment, place=place.path, at=timezone.now())
    response = render_place(request, work, part, place, has_story=True)
    response = push_url(response, addresses.of_stop(work, place))
    return reswap(retarget(response, "#questions"), "outerHTML")


@for_assignment
@allow_get_and_post
def part(request: Request, work: Work, step: str) -> HttpResponse:
    """A page of several items, or of a text, within a group. Opening one that locks what came before takes a POST."""
    current = work.part(step)
    if work.assignment.seat is None:
        return redirect(addresses.of_stop(work, current))
    if current.key == step and work.refusal_at(current.steps[0]) is Refusal.UNOPENED:
        return review_before_locking(request, work, current)
    if current.kind == "desk" or current.key != step:
        return redirect(first_url(work, current))
    if redirection := redirect_if_refused(work, current.steps[0]):
        return redirection
    if current.kind == "cloze" and request.method == "POST":
        return save_cloze(request, work, current)
    if current.kind == "together" and request.method == "POST":
        return posted_page.go_on(request, work, current)
    claims.remember_place(work.assignment, place=current.key, at=timezone.now())
    shows_shortfalls = pages.shows_shortfalls(request, work)
    if current.kind == "cloze":
        sheet = cloze.load_sheet(work, current, shows_shortfalls=shows_shortfalls)
        return cloze.render_page(request, work, current, sheet)
    if current.kind == "text":
        after = progress.neighbours(work.parts, current, work.letters)[1]
        text = current.steps[0]
        context = pages.base_context(work) | {
            "step": text,
            "paragraphs": paragraphs(text.text),
            "next_url": addresses.of_stop(work, after),
        }
        return render(request, "annotation/briefing.html", context)
    context = pages.together_context(work, current, shows_shortfalls=shows_shortfalls)
    return render(request, "annotation/together.html", context)


def save_cloze(request: Request, work: Work, part: Part) -> HttpResponse:
    """Keep all fields of a cloze at once, as browsers without JavaScript post them."""
    if refusal := work.refusal_at(part.steps[0]):
        return pages.refuse(request, refusal)
    try:
        sheet = cloze.save_all(request, cloze.load_sheet(work, part), at=timezone.now())
    except responses.AssignmentEnded as refused:
        return pages.refuse(request, refused)
    return cloze.redirect_after_save(request, work, part, sheet)


def review_before_locking(request: Request, work: Work, opening: Part) -> HttpResponse:
    """All answers before a part that locks them: to look through once more, and to lock."""
    earlier = work.parts[: work.parts.index(opening)]
    url = addresses.of_stop(work, opening)
    context = pages.review_context(work, earlier) | {"opening": opening, "proceed_url": url}
    if request.method == "POST" and not context["missing_answers"]:
        claims.open_step(work.assignment, opening.steps[0])
        return redirect(url)
    return pages.render_review(request, work, context)


@for_assignment
@require_safe
def story(request: Request, work: Work, letter: str) -> HttpResponse:
    """A story to read again, without questions."""
    if letter not in work.letters:
        raise Http404
    if work.refusal or not work.may_read(letter):
        return redirect("annotation:assignment", work.assignment.code)
    text = work.story_by_letter[letter]
    context = pages.base_context(work) | {
        "letter": letter,
        "n_stories": len(work.letters),
        "n_stories_in_words": questions.number_in_words(len(work.letters)),
        "story": text,
        "is_recognised": pages.is_recognised(work, text),
        "paragraphs": quoting.mark_quotes(paragraphs(text.text), []),
        "premise": work.premise,
    }
    return render(request, "annotation/story.html", context)


def redirect_if_refused(work: Work, step: Step, letter: str = "") -> HttpResponse | None:
    """A redirect if nothing of this step can be read now: the group has ended, or the step comes later."""
    if work.refusal_at(step, letter) not in READABLE:
        return redirect("annotation:assignment", work.assignment.code)
    return None


def first_url(work: Work, part: Part) -> str:
    """Where a part begins."""
    return addresses.of_stop(work, progress.list_places(part, work.letters)[0] if part.kind == "desk" else part)
