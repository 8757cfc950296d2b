"""What sources are compared on: of every outcome a number for each story, over its raters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from reports.dataset.choices import choices_of, ranks_of
from reports.lazy import arrays, composites, np, pd
from studies.documents.scores import ScoreDocument
from studies.protocol import Outcome, list_outcomes

if TYPE_CHECKING:
    import numpy.typing as npt

    from reports.dataset import Dataset, StepItem
    from reports.dataset.cubes import Cube, Pair
    from stats.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class OutcomeTable:
    """One outcome, story by story. A story that stands in two groups has two units.

    values : shape (U,), nan for a story without an answer
    raters : the code of each row of ratings
    ratings : the same of each rater alone, shape (R, U), nan where a rater gave none
    clusters, sources : what each unit was sampled with, numbered, and who wrote it, shape (U,)
    blocks : what each unit shares with others beside raters, as its premise, numbered, shape (U,)
    bounds : between which a value can lie: percentages, places from 1 to as many as were ranked, ends of a scale
    """

    outcome: Outcome
    units: tuple[Pair, ...]
    raters: tuple[str, ...]
    values: FloatArray
    ratings: FloatArray
    clusters: IntArray
    blocks: IntArray
    sources: npt.NDArray[np.object_]
    bounds: tuple[float, float]

    @property
    def width(self) -> float:
        """How far apart two values can be."""
        return self.bounds[1] - self.bounds[0]

    def of_source(self, name: str) -> BoolArray:
        """Which units have a value and are of that source, shape (U,)."""
        return np.asarray((self.sources == name) & np.isfinite(self.values), dtype=np.bool_)

    def n_stories(self, units: BoolArray) -> int:
        """How many different stories these units are; shape (U,)."""
        return int(np.count_nonzero(np.bincount(self.stories[units])))

    @cached_property
    def stories(self) -> IntArray:
        """The number of each unit's story, shape (U,)."""
        codes, _stories = pd.factorize(np.array([story for _group, story in self.units], dtype=object))
        return np.asarray(codes, dtype=np.int64)


def outcome_tables(dataset: Dataset) -> list[OutcomeTable]:
    """Every outcome that people have answered, whole before its parts."""
    steps = dict.fromkeys(item.step for item in dataset.items)
    item_by_key = {item.key: item for item in dataset.items}
    tables = [_table(dataset, outcome, item_by_key) for outcome in list_outcomes(steps)]
    return [table for table in tables if np.isfinite(table.values).any()]


def _table(dataset: Dataset, outcome: Outcome, item_by_key: dict[Pair, StepItem]) -> OutcomeTable:
    items = [item_by_key[key] for key in outcome.items]
    units: Sequence[Pair]
    raters: Sequence[str] = dataset.raters
    if outcome.kind == "preference":
        units, values, raters, ratings = _shares(dataset, items[0])
    elif outcome.kind == "rank":
        units, values, raters, ratings = _mean_ranks(dataset, items[0])
    elif outcome.score:
        cube = dataset.cube(items)
        units, ratings = cube.units, score_ratings(outcome.score, items, cube.values)
        values = composites.over_raters(ratings)
    else:
        cube, scale = _cube(dataset, items), 100 if outcome.is_percent else 1
        units, ratings = cube.units, arrays.mean_present(cube.values, axis=0) * scale
        values = arrays.mean_present(arrays.mean_present(cube.values, axis=1), axis=0) * scale
    return OutcomeTable(
        outcome=outcome,
        units=tuple(units),
        raters=tuple(raters),
        values=values,
        ratings=ratings,
        clusters=dataset.clusters_of_units(units),
        blocks=dataset.blocks_of_units(units),
        sources=dataset.sources_of_units(units),
        bounds=_bounds(dataset, outcome, items),
    )


def score_ratings(score: ScoreDocument, items: Sequence[StepItem], values: FloatArray) -> FloatArray:
    """The score of each rater and unit, shape (I, ...) to (...); nan where one of its items has no answer."""
    return composites.composite(
        values,
        score.how,
        ends=[item.bounds for item in items],
        weights=_weights(score),
        is_reversed=[key in score.reversed for key in score.items],
    )


