"""How ratings and rates go with a number that is known of each story, such as the size of the model that wrote it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.document import columns, notes, plots
from reports.document.columns import LEAD
from reports.document.model import (
    DocumentSection,
    DrawnPlot,
    Files,
    Head,
    Phrase,
    ReportTable,
    RowGroup,
    TextBlock,
)
from reports.document.phrases import joined
from reports.document.values import Floor, Interval, IntervalEstimate, Reason
from reports.figures.base import N_RESAMPLES, Figure, Listing, mean_interval, note_of
from reports.figures.outcome_titles import outcome_name, outcome_title
from reports.figures.sources.factor_rows import (
    FactorRow,
    as_number,
    ends_column,
    factor_columns,
    factor_fields,
    levels_by_factor,
)
from reports.lazy import np, trends
from reports.numbers import coefficient, coefficients, decimal, measured
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable

SALT = 65  # of the seed
LABELS = ("premise", "plot", "prompt", "seed")  # name things with numbers, which have no order; so do ids
FEWEST_NUMBERS = 3  # different ones, to speak of a trend
MOST_POINTS = 12  # with an interval each; of more, the smallest and the largest stand in the table alone
FAR_APART = 10  # largest by smallest, from which on the axis is that of the logarithm


@dataclass(frozen=True, kw_only=True)
class NumberMean:
    """The mean over the stories of one number."""

    number: float
    value: float
    n_stories: int
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class FactorTrend(FactorRow, IntervalEstimate):
    """Spearman's correlation of one outcome with one number of the stories, over story means.

    means : by number; none where there are many
    """

    n_stories: int
    floor: Floor
    means: tuple[NumberMean, ...]


class Trends(Figure[Listing[FactorTrend]]):
    key = "trends"
    title = gettext_lazy("Trends by numeric property")
    position = 67
    section = "sources"
    tables = ("trends", "trend-means")
    edition = 2
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[FactorTrend]:
        number_by_factor = _numbers(dataset)
        pairs = [(factor, table) for factor in number_by_factor for table in dataset.whole_outcomes]
        return Listing(
            tuple(
                _trend(dataset, factor, number_by_factor[factor], table, salt=n)
                for n, (factor, table) in enumerate(pairs)
            )
        )

    def describe(self, result: Listing[FactorTrend], head: Head) -> Iterator[DocumentSection]:
        factors = list(dict.fromkeys(row.factor for row in result.rows))
        title = _("Means by a number of the stories")
        drawn = [
            DrawnPlot(plot=plot, title=title, described=notes.table_below_plot(), label=factor, caption=factor)
            for factor in factors
            for plot in _plots(result, factor)
        ]
        origin = _(
            "Numbers come with the stories: any column of the stories’ file that holds nothing but "
            "numbers, three different ones at least, and no prompt or id; 13B is thirteen thousand "
            "million."
        )
        yield DocumentSection(
            heading=_("Trends by numeric property"),
            body=[
                *drawn,
                _table(result, head),
                Files(words=_("Correlations with a number"), table="trends"),
                _mean_table(result, title, head),
                Files(words=title, table="trend-means"),
            ],
            margin=[
                TextBlock(words=origin),
                *([TextBlock(words=_("The lower axis is logarithmic."))] if any(map(_is_far, result.rows)) else []),
                TextBlock(words=_("Exploratory. What goes with size may also go with whoever wrote the story.")),
                *notes.weakest(mean.interval for row in result.rows for mean in row.means),
            ],
        )


def _numbers(dataset: Dataset) -> dict[str, dict[str, float]]:
    """Of each factor whose levels are all numbers, three different ones at least, the number of each story."""
    numbers = {
        name: {story: as_number(level) for story, level in levels.items()}
        for name, levels in levels_by_factor(dataset).items()
        if not is_label(name)
    }
    return {
        name: {story: number for story, number in of_factor.items() if number is not None}
        for name, of_factor in numbers.items()
        if None not in of_factor.values() and len(set(of_factor.values())) >= FEWEST_NUMBERS
    }


def is_label(name: str) -> bool:
    """Whether a factor only names things, so that its numbers say nothing of more or less: premise, study_id."""
    words = name.casefold().replace("-", "_").split("_")
    return words[-1] in ("id", "idx", "index", "number") or words[0] in LABELS


def _trend(
    dataset: Dataset, factor: str, number_by_story: dict[str, float], table: OutcomeTable, *, salt: int
) -> FactorTrend:
    numbers = np.array([number_by_story.get(story, np.nan) for _group, story in table.units], dtype=np.float64)
    has_both = np.isfinite(numbers) & np.isfinite(table.values)
    fields: dict[str, Any] = {
        **factor_fields(factor, table),
        "n_stories": table.n_stories(has_both),
        "means": _means(dataset, numbers, table),
    }
    try:
        trend = trends.trend(
            numbers, table.values, table.clusters, rng=dataset.rng(SALT, salt), n_resamples=N_RESAMPLES
        )
    except Incomputable as error:
        why = Reason.of(error)
        nothing = Interval(low=None, high=None, why=why)
        return FactorTrend(value=None, why=why, interval=nothing, floor=Floor(mean=None, upper=None, why=why), **fields)
    return FactorTrend(
        value=trend.rho,
        n_units=trend.n_units,
        interval=Interval.of(trend.interval),
        floor=Floor(mean=trend.floor.mean, upper=trend.floor.upper),
        **fields,
    )


def _means(dataset: Dataset, numbers: Any, table: OutcomeTable) -> tuple[NumberMean, ...]:
    is_rated = np.isfinite(table.values)
    different = sorted({float(number) for number in numbers[np.isfinite(numbers) & is_rated]})
    if len(different) > MOST_POINTS:
        return ()
    return tuple(_mean(dataset, number, (numbers == number) & is_rated, table) for number in different)


def _mean(dataset: Dataset, number: float, units: Any, table: OutcomeTable) -> NumberMean:
    return NumberMean(
        number=number,
        value=float(table.values[units].mean()),
        n_stories=table.n_stories(units),
        interval=mean_interval(table, units, rng=dataset.resampling()),
    )


def _is_far(row: FactorTrend) -> bool:
    numbers = [mean.number for mean in row.means]
    return bool(numbers) and min(numbers) > 0 and max(numbers) / min(numbers) >= FAR_APART


def _plots(result: Listing[FactorTrend], factor: str) -> Iterator[plots.PanelPlot]:
    """A panel for each outcome, those in percent by themselves."""
    for is_percent in (True, False):
        rows = [row for row in result.rows if (row.factor, row.is_percent) == (factor, is_percent) and row.means]
        if rows:
            yield _plot(rows, is_percent=is_percent)


def _plot(rows: list[FactorTrend], *, is_percent: bool) -> plots.PanelPlot:
    is_far = _is_far(rows[0])
    numbers = sorted({mean.number for row in rows for mean in row.means})
    places = [math.log10(number) if is_far else number for number in numbers]
    margin = (places[-1] - places[0]) * 0.08
    ticks = tuple((place, short_number(number)) for place, number in zip(places, numbers, strict=True))
    axis = plots.Axis(places[0] - margin, places[-1] + margin, plots.spaced(ticks))
    place_by_number = dict(zip(numbers, places, strict=True))
    ends = [n for row in rows for m in row.means for n in (m.value, m.interval.low, m.interval.high) if n is not None]
    panels = [
        plots.Panel(
            outcome_name(row.key, row.title),
            points=tuple(
                plots.Point(
                    place_by_number[mean.number],
                    mean.value,
                    low=mean.interval.low,
                    high=mean.interval.high,
                    is_weak=mean.interval.is_weak,
                )
                for mean in row.means
            ),
        )
        for row in rows
    ]
    return plots.PanelPlot(panels, [], axis, plots.SHARES if is_percent else plots.value_axis(ends))


def short_number(number: float) -> str:
    """As few signs as say it: 7B, 550, .5."""
    for size, unit in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
        if abs(number) >= size:
            return f"{number / size:g}{unit}"
    return f"{number:g}"


def _table(result: Listing[FactorTrend], head: Head) -> ReportTable[FactorTrend]:
    return ReportTable(
        name="trends",
        label=_("Correlations with a number"),
        caption=_("Spearman’s correlation over story means."),
        rows=result.rows,
        columns=[
            columns.words("factor", _("Number"), is_head=True),
            columns.in_file("outcome", lambda row: row.key),
            columns.words("title", _("Outcome"), shown=lambda row: _title(row, head)),
            columns.estimate("rho", _("Rho"), lambda row: row, css=LEAD),
            columns.interval(lambda row: row.interval, write=coefficients),
            columns.number("chance_upper", _("Shuffled reach"), lambda row: row.floor.upper, write=coefficient),
            columns.in_file("chance_mean", lambda row: row.floor.mean),
            columns.number("n_stories", _("Stories")),
            columns.note(lambda row: note_of(row, row.interval)),
        ],
    )


def _mean_table(result: Listing[FactorTrend], label: str, head: Head) -> ReportTable[tuple[FactorTrend, NumberMean]]:
    pairs = [[(row, mean) for mean in row.means] for row in result.rows]
    return ReportTable(
        name="trend-means",
        label=label,
        rows=[pair for of_row in pairs for pair in of_row],
        groups=[
            RowGroup(heading=joined(row.factor, _title(row, head), by=", "), rows=of_row)
            for row, of_row in zip(result.rows, pairs, strict=True)
        ],
        columns=[
            *factor_columns(lambda pair: pair[0]),
            replace(columns.number("number", _("Number"), lambda pair: pair[1].number, write=measured), is_head=True),
            columns.number(
                *("mean", _("Mean")),
                of=lambda pair: pair[1].value,
                shown=lambda pair: decimal(pair[1].value, pair[0].places),
                css=LEAD,
            ),
            ends_column(lambda pair: pair[0], lambda pair: pair[1].interval),
            columns.number("n_stories", _("Stories"), lambda pair: pair[1].n_stories),
        ],
        summary=_("Table"),
    )


def _title(row: FactorTrend, head: Head) -> Phrase:
    return outcome_title(row.key, row.title, head)
