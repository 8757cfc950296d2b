"""A description as the page's templates read it: what stands in which cell, and how wide a heading is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from reports import reasons
from reports.document.model import Cell, Column, Phrase, RowGroup, Table


@dataclass(frozen=True)
class PageCell:
    """A cell with its column. css : its classes"""

    cell: Cell
    column: Column[Any]

    @property
    def css(self) -> str:
        return " ".join(filter(None, ["n" * self.column.is_number, self.cell.css]))


@dataclass(frozen=True)
class PageRow:
    """The cells of a row; where a reason stands in place of its values, how many columns it has."""

    cells: tuple[PageCell, ...]
    reason: str = ""
    reason_language: str = ""
    n_spanned: int = 0


@dataclass(frozen=True)
class PageGroup:
    rows: tuple[PageRow, ...]
    heading: Phrase
    language: str


@dataclass(frozen=True)
class PageTable:
    """A table as the page shows it."""

    table: Table[Any]
    columns: tuple[Column[Any], ...]

    @classmethod
    def of(cls, table: Table[Any]) -> PageTable:
        return cls(table, tuple(column for column in table.columns if column.heading is not None))

    @property
    def groups(self) -> Iterator[PageGroup]:
        for group in self.table.groups or [RowGroup(rows=self.table.rows)]:
            yield PageGroup(self._rows(group.rows), group.heading, group.language)

    @property
    def foot(self) -> tuple[PageRow, ...]:
        return tuple(PageRow(tuple(map(PageCell, cells, self.columns))) for cells in self.table.foot)

    def _rows(self, rows: Sequence[Any]) -> tuple[PageRow, ...]:
        return tuple(self._row(row) for row in rows)

    def _row(self, row: Any) -> PageRow:
        why = self.table.why(row)
        kept = [column for column in self.columns if column.is_head or why is None]
        cells = tuple(PageCell(column.cell(row), column) for column in kept)
        if why is None:
            return PageRow(cells)
        return PageRow(cells, reasons.translate_reason(why), reasons.language(why), len(self.columns) - len(kept))
