"""Taking away a draft, with its seats, which nobody deletes alone; and rehearsals, whatever happened in them."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import RestrictedError
from django.utils.translation import gettext as _

from annotation.models import Assignment, Consent, Rater, Response, ResponseEvent, Seat, StepTaken
from studies import lifecycle, protocol
from studies.models import Study


class NotDeletable(ValueError):
    """The study stays; the message says why."""


@transaction.atomic
def delete_draft(study: Study) -> None:
    """Delete the draft with its stories, steps, places and links.

    Raises NotDeletable once it has been frozen, and while another study is measured against its stories.
    """
    locked = Study.objects.select_for_update().get(pk=study.pk)
    if not lifecycle.may_edit(locked, is_frozen=protocol.is_frozen(locked)):
        raise NotDeletable(_("This study cannot be deleted: its answers mean nothing without its questions and texts."))
    delete_rehearsals(locked)
    # A group does not go while it has seats.
    locked.seats.all().delete()
    try:
        locked.delete()
    except RestrictedError as error:
        rows: Iterable[Any] = error.restricted_objects
        sets = ", ".join(sorted(f"“{row}” ({row.study.slug})" for row in rows))
        message = _(
            "The stories of this study are a reference set of another: %(sets)s. Delete the set first, under Measures "
            "by source of that study, or by the command delete_reference_set."
        )
        raise NotDeletable(message % {"sets": sets}) from None


@transaction.atomic
def delete_rehearsals(study: Study, *, by: int | None = None) -> None:
    """Delete the rehearsals of the study, or that of one account, with all that was said in them."""
    rehearsals = Study.every.filter(rehearsal_of=study.pk)
    for rehearsal in rehearsals if by is None else rehearsals.filter(rehearsed_by=by):
        _delete_rehearsal(rehearsal)


@transaction.atomic
def delete_copies_without_account(study: Study) -> None:
    """Delete the copies of the study that belong to nobody, as those of a command do."""
    for rehearsal in Study.every.filter(rehearsal_of=study.pk, rehearsed_by=None):
        _delete_rehearsal(rehearsal)


def _delete_rehearsal(rehearsal: Study) -> None:
    delete_raters(rehearsal)
    rehearsal.seats.all().delete()
    rehearsal.delete()


@transaction.atomic
def delete_raters(rehearsal: Study, *, code: str = "") -> None:
    """Delete the raters of a rehearsal, or the one of that code, with all that they said; their seats are free again.

    An answer that is being saved at this moment is in before, and goes as well; one that comes later finds no
    assignment.
    """
    raters = Rater.objects.filter(
        study=rehearsal, study__rehearsal_of__isnull=False, **({"code": code} if code else {})
    )
    # Held first, so that nobody begins or says anything in between.
    held = list(raters.order_by("pk").select_for_update(of=("self",)).values_list("pk", flat=True))
    assignments = Assignment.objects.filter(rater__in=held)
    list(assignments.order_by("pk").select_for_update().values_list("pk", flat=True))
    Seat.objects.filter(assignments__in=assignments).update(is_taken=False)
    ResponseEvent.objects.filter(response__assignment__in=assignments).delete()
    Response.objects.filter(assignment__in=assignments).delete()
    StepTaken.objects.filter(rater__in=held).delete()
    Consent.objects.filter(rater__in=held).delete()
    assignments.delete()
    Rater.objects.filter(pk__in=held).delete()
