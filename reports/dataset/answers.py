"""The answers that results are computed from, as one table: what the long file says of them, less its words and times.

Of a hundred thousand answers most are equal, so each different value is read once and not each answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from annotation.models import Assignment, Rater, Response, Withdrawal
from reports.dataset.sources import source_by_story
from reports.dataset.step_items import number
from reports.lazy import pd
from studies.models import Item, Step, Study

COLUMNS = (
    *("assignment", "rater", "rater_kind", "status", "group", "seat", "story", "step", "item"),
    *("value", "analysed", "outcome", "was_given", "source", "source_kind"),
)


def responses(study: Study) -> QuerySet[Response]:
    """Every response of the study but those of a practice, by rater, group, story, step and item."""
    responses = Response.objects.filter(assignment__study=study).exclude(step__kind=Step.Kind.PRACTICE)
    return responses.order_by(
        "assignment__rater__code", "assignment_id", "story__code", "step__position", "item__position"
    )


def table(study: Study, *, with_sources: bool) -> pd.DataFrame:
    """One row an answer, in the order of the long file; sources are missing unless they may be shown.

    was_given : whether there ever was an answer, which is still recorded of erased ones
    """
    return pd.DataFrame.from_records(list(_rows(study, with_sources=with_sources)), columns=list(COLUMNS))


def _rows(study: Study, *, with_sources: bool) -> Iterator[tuple[Any, ...]]:
    rater_by_assignment, read = _rater_by_assignment(study), _Values(study)
    sources = source_by_story(study) if with_sources else {}
    # As text: the database would otherwise parse each value, and dates that nothing needs.
    answers = responses(study).annotate(text=Cast("value", TextField()), was_given=Q(first_answered_at__isnull=False))
    fields = ("assignment_id", "story__code", "step__key", "item_id", "item__key", "text", "outcome", "was_given")
    for assignment, story, step, item_id, item, text, outcome, was_given in answers.values_list(*fields).iterator(2000):
        value, analysed = read(item_id, text)
        source = sources.get(story)
        yield (
            *(assignment, *rater_by_assignment[assignment]),
            *(story or "", step, item),
            *(value, analysed if outcome == Response.Outcome.ANSWERED else None, outcome, was_given),
            *((source.name, source.kind) if source else (None, None)),
        )


def _rater_by_assignment(study: Study) -> dict[int, tuple[str, str, str, str, int]]:
    """Rater, kind of rater, status, group and number of the seat, by assignment."""
    assignments = list(study.assignments.select_related("rater", "seat", "group"))
    withdrawn = set(Withdrawal.objects.filter(rater__study=study).values_list("rater_id", flat=True))
    is_mixed = has_real_people(assignments)
    return {
        a.pk: (
            *(a.rater.code, a.rater.kind, status(a, withdrawn=withdrawn, is_mixed=is_mixed)),
            *(a.group.code if a.group else "", a.seat.number if a.seat else 0),
        )
        for a in assignments
    }


class _Values:
    """Stored values as results take them, each different one read once: the value, and the number that it is."""

    def __init__(self, study: Study) -> None:
        self.item_by_id = {i.pk: i for i in Item.objects.filter(instrument__step__version__study=study).distinct()}
        self.read: dict[tuple[int, str | None], tuple[Any, float | None]] = {}

    def __call__(self, item: int, text: str | None) -> tuple[Any, float | None]:
        if (item, text) not in self.read:
            value = None if text is None else json.loads(text)
            self.read[item, text] = (value, None if value is None else number(self.item_by_id[item], value))
        return self.read[item, text]


def has_real_people(assignments: Iterable[Assignment]) -> bool:
    """Whether real people are among the raters: then simulated ones do not count."""
    return any(a.rater_kind == Rater.Kind.PERSON and not a.rater.is_simulated for a in assignments)


def status(assignment: Assignment, *, withdrawn: set[int], is_mixed: bool) -> str:
    """Where an assignment stands, as the long file says it."""
    if assignment.rater_id in withdrawn:
        return str(Assignment.Status.WITHDRAWN)
    if assignment.rater.is_simulated and is_mixed:
        return "simulated"
    return str(assignment.status)


def select_counted(answers: pd.DataFrame) -> pd.DataFrame:
    """The rows that count: submitted by people; of judges, in every reading, also what they have answered so far."""
    is_person = answers["rater_kind"] == Rater.Kind.PERSON
    return answers[(answers["status"] == "submitted") | (~is_person & (answers["status"] == "open"))]


def select_people(answers: pd.DataFrame) -> pd.DataFrame:
    return answers[answers["rater_kind"] == Rater.Kind.PERSON]


def select_judges(answers: pd.DataFrame) -> pd.DataFrame:
    return answers[answers["rater_kind"] != Rater.Kind.PERSON]
