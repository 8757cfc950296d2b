"""The row of a table that holds its header, where titles or notes stand above it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median_high

MOST_ABOVE = 30  # rows that may stand above a header
_LOOKED_AT, _MOST_FILLED = 200, 2


def guess_header_row(rows: Sequence[tuple[int, Sequence[str]]]) -> tuple[int | None, bool]:
    """The number of the header's row, and whether it is sure; None if there is no row.

    A row above the header has its first cell, at most two that are not empty, and at most half as many as rows have.
    One of two cells may be the header of texts with commas, so it stands below an empty row or a title.
    """
    looked_at = rows[:_LOOKED_AT]
    if not looked_at:
        return None, True
    n_filled = [sum(1 for cell in cells if cell.strip()) for _n, cells in looked_at]
    usual = median_high(n_filled)
    for at, (n, cells) in enumerate(looked_at[:MOST_ABOVE]):
        may_be_above = n_filled[at] <= min(_MOST_FILLED, usual / 2) and bool(cells[0].strip())
        if not may_be_above or (n == 1 and n_filled[at] > 1):
            return n, at == 0 and not may_be_above
    return looked_at[0][0], True
