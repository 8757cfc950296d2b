"""The pages of people from Prolific: the door, the ways to stop, and the code to go back with."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.core.exceptions import BadRequest
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation import progress
from annotation.models import ProlificArrival, ProlificRecruitment, Rater
from annotation.participation import arrivals, eligibility, recruitment, versions
from annotation.participation.recruitment import Ending, ReturnCode
from annotation.progress import Page, RaterProgress, languages
from annotation.progress.outlines import load_outline
from annotation.progress.rater_progress import load_rater_progress
from annotation.views.rater import doors, guards
from annotation.views.rater.guards import PROLIFIC, Request, for_rater, rater_page
from annotation.views.rater.routing import allow_get_and_post, requires_open_study
from studies import lifecycle, protocol

ENDED = "ended_arrival"


def from_prolific(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """View decorator: a page whose address carries what Prolific puts into it, each once and nothing else."""

    @wraps(view)
    def guarded(request: Request, /, key: str) -> HttpResponse:
        if set(request.GET) - set(recruitment.PARAMETERS) or any(len(row) > 1 for _name, row in request.GET.lists()):
            raise BadRequest("This page takes what Prolific sends, and nothing else.")
        response = view(request, key)
        patch_cache_control(response, no_store=True)
        return response

    return guarded


@from_prolific
@allow_get_and_post
def arrive(request: Request, key: str) -> HttpResponse:
    """What the study is about, for people from Prolific; Continue lets them in, always at the same place."""
    row = ProlificRecruitment.objects.filter(key=key, study__rehearsal_of=None).select_related("study").first()
    if row is None:
        return render(request, "annotation/invalid_link.html", status=404)
    study, now = row.study, timezone.now()
    languages.activate_language(request, study)
    try:
        participant = recruitment.read_participant(request.GET.dict(), row)
    except recruitment.NotFromProlific as error:
        return _refuse(request, row, str(error), status=400)
    arrival = recruitment.find_arrival(study, participant)
    is_open = lifecycle.is_open_for_answers(study, at=now)
    if arrival and (ending := recruitment.find_ending(arrival)):
        may_try_again = recruitment.is_turned_away(arrival) and is_open and row.is_ready
        if not may_try_again:
            return _show_ended(request, row, ending)
    rater = arrival.invitation.rater if arrival and arrival.invitation else None
    if study.is_paused:
        return render(request, "annotation/paused.html", {"study": study, "has_taken_part": rater is not None})
    if rater is None and not (is_open and row.is_ready):
        sentence = _("The study is not open now. Please return your submission on Prolific; nothing was recorded here.")
        return _refuse(request, row, sentence, status=409)
    if request.method == "POST":
        if doors.is_too_often(request, "prolific"):
            sentence = _(
                "Too many people have opened the study from your address just now. Please try again in ten minutes."
            )
            return _refuse(request, row, sentence, status=429)
        arrival = arrivals.arrive(row, participant, at=now)
        if ending := recruitment.find_ending(arrival):
            return _show_ended(request, row, ending)
        if arrival.invitation and arrival.invitation.rater:
            guards.start_session(request, arrival.invitation.rater)
        return redirect("annotation:home")
    current_protocol = load_outline(protocol.current(study)).protocol
    context = {
        "study": study,
        "until": study.closes_at,
        "promised": versions.promised_pay(study, rater),
        "fills_text": current_protocol.fills_text,
        "gate": current_protocol.gate,
        "is_from_prolific": True,
        "minutes_at_most": row.minutes,
    }
    return render(request, "annotation/invitation.html", context)


def _refuse(request: Request, row: ProlificRecruitment, sentence: str, *, status: int) -> HttpResponse:
    heading = (
        _("Please open the study from Prolific") if status == 400 else _("The study cannot be opened from here now")
    )
    context = {"study": row.study, "heading": heading, "sentence": sentence}
    return render(request, "annotation/prolific_refused.html", context, status=status)


def _show_ended(request: Request, row: ProlificRecruitment, ending: Ending) -> HttpResponse:
    """Thanks, and the code: what it says was committed before this page was made."""
    context = {"study": row.study, "ending": ending.value, "return_code": recruitment.find_code(row, ending)}
    return render(request, "annotation/prolific_ended.html", context)


@for_rater
@require_POST
def stop(request: Request, rater: Rater, reason: str) -> HttpResponse:
    """End the part of somebody from Prolific, if the reason is true of them, and lead to the code."""
    arrival = recruitment.find_of_rater(rater)
    if arrival is None or not _is_true(Ending(reason), rater, arrival):
        return redirect("annotation:home")
    try:
        recruitment.end(arrival, Ending(reason), at=timezone.now())
    except recruitment.HasCompleted:  # in another window at this very moment
        return redirect("annotation:home")
    return lead_to_code(request, rater)


def lead_to_code(request: Request, rater: Rater) -> HttpResponse:
    """End the session of somebody from Prolific whose part has ended, and lead to the code."""
    arrival = recruitment.find_of_rater(rater)
    request.session.flush()
    request.session[ENDED] = arrival.pk if arrival else 0
    return redirect("annotation:ended")


def _is_true(ending: Ending, rater: Rater, arrival: ProlificArrival) -> bool:
    """Whether somebody may end so now."""
    if ending == Ending.TIMED_OUT:
        limit = recruitment.find_time_limit(arrival, arrival.study.prolific)
        return limit is not None and limit.until <= timezone.now() and not recruitment.has_completed(rater)
    if not lifecycle.is_open_for_answers(rater.study, at=timezone.now()):
        return False
    rater_progress = load_rater_progress(rater)
    if ending == Ending.DECLINED:
        return not rater_progress.has_consented and not rater_progress.n_submitted
    if rater_progress.n_submitted or rater_progress.has_failed:
        return False
    if progress.next_page(rater_progress) not in (Page("done"), Page("full")):
        return False
    is_excluded = eligibility.took_part_before(rater)
    return is_excluded if ending == Ending.SCREENED_OUT else ending == Ending.NO_PLACE and not is_excluded


@rater_page
@require_safe
def ended(request: Request) -> HttpResponse:
    """The code of somebody who has just ended, in the browser in which they did."""
    arrivals = ProlificArrival.objects.exclude(outcome="").select_related("study__prolific")
    arrival = arrivals.filter(pk=request.session.get(ENDED, 0)).first()
    if arrival is None:
        return redirect("annotation:home")
    languages.activate_language(request, arrival.study)
    return _show_ended(request, arrival.study.prolific, Ending(arrival.outcome))


def is_from_there(request: Request) -> bool:
    """Whether the rater of this session came from Prolific."""
    return PROLIFIC in request.session


def find_return(request: Request, ending: Ending | None) -> ReturnCode | None:
    """The code for that ending; None for raters who did not come from Prolific. One query for those who did."""
    session = request.session.get(PROLIFIC)
    if ending is None or not session:
        return None
    row = ProlificRecruitment.objects.filter(study__arrivals=session["arrival"]).first()
    return recruitment.find_code(row, ending) if row else None


def ending_at_done(rater_progress: RaterProgress, *, has_stopped: bool) -> Ending | None:
    """What the last page of a rater says of how it ended; None where somebody has still to end it themselves."""
    if rater_progress.has_failed:
        return Ending.SCREENED_OUT
    # Who could not go on with a cloze has done what was asked of them.
    return Ending.COMPLETED if rater_progress.n_submitted or has_stopped else None


@for_rater
@requires_open_study
@require_safe
def time_over(request: Request, rater: Rater, rater_progress: RaterProgress) -> HttpResponse:
    """What can be done once Prolific's time is over: go on and submit, or stop with the code."""
    arrival = recruitment.find_of_rater(rater)
    if arrival is None or not _is_true(Ending.TIMED_OUT, rater, arrival):
        return redirect("annotation:home")
    return render(request, "annotation/prolific_time_over.html", {"study": rater.study})
