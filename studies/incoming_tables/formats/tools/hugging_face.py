"""Hugging Face: sets of preferences, and rows as the viewer of datasets hands them out.

JSON lines of other datasets have no mark of their own; they are ordinary tables.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from studies.incoming_tables.formats.tools.base import AnnotatedTask, Tool
from studies.incoming_tables.formats.tools.options import flatten
from studies.incoming_tables.tables import IncomingTable, TableKind

SIDES = ("chosen", "rejected")


class HuggingFace(Tool):
    name = "hugging-face"
    title = "Hugging Face"
    story_roles = {"prompt": "premise"}
    prefixes = ("meta.", "metadata.", "info.")

    @classmethod
    def wrote(cls, table: IncomingTable) -> bool:
        return {*SIDES} <= {*table.columns}

    @classmethod
    def unpack(cls, entry: Mapping[str, Any]) -> list[AnnotatedTask] | None:
        rows = entry.get("rows")
        if not isinstance(entry.get("features"), list) or not isinstance(rows, list):
            return None
        if not all(isinstance(row, dict) and isinstance(row.get("row"), dict) for row in rows):
            return None
        return [AnnotatedTask(flatten(row["row"]), [{}]) for row in rows]

    @classmethod
    def reshape(cls, table: IncomingTable, kind: TableKind) -> IncomingTable:
        """With the last turn alone, where a side is a conversation with its prompt."""
        sides = {at for at, column in enumerate(table.columns) if column in SIDES}
        rows = tuple(
            (n, tuple(_take_last_turn(cell) if at in sides else cell for at, cell in enumerate(cells)))
            for n, cells in table.rows
        )
        return replace(table, rows=rows)


def _take_last_turn(cell: str) -> str:
    """What was answered, where a cell holds a conversation as JSON."""
    if cell.startswith("[{"):
        with suppress(ValueError, RecursionError, KeyError, TypeError):
            return str(json.loads(cell)[-1]["content"])
    return cell
