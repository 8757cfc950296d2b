"""What a section shows of each of its figures: as much as is read at a glance. All of it is on the figure's page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from reports.document.model import Block, DocumentSection, DrawnPlot, Phrase, ReportTable, Subsection, TextBlock
from reports.document.phrases import plain
from reports.document.plots import DotPlot
from reports.page.charts import draw_plot

MOST_ROWS = 12  # of a table
TALLEST = 900.0  # drawing of many rows, in px
SECTION_HEIGHT = 3 * 900.0 - 450  # three screens less the head and the list of what follows
LINE, LETTERS_A_LINE, ROW = 26.0, 95, 36.0
FRAME = 190.0  # of a figure: its heading, its line of links, the room around


@dataclass(frozen=True)
class Excerpt:
    """blocks : what is shown; height : in px on a wide screen, about; n_rows_left : of what was cut"""

    heading: Phrase
    blocks: tuple[Block, ...]
    n_rows_left: int = 0

    @property
    def height(self) -> float:
        return FRAME + sum(map(_height, self.blocks))


def excerpt(description: Sequence[DocumentSection]) -> Excerpt:
    """The first thing that a figure shows, with the words before it."""
    for section in description:
        blocks = list(_until_first(section.body))
        if any(not isinstance(block, TextBlock) for block in blocks):
            return _cut(section.heading, blocks)
    first = description[0]
    # Of a figure that draws nothing here, such as one with a reason instead of values, what it says.
    return _cut(first.heading, list(_until_first(first.body)) or first.body[:1])


def _cut(heading: Phrase, blocks: Sequence[Block]) -> Excerpt:
    shortened = tuple(map(_shorten, blocks))
    return Excerpt(heading, shortened, _n_rows(blocks) - _n_rows(shortened))


def _n_rows(blocks: Sequence[Block]) -> int:
    """Of tables and of plots that can be cut, also within parts."""
    n = 0
    for block in blocks:
        if isinstance(block, ReportTable):
            n += len(block.rows)
        elif isinstance(block, Subsection):
            n += _n_rows(block.blocks)
        elif isinstance(block, DrawnPlot) and isinstance(block.plot, DotPlot):
            n += len(block.plot.rows)
    return n


def _shorten(block: Block) -> Block:
    if isinstance(block, ReportTable):
        return _first_rows(block)
    if isinstance(block, Subsection):
        return replace(block, blocks=[_shorten(inner) for inner in block.blocks])
    if isinstance(block, DrawnPlot) and isinstance(block.plot, DotPlot):
        return replace(block, plot=_first_panels(block.plot))
    return block


def _first_panels(plot: DotPlot) -> DotPlot:
    """As many rows as a screen holds, each of its share of the whole height."""
    share = TALLEST / draw_plot(plot).wide.height
    return plot if share >= 1 else replace(plot, rows=plot.rows[: max(2, int(share * len(plot.rows)))])


def _until_first(blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks up to the first drawing or table that stands open, looking into the first part that has one."""
    for block in blocks:
        if isinstance(block, Subsection):
            if block.summary is not None and not block.is_open:
                continue
            inner = list(_until_first(block.blocks))
            if any(map(_is_shown, inner)):
                yield replace(block, blocks=inner, summary=None) if block.heading else Subsection(blocks=inner)
                return
        elif isinstance(block, ReportTable) and not (block.is_shown and block.summary is None):
            continue
        elif isinstance(block, TextBlock):
            yield block
        elif _is_shown(block):
            yield block
            return


def _is_shown(block: Block) -> bool:
    if isinstance(block, Subsection):
        return any(map(_is_shown, block.blocks))
    return isinstance(block, DrawnPlot) or (isinstance(block, ReportTable) and bool(block.rows or block.groups))


def _first_rows(table: ReportTable[Any]) -> ReportTable[Any]:
    if len(table.rows) <= MOST_ROWS:
        return table
    groups, n_left = [], MOST_ROWS
    for group in table.groups:
        groups.append(replace(group, rows=group.rows[:n_left]))
        n_left -= len(groups[-1].rows)
        if n_left <= 0:
            break
    return replace(table, rows=table.rows[:MOST_ROWS], groups=groups, foot=())


def _height(block: Block) -> float:
    if isinstance(block, TextBlock):
        return 12 + LINE * ceil(len(plain(block.words)) / LETTERS_A_LINE)
    if isinstance(block, DrawnPlot):
        return 90.0 + draw_plot(block.plot).wide.height
    if isinstance(block, ReportTable):
        return 70 + ROW * (len(block.rows) + len(block.groups))
    if isinstance(block, Subsection):
        return LINE + sum(map(_height, block.blocks))
    return LINE
