"""Where a rater belongs: what `progress.next_page` decides on, read from the database."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation import progress
from annotation.models import Assignment, Rater, StepTaken
from annotation.participation import claims, consents, invitations, recognition
from annotation.progress import Page, RaterProgress
from annotation.progress.outlines import load_outline
from annotation.views.rater.guards import Request
from studies import protocol
from studies.models import Step

P = ParamSpec("P")
show_or_do = require_http_methods(["GET", "HEAD", "POST"])


def read(rater: Rater) -> RaterProgress:
    """How far the rater has come. The study must be open, so that there is a frozen protocol."""
    mine = list(rater.assignments.select_related("version", "study").defer("version__document"))
    at_work = next((a for a in mine if a.seat_id and a.status == Assignment.Status.OPEN), None)
    outline = load_outline(at_work.version if at_work else protocol.current(rater.study))
    # Of several attempts the latest.
    taken = {each.step.key: each for each in rater.steps_taken.select_related("step").order_by("attempt")}
    return RaterProgress(
        protocol=outline.protocol,
        has_consented=consents.has_consented(rater, outline.protocol.consent),
        passed=frozenset(key for key, each in taken.items() if not each.wrong),
        attempts={key: each for key, each in taken.items() if each.wrong},
        at_work=at_work,
        owes_recognition=at_work is not None and recognition.is_owed(at_work, has_desk=outline.has_desk),
        n_submitted=sum(bool(a.seat_id) and a.status == Assignment.Status.SUBMITTED for a in mine),
        n_left=claims.n_left(rater),
        has_finished=any(a.seat_id is None and a.status == Assignment.Status.SUBMITTED for a in mine),
    )


def while_open(
    view: Callable[Concatenate[Request, Rater, RaterProgress, P], HttpResponse],
) -> Callable[..., HttpResponse]:
    """A rater's page that is there while the study is open; it is told how far the rater has come."""

    @wraps(view)
    def guarded(request: Request, rater: Rater, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not invitations.is_open(rater.study, at=timezone.now()):
            return redirect("annotation:closed")
        return view(request, rater, read(rater), *args, **kwargs)

    return guarded


def go(found: Page) -> HttpResponse:
    """The way to that page."""
    return redirect(f"annotation:{found.name}", *found.args)


def go_on(rater: Rater) -> HttpResponse:
    """The way to where the rater belongs now, after something has changed."""
    return go(progress.next_page(read(rater)))


def pass_step(rater: Rater, step: Step, *, attempt: int = 1, wrong: Sequence[str] = ()) -> None:
    """Note that the rater has gone through this step; of a check, which attempt it was and what was wrong in it."""
    StepTaken.objects.get_or_create(rater=rater, step=step, attempt=attempt, defaults={"wrong": list(wrong)})
