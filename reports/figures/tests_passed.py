"""How many tests each story passes, the mean of its raters' counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports import reasons
from reports.figures import plots
from reports.figures.base import (
    N_RESAMPLES,
    Estimate,
    Figure,
    Floor,
    Interval,
    Reason,
    Row,
    chance_floor,
    estimate,
    interval,
    weakest_note,
    without_value,
)
from reports.lazy import comparisons, intervals, np, rates
from reports.numbers import NONE, coefficient, coefficients, decimal
from reports.numbers import interval as between

if TYPE_CHECKING:
    from reports.dataset import Cube, Dataset
    from stats.arrays import FloatArray
    from stats.intervals import Interval as StatisticInterval


@dataclass(frozen=True, kw_only=True)
class StoryTests:
    """value : None if no rater answered every test"""

    group: str
    story: str
    source: str
    value: float | None
    n_raters: int


@dataclass(frozen=True, kw_only=True)
class SourceTests:
    """The mean over a source's stories, and the least and most of them."""

    source: str
    value: float | None
    why: Reason | None = None
    n_stories: int
    least: float | None = None
    most: float | None = None
    interval: Interval | None = None


@dataclass(frozen=True, kw_only=True)
class TotalsAgreement:
    """How two raters' counts of Yes about one story go together: Pearson's r over all ordered pairs of raters."""

    coefficient: Estimate
    interval: Interval
    floor: Floor


@dataclass(frozen=True, kw_only=True)
class TestsPassedResult:
    n_items: int
    stories: tuple[StoryTests, ...]
    by_source: tuple[SourceTests, ...]
    totals: TotalsAgreement


class TestsPassed(Figure[TestsPassedResult]):
    key = "tests_passed"
    title = gettext_lazy("Tests passed by each story")
    position = 60
    result = TestsPassedResult
    tables = ("tests-passed",)
    edition = 6
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> TestsPassedResult | None:
        items = dataset.verdict_items
        if len(items) < 2:
            return None
        cube = dataset.verdict_cube
        passed = rates.tests_passed(cube.values)
        n_raters = np.isfinite(rates.totals(cube.values)).sum(axis=0)
        return TestsPassedResult(
            n_items=len(items),
            stories=tuple(
                StoryTests(
                    group=group,
                    story=story,
                    source=dataset.source_of(story),
                    value=float(value) if np.isfinite(value) else None,
                    n_raters=n,
                )
                for (group, story), value, n in zip(cube.units, passed, n_raters.tolist(), strict=True)
            ),
            by_source=tuple(_of_source(dataset, cube, name, passed) for name, _kind in dataset.sources),
            totals=_totals(dataset, cube),
        )

    def rows(self, result: TestsPassedResult) -> dict[str, Iterator[Row]]:
        return {"tests-passed": (dict(vars(story)) for story in result.stories)}

    def lines(self, result: TestsPassedResult) -> Iterator[str]:
        yield f"\nTests passed by each story, of {result.n_items}"
        for row in result.by_source:
            if row.why:
                yield f"  {row.source[:34]:<34} {NONE} {reasons.to_english(row.why)}"
                continue
            note = f"; {row.interval.note}" if row.interval and row.interval.is_weak else ""
            spread = f"{decimal(row.least)} to {decimal(row.most)} over {row.n_stories} stories"
            yield f"  {row.source[:34]:<34} mean {decimal(row.value)}, 95 % {between(row.interval)}; {spread}{note}"
        totals = result.totals
        if totals.coefficient.value is not None:
            ends = f"95 % {coefficients(totals.interval)}, chance to {coefficient(totals.floor.upper)}"
            yield f"  two raters of one story: Pearson's r {coefficient(totals.coefficient.value)}, {ends}"

    def context(self, result: TestsPassedResult) -> dict[str, Any]:
        return {"plot": _plot(result), "note": weakest_note(row.interval for row in result.by_source)}


def _totals(dataset: Dataset, cube: Cube) -> TotalsAgreement:
    totals = rates.totals(cube.values)
    is_counted = (np.isfinite(totals)).sum(axis=0) >= 2
    counted = totals[:, is_counted]
    return TotalsAgreement(
        coefficient=estimate(comparisons.pairs_pearson, totals),
        interval=interval(
            intervals.interval_of_sums,
            comparisons.pairs_pearson_of,
            comparisons.pairs_pearson_parts(counted),
            dataset.clusters(cube)[is_counted],
            rng=dataset.resampling(),
            n_resamples=N_RESAMPLES,
        ),
        floor=chance_floor(comparisons.pairs_pearson_floor, totals, rng=dataset.shuffling()),
    )


def _of_source(dataset: Dataset, cube: Cube, source: str, passed: FloatArray) -> SourceTests:
    mask = dataset.is_of_source(cube, source) & np.isfinite(passed)
    values, clusters = passed[mask], dataset.clusters(cube)[mask]
    if not values.size:
        return SourceTests(source=source, value=None, why=without_value("no_complete_rater"), n_stories=0)

    def ends() -> StatisticInterval:
        rng, n_items = dataset.resampling(), len(cube.items)
        return rates.passed_interval(values, n_items, clusters, rng=rng, n_resamples=N_RESAMPLES)

    return SourceTests(
        source=source,
        value=float(values.mean()),
        n_stories=int(values.size),
        least=float(values.min()),
        most=float(values.max()),
        interval=interval(ends),
    )


def _plot(result: TestsPassedResult) -> plots.StripPlot | None:
    if all(story.value is None for story in result.stories):
        return None
    values_by_row = [
        (row.source, [s.value for s in result.stories if s.source == row.source and s.value is not None])
        for row in result.by_source
    ]
    return plots.StripPlot(values_by_row, plots.scale_axis(0, result.n_items))
