"""The sources of a description in another order: in its tables, as rows or as columns, and in its plots alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, groupby
from typing import Any, TypeVar

from reports.document import plots
from reports.document.model import Block, DocumentSection, DrawnPlot, ReportTable, Subsection, TableColumn
from reports.document.phrases import plain

T = TypeVar("T")
AnyDots = TypeVar("AnyDots", plots.DotPlot, plots.RadarPlot)
Rank = dict[str, int]
SOURCE = "source"  # the column of files that says of which source a row is


def in_order(sections: Iterable[DocumentSection], sources: Sequence[str]) -> list[DocumentSection]:
    """The sections with sources in that order; what is not about sources stays as it is, and all without an order."""
    if not sources:
        return list(sections)
    rank = {name: n for n, name in enumerate(sources)}
    return [replace(section, body=[_block(block, rank) for block in section.body]) for section in sections]


def _block(block: Block, rank: Rank) -> Block:
    if isinstance(block, Subsection):
        return replace(block, blocks=[_block(inner, rank) for inner in block.blocks])
    if isinstance(block, ReportTable):
        return _table(block, rank)
    if isinstance(block, DrawnPlot) and (reorder := REORDER_BY_KIND.get(type(block.plot))):
        return replace(block, plot=reorder(block.plot, rank))
    return block


def _table(table: ReportTable[Any], rank: Rank) -> ReportTable[Any]:
    places, is_source = _source_columns(table.columns, rank)
    columns = [table.columns[place] for place in places]
    foot = table.foot if not is_source else [_move(cells, table.columns, columns) for cells in table.foot]
    column = next((column for column in table.columns if column.is_head and SOURCE in column.files), None)
    if column is None:
        return replace(table, columns=columns, foot=foot)
    heads = [other for other in table.columns if other.is_head and other is not column]
    sort = partial(_sorted_within, about=lambda row: [plain(head.cell(row).words) for head in heads])
    by_source = partial(sort, key=lambda row: rank.get(str(column.files[SOURCE](row))))
    groups = [replace(group, rows=by_source(group.rows)) for group in table.groups]
    rows = table.rows if groups else by_source(table.rows)
    return replace(table, columns=columns, foot=foot, rows=rows, groups=groups)


def _sorted_within(rows: Sequence[T], *, about: Callable[[T], Any], key: Callable[[T], int | None]) -> list[T]:
    """The rows, those that are about the same thing sorted among themselves; one without a key stays where it is."""
    return list(chain.from_iterable(_sorted(list(group), key) for _about, group in groupby(rows, key=about)))


def _sorted(rows: Sequence[T], key: Callable[[T], int | None]) -> Iterator[T]:
    keyed = sorted(((n, row) for row in rows if (n := key(row)) is not None), key=lambda pair: pair[0])
    ordered = iter(keyed)
    yield from (row if key(row) is None else next(ordered)[1] for row in rows)


def _source_columns(columns: Sequence[TableColumn[Any]], rank: Rank) -> tuple[list[int], bool]:
    """The places of the columns, in order where there is one headed by each source, and whether that is so."""
    of_sources = [n for n, column in enumerate(columns) if plain(column.heading or "") in rank]
    if {plain(columns[n].heading or "") for n in of_sources} != rank.keys():
        return list(range(len(columns))), False
    ordered = iter(sorted(of_sources, key=lambda n: rank[plain(columns[n].heading or "")]))
    return [next(ordered) if n in of_sources else n for n in range(len(columns))], bool(of_sources)


def _move(cells: Sequence[T], before: Sequence[Any], after: Sequence[Any]) -> list[T]:
    """The cells of a foot, one for each column with a heading, in the order of the columns after."""
    cell_of = dict(zip((id(column) for column in before if column.heading is not None), cells, strict=True))
    return [cell_of[id(column)] for column in after if column.heading is not None]


def _dots(plot: AnyDots, rank: Rank) -> AnyDots:
    if not plot.sources:  # over all of them
        return plot
    places = _places(plot.sources, rank)
    rows = [
        replace(row, marks=tuple(sorted((_moved(m, places) for m in row.marks), key=lambda mark: mark.source)))
        for row in plot.rows
    ]
    return replace(plot, sources=_reordered(plot.sources, places), rows=rows)


def _panels(plot: plots.PanelPlot, rank: Rank) -> plots.PanelPlot:
    panels = list(plot.panels)
    if all(panel.title in rank for panel in panels):  # a panel for each source, below a heading for each item
        panels = _sorted_within(panels, about=lambda panel: panel.heading, key=lambda panel: rank[panel.title])
    if not plot.sources:
        return replace(plot, panels=panels)
    places = _places(plot.sources, rank)
    return replace(
        plot, sources=_reordered(plot.sources, places), panels=[_moved_panel(panel, places) for panel in panels]
    )


def _moved_panel(panel: plots.Panel, places: Sequence[int]) -> plots.Panel:
    curves = (c if c.source is None else replace(c, source=places[c.source]) for c in panel.curves)
    return replace(panel, curves=tuple(curves), points=tuple(_moved(point, places) for point in panel.points))


def _strips(plot: plots.StripPlot, rank: Rank) -> plots.StripPlot:
    return replace(plot, values_by_row=sorted(plot.values_by_row, key=lambda row: rank.get(row[0], len(rank))))


def _stacks(plot: plots.StackPlot, rank: Rank) -> plots.StackPlot:
    return replace(plot, rows=sorted(plot.rows, key=lambda row: rank.get(row.label, len(rank))))


def _differences(plot: plots.DifferencePlot, rank: Rank) -> plots.DifferencePlot:
    return replace(plot, marks=sorted(plot.marks, key=lambda mark: rank.get(mark.label, len(rank))))


def _places(sources: Sequence[str], rank: Rank) -> list[int]:
    """Of each source of a plot the place at which it will stand; of names that are no sources where they are."""
    if not set(sources) <= rank.keys():
        return list(range(len(sources)))
    ordered = sorted(sources, key=lambda name: rank[name])
    return [ordered.index(name) for name in sources]


def _reordered(sources: Sequence[str], places: Sequence[int]) -> list[str]:
    return [name for _place, name in sorted(zip(places, sources, strict=True))]


def _moved(mark: T, places: Sequence[int]) -> T:
    return replace(mark, source=places[mark.source])  # type: ignore[type-var,attr-defined]


REORDER_BY_KIND: dict[type, Callable[[Any, Rank], Any]] = {
    plots.DotPlot: _dots,
    plots.RadarPlot: _dots,
    plots.PanelPlot: _panels,
    plots.StripPlot: _strips,
    plots.StackPlot: _stacks,
    plots.DifferencePlot: _differences,
}
