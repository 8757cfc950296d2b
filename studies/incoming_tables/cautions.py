"""What is to be looked at in any table before it comes in: rows that a filter hides, cells that a program cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.utils.translation import gettext as _

from studies.incoming_tables.problems import RowProblem
from studies.incoming_tables.tables import IncomingTable

MOST_IN_CELL = 32_767  # UTF-16 units that a cell of Excel holds; it cuts what is longer, and says nothing


def find_cautions(table: IncomingTable, columns: Iterable[str] = ()) -> Iterator[RowProblem]:
    """Warnings, with rows. columns : in which cells that Excel cut are looked for"""
    if table.hidden:
        sentence = _("These rows are hidden by a filter in the file. They would be imported, too.")
        yield RowProblem("warning", table.hidden, "", sentence)
    for column in columns:
        at = table.columns.index(column)
        if cut := tuple(n for n, cells in table.rows if is_cut(cells[at])):
            sentence = _(
                "The cell has 32,767 characters, the most that Excel keeps, so its end is probably missing. Take the "
                "text from where it was written."
            )
            yield RowProblem("warning", cut, column, sentence)


def is_cut(cell: str) -> bool:
    """Whether the cell is as long as Excel allows."""
    return MOST_IN_CELL // 2 <= len(cell) <= MOST_IN_CELL and len(cell.encode("utf-16-le")) == 2 * MOST_IN_CELL
