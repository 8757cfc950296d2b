"""The specifications of the primary outcome's contrasts: every way in which the open choices can be made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from reports.dataset.exclusions import ALL_RULES, NO_RULE, join, leave_out, open_exclusions
from reports.document.values import Interval
from reports.figures.sources.compared_parts import ContrastTable
from reports.figures.sources.planned_contrasts import (
    choose_test,
    compare_planned,
    compare_sources,
    compare_without,
    count_fits,
)
from reports.lazy import arrays, composites, np

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable
    from stats.arrays import BoolArray

BY_MODEL = "model"  # as a test
MOST_PAIRS = 3  # of sources, of which a curve is drawn
# Tests on means of stories take about 25 ms for every million cells of raters by stories and pair; .25 s in all.
MOST_CELLS = 10_000_000
# Choices beside what is left out. Measure: the outcome, or the mean of the answered scales of its score. Analysis: the
# mixed model of all answers, or a test on means of stories. Stories: all, or those of premises that hold both sources.
AS_PLANNED, MEAN_OF_SCALES = "outcome", "mean_of_scales"
MODEL, STORY_MEANS = "model", "story_means"
DRAWN, FIXED = "drawn", "fixed"
ALL_STORIES, SHARED = "all", "shared"


@dataclass(frozen=True, kw_only=True)
class Specification:
    """One contrast by one choice of everything.

    rule, detail : what is left out, as in the section of exclusions
    measure, analysis, raters, stories : as above
    is_planned : whether it is the analysis of the plan
    n : ratings
    value : the first source less the second, with its interval, for drawn raters or for these
    """

    outcome: str
    title: str
    is_percent: bool
    is_lower_better: bool
    first: str
    second: str
    rule: str
    detail: str
    measure: str
    analysis: str
    raters: str
    stories: str
    is_planned: bool
    n: int
    value: float
    interval: Interval

    @property
    def places(self) -> int:
        return 1 if self.is_percent else 2

    @property
    def is_first_ahead(self) -> bool:
        return self.value < 0 if self.is_lower_better else self.value > 0

    @property
    def leaves_out_zero(self) -> bool:
        low, high = self.interval.low, self.interval.high
        return low is not None and high is not None and not low <= 0 <= high


@dataclass(frozen=True)
class _Material:
    """The answers of a specification: what is left out of them, and what is measured."""

    rule: str
    detail: str
    readings: BoolArray
    measure: str
    table: OutcomeTable


def list_specifications(dataset: Dataset, whole: OutcomeTable, pairs: list[tuple[str, str]]) -> Iterator[Specification]:
    """Every specification of these pairs, that of the plan first. whole : the outcome with all of its answers"""
    test = choose_test(dataset, whole)
    n_fits = count_fits(whole, dataset)
    n_materials = max(1, MOST_CELLS // (whole.ratings.size * len(pairs) or 1))
    for n, material in enumerate(islice(_list_materials(dataset, whole), n_materials)):
        analyses = [STORY_MEANS]
        # What the plan compares by the model is fitted anyway.
        if whole.outcome.kind not in ("rank", "preference") and (n < n_fits or (n == 0 and test == BY_MODEL)):
            analyses.insert(0, MODEL)
        for analysis in analyses:
            is_planned = n == 0 and (analysis == MODEL) == (test == BY_MODEL)
            for first, second in pairs:
                yield from _of_pair(dataset, whole, material, analysis, (first, second), is_planned=is_planned)


def _of_pair(
    dataset: Dataset,
    whole: OutcomeTable,
    material: _Material,
    analysis: str,
    pair: tuple[str, str],
    *,
    is_planned: bool,
) -> Iterator[Specification]:
    """By how raters are taken and, of means of stories, by which stories; those without an interval are left out."""
    outcome = material.table.outcome
    for stories, table in _list_stories(material.table, *pair) if analysis == STORY_MEANS else [(ALL_STORIES, None)]:
        compared = _compare(dataset, whole, material, analysis, table)
        if not set(pair) <= set(compared.names):
            continue
        row = compared.row(*pair)
        ends_by_raters = {DRAWN: row.wide, FIXED: row.interval}
        for raters, ends in ends_by_raters.items():
            if row.value is None or ends is None or ends.low is None:
                continue
            yield Specification(
                outcome=outcome.key,
                title=outcome.title,
                is_percent=outcome.is_percent,
                is_lower_better=outcome.is_lower_better,
                first=pair[0],
                second=pair[1],
                rule=material.rule,
                detail=material.detail,
                measure=material.measure,
                analysis=analysis,
                raters=raters,
                stories=stories,
                is_planned=is_planned and stories == ALL_STORIES,
                n=int(np.isfinite((table or material.table).ratings).sum()),
                value=row.value,
                interval=ends,
            )
            is_planned = is_planned and stories != ALL_STORIES  # the first of them, for drawn raters if it can be


def _compare(
    dataset: Dataset, whole: OutcomeTable, material: _Material, analysis: str, table: OutcomeTable | None
) -> ContrastTable:
    """The fit that other sections have where they have it."""
    test, key = choose_test(dataset, whole), (material.measure, material.rule, analysis)
    if table is not None:
        return compare_sources(dataset, table, test="default" if test == BY_MODEL else test)
    if material.measure == AS_PLANNED and test == BY_MODEL:
        if material.rule == _planned_rule(dataset):
            return compare_planned(dataset, material.table)
        return compare_without(dataset, whole, material.rule, material.readings)
    name = "/".join(key)
    if (whole.outcome.key, name) not in dataset.compared:
        dataset.compared[whole.outcome.key, name] = compare_sources(dataset, material.table, test=BY_MODEL)
    compared: ContrastTable = dataset.compared[whole.outcome.key, name]
    return compared


def _planned_rule(dataset: Dataset) -> str:
    return ALL_RULES if dataset.plan is not None and dataset.plan.rules else NO_RULE


def _list_materials(dataset: Dataset, whole: OutcomeTable) -> Iterator[_Material]:
    """What can be left out, that of the plan first, by what can be measured."""
    nothing = np.zeros((len(dataset.raters), len(dataset.units)), dtype=np.bool_)
    exclusions = open_exclusions(dataset, dataset.plan) if dataset.plan else []
    variants = {NO_RULE: ("", nothing)} | {one.rule: (one.detail, one.readings) for one in exclusions}
    planned = _planned_rule(dataset)
    if planned == ALL_RULES or len(exclusions) > 1:
        variants[ALL_RULES] = ("", join(dataset, exclusions))
    if planned == ALL_RULES and len(exclusions) == 1:
        del variants[exclusions[0].rule]  # which is all of them
    ordered = sorted(variants.items(), key=lambda variant: variant[0] != planned)
    for measure, table in _list_measures(dataset, whole):
        n_all = np.isfinite(table.ratings).sum()
        for rule, (detail, readings) in ordered:
            remaining = leave_out(dataset, table, readings)
            if rule in (planned, NO_RULE) or np.isfinite(remaining.ratings).sum() < n_all:
                yield _Material(rule, detail, readings, measure, remaining)


def _list_measures(dataset: Dataset, whole: OutcomeTable) -> Iterator[tuple[str, OutcomeTable]]:
    """The outcome and, of a score of scales with ends, the mean of what was answered, in the unit of the score; where
    both are the same, one."""
    yield AS_PLANNED, whole
    score = whole.outcome.score
    if score is None:
        return
    item_by_key = {item.key: item for item in dataset.items}
    items = [item_by_key[key] for key in whole.outcome.items]
    ends = [item.bounds for item in items]
    if not np.isfinite(ends).all():
        return
    turned = composites.turned(dataset.cube(items).values, ends, [key in score.reversed for key in score.items])
    low, high = (np.array([pair[n] for pair in ends])[:, np.newaxis, np.newaxis] for n in (0, 1))
    shares = arrays.mean_present((turned - low) / (high - low), axis=0)
    ratings = np.round(whole.bounds[0] + shares * whole.width, 9)
    if not np.allclose(ratings, whole.ratings, equal_nan=True):
        yield MEAN_OF_SCALES, replace(whole, ratings=ratings, values=arrays.mean_present(ratings, axis=0))


def _list_stories(table: OutcomeTable, first: str, second: str) -> Iterator[tuple[str, OutcomeTable]]:
    """All stories and, where some stand in a block without the other source, those of blocks that hold both."""
    yield ALL_STORIES, table
    blocks = [set(table.blocks[table.of_source(name)].tolist()) for name in (first, second)]
    shared = blocks[0] & blocks[1]
    if shared and shared != blocks[0] | blocks[1]:
        is_shared = np.isin(table.blocks, list(shared))
        values, ratings = np.where(is_shared, table.values, np.nan), np.where(is_shared, table.ratings, np.nan)
        yield SHARED, replace(table, values=values, ratings=ratings)
