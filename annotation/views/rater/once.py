"""What a rater reads and answers once: texts, questions, the comprehension check; `practice` has its own page."""

from collections.abc import Callable

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import progress, responses
from annotation.models import Rater, StepTaken
from annotation.participation import claims, visits
from annotation.progress import Page, RaterProgress, work
from annotation.progress.work import Work
from annotation.responses import submission
from annotation.views.rater import addresses, posted_page, practice, routing
from annotation.views.rater.guards import Request, for_rater
from annotation.views.rater.presenters import pages
from annotation.views.rater.presenters.once import OncePage, describe_attempt
from annotation.views.rater.routing import allow_get_and_post, requires_open_study
from studies.layouts.items import CheckOptions
from studies.models import Step
from studies.typography.prose import parse_prose


@for_rater
@requires_open_study
@allow_get_and_post
def briefing(request: Request, rater: Rater, rater_progress: RaterProgress, step: str) -> HttpResponse:
    """A text to read before the first group, and again while something is asked about it."""
    next_page = progress.next_page(rater_progress)
    text = rater_progress.protocol.step(step)
    if text is None or (
        next_page != Page("briefing", (step,)) and text not in _briefings_to_reread(rater_progress, next_page)
    ):
        return routing.redirect_to_page(next_page)
    if request.method == "POST":
        visits.record_step_taken(rater, text)
        return routing.redirect_to_next_page(rater)
    context = {"study": rater.study, "step": text, "prose": parse_prose(text.text)}
    return render(request, "annotation/briefing.html", context)


def _briefings_to_reread(rater_progress: RaterProgress, next_page: Page) -> list[Step]:
    """The texts that the rater may read again: those before the check at which they are."""
    check = rater_progress.protocol.step(next_page.args[0]) if next_page.name == "once" else None
    if check is None or not rater_progress.protocol.is_check(check):
        return []
    before = progress.steps_around_groups(rater_progress.protocol)[0]
    return [s for s in before if s.kind == Step.Kind.BRIEFING and s.position < check.position]


@for_rater
@requires_open_study
@allow_get_and_post
def once(request: Request, rater: Rater, rater_progress: RaterProgress, step: str) -> HttpResponse:
    """What is asked once of a rater, before the first group or after the last; kept in their visit."""
    next_page = progress.next_page(rater_progress)
    current_step = rater_progress.protocol.step(step)
    if current_step is None or (
        next_page != Page("once", (step,)) and not progress.may_end_with(rater_progress, current_step)
    ):
        return _go_on_without(request, rater, step) or routing.redirect_to_page(next_page)
    visit = work.load_work(visits.ensure_visit(rater).code, rater=rater.pk, at=timezone.now())
    if visit is None:
        raise Http404
    try:
        page = _read_page(request, rater_progress, visit, step)
    except responses.AssignmentEnded as ended:
        return pages.refuse(request, ended)
    response = answer_page(page)
    return pages.mark_postponed(response, seconds=posted_page.seconds_to_wait(page.refused))


def _go_on_without(request: Request, rater: Rater, step: str) -> HttpResponse | None:
    """Of a page that was posted after the rater had gone on in another window, what it says beyond what is saved, to
    copy; None if all of it is saved, as after a double click."""
    begun_visit = visits.find_visit(rater)
    if request.method != "POST" or begun_visit is None:
        return None
    visit = work.load_work(begun_visit.code, rater=rater.pk, at=timezone.now())
    part = progress.find_part(visit.parts, step) if visit else None
    unsaved = posted_page.list_unsaved(request, visit, part) if visit and part else []
    message = _(
        "You have moved on in another window since you opened this page, so answers can no longer be given here."
    )
    return pages.give_back(request, message, unsaved) if unsaved else None


def _read_page(request: Request, rater_progress: RaterProgress, visit: Work, step: str) -> OncePage:
    """The page as it was asked for; what was posted is saved. Raises AssignmentEnded."""
    part = addresses.find_part(visit, step)
    if request.method != "POST":
        return OncePage(request, rater_progress, visit, part)
    refused = posted_page.save(request, visit, part)
    missing_answers = posted_page.missing_answers(visit, part, refused)
    return OncePage(request, rater_progress, visit, part, missing_answers, refused)


def answer_page(page: OncePage) -> HttpResponse:
    """The page of its step; what comes after it, once what was posted is complete."""
    return _find_view(page.rater_progress, page.step)(page)


def _find_view(rater_progress: RaterProgress, step: Step) -> Callable[[OncePage], HttpResponse]:
    """What shows the page of that step, and goes on from it once nothing lacks."""
    if step.kind == Step.Kind.PRACTICE:
        return practice.practise
    return _check if rater_progress.protocol.is_check(step) else _ask


def _ask(page: OncePage) -> HttpResponse:
    """Questions to which any answer does."""
    if page.is_answered:
        visits.record_step_taken(page.rater, page.step)
        if page.step == progress.last_question(page.rater_progress.protocol):
            submission.submit(page.visit.assignment, at=timezone.now())
        return routing.redirect_to_next_page(page.rater)
    return page.render("annotation/together.html", page.context())


def _check(page: OncePage) -> HttpResponse:
    """Questions with right answers. The step says what becomes of who fails in all attempts; the answers are kept."""
    options = CheckOptions.read(page.step.options)
    last_attempt = page.rater_progress.attempts.get(page.step.key)
    attempt = last_attempt.attempt + 1 if last_attempt else 1
    if page.is_answered:
        # The page says which attempt it is: a double click, or a page sent again, is not a second one. Nor is going on
        # with the answers of the first.
        if page.request.POST.get("attempt") == str(attempt) and (
            last_attempt is None or _has_changed(page.visit, page.step, last_attempt)
        ):
            _record_attempt(page, attempt, options)
        return routing.redirect_to_next_page(page.rater)
    context = page.context(wrong=last_attempt.wrong if last_attempt else [])
    context |= {
        "attempt": attempt,
        "attempt_note": describe_attempt(attempt, options),
        "to_reread": _briefings_to_reread(page.rater_progress, Page("once", (page.step.key,))),
    }
    return page.render("annotation/together.html", context)


def _record_attempt(page: OncePage, attempt: int, options: CheckOptions) -> None:
    """Note the attempt with what was wrong in it; the visit ends after the last one, if who fails goes no further."""
    wrong = progress.wrong_item_keys(page.step, page.visit.answers)
    visits.record_step_taken(page.rater, page.step, attempt=attempt, wrong=wrong)
    if wrong and options.ends and attempt >= options.attempts:
        submission.submit(page.visit.assignment, at=timezone.now())
        claims.release_hold(page.rater)


def _has_changed(visit: Work, step: Step, attempt: StepTaken) -> bool:
    """Whether an answer of this step is younger than that attempt."""
    return visit.assignment.responses.filter(step=step, last_edited_at__gt=attempt.at).exists()
