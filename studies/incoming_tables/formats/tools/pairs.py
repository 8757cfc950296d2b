"""Two stories in each row, one chosen and one rejected, as a row for each story."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace

from studies.incoming_tables.formats.tools.base import FACTOR, LEAVE_OUT
from studies.incoming_tables.tables import IncomingTable, make_unique

SIDES = ("chosen", "rejected")
PAIR, PREFERENCE, STORY = "pair", "preference", "story"
PAIR_ROLES = {
    PAIR: "group",
    "prompt": "premise",
    "comment_id": "code",
    "timestamp*": LEAVE_OUT,
    **dict.fromkeys((STORY, "text", "response"), "text"),
    **dict.fromkeys(("model", "username", "author"), "source"),
    **dict.fromkeys((PREFERENCE, "*upvotes*", "*score"), FACTOR),
}
_SIDE = re.compile(
    r"(?P<before>chosen|rejected)_(?P<name>.+)|(?P<of>.+)_(?P<after>chosen|rejected)|(?P<only>chosen|rejected)"
)


def holds_pairs(table: IncomingTable, *names: str) -> bool:
    """Whether there are columns such as `chosen_story` and `rejected_story`. names : "story"; "" for the sides alone"""
    return any({f"{side}_{name}" if name else side for side in SIDES} <= {*table.columns} for name in names)


def unfold_pairs(table: IncomingTable) -> IncomingTable:
    """A row for each story, with its pair, whether it was chosen, and what both have in common."""
    place_by_side: dict[str, dict[str, int]] = {side: {} for side in SIDES}
    common = []
    for at, column in enumerate(table.columns):
        if match := _SIDE.fullmatch(column):
            side = match["before"] or match["after"] or match["only"]
            place_by_side[side][match["name"] or match["of"] or STORY] = at
        else:
            common.append(at)
    names = dict.fromkeys(name for places in place_by_side.values() for name in places)
    rows: list[tuple[int, tuple[str, ...]]] = []
    for pair, (_n, cells) in enumerate(table.rows, start=1):
        for side, places in place_by_side.items():
            words = [_last_turn(cells[places[name]]) if name in places else "" for name in names]
            rows.append((len(rows) + 2, (f"pair {pair}", side, *words, *(cells[at] for at in common))))
    columns = make_unique([PAIR, PREFERENCE, *names, *(table.columns[at] for at in common)])
    return replace(table, columns=columns, rows=tuple(rows), formulas=())


def _last_turn(cell: str) -> str:
    """What was answered, where a cell holds a conversation as JSON."""
    if cell.startswith("[{"):
        with suppress(ValueError, RecursionError, KeyError, TypeError):
            return str(json.loads(cell)[-1]["content"])
    return cell
