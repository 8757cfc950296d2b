"""Leaving a study: what was said and who said it are removed, that somebody was here is kept.

Kept are counts, times, consents and the history's chain. Its commitments say nothing without their salts, which go
with the words, so the chain still verifies. Nothing of a rater who left enters results.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.db.models import Model
from django.dispatch import Signal

from annotation.models import (
    Application,
    Assignment,
    BroughtFile,
    Fill,
    Identity,
    Invitation,
    InvitationMail,
    ProlificArrival,
    Rater,
    Response,
    ResponseEvent,
    Seat,
    WaitingPerson,
    Withdrawal,
)
from annotation.participation import claims, payments, recruitment
from annotation.responses import erasure
from studies import story_edits
from studies.models import Story

# Sent within the transaction, with the rater and the ids of the stories that were emptied: calls of judges hold their
# text too, and packages hold both.
erased = Signal()
ERASED = "erased"
EMPTY: dict[str, Any] = {"value": None, "outcome": Response.Outcome.OPEN, "rationale": "", "quotes": []}


def withdraw(rater: Rater, *, at: datetime) -> Withdrawal:
    """End the rater's work, open their seats again, and erase what they said. A second time changes nothing."""
    with transaction.atomic():
        withdrawal, is_new = Withdrawal.objects.get_or_create(rater=rater)
        if is_new:
            Withdrawal.objects.filter(pk=withdrawal.pk).update(at=at)
        # First the work ends: an answer that is being saved at this moment is in before, or refused after.
        for assignment in rater.assignments.filter(status__in=Assignment.LIVE):
            end(assignment, at=at)
        claims.release_hold(rater)
        claims.release_row(rater)
        erase(rater)
    withdrawal.refresh_from_db()
    return withdrawal


def end(assignment: Assignment, *, at: datetime) -> None:
    """End the assignment and open its seat again, also of a submitted one: its answers go, so that somebody else is to
    read the group."""
    if claims.give_up(assignment, at=at, status=Assignment.Status.WITHDRAWN):
        return
    submitted = Assignment.objects.filter(pk=assignment.pk, status=Assignment.Status.SUBMITTED)
    # A second withdrawal at the same time must not open a seat that someone else has taken since.
    has_ended = submitted.update(status=Assignment.Status.WITHDRAWN)
    if has_ended and assignment.seat_id and not assignment.repeats_id:
        Seat.objects.filter(pk=assignment.seat_id).update(is_taken=False)


def erase(rater: Rater) -> None:
    """Remove every word of the rater and who they are. Safe to repeat, as after a backup was restored."""
    with transaction.atomic():
        ResponseEvent.objects.filter(response__assignment__rater=rater).update(words=None)
        Response.objects.filter(assignment__rater=rater).update(**EMPTY)
        rater.assignments.update(reading_positions={})
        # What a filled cloze became elsewhere is their words too, an editor's version of it included.
        became = Story.objects.filter(fill__assignment__rater=rater)
        writer = "" if rater.kind == Rater.Kind.MODEL else rater.source_name
        stories = story_edits.erase_texts(became.values_list("pk", flat=True), writer=writer)
        fills = Fill.objects.filter(assignment__rater=rater)
        fills.filter(state=Fill.State.SHORTLISTED).update(state=Fill.State.SUBMITTED, shortlisted_by="", reason="")
        fills.update(edited_text="")
        # A file waiting for import may hold the same words.
        BroughtFile.objects.filter(study=rater.study_id).delete()
        forget_texts(stories, writer=rater)
        _forget(rater)


def forget_texts(stories: Sequence[int], *, writer: Rater) -> None:
    """Take the words of these stories, which were erased, out of all that others said of them, were sent or brought
    out."""
    erasure.empty_answers(stories)
    erased.send(forget_texts, rater=writer, stories=stories)


def _forget(rater: Rater) -> None:
    """Remove who the rater is, unless the same person takes part in another study: then only the link."""
    invitations = rater.study.invitations.filter(rater=rater)
    # An address that was filled in after they came stands in the invitation alone.
    identities = [rater.identity_id, *invitations.values_list("identity", flat=True)]
    arrivals = ProlificArrival.objects.filter(invitation__in=invitations).values_list("pk", flat=True)
    identities += recruitment.forget(list(arrivals))
    Rater.objects.filter(pk=rater.pk).update(identity=None)
    # A label is for orientation and never a name; should it be one all the same, it goes.
    invitations.update(label="", identity=None)
    InvitationMail.objects.filter(invitation__in=invitations).update(message="")
    payments.forget(rater)
    Application.objects.filter(invitation__in=invitations).delete()
    waits = WaitingPerson.objects.filter(rater=rater)
    identities += waits.values_list("identity", flat=True)
    waits.delete()
    for identity in filter(None, set(identities)):
        forget_identity(identity)
    _clear_log(Invitation, invitations.values_list("pk", flat=True))
    _clear_log(Assignment, rater.assignments.values_list("pk", flat=True))
    _clear_log(Fill, Fill.objects.filter(assignment__rater=rater).values_list("pk", flat=True))


def forget_identity(identity: int) -> None:
    """Remove that identity and what the log says of it, unless somebody of another study, or invited to it, has it."""
    Identity.objects.filter(
        pk=identity, raters=None, invitations=None, arrivals=None, applications=None, waits=None
    ).delete()
    if not Identity.objects.filter(pk=identity).exists():
        _clear_log(Identity, [identity])


def _clear_log(model: type[Model], pks: Iterable[int]) -> None:
    """Keep in the admin's log about these rows what was done and by whom, but not their names."""
    about = LogEntry.objects.filter(
        content_type=ContentType.objects.get_for_model(model), object_id__in=[str(pk) for pk in pks]
    )
    about.update(object_repr=ERASED, change_message="")


def count_answers(rater: Rater) -> int:
    """How many answers the rater gave, erased ones included: when an answer was given is kept."""
    return Response.objects.filter(assignment__rater=rater, first_answered_at__isnull=False).count()
