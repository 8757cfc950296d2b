"""A description as lines of text: headings, paragraphs, and tables in columns of one width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import Any

from reports import reasons
from reports.document.model import (
    Block,
    DocumentSection,
    Phrase,
    ReportTable,
    RowGroup,
    Subsection,
    TableCell,
    TableColumn,
    TextBlock,
)
from reports.document.phrases import plain

LONGEST = 44  # letters of a cell of words
WIDTH = 100  # letters of a line of a paragraph


def write_lines(sections: Iterable[DocumentSection]) -> Iterator[str]:
    """The sections as text, in the language that is active."""
    for section in sections:
        yield f"\n{plain(section.heading)}"
        yield from _blocks(section.body)
        yield from _blocks(note for note in section.margin if isinstance(note, TextBlock))


def _paragraph(words: Phrase) -> Iterator[str]:
    yield from wrap(plain(words), WIDTH, initial_indent="  ", subsequent_indent="  ")


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, TextBlock):
            yield from _paragraph(block.words)
        elif isinstance(block, ReportTable) and block.is_shown:
            yield from _table(block)
        elif isinstance(block, Subsection):
            if block.heading:
                yield f"\n  {plain(block.heading)}"
            yield from _blocks(block.blocks)


def _table(table: ReportTable[Any]) -> Iterator[str]:
    if table.caption:
        yield from _paragraph(table.caption)
    columns = [column for column in table.columns if column.heading is not None and not column.is_drawn]
    groups = table.groups or [RowGroup(rows=table.rows)]
    head = [plain(column.heading or "") for column in columns]
    lines = [(group, [_cells(table, columns, row) for row in group.rows]) for group in groups]
    foot = [_foot(table, cells) for cells in table.foot]
    full = [head, *foot, *(cells for _group, rows in lines for cells in rows if len(cells) == len(columns))]
    widths = [max(len(cells[n]) for cells in full) for n in range(len(columns))]
    yield _line(head, widths, columns)
    for group, rows in lines:
        if group.heading and rows:
            yield f"  {plain(group.heading)}"
        for cells in rows:
            yield _line(cells, widths, columns)
    for cells in foot:
        yield _line(cells, widths, columns)
    for mark, meaning in sorted(_marks(columns, groups)):
        yield f"    {mark} {meaning}"


def _marks(columns: Sequence[TableColumn[Any]], groups: Sequence[RowGroup[Any]]) -> set[tuple[str, str]]:
    """The signs behind values with what they mean."""
    cells = (column.cell(row) for group in groups for row in group.rows for column in columns)
    return {(cell.mark, cell.mark_title) for cell in cells if cell.mark and cell.mark_title}


def _cells(table: ReportTable[Any], columns: Sequence[TableColumn[Any]], row: Any) -> list[str]:
    """The cells of a row; where a reason stands in place of its values, it is the last."""
    if why := table.why(row):
        remaining = [column for column in columns if column.is_head or column.is_kept]
        return [*(_written(column.cell(row)) for column in remaining), reasons.to_english(why)]
    return [_written(column.cell(row)) for column in columns]


def _foot(table: ReportTable[Any], cells: Sequence[TableCell]) -> list[str]:
    headed = [column for column in table.columns if column.heading is not None]
    return [_written(cell) for cell, column in zip(cells, headed, strict=True) if not column.is_drawn]


def _written(cell: TableCell) -> str:
    words = plain(cell.words)
    return (words if len(words) <= LONGEST else words[: LONGEST - 1].rstrip() + "…") + cell.mark


def _line(cells: Sequence[str], widths: Sequence[int], columns: Sequence[TableColumn[Any]]) -> str:
    """The cells under their headings: numbers to the right, words to the left."""
    padded = [
        cell.rjust(width) if column.is_number else cell.ljust(width)
        for cell, width, column in zip(cells, widths, columns, strict=False)
    ]
    return "    " + "  ".join(padded).rstrip()
