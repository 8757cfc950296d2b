"""What each source gets on each item, with intervals and the letters of sources that were not told apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from reports.document.columns import decimals
from reports.document.latex import LatexCell, LatexTable, Row, RowPanel
from reports.document.values import Interval, Reason
from reports.figures.agreement.variance_components import SourceMean
from reports.figures.outcome_titles import outcome_name
from reports.figures.sources.comparisons import ComparisonResult
from reports.figures.sources.pass_rates import Rate
from reports.figures.sources.ratings import Rating
from reports.methods.sampled_units import Sampled
from reports.methods.tables.corrections import correction_sentences
from reports.methods.tables.words import NONE, counted, in_brackets, interval_words, missing_notes, weak_note
from reports.numbers import decimal, whole
from reports.results import Results

MOST_SOURCES = 6  # beside each other; of more there are several tables
VERDICTS = "verdicts"  # the outcome of all items answered Yes or No


@dataclass(frozen=True)
class SourceCell:
    """What one source got on one item.

    n : answers that it rests on; None of a mean of items
    letters : of the sets of sources that were not told apart
    """

    value: float | None
    interval: Interval | None
    why: Reason | None
    n: int | None
    letters: str


@dataclass(frozen=True)
class ItemLine:
    """outcome : its key among those on which sources are compared"""

    outcome: str
    title: str
    by_source: dict[str, SourceCell]
    places: int


def items_by_source_tables(results: Results, sampled: Sampled) -> Iterator[LatexTable]:
    """One table, or with many sources several; none while nothing may be told by source."""
    panels = {heading: lines for heading, lines in _panels(results) if lines}
    sources = list(dict.fromkeys(name for lines in panels.values() for line in lines for name in line.by_source))
    parts = [sources[n : n + MOST_SOURCES] for n in range(0, len(sources), MOST_SOURCES)]
    for number, names in enumerate(parts, start=1):
        yield _table(results, sampled, panels, names, number if len(parts) > 1 else 0)


def _panels(results: Results) -> Iterator[tuple[str, list[ItemLine]]]:
    """Items answered Yes or No, those on scales, and scores; each by its heading."""
    result_by_key = {figure.key: result for figure, result in results.visible}
    write = _LineWriter(results.figures["comparisons"])
    if rates := result_by_key.get("pass_rates"):
        lines = [write.line(f"{row.step}/{row.item}", row.title, row.by_source, 1) for row in rates.items]
        if len(rates.items) > 1:
            title = _("Mean of %(n)s") % {"n": len(rates.items)}
            lines.append(write.line(VERDICTS, title, rates.mean.by_source, 1))
        yield _("Yes in percent"), [line for line in lines if line.by_source]
    if ratings := result_by_key.get("ratings"):
        lines = [write.line(f"{row.step}/{row.item}", row.title, row.by_source, 2) for row in ratings.rows]
        yield _("Mean rating"), [line for line in lines if line.by_source]
    if outcomes := result_by_key.get("variance_components"):
        scores = [row for row in outcomes.rows if row.kind in ("score", "scale_mean")]
        yield (
            _("Mean score"),
            [write.line(row.key, outcome_name(row.key, row.title), row.sources, 2) for row in scores],
        )


class _LineWriter:
    """Writes lines with the letters of the outcomes in which any two sources were told apart, by the same answers."""

    def __init__(self, compared: ComparisonResult | None) -> None:
        letters_by_outcome = {
            outcome.key: {level.source: level.letters for level in outcome.sources}
            for outcome in (compared.outcomes if compared else ())
            if not outcome.is_after_exclusions
        }
        self._letters = {key: letters for key, letters in letters_by_outcome.items() if len(set(letters.values())) > 1}

    def line(self, outcome: str, title: str, cells: Iterable[Rate | Rating | SourceMean], places: int) -> ItemLine:
        letters = self._letters.get(outcome, {})
        by_source = {
            cell.source: SourceCell(
                value=cell.value,
                interval=cell.interval,
                why=getattr(cell, "why", None) or (cell.interval.why if cell.interval else None),
                n=None if isinstance(cell, SourceMean) or outcome == VERDICTS else cell.n,
                letters=letters.get(cell.source, ""),
            )
            for cell in cells
        }
        return ItemLine(outcome, title, by_source, places)


def _table(
    results: Results, sampled: Sampled, panels: dict[str, list[ItemLine]], sources: Sequence[str], part: int
) -> LatexTable:
    lines = [line for of_panel in panels.values() for line in of_panel]
    cells = [(line.title, line.by_source[name]) for line in lines for name in sources if name in line.by_source]
    intervals = [cell.interval for _title, cell in cells]
    what = next(iter(panels)) if len(panels) == 1 else _("Means")
    words = [
        _("%(what)s, by item and source: %(study)s.") % {"what": what, "study": results.study.title},
        _("Part %(n)s.") % {"n": part} if part else "",
        counted(results),
        interval_words(intervals, sampled),
        *(_corrections(results.figures["comparisons"], lines) if _has_letters(cells) else ()),
    ]
    return LatexTable(
        name=f"items-by-source-{part}" if part else "items-by-source",
        title=_("Items by source"),
        caption=" ".join(filter(None, words)),
        headings=[_("Item"), *sources],
        panels=[
            RowPanel(
                heading=heading if len(panels) > 1 else "",
                rows=[row for line in of_panel for row in _rows(line, sources)],
            )
            for heading, of_panel in panels.items()
        ],
        notes=[
            *_count_notes(cells),
            *_letter_notes(cells),
            *weak_note(intervals, sampled.words),
            *missing_notes([(title, cell.why) for title, cell in cells]),
        ],
    )


def _corrections(compared: ComparisonResult, lines: Sequence[ItemLine]) -> Iterator[str]:
    """For what the letters were corrected."""
    keys = {line.outcome for line in lines}
    return correction_sentences([outcome for outcome in compared.outcomes if outcome.key in keys])


def _rows(line: ItemLine, sources: Sequence[str]) -> Iterator[Row]:
    """The values, and below them their intervals."""
    cells = [line.by_source.get(name) for name in sources]
    values = [
        LatexCell(NONE)
        if cell is None or cell.value is None
        else LatexCell(decimal(cell.value, line.places), cell.letters)
        for cell in cells
    ]
    ends = [
        LatexCell("") if cell is None or cell.value is None else in_brackets(cell.interval, decimals(line.places))
        for cell in cells
    ]
    yield [line.title, *values]
    yield ["", *ends]


def _count_notes(cells: Sequence[tuple[str, SourceCell]]) -> Iterator[str]:
    """How many answers a cell rests on."""
    counts = [cell.n for _title, cell in cells if cell.n]
    if counts:
        least, most = min(counts), max(counts)
        n = whole(least) if least == most else _("%(least)s to %(most)s") % {"least": whole(least), "most": whole(most)}
        yield _("Answers in a cell: %(n)s.") % {"n": n}


def _has_letters(cells: Sequence[tuple[str, SourceCell]]) -> bool:
    return any(cell.letters for _title, cell in cells)


def _letter_notes(cells: Sequence[tuple[str, SourceCell]]) -> Iterator[str]:
    if _has_letters(cells):
        yield _(
            "Sources that share a letter in a row are not shown to differ, for other stories and other "
            "raters; in a row without letters none are. That does not mean that they are equal."
        )
    else:
        yield _("In no row are two sources shown to differ for other stories and other raters.")
