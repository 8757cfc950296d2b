"""What judges answered about changed stories, beside what they answered about the same stories as they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation.models import Response
from reports.dataset.answers import ALTERED
from reports.dataset.judged import answers_to
from reports.lazy import np

if TYPE_CHECKING:
    import pandas as pd

    from reports.dataset import Dataset, StepItem
    from stats.arrays import FloatArray

Place = tuple[int, int]  # item and unit


@dataclass(frozen=True)
class AlteredAnswers:
    """One judge's answers to some items, each of shape (I, U), nan where there is none.

    plain_by_intervention : the last answer about the story as it is that was planned before that about the changed one
    altered_by_intervention : by slug and version
    of_several_runs : the interventions of which the two answers of some pair are of different runs
    first, second : answers about the story as it is, where there are two
    """

    judge: str
    plain_by_intervention: dict[str, FloatArray]
    altered_by_intervention: dict[str, FloatArray]
    of_several_runs: frozenset[str]
    first: FloatArray
    second: FloatArray


def read_altered_answers(dataset: Dataset, items: Sequence[StepItem]) -> list[AlteredAnswers]:
    """Of every judge that read changed stories, by name. No query but that of the readings."""
    altered = answers_to(dataset.answers[dataset.answers["status"] == ALTERED], items) if items else None
    if altered is None or altered.empty:
        return []
    plain = answers_to(dataset.all_readings, items)
    return [
        _of_judge(dataset, items, judge, plain[plain["rater"] == judge], altered[altered["rater"] == judge])
        for judge in sorted(altered["rater"].unique())
    ]


def _of_judge(
    dataset: Dataset, items: Sequence[StepItem], judge: str, plain: pd.DataFrame, altered: pd.DataFrame
) -> AlteredAnswers:
    readings = dataset.reading_by_assignment
    answers_by_place = defaultdict[Place, list[tuple[int, float, int | None]]](list)
    for place, seat, number, pk in _walk(dataset, items, plain):
        reading = readings[pk]
        if not reading.is_reversed and reading.persona in ("", *reading.personas[:1]):
            answers_by_place[place].append((seat, number, reading.run))
    shape = len(items), len(dataset.units)
    tables = defaultdict[str, tuple[Any, Any]](lambda: (np.full(shape, np.nan), np.full(shape, np.nan)))
    of_several_runs = set()
    for place, seat, number, pk in _walk(dataset, items, altered):
        before = [(answer, run) for earlier, answer, run in answers_by_place[place] if earlier < seat]
        if before:
            of_plain, of_altered = tables[readings[pk].intervention]
            (of_plain[place], run), of_altered[place] = before[-1], number
            if run != readings[pk].run:
                of_several_runs.add(readings[pk].intervention)
    first, second = np.full(shape, np.nan), np.full(shape, np.nan)
    for place, answers in answers_by_place.items():
        if len(answers) > 1:
            first[place], second[place] = answers[0][1], answers[1][1]
    return AlteredAnswers(
        judge=judge,
        plain_by_intervention={name: tables[name][0] for name in sorted(tables)},
        altered_by_intervention={name: tables[name][1] for name in sorted(tables)},
        of_several_runs=frozenset(of_several_runs),
        first=first,
        second=second,
    )


def _walk(dataset: Dataset, items: Sequence[StepItem], rows: pd.DataFrame) -> Iterator[tuple[Place, int, float, int]]:
    """Of each answer in the order of seats its place, seat, number and assignment."""
    place_by_unit = {unit: n for n, unit in enumerate(dataset.units)}
    place_by_item = {item.key: n for n, item in enumerate(items)}
    rows = rows[(rows["outcome"] == Response.Outcome.ANSWERED) & rows["analysed"].notna()]
    rows = rows.sort_values("seat", kind="stable")
    names = ("step", "item", "group", "story", "seat", "analysed", "assignment")
    for step, item, group, story, seat, number, pk in zip(*(rows[name] for name in names), strict=True):
        unit = place_by_unit.get((group, story))
        if unit is not None:
            yield (place_by_item[step, item], unit), int(seat), float(number), pk
