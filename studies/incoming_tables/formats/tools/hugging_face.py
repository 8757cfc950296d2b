"""Hugging Face: sets of preferences, and rows as the viewer of datasets hands them out.

JSON lines of other datasets have no mark of their own; they are ordinary tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studies.incoming_tables.formats.tools.base import AnnotatedTask, Tool
from studies.incoming_tables.formats.tools.options import flatten
from studies.incoming_tables.formats.tools.pairs import PAIR_ROLES, holds_pairs, unfold_pairs
from studies.incoming_tables.tables import IncomingTable, TableKind

PARTS = ("", "text", "response")


class HuggingFace(Tool):
    name = "hugging-face"
    title = "Hugging Face"
    prefixes = ("meta.", "metadata.", "info.")
    story_roles = PAIR_ROLES

    @classmethod
    def wrote(cls, table: IncomingTable) -> bool:
        return holds_pairs(table, *PARTS)

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
        return unfold_pairs(table) if kind.has_stories and holds_pairs(table, *PARTS) else table
