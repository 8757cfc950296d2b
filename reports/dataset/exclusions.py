"""What the exclusion rules of an analysis plan leave out: readings, each by a rater of a story in a group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reports.dataset.blocks import item_blocks
from reports.dataset.records.reading_times import FASTEST, words_a_minute
from reports.lazy import arrays, composites, np, outlying_raters
from studies.documents.analysis_plan import (
    FAILED_CHECKS,
    FAST,
    NAMED_RATERS,
    NAMED_STORIES,
    OF_A_STORY,
    OF_ALL_STORIES,
    RECOGNISED,
    STRAIGHT_LINING,
    AnalysisPlan,
)

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable
    from reports.dataset.records.reading_times import TimedReading
    from stats.arrays import BoolArray

# Beside the rules of a plan: nothing is left out, or what any of them leaves out.
NO_RULE, ALL_RULES = "none", "all"


@dataclass(frozen=True)
class Exclusion:
    """What one rule leaves out.

    detail : as `AnalysisPlan.detail_of` gives it
    readings : shape (R, U), of the raters and units of the dataset
    """

    rule: str
    detail: str
    readings: BoolArray


def find_exclusions(dataset: Dataset, plan: AnalysisPlan) -> list[Exclusion]:
    """What each rule of the plan leaves out, in the order of rules. Reads records that the rules rest on."""
    readings_by_rule: dict[str, Callable[[Dataset, AnalysisPlan], BoolArray]] = {
        FAILED_CHECKS: lambda dataset, plan: _of_raters(dataset, dataset.records.failed_raters),
        FAST: _fast,
        STRAIGHT_LINING: _straight_lining,
        RECOGNISED: lambda dataset, plan: _recognised(dataset),
        NAMED_RATERS: lambda dataset, plan: _of_raters(dataset, plan.exclude_raters),
        NAMED_STORIES: lambda dataset, plan: _of_stories(dataset, plan.exclude_stories),
    }
    return [Exclusion(rule, plan.detail_of(rule), readings_by_rule[rule](dataset, plan)) for rule in plan.rules]


def open_exclusions(dataset: Dataset, plan: AnalysisPlan) -> list[Exclusion]:
    """The rules of the plan that leave something out; of one without rules, of those that might have been planned:
    failed checks, more words a minute than hardly anybody reads, one answer throughout, and recognised stories.
    """
    might_have = replace(
        plan,
        exclude_failed_checks=True,
        exclude_faster_than=FASTEST,
        exclude_straight_lining=OF_ALL_STORIES,
        exclude_recognised=True,
    )
    exclusions = dataset.exclusions if plan.rules else find_exclusions(dataset, might_have)
    return [exclusion for exclusion in exclusions if exclusion.readings.any()]


def join(dataset: Dataset, exclusions: Iterable[Exclusion]) -> BoolArray:
    """The readings that any of these leaves out, shape (R, U)."""
    readings = np.zeros((len(dataset.raters), len(dataset.units)), dtype=np.bool_)
    for exclusion in exclusions:
        readings |= exclusion.readings
    return readings


def leave_out(dataset: Dataset, table: OutcomeTable, readings: BoolArray) -> OutcomeTable:
    """The outcome without these readings, shape (R, U) of the dataset. What a rater said of a group as a whole, as a
    choice, goes with any of its stories."""
    is_out = _places_of(dataset, table, readings)
    ratings = np.where(is_out, np.nan, table.ratings)
    if table.outcome.kind in ("verdicts", "dimension"):
        # Each test weighs the same, whoever answered it.
        keys = set(table.outcome.items)
        cube = dataset.verdict_cube.select_items([key in keys for key in dataset.verdict_cube.items])
        of_items = arrays.mean_present(np.where(is_out, np.nan, cube.values), axis=1)
        return replace(table, ratings=ratings, values=arrays.mean_present(of_items, axis=0) * 100)
    values = composites.over_raters(ratings) if table.outcome.score else arrays.mean_present(ratings, axis=0)
    return replace(table, ratings=ratings, values=values)


def _places_of(dataset: Dataset, table: OutcomeTable, readings: BoolArray) -> BoolArray:
    """Which of the table's own ratings are left out, shape (R, U) of the table."""
    if table.outcome.kind not in ("rank", "preference"):
        return readings
    columns_by_group: dict[str, list[int]] = defaultdict(list)
    for column, (group, _story) in enumerate(dataset.units):
        columns_by_group[group].append(column)
    rows = [dataset.raters.index(rater) for rater in table.raters]
    places = np.zeros(table.ratings.shape, dtype=np.bool_)
    for column, (group, _story) in enumerate(table.units):
        places[:, column] = readings[np.ix_(rows, columns_by_group[group])].any(axis=1)
    return places


def _of_raters(dataset: Dataset, codes: Iterable[str]) -> BoolArray:
    codes_left_out = set(codes)
    is_named = np.array([rater in codes_left_out for rater in dataset.raters], dtype=np.bool_)
    return np.repeat(is_named[:, np.newaxis], len(dataset.units), axis=1)


def _of_stories(dataset: Dataset, codes: Sequence[str]) -> BoolArray:
    is_named = np.array([story in codes for _group, story in dataset.units], dtype=np.bool_)
    return np.repeat(is_named[np.newaxis], len(dataset.raters), axis=0)


def _fast(dataset: Dataset, plan: AnalysisPlan) -> BoolArray:
    by_rater: dict[str, list[TimedReading]] = defaultdict(list)
    for reading in dataset.records.timed_readings:
        by_rater[reading.rater].append(reading)
    limit = plan.exclude_faster_than or np.inf
    return _of_raters(dataset, [rater for rater, own in by_rater.items() if (words_a_minute(own) or 0) > limit])


def _straight_lining(dataset: Dataset, plan: AnalysisPlan) -> BoolArray:
    """By sets of scales with the same ends: in each that was answered, all answers are the same."""
    cubes = [block.cube.values for block in item_blocks(dataset) if block.kind == "scales"]
    if plan.exclude_straight_lining == OF_A_STORY:
        alike = np.zeros((len(dataset.raters), len(dataset.units)), dtype=np.bool_)
        differing = alike.copy()
        for cube in cubes:
            is_same = outlying_raters.same_answers(cube)
            alike |= is_same
            differing |= (np.isfinite(cube).sum(axis=0) >= outlying_raters.FEWEST_ITEMS) & ~is_same
        return np.asarray(alike & ~differing, dtype=np.bool_)
    constant = np.zeros(len(dataset.raters), dtype=np.bool_)
    varying = constant.copy()
    for cube in cubes:
        is_constant = np.isfinite(outlying_raters.constant_answers(cube))
        constant |= is_constant
        varying |= np.isfinite(cube).any(axis=(0, 2)) & ~is_constant
    return np.repeat((constant & ~varying)[:, np.newaxis], len(dataset.units), axis=1)


def _recognised(dataset: Dataset) -> BoolArray:
    row_by_rater = {rater: n for n, rater in enumerate(dataset.raters)}
    column_by_unit = {unit: n for n, unit in enumerate(dataset.units)}
    readings = np.zeros((len(dataset.raters), len(dataset.units)), dtype=np.bool_)
    for rater, *unit in dataset.records.recognised:
        row, column = row_by_rater.get(rater), column_by_unit.get((unit[0], unit[1]))
        if row is not None and column is not None:
            readings[row, column] = True
    return readings
