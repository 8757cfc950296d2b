"""Finishing: check your answers, submit, the receipt, giving up, and the end."""

from functools import partial

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation import progress
from annotation.models import Assignment, Fill, Rater
from annotation.participation import claims, eligibility, visits
from annotation.participation.recruitment import Ending
from annotation.progress import Page, RaterProgress, sittings
from annotation.progress.languages import Words
from annotation.progress.work import Work
from annotation.responses import fills, submission
from annotation.views.rater import addresses, parts, prolific, routing
from annotation.views.rater.guards import Request, for_assignment, for_rater
from annotation.views.rater.presenters import pages
from annotation.views.rater.routing import allow_get_and_post, requires_open_study
from studies.models import Step
from studies.typography.prose import parse_prose


@for_assignment
@allow_get_and_post
def check(request: Request, work: Work) -> HttpResponse:
    """All answers in words, with what is still open; POST submits, if nothing is."""
    now = timezone.now()
    if work.assignment.seat is None:
        return redirect("annotation:home")
    if work.assignment.status == Assignment.Status.SUBMITTED:
        return redirect("annotation:receipt", work.assignment.code)
    if refusal := work.standing.refusal:
        return pages.refuse(request, refusal) if request.method == "POST" else redirect("annotation:home")
    context = pages.review_context(work, work.parts) | {"proceed_url": request.path}
    if request.method == "POST" and not context["missing_answers"]:
        try:
            submission.submit(work.assignment, at=now, is_complete=partial(_is_complete, work))
        except submission.Incomplete:
            return redirect("annotation:check", work.assignment.code)
        if next_assignment := sittings.claim_next(work.assignment):
            return redirect("annotation:assignment", next_assignment.code)
        return redirect("annotation:receipt", work.assignment.code)
    return pages.render_review(request, work, context)


def _is_complete(work: Work) -> bool:
    """Whether nothing lacks, by the answers as they are at this moment. One query."""
    return not progress.list_shortfalls(work.parts, work.letters, work.load_answers())


@for_assignment
@require_safe
def receipt(request: Request, work: Work) -> HttpResponse:
    """What was submitted in this sitting and when, with the receipt of each group; and what may come next."""
    if work.assignment.status != Assignment.Status.SUBMITTED or work.assignment.seat is None:
        return redirect("annotation:assignment", work.assignment.code)
    rater = work.assignment.rater
    rater.study = work.assignment.study  # the same row, already read
    last = progress.last_question(work.protocol)
    has_questions_left = last is not None and not rater.steps_taken.filter(step__key=last.key, wrong=[]).exists()
    context = pages.base_context(work) | {
        "groups": sittings.summarise(work.assignment),
        "n_left": claims.n_groups_left(rater),
        "has_questions_left": has_questions_left,
        "return_code": None if has_questions_left else prolific.find_return(request, Ending.COMPLETED),
    }
    return render(request, "annotation/receipt.html", context)


@for_assignment
@require_POST
def stop(request: Request, work: Work, step: str) -> HttpResponse:
    """Keep what is on the page, and end the work at the section from which its writer cannot go on."""
    return parts.find_page(request, work, addresses.find_part(work, step)).stop()


@for_assignment
@require_safe
def stopped(request: Request, work: Work) -> HttpResponse:
    """Thanks to somebody who could not go on, and what is kept."""
    fill = Fill.objects.filter(assignment=work.assignment, state=Fill.State.DROPPED_OUT).first()
    if fill is None or fill.stopped_at is None or (filled_cloze := fills.cloze_of(work.assignment)) is None:
        return redirect("annotation:assignment", work.assignment.code)
    answers = fills.answers_of(work.assignment, filled_cloze)
    section = filled_cloze.parsed.sections[fill.stopped_at - 1]
    context = pages.base_context(work) | {
        "section": section,
        "title": Words(section.title, filled_cloze.parsed.language),
        "n_filled": len(fills.text_by_blank(filled_cloze.parsed, answers)),
        "n_blanks": len(filled_cloze.parsed.blanks),
    }
    return render(request, "annotation/stopped.html", context)


@for_rater
@requires_open_study
@allow_get_and_post
def done(request: Request, rater: Rater, rater_progress: RaterProgress) -> HttpResponse:
    """The end: thanks, and what raters are told afterwards. POST says that no further group is wanted."""
    next_page = progress.next_page(rater_progress)
    last = progress.last_question(rater_progress.protocol)
    may_finish = rater_progress.n_submitted and not (rater_progress.at_work or rater_progress.has_finished)
    if request.method == "POST" and may_finish:
        if last and last.key not in rater_progress.passed:
            after = progress.steps_around_groups(rater_progress.protocol)[1]
            first = next(s for s in after if s.kind == Step.Kind.RATING)
            return redirect("annotation:once", first.key)
        submission.submit(visits.ensure_visit(rater), at=timezone.now())
        return redirect("annotation:done")
    if next_page != Page("done"):
        return routing.redirect_to_page(next_page)
    after = progress.steps_around_groups(rater_progress.protocol)[1]
    has_stopped = Fill.objects.filter(assignment__rater=rater, state=Fill.State.DROPPED_OUT).exists()
    texts = [s for s in after if s.kind == Step.Kind.BRIEFING and (rater_progress.n_submitted or has_stopped)]
    context = {"study": rater.study, "rater_progress": rater_progress, "has_stopped": has_stopped}
    took_part_before = eligibility.took_part_before(rater)
    is_over = rater_progress.has_failed or rater_progress.n_submitted or has_stopped or took_part_before
    context |= {"took_part_before": took_part_before, "is_over": is_over, "taken_back": claims.find_taken_back(rater)}
    ending = prolific.ending_at_done(rater_progress, has_stopped=has_stopped)
    context |= {"return_code": prolific.find_return(request, ending), "has_ended": ending is not None}
    context |= {"texts": [(s, parse_prose(s.text)) for s in texts]}
    return render(request, "annotation/done.html", context)
