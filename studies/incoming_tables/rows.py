"""Rows of a table by the roles of its columns: what each cell says, or what is wrong with it, by row and column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from studies.documents.errors import InvalidValue, quote
from studies.incoming_tables.problems import InvalidRow
from studies.incoming_tables.roles import Role
from studies.incoming_tables.tables import DAMAGED, OVERLONG, IncomingTable

Content = TypeVar("Content")


@dataclass(frozen=True)
class IncomingRow:
    """A row. location : the file and the row in it, for messages; cell_by_column : as the file has them"""

    location: str
    cell_by_column: Mapping[str, str]

    def cell(self, column: str) -> str:
        """What the cell says, without the blanks around it; "" if the file has no such column."""
        return self.cell_by_column.get(column, "").strip()

    def fault(self, column: str, reason: str) -> InvalidRow:
        """What is wrong with the cell of that column, to be raised."""
        return InvalidRow(self.location, quote(column), reason)

    def read(
        self,
        column: str,
        read: Callable[[str], Content],
        *,
        if_empty: Promise | None = None,
        keeps_blanks: bool = False,
    ) -> Content:
        """What `read` makes of the cell. Raises InvalidRow.

        read : raises InvalidValue
        if_empty : what to say of an empty cell, where it may not be empty
        keeps_blanks : whether the blanks around the words count, as in a text of several lines
        """
        if if_empty and not self.cell(column):
            raise self.fault(column, str(if_empty))
        try:
            return read(self.cell_by_column[column] if keeps_blanks else self.cell(column))
        except InvalidValue as error:
            raise self.fault(column, str(error)) from None

    def read_roles(self, roles: Iterable[Role], column_by_role: Mapping[str, str], names: Any) -> dict[str, Any]:
        """What the row says of those roles that have a column, by their fields; empty cells say nothing.

        names : what the study holds, as the readers of the roles need it
        Raises InvalidRow.
        """
        values: dict[str, Any] = {}
        for role in roles:
            column = column_by_role.get(role.key, "")
            if column and (role.if_empty or self.cell(column)):
                values[role.field or role.key] = self.read(column, partial(role.read, names), if_empty=role.if_empty)
        return values


def read_each(
    table: IncomingTable,
    columns: Iterable[str],
    read_row: Callable[[IncomingRow], Iterable[Content]],
    *,
    is_left_out: Callable[[IncomingRow], bool] = lambda _row: False,
) -> tuple[list[Content], list[InvalidRow]]:
    """What comes of the rows, and why nothing comes of others.

    columns : that are read; a table may have hundreds
    read_row : raises InvalidRow
    is_left_out : whether the row does not count, whatever its cells hold
    """
    contents: list[Content] = []
    problems: list[InvalidRow] = []
    name = Path(table.name).name
    places = [(column, table.columns.index(column)) for column in columns]
    read_places = {place for _column, place in places}
    flaw_by_row = {n: (place, _(DAMAGED)) for n, place in table.damaged if place in read_places}
    flaw_by_row |= {n: (len(table.columns) - 1, _(OVERLONG)) for n in table.overlong}
    for n, cells in table.rows:
        row = IncomingRow(f"{name}: " + _("row %(n)d") % {"n": n}, {column: cells[place] for column, place in places})
        if is_left_out(row):
            continue
        try:
            if flaw := flaw_by_row.get(n):
                raise row.fault(table.columns[flaw[0]], flaw[1])
            contents += read_row(row)
        except InvalidRow as problem:
            problems.append(problem)
    return contents, problems
