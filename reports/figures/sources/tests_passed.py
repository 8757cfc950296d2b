"""How many tests each story passes, the mean of its raters' counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.document import columns, notes, plots
from reports.document.columns import LEAD, decimals, ends
from reports.document.files import file_only
from reports.document.model import DocumentSection, DrawnPlot, Files, Head, ReportTable, TextBlock
from reports.document.phrases import phrase
from reports.document.values import Estimate, Floor, Interval, Reason
from reports.figures.base import N_RESAMPLES, Figure, chance_floor, estimate, interval, without_value
from reports.lazy import comparisons, intervals, np, rates
from reports.numbers import coefficient, coefficients, whole

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
    section = "stories"
    tables = ("tests-passed",)
    pages_of = "stories"
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

    def describe(self, result: TestsPassedResult, head: Head) -> Iterator[DocumentSection]:
        counted = ngettext("%(shown)s story", "%(shown)s stories", len(result.stories))
        described = _("One mark a story, a row a source. The file beside the plot holds every story.")
        plot = _plot(result)
        note = _("A story’s value is the mean of its raters’ counts of Yes; raters who left a test open are left out.")
        yield DocumentSection(
            heading=_("Tests passed by each story, of %(n_items)s") % {"n_items": result.n_items},
            body=[
                *([DrawnPlot(plot=plot, title=_("Tests passed by each story"), described=described)] if plot else []),
                _by_source(result),
                file_only(
                    "tests-passed", result.stories, columns.fields("group", "story", "source", "value", "n_raters")
                ),
                Files(words=counted % {"shown": whole(len(result.stories))}, table="tests-passed", is_count=True),
            ],
            margin=[
                TextBlock(words=note),
                *_of_two_raters(result.totals),
                *notes.weakest(row.interval for row in result.by_source),
            ],
        )


def _by_source(result: TestsPassedResult) -> ReportTable[SourceTests]:
    return ReportTable(
        label=_("Tests passed by source"),
        rows=result.by_source,
        why=lambda row: row.why,
        columns=[
            columns.words("source", _("Source"), is_head=True),
            columns.number("value", _("Mean"), write=decimals(1), css=LEAD),
            columns.interval(lambda row: row.interval, write=ends(1)),
            columns.number("least", _("Least"), write=decimals(1)),
            columns.number("most", _("Most"), write=decimals(1)),
            columns.number("n_stories", _("Stories")),
        ],
    )


def _of_two_raters(totals: TotalsAgreement) -> list[TextBlock]:
    """How two raters' counts go together; nothing where that has no value."""
    if totals.coefficient.value is None:
        return []
    if totals.interval.low is None:
        sentence = _(
            "Two raters’ counts on one story go together at <i>r</i> = %(r)s (shuffled answers reach %(floor)s): "
            "Pearson’s correlation over all ordered pairs of a story’s raters."
        )
    else:
        sentence = _(
            "Two raters’ counts on one story go together at <i>r</i> = %(r)s (95 %% interval %(ends)s; shuffled "
            "answers reach %(floor)s): Pearson’s correlation over all ordered pairs of a story’s raters."
        )
    values = {"ends": coefficients(totals.interval), "floor": coefficient(totals.floor.upper)}
    return [TextBlock(words=phrase(sentence, r=coefficient(totals.coefficient.value), **values))]


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
