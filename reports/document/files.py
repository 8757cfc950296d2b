"""The CSV tables of a description: unrounded values under the names of the vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from reports.document.model import DocumentSection, ReportTable, TableColumn, find_blocks

Row = dict[str, Any]
T = TypeVar("T")


def write_rows(sections: Iterable[DocumentSection]) -> dict[str, list[Row]]:
    """The rows of each file by its name. Tables of one name follow each other."""
    files: dict[str, list[Row]] = {}
    for table in find_blocks(sections, ReportTable):
        if table.name:
            files.setdefault(table.name, []).extend(_rows(table))
    return files


def _rows(table: ReportTable[Any]) -> Iterator[Row]:
    values = [pair for column in table.columns for pair in column.files.items()]
    for row in table.rows:
        yield {name: value(row) for name, value in values}


def file_only(name: str, rows: Sequence[T], *columns: TableColumn[T]) -> ReportTable[T]:
    """A table that neither the page nor the text has."""
    return ReportTable(name=name, label="", columns=columns, rows=rows, is_shown=False)
