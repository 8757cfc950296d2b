"""Results by what else is recorded of the stories (size, strategy, tier), alone and within each source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.document import columns, plots
from reports.document.columns import LEAD, QUIET, decimals, ends
from reports.document.model import Block, DocumentSection, DrawnPlot, Files, Head, ReportTable, Subsection, TextBlock
from reports.document.phrases import joined, phrase
from reports.document.values import Interval, IntervalEstimate
from reports.figures.base import Figure, Listing, note_of
from reports.figures.mean_intervals import outcome_intervals
from reports.figures.outcome_titles import outcome_name, outcome_title
from reports.figures.sources.compared_parts import ContrastTable
from reports.figures.sources.contrast_families import adjust_family
from reports.figures.sources.contrast_rows import ContrastRow, VariancePart
from reports.figures.sources.contrast_table import contrast_columns, contrast_table, rests_on
from reports.figures.sources.factor_rows import FactorRow, as_number, factor_columns, factor_fields, levels_by_factor
from reports.lazy import np, source_contrasts

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable
    from stats.arrays import BoolArray

MOST_LEVELS = 8
NOT_COMPARED = ("drawn",)  # says how people's stories were chosen, and nothing of how they were written


@dataclass(frozen=True, kw_only=True)
class LevelMean(IntervalEstimate):
    """The mean over the stories of one level; of one source, or of all (""). wide : the interval for other raters"""

    level: str
    source: str
    n_stories: int
    wide: Interval


@dataclass(frozen=True, kw_only=True)
class FactorOutcome(FactorRow):
    """One outcome by one factor.

    means : of every level over all sources, then source by source where a source has several levels
    contrasts : every two levels, p adjusted by Holm over them
    parts : the variances of the model, with levels in place of sources; none without one
    """

    means: tuple[LevelMean, ...]
    contrasts: tuple[ContrastRow, ...]
    parts: tuple[VariancePart, ...] = ()


class Factors(Figure[Listing[FactorOutcome]]):
    key = "factors"
    title = gettext_lazy("Means by story property")
    position = 65
    section = "sources"
    tables = ("factors", "factor-contrasts")
    edition = 12
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[FactorOutcome]:
        level_by_factor = _levels(dataset)
        pairs = [(factor, table) for factor in level_by_factor for table in dataset.whole_outcomes]
        return Listing(
            tuple(
                _of_factor(dataset, factor, level_by_factor[factor], table) for n, (factor, table) in enumerate(pairs)
            )
        )

    def describe(self, result: Listing[FactorOutcome], head: Head) -> Iterator[DocumentSection]:
        names = list(dict.fromkeys(row.factor for row in result.rows))
        counted = ngettext("%(n)s property", "%(n)s properties", len(names)) % {"n": len(names)}
        note = _("Properties come with the stories: any column of the stories’ file with two to eight values.")
        yield DocumentSection(
            heading=_("Means by story property"),
            body=[
                *(block for name in names for block in _drawings(result, name)),
                *(_part(row, head) for row in result.rows),
                Files(words=counted, table="factors", is_count=True),
                Files(words=_("Every two of them, compared"), table="factor-contrasts"),
            ],
            margin=[
                rests_on(tests=[], corrected=_("Holm over the comparisons of one outcome by one property")),
                TextBlock(words=note),
            ],
        )


def _levels(dataset: Dataset) -> dict[str, dict[str, str]]:
    """Of each factor with two to eight levels the level of each story that has one."""
    return {
        name: levels
        for name, levels in levels_by_factor(dataset).items()
        if name not in NOT_COMPARED and 2 <= len(set(levels.values())) <= MOST_LEVELS
    }


def _order(level: str) -> tuple[bool, float, str]:
    """Numbers first, the least before the others; then words by the alphabet."""
    number = as_number(level)
    return number is None, number or 0.0, level


def _of_factor(dataset: Dataset, factor: str, level_by_story: dict[str, str], table: OutcomeTable) -> FactorOutcome:
    level_of_unit = np.array([level_by_story.get(story, "") for _group, story in table.units])
    has_value = np.isfinite(table.values)
    names = sorted({str(level) for level in level_of_unit[has_value] if level}, key=_order)
    units = {name: (level_of_unit == name) & has_value for name in names}
    means = [_mean(dataset, table, units[name], level=name, source="") for name in names]
    for source, _kind in dataset.sources:
        cells = {name: units[name] & table.of_source(source) for name in names}
        filled = [name for name in names if cells[name].any()]
        if len(filled) > 1:
            for name in filled:
                means.append(_mean(dataset, table, cells[name], level=name, source=source))
    test = "default" if table.outcome.kind in ("rank", "preference") else source_contrasts.BY_MODEL
    compared = ContrastTable(dataset, table, units, test=test, margin=None)
    return FactorOutcome(
        **factor_fields(factor, table),
        means=tuple(means),
        contrasts=tuple(adjust_family(list(compared.rows()), "holm")),
        parts=compared.parts,
    )


def _mean(dataset: Dataset, table: OutcomeTable, units: BoolArray, *, level: str, source: str) -> LevelMean:
    """The mean of some stories that have a value, with its intervals over clusters."""
    ends, wide = outcome_intervals(dataset, table, units)
    return LevelMean(
        value=float(table.values[units].mean()),
        level=level,
        source=source,
        n_stories=table.n_stories(units),
        interval=ends,
        wide=wide,
    )


def _plots(result: Listing[FactorOutcome], factor: str) -> Iterator[tuple[str, plots.DotPlot, plots.DotPlot | None]]:
    """The means by level of the outcomes in percent, and of the others: over all sources, and within each of them."""
    of_factor = [row for row in result.rows if row.factor == factor]
    for is_percent in (True, False):
        rows = [row for row in of_factor if row.is_percent == is_percent]
        levels = sorted({mean.level for row in rows for mean in row.means}, key=_order)
        if any(row.means for row in rows):
            overall = [_plot_row(row, "", levels, outcome_name(row.key, row.title), "") for row in rows]
            within = [
                _plot_row(row, source, levels, source, outcome_name(row.key, row.title))
                for row in rows
                for source in dict.fromkeys(mean.source for mean in row.means if mean.source)
            ]
            axis = plots.PERCENT if is_percent else _axis(overall + within)
            yield factor, plots.DotPlot(overall, levels, axis), plots.DotPlot(within, levels, axis) if within else None


def _drawings(result: Listing[FactorOutcome], factor: str) -> Iterator[Block]:
    described = _("The tables below hold every value with its interval.")
    for _name, plot, within in _plots(result, factor):
        title = _("Means by story property")
        yield DrawnPlot(plot=plot, title=title, described=described, label=factor, caption=factor)
        if within:
            title = _("Means by story property, within each source")
            drawing = DrawnPlot(plot=within, title=title, described=described, label=factor)
            yield Subsection(summary=_("Within each source"), blocks=[drawing])


def _part(row: FactorOutcome, head: Head) -> Subsection:
    title = outcome_title(row.key, row.title, head, without=phrase(_("all tests together, %% Yes")))
    exploratory = format_html('<span class="hint">{}</span>', _("exploratory"))
    return Subsection(
        heading=joined(joined(row.factor, title, by=": "), exploratory),
        blocks=[
            _mean_table(row),
            Subsection(
                summary=_("Every two of them, compared"),
                blocks=[
                    contrast_table(
                        row.contrasts,
                        row.places,
                        about=f"{row.factor}: {outcome_name(row.key, row.title)}",
                    ),
                    _file_table(row),
                ],
            ),
        ],
    )


def _mean_table(row: FactorOutcome) -> ReportTable[LevelMean]:
    return ReportTable(
        name="factors",
        label=f"{row.factor}: {outcome_name(row.key, row.title)}: {_('Means by story property')}",
        rows=row.means,
        columns=[
            *factor_columns(lambda mean: row),
            columns.words("level", row.factor, is_head=True),
            columns.words(
                "source", _("Source"), lambda mean: mean.source or "all", shown=lambda mean: mean.source or _("All")
            ),
            columns.number("mean", _("Mean"), lambda mean: mean.value, write=decimals(row.places), css=LEAD),
            columns.interval(lambda mean: mean.interval, write=ends(row.places)),
            columns.interval(
                lambda mean: mean.wide,
                heading=_("generalising to other raters"),
                write=ends(row.places),
                css=QUIET,
                low="low_other_raters",
                high="high_other_raters",
            ),
            columns.number("n_stories", _("Stories"), write=str),
            columns.note(lambda mean: note_of(mean, mean.interval)),
        ],
    )


def _file_table(row: FactorOutcome) -> ReportTable[ContrastRow]:
    return ReportTable(
        name="factor-contrasts",
        label=_("Every two of them, compared"),
        rows=row.contrasts,
        is_shown=False,
        columns=[*factor_columns(lambda contrast: row), *contrast_columns(row.places)],
    )


def _plot_row(row: FactorOutcome, source: str, levels: list[str], label: str, heading: str) -> plots.PlotRow:
    marks = [
        plots.Mark.of(levels.index(mean.level), mean.value, mean.interval)
        for mean in row.means
        if mean.source == source
    ]
    return plots.PlotRow(label, heading, tuple(marks))


def _axis(rows: list[plots.PlotRow]) -> plots.Axis:
    return plots.value_axis(plots.ends_of(mark for row in rows for mark in row.marks))
