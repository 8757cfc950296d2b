"""The raters' work on a group: coming back to it, showing an item or a part, keeping an answer, going on."""

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation import progress, responses
from annotation.models import Assignment
from annotation.progress import Part, Question, places
from annotation.progress.refusals import READABLE, Refusal
from annotation.progress.work import Work
from annotation.responses.quotes import describe_lost, mark_quotes, read_quotes, serialise_quotes
from annotation.views.rater import addresses, guards, parts
from annotation.views.rater.guards import Request, for_assignment
from annotation.views.rater.parts import PartPage
from annotation.views.rater.presenters import pages, questions
from annotation.views.rater.presenters.pages import RefusedAnswer
from annotation.views.rater.routing import allow_get_and_post
from studies.items import InvalidAnswer
from studies.models import Step
from studies.typography.paragraphs import number_paragraphs


@for_assignment
@require_safe
def resume(request: Request, work: Work) -> HttpResponse:
    """Back to the very item where the rater was; to the receipt if the group is submitted."""
    if work.assignment.status == Assignment.Status.SUBMITTED and work.assignment.seat:
        return redirect("annotation:receipt", work.assignment.code)
    if work.assignment.seat is None or work.standing.refusal:
        return redirect("annotation:home")
    stop = progress.resume(work.parts, work.letters, work.answers, last_page=work.assignment.last_page)
    if isinstance(stop, Part):
        return redirect(parts.find_page(request, work, stop).resume_url)
    return redirect(addresses.of_stop(work, stop))


@for_assignment
@allow_get_and_post
def item(request: Request, work: Work, step: str, item: str, letter: str = "") -> HttpResponse:
    """One item. GET shows it where it is asked; POST keeps its answer and, if asked to, goes on."""
    part, question = addresses.find_question(work, step, item, letter)
    page = parts.find_page(request, work, part)
    if request.method == "POST":
        response = save(page, question)
        # The page believes only an answer that has this: a proxy too may answer with 200, or with 400.
        response["Quire-Saved"] = "yes" if response.status_code < 400 else "no"
        return response
    if work.standing.refusal_at(question.step, letter) is Refusal.UNOPENED:
        return redirect(addresses.of_stop(work, part))
    if redirection := redirect_if_refused(work, question.step, letter):
        return redirection
    return page.open_question(question)


def save(page: PartPage, question: Question) -> HttpResponse:
    """Keep the answer that was posted, or say why it was not kept."""
    request, work = page.request, page.work
    if refusal := work.standing.refusal_at(question.step, question.letter):
        return pages.refuse(request, refusal)
    now = timezone.now()
    posted = questions.parse_answer(request, work, question)
    try:
        questions.check_storable(posted)
        quotes = read_quotes(posted.quotes, work.stories.load_text(question.letter)) if posted.quotes else []
        response = responses.record(
            work.assignment,
            step=question.step,
            item=question.item,
            story=work.stories.reference(question.letter),
            answer=responses.Answer(value=posted.value, rationale=posted.rationale, quotes=serialise_quotes(quotes)),
            at=now,
            base=posted.base,
            key=posted.key,
            n_pasted=posted.n_pasted,
            is_confirmation="again" in request.POST,
            is_from_page=True,
        )
    except InvalidAnswer as error:
        return page.render_invalid(RefusedAnswer(question, str(error), posted))
    except responses.TooManySaves as error:
        refused = RefusedAnswer(question, str(error), posted, seconds=error.seconds)
        return pages.mark_postponed(page.render_invalid(refused), seconds=error.seconds)
    except responses.Stale as stale:
        return page.render_conflict(question, posted, stale.response)
    except responses.AssignmentEnded as ended:
        return pages.refuse(request, ended)
    if direction := request.POST.get("go", ""):
        owes_consent = work.owes_new_consent
        answer = guards.lead_to_consent(request) if owes_consent else page.go_on(question, direction)
    elif request.htmx:
        answer = page.render_saved(question, response, at=now, notice=describe_lost(quotes))
    else:
        answer = redirect(addresses.of_stop(work, question))
    answer["Quire-Revision"] = str(response.revision)
    return answer


@for_assignment
@allow_get_and_post
def part(request: Request, work: Work, step: str) -> HttpResponse:
    """A page of several items, or of a text, within a group. Opening one that locks what came before takes a POST."""
    current = addresses.find_part(work, step)
    if work.assignment.seat is None:
        return redirect(addresses.of_stop(work, current))
    if current.key == step and work.standing.refusal_at(current.steps[0]) is Refusal.UNOPENED:
        return review_before_locking(request, work, current)
    page = parts.find_page(request, work, current)
    if current.stops_at_items or current.key != step:
        return redirect(page.url)
    if request.method == "POST" and (refusal := work.standing.refusal_at(current.steps[0])):
        return pages.refuse(request, refusal)
    if redirection := redirect_if_refused(work, current.steps[0]):
        return redirection
    return page.post() if request.method == "POST" else page.open()


def review_before_locking(request: Request, work: Work, opening: Part) -> HttpResponse:
    """All answers before a part that locks them: to look through once more, and to lock."""
    earlier = work.parts[: work.parts.index(opening)]
    url = addresses.of_stop(work, opening)
    context = pages.review_context(work, earlier) | {"opening": opening, "proceed_url": url}
    if request.method == "POST" and not context["missing_answers"]:
        places.open_step(work.assignment, opening.steps[0])
        request.session.pop(pages.CHECKED, None)  # what lacked is there; nothing of the next part is owed yet
        return redirect(url)
    return pages.render_review(request, work, context)


@for_assignment
@require_safe
def story(request: Request, work: Work, letter: str) -> HttpResponse:
    """A story to read again, without questions."""
    if letter not in work.letters:
        raise Http404
    if work.standing.refusal or not work.may_read(letter):
        return redirect("annotation:assignment", work.assignment.code)
    text = work.stories.story_by_letter[letter]
    context = pages.base_context(work) | {
        "letter": letter,
        "n_stories": len(work.letters),
        "n_stories_in_words": questions.number_in_words(len(work.letters)),
        "story": text,
        "is_recognised": pages.is_recognised(work, text),
        "paragraphs": mark_quotes(number_paragraphs(text.text), []),
        "premise": work.stories.premise,
    }
    return render(request, "annotation/story.html", context)


def redirect_if_refused(work: Work, step: Step, letter: str = "") -> HttpResponse | None:
    """A redirect if nothing of this step can be read now: the group has ended, or the step comes later."""
    if work.standing.refusal_at(step, letter) not in READABLE:
        return redirect("annotation:assignment", work.assignment.code)
    return None
