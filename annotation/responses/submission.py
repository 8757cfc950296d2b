"""Ending an assignment with a receipt: from then on its answers are final."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from annotation.models import Assignment, Rater, Response
from annotation.responses import fills
from studies import hashing
from studies.models import Cloze

AT_ONCE = 500  # assignments a query
HEAD = ("step__position", "item__position", "story__code", "head")


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
            status=Assignment.Status.SUBMITTED, ended_at=at, reading_positions={}
        )
        if ended:
            if not is_complete():
                raise Incomplete
            Assignment.objects.filter(pk=assignment.pk).update(receipt=receipt(assignment))
            fills.record_outcome(assignment, is_submitted=True, stopped_at=stopped_at)
    assignment.refresh_from_db()
    return bool(ended)


@transaction.atomic
def submit_all(assignments: QuerySet[Assignment], *, at: datetime, section_by_assignment: Mapping[int, int]) -> None:
    """Close those of these assignments that are still open, each as `submit` does, in a few queries for hundreds.

    One after another ten thousand would keep everybody else from writing for minutes, where a database has one writer.
    section_by_assignment : `stopped_at` by id, of those that have one
    """
    pks = list(assignments.filter(status=Assignment.Status.OPEN).order_by("pk").values_list("pk", flat=True))
    cloze_by_version: dict[int, Cloze | None] = {}
    for start in range(0, len(pks), AT_ONCE):
        for assignment in _close(pks[start : start + AT_ONCE], at=at):
            version = assignment.version_id
            if version not in cloze_by_version:
                cloze_by_version[version] = fills.cloze_of(assignment)
            if cloze_by_version[version]:
                stopped_at = section_by_assignment.get(assignment.pk)
                fills.record_outcome(assignment, is_submitted=True, stopped_at=stopped_at)


def _close(pks: Collection[int], *, at: datetime) -> list[Assignment]:
    """Those of these assignments that were open, closed with their receipts."""
    still_open = Assignment.objects.filter(pk__in=pks, status=Assignment.Status.OPEN).order_by("pk")
    rows = list(still_open.select_related("version").select_for_update(of=("self",), no_key=True))
    # The status first, as in `submit`.
    Assignment.objects.filter(pk__in=[row.pk for row in rows]).update(status=Assignment.Status.SUBMITTED, ended_at=at)
    heads_by_assignment = defaultdict[int, list[tuple[int, int, str, str]]](list)
    answers = Response.objects.filter(assignment__in=[row.pk for row in rows])
    for pk, step, item, story, head in answers.values_list("assignment", *HEAD):
        heads_by_assignment[pk].append((step, item, story or "", head))
    for row in rows:
        row.receipt = receipt_over(heads_by_assignment[row.pk])
    Assignment.objects.bulk_update(rows, ["receipt"])
    return rows


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
    heads = assignment.responses.values_list(*HEAD)
    return receipt_over((step, item, story or "", head) for step, item, story, head in heads)


def receipt_over(heads: Iterable[tuple[int, int, str, str]]) -> str:
    """SHA-256 over the latest digest of every response, in the order in which they are asked.

    heads : position of the step, position of the item, code of the story or "", digest. Sorted here and not by the
        database, since databases differ in how they order letters
    """
    return hashing.sha256("\n".join(head for *_, head in sorted(heads)))
