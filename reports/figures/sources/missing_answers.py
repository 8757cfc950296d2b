"""Where answers are missing, and what that could change at most: of each source the lowest and the highest mean."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.document import columns
from reports.document.columns import LEAD, decimals, with_places
from reports.document.model import DocumentSection, Files, Head, ReportTable, RowGroup, TextBlock
from reports.document.phrases import joined, phrase
from reports.figures.base import Figure, Statement
from reports.figures.outcome_titles import outcome_title
from reports.figures.sources.missing_parts import MissingPart, list_parts, part_statements, parts_table
from reports.lazy import missing_bounds, np
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable
    from stats.arrays import FloatArray, IntArray

ABOUT_STORIES = ("verdicts", "dimension", "verdict", "score", "scale_mean", "rating")


@dataclass(frozen=True, kw_only=True)
class SourceBounds:
    """A source's mean on an outcome, and between which values it lies whatever the missing readings would have said.

    value : over its stories, of the answers that there are; in percent for verdicts
    n_missing, n_expected : readings of its stories by places, of which those without an answer are missing
    """

    outcome: str
    title: str
    is_percent: bool
    source: str
    value: float | None
    low: float
    high: float
    n_missing: int
    n_expected: int

    @property
    def places(self) -> int:
        return 1 if self.is_percent else 2


@dataclass(frozen=True, kw_only=True)
class MissingAnswersResult:
    """bounds : of outcomes on which something is missing
    n_readings : stories that raters began with, each counted; parts : where their answers are missing
    """

    bounds: tuple[SourceBounds, ...]
    n_readings: int
    parts: tuple[MissingPart, ...]


class MissingAnswers(Figure[MissingAnswersResult]):
    """Of closed studies alone: before, more is to come."""

    key = "missing_answers"
    title = gettext_lazy("Missing answers")
    position = 26
    section = "methods"
    tables = ("missing-answers", "missing-parts")
    edition = 2
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> MissingAnswersResult:
        n_seats = {group.group: group.n_seats for group in dataset.records.participation.groups}
        rows: list[SourceBounds] = []
        for table in dataset.outcomes:
            if table.outcome.kind in ABOUT_STORIES and all(map(math.isfinite, table.bounds)):
                expected = np.array([n_seats.get(group, 0) for group, _story in table.units], dtype=np.int64)
                rows += _of_outcome(dataset, table, expected)
        return MissingAnswersResult(
            bounds=tuple(rows), n_readings=len(dataset.records.begun_readings), parts=list_parts(dataset)
        )

    def is_empty(self, result: MissingAnswersResult) -> bool:
        return not result.bounds and not result.parts

    def describe(self, result: MissingAnswersResult, head: Head) -> Iterator[DocumentSection]:
        groups = [
            RowGroup(heading=outcome_title(key, title, head), rows=list(rows))
            for (key, title), rows in groupby(result.bounds, key=lambda row: (row.outcome, row.title))
        ]
        table = ReportTable(
            name="missing-answers",
            label=_("Missing answers"),
            caption=joined(
                _("Lowest: if every missing answer had been the lowest that can be given; highest likewise."),
                _(
                    "Missing: how often this answer is not there in full for a story of the source, of all "
                    "places for raters."
                ),
            ),
            rows=result.bounds,
            groups=groups,
            columns=[
                columns.fields("outcome", "title"),
                columns.source(),
                columns.count_of("n_missing", _("Missing"), n_all=lambda row: row.n_expected),
                columns.in_file("n_all", lambda row: row.n_expected),
                with_places(
                    lambda places: columns.number("mean", _("Mean"), lambda row: row.value, write=decimals(places)),
                    lambda row: row.places,
                ),
                with_places(
                    lambda places: columns.number(
                        "lowest", _("Lowest"), lambda row: row.low, write=decimals(places), css=LEAD
                    ),
                    lambda row: row.places,
                ),
                with_places(
                    lambda places: columns.number(
                        "highest", _("Highest"), lambda row: row.high, write=decimals(places), css=LEAD
                    ),
                    lambda row: row.places,
                ),
            ],
        )
        note = _(
            "These are bounds, no interval of 95 %%: they assume nothing of why answers are missing (Manski), and say "
            "nothing of other stories or raters. Where the bounds of two sources overlap, missing answers alone could "
            "turn their order round."
        )
        of_parts = _(
            "Of what raters began to read. p: how often as much is missing in one part if each rater’s "
            "missing answers are spread over the rater’s stories by chance, or, of raters, over all that "
            "was ended; corrected for what was tested (Holm). Of 100 simulated studies in which answers "
            "are missing by chance, 2 to 6 named anything. It says where answers are missing, not why; "
            "where all read in one order, stories cannot be separated from their positions."
        )
        if result.bounds:
            yield DocumentSection(
                heading=_("Missing answers"),
                body=[table, Files(words=_("Missing answers"), table="missing-answers")],
                margin=[TextBlock(words=phrase(note))],
            )
        if result.parts:
            yield DocumentSection(
                heading=_("Missing answers by source, story, position and rater"),
                body=[
                    parts_table(result.parts),
                    Files(words=_("Missing answers by source, story, position and rater"), table="missing-parts"),
                ],
                margin=[TextBlock(words=of_parts)],
            )

    def statements(self, result: MissingAnswersResult, head: Head) -> Iterator[Statement]:
        yield from part_statements(result.parts, result.n_readings)


def _of_outcome(dataset: Dataset, table: OutcomeTable, expected: IntArray) -> list[SourceBounds]:
    """Every source's bounds; nothing where no answer is missing."""
    rows, ratings = [], _complete_readings(dataset, table)
    for source, _kind in dataset.sources:
        units = np.asarray(table.sources == source, dtype=np.bool_)
        try:
            bounds = missing_bounds.mean_bounds(ratings[:, units], expected[units], bounds=table.bounds)
        except Incomputable:
            continue  # nobody was to read it
        outcome, values = table.outcome, table.values[table.of_source(source)]
        about = {"outcome": outcome.key, "title": outcome.title, "is_percent": outcome.is_percent, "source": source}
        value = float(values.mean()) if values.size else None
        rows.append(SourceBounds(**{**about, **vars(bounds), "value": value}))
    return rows if any(row.n_missing for row in rows) else []


def _complete_readings(dataset: Dataset, table: OutcomeTable) -> FloatArray:
    """The outcome's number of each rater and story, shape (R, U), nan where one of its items has no answer."""
    keys = set(table.outcome.items)
    if len(keys) == 1 or table.outcome.score:
        return table.ratings
    cube = dataset.cube([item for item in dataset.items if item.key in keys])
    return np.where(np.isfinite(cube.values).all(axis=0), table.ratings, np.nan)
