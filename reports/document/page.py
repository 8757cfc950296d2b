"""A description as the page's templates read it: what stands in which cell, and how wide a heading is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.template.loader import get_template
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString

from reports import reasons
from reports.document.model import ReportTable, RowGroup, TableCell, TableColumn
from reports.document.phrases import plain


@dataclass(frozen=True)
class PageCell:
    """A cell with its column. css : its classes; n_columns : how many it spans"""

    cell: TableCell
    column: TableColumn[Any]
    n_columns: int = 1

    @property
    def css(self) -> str:
        return " ".join(filter(None, ["n" * self.column.is_number, self.cell.css]))

    def write(self, *, is_stacked: bool) -> str:
        """The cell as HTML. is_stacked : whether it has to name its column"""
        cell, column = self.cell, self.column
        attributes = {
            "scope": "row" if column.is_head else "",
            "colspan": str(self.n_columns) if self.n_columns > 1 else "",
            "class": self.css,
            "data-label": plain(column.heading or "") if is_stacked and not column.is_head else "",
            "title": cell.title,
            "lang": cell.title_language if cell.title else cell.language,
        }
        start = "".join(f' {name}="{conditional_escape(value)}"' for name, value in attributes.items() if value)
        words = _strip_template().render({"strip": cell.strip}) if cell.strip else conditional_escape(str(cell.words))
        mark = format_html('<abbr title="{}" lang="en">{}</abbr>', cell.mark_title, cell.mark) if cell.mark else ""
        tag = "th" if column.is_head else "td"
        return f"<{tag}{start}>{words}{mark}</{tag}>"


@cache
def _strip_template() -> Any:
    return get_template("reports/document/strip.html")


OF_REASONS = TableColumn[Any](heading="", cell=lambda row: TableCell(), is_number=False)


@dataclass(frozen=True)
class PageRow:
    cells: tuple[PageCell, ...]
    is_stacked: bool = False

    @property
    def html(self) -> SafeString:
        """The row as HTML. Written here, since a template takes several times as long and a report has thousands."""
        return SafeString(f"<tr>{' '.join(cell.write(is_stacked=self.is_stacked) for cell in self.cells)}</tr>")


@dataclass(frozen=True)
class PageGroup:
    """Rows of a table. n_before, n_behind : columns on either side of the one whose axis its heading names"""

    rows: tuple[PageRow, ...]
    group: RowGroup[Any]
    n_before: int
    n_behind: int


@dataclass(frozen=True)
class PageTable:
    """A table as the page shows it."""

    table: ReportTable[Any]
    columns: tuple[TableColumn[Any], ...]

    @classmethod
    def of(cls, table: ReportTable[Any]) -> PageTable:
        return cls(table, tuple(column for column in table.columns if column.heading is not None))

    @property
    def is_stacked(self) -> bool:
        """Whether the cells of a row are stacked on narrow screens, each beside its heading."""
        return "stacks" in self.table.css

    @property
    def groups(self) -> Iterator[PageGroup]:
        for group in self.table.groups or [RowGroup(rows=self.table.rows)]:
            at = self._drawn_at if group.axis else len(self.columns)
            yield PageGroup(self._rows(group.rows), group, at, len(self.columns) - at - 1)

    @property
    def _drawn_at(self) -> int:
        return [column.is_drawn for column in self.columns].index(True)

    @property
    def foot(self) -> tuple[PageRow, ...]:
        return tuple(PageRow(tuple(map(PageCell, cells, self.columns)), self.is_stacked) for cells in self.table.foot)

    def _rows(self, rows: Sequence[Any]) -> tuple[PageRow, ...]:
        return tuple(self._row(row) for row in rows)

    def _row(self, row: Any) -> PageRow:
        """Its cells; where there is a reason, that in place of the columns that do not stay."""
        reason = self.table.why(row)
        cells = [PageCell(column.cell(row), column) for column in self.columns if reason is None or _is_kept(column)]
        if reason is not None:
            words = TableCell(words=reasons.translate_reason(reason), language=reasons.language(reason), css="off")
            at = [_is_kept(column) for column in self.columns].index(False)
            cells.insert(at, PageCell(words, OF_REASONS, len(self.columns) - len(cells)))
        return PageRow(tuple(cells), self.is_stacked)


def _is_kept(column: TableColumn[Any]) -> bool:
    return column.is_head or column.is_kept
