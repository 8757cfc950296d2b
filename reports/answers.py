"""The answers that results are computed from, as one table: what the long file says of them, less its words and times.

Of a hundred thousand answers most are equal, so each different value is read once and not each answer.
"""

import json
from collections.abc import Iterator
from typing import Any

import pandas as pd
from django.db.models import Q, TextField
from django.db.models.functions import Cast

from annotation.models import Response, Withdrawal
from reports import frames
from studies.models import Item, Study

COLUMNS = (
    *("rater", "rater_kind", "status", "group", "seat", "story", "step", "item"),
    *("value", "analysed", "outcome", "was_given", "source", "source_kind"),
)
NOBODY = {"source": None, "source_kind": None}


def table(study: Study, *, with_sources: bool) -> pd.DataFrame:
    """One row an answer, in the order of the long file; sources are missing unless they may be told.

    was_given : whether there ever was an answer, which is still known of erased ones
    """
    whose, read = _whose(study), _Values(study)
    about_story = frames.source_by_story(study) if with_sources else {}
    # As text: the database would otherwise parse each value, and dates it need not have told.
    found = frames.responses(study).annotate(text=Cast("value", TextField()), given=Q(first_answered_at__isnull=False))
    told = ("assignment_id", "story__code", "step__key", "item_id", "item__key", "text", "outcome", "given")

    def rows() -> Iterator[tuple[Any, ...]]:
        for assignment, story, step, item_id, item, text, outcome, given in found.values_list(*told).iterator(2000):
            value, analysed = read(item_id, text)
            about = about_story.get(story, NOBODY)
            yield (
                *whose[assignment],
                *(story or "", step, item),
                *(value, analysed if outcome == Response.Outcome.ANSWERED else None, outcome, given),
                *(about["source"], about["source_kind"]),
            )

    return pd.DataFrame.from_records(list(rows()), columns=list(COLUMNS))


def _whose(study: Study) -> dict[int, tuple[str, str, str, str, int]]:
    """Rater, kind of rater, status, group and number of the seat, by assignment."""
    assignments = list(study.assignments.select_related("rater", "seat", "group"))
    withdrawn = set(Withdrawal.objects.filter(rater__study=study).values_list("rater_id", flat=True))
    mixes = frames.has_real_people(assignments)
    return {
        a.pk: (
            *(a.rater.code, a.rater.kind, frames.status(a, withdrawn=withdrawn, mixes=mixes)),
            *(a.group.code if a.group else "", a.seat.number if a.seat else 0),
        )
        for a in assignments
    }


class _Values:
    """Stored values as results take them, each different one read once: the value, and the number that it is."""

    def __init__(self, study: Study) -> None:
        self.item_by_id = {i.pk: i for i in Item.objects.filter(instrument__step__version__study=study).distinct()}
        self.found: dict[tuple[int, str | None], tuple[Any, float | None]] = {}

    def __call__(self, item: int, text: str | None) -> tuple[Any, float | None]:
        if (item, text) not in self.found:
            value = None if text is None else json.loads(text)
            number = None if value is None else frames.number(self.item_by_id[item], value)
            self.found[item, text] = (value, number)
        return self.found[item, text]
