"""Who people thought wrote the stories, on a scale: how often right, how near, beside always the same answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.document import columns, notes, plots
from reports.document.columns import LEAD, QUIET, decimals, ends
from reports.document.model import (
    DocumentSection,
    DrawnPlot,
    Files,
    Head,
    ReportTable,
    TableCell,
    TableColumn,
    TextBlock,
)
from reports.document.phrases import phrase
from reports.document.values import Interval, IntervalEstimate
from reports.figures.base import (
    N_RESAMPLES,
    Figure,
    ItemFigure,
    ItemRow,
    Listing,
    ends_note,
    interval,
    item_fields,
    select_labels,
    without_value,
)
from reports.lazy import human_likeness, intervals, np, rates
from reports.numbers import whole
from studies.models import Source

if TYPE_CHECKING:
    from reports.dataset import Cube, Dataset, StepItem
    from stats.arrays import BoolArray, FloatArray, IntArray
    from stats.intervals import Interval as StatisticInterval

SALT = 66  # of the seed
ITEM = "human-likeness"  # the key of an item that says on a scale who wrote the story: the high end is a person


@dataclass(frozen=True, kw_only=True)
class Accuracy(IntervalEstimate):
    """In percent, over clusters.

    measure : "right", a score on the right side of the middle; "near", 1 - |score - ideal| / width; "balanced", the
        mean of what is right about people's stories and about models'
    always_model, always_person, always_middle : what these answers would reach
    """

    measure: str
    always_model: float | None
    always_person: float | None
    always_middle: float | None


@dataclass(frozen=True, kw_only=True)
class SourceLikeness:
    """n_by_point : ratings of each point, from the lowest; right, near : in percent"""

    source: str
    source_kind: str
    n: int
    n_stories: int
    n_by_point: tuple[int, ...]
    right: float | None
    near: float | None
    interval: Interval  # of right


@dataclass(frozen=True, kw_only=True)
class Likeness(ItemRow):
    """Ratings of stories whose author is known. n_undecided : at the middle of the scale, neither right nor wrong"""

    lowest: int
    highest: int
    n: int
    n_undecided: int
    accuracies: tuple[Accuracy, ...]
    by_source: tuple[SourceLikeness, ...]

    @property
    def points(self) -> range:
        return range(self.lowest, self.highest + 1)


class HumanLikeness(ItemFigure[Likeness], Figure[Listing[Likeness]]):
    key = "human_likeness"
    title = gettext_lazy("Human-likeness ratings")
    position = 92
    section = "sources"
    tables = ("human-likeness", "human-likeness-by-source")

    def is_about(self, item: StepItem) -> bool:
        return item.is_scale and item.item.key == ITEM and _bounds(item) is not None

    def of_item(self, dataset: Dataset, item: StepItem, *, salt: int) -> Likeness | None:
        likeness = _likeness(dataset, item, salt=salt)
        return likeness if likeness.n else None

    def describe(self, result: Listing[Likeness], head: Head) -> Iterator[DocumentSection]:
        all_intervals = [
            *(accuracy.interval for row in result.rows for accuracy in row.accuracies),
            *(part.interval for row in result.rows for part in row.by_source),
        ]
        weakest = notes.weakest(all_intervals)
        for row in result.rows:
            counted = ngettext("%(shown)s rating", "%(shown)s ratings", row.n) % {"shown": whole(row.n)}
            counts = _("The table below the plot holds the counts.")
            yield DocumentSection(
                heading=_("Human-likeness ratings"),
                body=[
                    DrawnPlot(
                        plot=_plot(row), title=_("Right and near, in percent"), described=notes.table_below_plot()
                    ),
                    _accuracy_table(row),
                    Files(words=counted, table="human-likeness", is_count=True),
                    DrawnPlot(
                        plot=_stack(row), title=_("Share of every point by source, in percent"), described=counts
                    ),
                    Files(words=_("By source"), table="human-likeness-by-source"),
                    _source_table(row),
                ],
                margin=[*(TextBlock(words=words) for words in _margin(row)), *weakest],
            )


def _margin(row: Likeness) -> list[str]:
    terms = _(
        "As analysed, %(lowest)s is surely a model and %(highest)s surely a person. <strong>Right</strong> is a rating "
        "on the right side of the middle; the middle is not right. <strong>Near</strong> is 1 less the distance to the "
        "right end, by the width of the scale: the “accuracy” of some papers, which is half for whoever always takes "
        "the middle."
    )
    undecided = _("%(n)s of %(all)s ratings are in the middle.") % {"n": whole(row.n_undecided), "all": whole(row.n)}
    clusters = _("Intervals are over groups of stories, with raters held fixed.")
    return [phrase(terms, lowest=row.lowest, highest=row.highest), undecided, clusters]


def _accuracy_table(row: Likeness) -> ReportTable[Accuracy]:
    return ReportTable(
        name="human-likeness",
        label=_("Accuracy of human-likeness ratings"),
        caption=_("In percent, beside what always giving one answer would reach."),
        rows=row.accuracies,
        columns=[
            columns.item_in_file(lambda accuracy: row),
            columns.words("measure", _("Measure"), shown=lambda accuracy: measure_name(accuracy.measure), is_head=True),
            columns.estimate("percent", _("People"), lambda accuracy: accuracy, write=decimals(1), css=LEAD),
            columns.interval(lambda accuracy: accuracy.interval, write=ends(1)),
            columns.number("always_model", _("Always “a model”"), write=decimals(1)),
            columns.number("always_person", _("Always “a person”"), write=decimals(1)),
            columns.number("always_middle", _("Always the middle"), write=decimals(1)),
            columns.fields("n", "n_undecided", of=lambda accuracy: row),
            columns.note(lambda accuracy: ends_note(accuracy.interval)),
        ],
    )


def _source_table(row: Likeness) -> ReportTable[SourceLikeness]:
    def count(n: int, point: int) -> TableColumn[SourceLikeness]:
        return TableColumn(heading=str(point), cell=lambda part: TableCell(words=whole(part.n_by_point[n])), files={})

    return ReportTable(
        name="human-likeness-by-source",
        label=_("Points by source"),
        caption=_("Ratings of each point, and how many are right and how near, in percent."),
        rows=row.by_source,
        columns=[
            columns.item_in_file(lambda part: row),
            columns.words("source", _("Written by"), is_head=True),
            columns.fields("source_kind", "n", "n_stories"),
            columns.in_file("n_by_point", lambda part: list(part.n_by_point)),
            *(count(n, point) for n, point in enumerate(row.points)),
            columns.number("right_percent", _("Right"), lambda part: part.right, write=decimals(1), css=LEAD),
            columns.interval(lambda part: part.interval, write=ends(1), css=QUIET),
            columns.number("near_percent", _("Near"), lambda part: part.near, write=decimals(1)),
        ],
        summary=_("Table"),
    )


def _bounds(item: StepItem) -> tuple[int, int] | None:
    low, high = item.item.settings.get("low"), item.item.settings.get("high")
    return (low, high) if isinstance(low, int) and isinstance(high, int) and low < high else None


def _likeness(dataset: Dataset, item: StepItem, *, salt: int) -> Likeness:
    low, high = _bounds(item) or (0, 1)
    cube = dataset.cube([item])
    has_author = np.array([bool(dataset.source_of(story)) for story in cube.stories], dtype=np.bool_)
    values = np.where(has_author, cube.values[0], np.nan)
    is_human = ~dataset.is_of_kind(cube, Source.Kind.MODEL)
    is_rated = np.isfinite(values)
    return Likeness(
        **item_fields(item),
        lowest=low,
        highest=high,
        n=int(is_rated.sum()),
        n_undecided=int((values == (low + high) / 2).sum()),
        accuracies=tuple(_accuracies(dataset, cube, values, is_human, (low, high), salt=salt))
        if is_rated.any()
        else (),
        by_source=tuple(
            part
            for n, (name, kind) in enumerate(dataset.sources)
            if (part := _of_source(dataset, cube, values, is_human, (low, high), name, kind, salt=(salt, 10 + n))).n
        ),
    )


def _accuracies(
    dataset: Dataset, cube: Cube, values: FloatArray, is_human: BoolArray, bounds: tuple[int, int], *, salt: int
) -> Iterator[Accuracy]:
    is_rated, clusters = np.isfinite(values), dataset.clusters(cube)
    if not is_rated.any():
        return
    right, near = human_likeness.right(values, is_human, bounds), human_likeness.nearness(values, is_human, bounds)
    percent_of_people = float(100 * np.broadcast_to(is_human, values.shape)[is_rated].mean())
    right_ends = interval(
        rates.pass_rate_interval, right, clusters, rng=dataset.rng(SALT, salt, 0), n_resamples=N_RESAMPLES
    )
    always: dict[str, Any] = {"always_model": 100 - percent_of_people, "always_person": percent_of_people}
    yield Accuracy(
        measure="right", value=float(100 * np.nanmean(right)), interval=right_ends, **always, always_middle=0.0
    )
    near_ends = interval(_near_ends, near, clusters, rng=dataset.rng(SALT, salt, 1), n_resamples=N_RESAMPLES)
    yield Accuracy(
        measure="near", value=float(100 * np.nanmean(near)), interval=near_ends, **always, always_middle=50.0
    )
    balanced = human_likeness.balanced_right(right, is_human)
    yield Accuracy(
        measure="balanced",
        value=None if balanced is None else 100 * balanced,
        why=without_value("truth_constant") if balanced is None else None,
        interval=interval(
            _balanced_ends, right, is_human, clusters, rng=dataset.rng(SALT, salt, 2), n_resamples=N_RESAMPLES
        ),
        always_model=50.0,
        always_person=50.0,
        always_middle=0.0,
    )


def _near_ends(near: FloatArray, clusters: IntArray, **options: Any) -> StatisticInterval:
    return intervals.mean_interval(100 * near, clusters, **options).clipped(0, 100)


def _balanced_ends(right: FloatArray, is_human: BoolArray, clusters: IntArray, **options: Any) -> Any:
    resamples = partial(human_likeness.balanced_resamples, right, is_human)
    ends = intervals.coefficient_interval(resamples, clusters, **options).clipped(0, 1)
    return human_likeness.in_percent(ends)


def _of_source(
    dataset: Dataset,
    cube: Cube,
    values: FloatArray,
    is_human: BoolArray,
    bounds: tuple[int, int],
    source: str,
    kind: str,
    *,
    salt: tuple[int, int],
) -> SourceLikeness:
    mask = dataset.is_of_source(cube, source)
    of_source, clusters = values[:, mask], dataset.clusters(cube)[mask]
    is_rated = np.isfinite(of_source)
    right = human_likeness.right(of_source, is_human[mask], bounds)
    near = human_likeness.nearness(of_source, is_human[mask], bounds)
    n = int(is_rated.sum())
    stories = select_labels(cube.stories, mask)
    return SourceLikeness(
        source=source,
        source_kind=kind,
        n=n,
        n_stories=len({stories[unit] for unit in np.flatnonzero(is_rated.any(axis=0))}),
        n_by_point=tuple(int((of_source == point).sum()) for point in range(bounds[0], bounds[1] + 1)),
        right=float(100 * np.nanmean(right)) if n else None,
        near=float(100 * np.nanmean(near)) if n else None,
        interval=interval(
            rates.pass_rate_interval, right, clusters, rng=dataset.rng(SALT, *salt), n_resamples=N_RESAMPLES
        ),
    )


def measure_name(measure: str) -> str:
    """What a measure is called on the page."""
    names = {"right": _("Right"), "near": _("Near"), "balanced": _("Right, both kinds weighing the same")}
    return names[measure]


def _plot(row: Likeness) -> plots.DotPlot:
    """Every measure with its interval, beside what always saying “a model” would reach."""
    rows = [
        plots.PlotRow(
            measure_name(accuracy.measure),
            "",
            (
                plots.Mark.of(0, accuracy.value, accuracy.interval),
                plots.Mark(1, accuracy.always_model, None, None),
            ),
        )
        for accuracy in row.accuracies
    ]
    return plots.DotPlot(rows, [_("People"), _("Always “a model”")], plots.PERCENT)


def _stack(row: Likeness) -> plots.StackPlot:
    rows = [
        plots.StackRow(part.source, f"n = {whole(part.n)}", tuple(100 * n / part.n for n in part.n_by_point))
        for part in row.by_source
    ]
    return plots.StackPlot(rows, [str(point) for point in row.points])