def counted_values(score: ScoreDocument, items: Sequence[StepItem], values: FloatArray) -> FloatArray:
    """What each answer counts in the score before it is divided, of the same shape: turned where it is reversed, times
    its weight."""
    is_reversed = [key in score.reversed for key in score.items]
    turned = composites.turned(values, [item.bounds for item in items], is_reversed)
    weights = np.array(_weights(score)).reshape(-1, *[1] * (values.ndim - 1))
    return np.asarray(turned * weights, dtype=np.float64)


def _weights(score: ScoreDocument) -> list[float]:
    return [score.weights.get(key, 1.0) for key in score.items]


def _bounds(dataset: Dataset, outcome: Outcome, items: Sequence[StepItem]) -> tuple[float, float]:
    if outcome.is_percent:
        return 0.0, 100.0
    if outcome.score:
        ends = [item.bounds for item in items]
        return composites.bounds(outcome.score.how, ends=ends, weights=_weights(outcome.score))
    if outcome.kind == "rank":
        return 1.0, float(max((sum(map(len, order)) for order in dataset.answers_to(items[0])["value"]), default=1))
    return items[0].bounds


def _cube(dataset: Dataset, items: list[StepItem]) -> Cube:
    """People's answers to these items; of verdicts out of the one cube that holds them all."""
    if not items[0].type.is_verdict:
        return dataset.cube(items)
    cube, keys = dataset.verdict_cube, {item.key for item in items}
    return cube.select_items([key in keys for key in cube.items])


def _shares(dataset: Dataset, item: StepItem) -> tuple[list[Pair], FloatArray, list[str], FloatArray]:
    """How often each story was chosen, in percent of the choices in its group; of each rater 100 or 0."""
    n_by_group: dict[str, int] = defaultdict(int)
    n_by_unit: dict[Pair, int] = defaultdict(int)
    chosen_by_rater: dict[str, dict[str, str]] = defaultdict(dict)
    for choice in choices_of(dataset, item):
        n_by_group[choice.group] += 1
        n_by_unit[choice.group, choice.story] += 1
        chosen_by_rater[choice.rater][choice.group] = choice.story
    units = [unit for unit in dataset.units if unit[0] in n_by_group]
    ratings = [
        {unit: 100.0 * (chosen[unit[0]] == unit[1]) for unit in units if unit[0] in chosen}
        for chosen in chosen_by_rater.values()
    ]
    values = _array(100 * n_by_unit[unit] / n_by_group[unit[0]] for unit in units)
    return units, values, list(chosen_by_rater), _matrix(ratings, units)


def _mean_ranks(dataset: Dataset, item: StepItem) -> tuple[list[Pair], FloatArray, list[str], FloatArray]:
    """The mean place of each story, 1 the first; of each rater the place."""
    ranks_by_rater: dict[str, dict[Pair, float]] = defaultdict(dict)
    ranks_by_unit: dict[Pair, list[float]] = defaultdict(list)
    answers = dataset.answers_to(item)
    for rater, group, order in zip(answers["rater"], answers["group"], answers["value"], strict=True):
        for story, rank in ranks_of(order).items():
            ranks_by_unit[group, story].append(rank)
            ranks_by_rater[rater][group, story] = rank
    units = sorted(ranks_by_unit)
    means = _array(sum(ranks_by_unit[unit]) / len(ranks_by_unit[unit]) for unit in units)
    return units, means, list(ranks_by_rater), _matrix(list(ranks_by_rater.values()), units)


def _matrix(number_by_unit: Sequence[dict[Pair, float]], units: Sequence[Pair]) -> FloatArray:
    """Each rater's numbers as a row, nan where there is none."""
    place_by_unit = {unit: n for n, unit in enumerate(units)}
    matrix = np.full((len(number_by_unit), len(units)), np.nan)
    for row, numbers in zip(matrix, number_by_unit, strict=True):
        places = [place_by_unit.get(unit, -1) for unit in numbers]
        is_asked = np.array(places, dtype=np.int64) >= 0
        row[np.array(places, dtype=np.int64)[is_asked]] = np.array(list(numbers.values()), dtype=np.float64)[is_asked]
    return matrix


def _array(numbers: Iterable[float]) -> FloatArray:
    return np.array(list(numbers), dtype=np.float64)
