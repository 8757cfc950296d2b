"""Ending an assignment with a receipt: from then on its answers are final."""

from collections.abc import Callable, Collection, Iterable
from datetime import datetime

from django.db import transaction

from annotation.models import Assignment, Rater
from annotation.responses import fills
from studies import hashing


class Incomplete(Exception):
    """Something still lacks; nothing was submitted."""


def submit(
    assignment: Assignment,
    *,
    at: datetime,
    is_complete: Callable[[], bool] = lambda: True,
    stopped_at: int | None = None,
) -> bool:
    """Close the assignment with a receipt. False if it was no longer open: of many submissions one counts.

    is_complete : asked once nobody can answer any more, so that an answer cleared in another window at this moment is
        seen; a judge submits what it could give
    stopped_at : the section of a cloze from which a model said that it could not go on
    Raises Incomplete.
    """
    with transaction.atomic():
        # The status first: whoever records an answer at this moment waits, and then finds the assignment ended.
        ended = Assignment.objects.filter(pk=assignment.pk, status=Assignment.Status.OPEN).update(
            status=Assignment.Status.SUBMITTED, ended_at=at
        )
        if ended:
            if not is_complete():
                raise Incomplete
            Assignment.objects.filter(pk=assignment.pk).update(receipt=receipt(assignment))
            fills.record_outcome(assignment, is_submitted=True, stopped_at=stopped_at)
    assignment.refresh_from_db()
    return bool(ended)


def reopen(assignment_ids: Collection[int]) -> list[Assignment]:
    """Those of these assignments that judges had submitted, open again, for the transaction that submits them anew.

    What a judge said is read again where what reads it has become better; a person's answers stay as they sent them.
    """
    judges = Assignment.objects.filter(pk__in=assignment_ids).exclude(rater_kind=Rater.Kind.PERSON)
    submitted = list(judges.filter(status=Assignment.Status.SUBMITTED).order_by("pk").select_for_update(no_key=True))
    pks = [assignment.pk for assignment in submitted]
    Assignment.objects.filter(pk__in=pks).update(status=Assignment.Status.OPEN)
    return submitted


def receipt(assignment: Assignment) -> str:
    """The receipt of the answers of an assignment as they stand. One query."""
    heads = assignment.responses.values_list("step__position", "item__position", "story__code", "head")
    return receipt_over((step, item, story or "", head) for step, item, story, head in heads)


def receipt_over(heads: Iterable[tuple[int, int, str, str]]) -> str:
    """SHA-256 over the latest digest of every response, in the order in which they are asked.

    heads : position of the step, position of the item, code of the story or "", digest. Sorted here and not by the
        database, since databases differ in how they order letters
    """
    return hashing.sha256("\n".join(head for *_, head in sorted(heads)))
