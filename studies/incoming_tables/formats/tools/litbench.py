"""LitBench: two stories to a prompt in each row, the one with more votes and the other."""

from __future__ import annotations

from studies.incoming_tables.formats.tools.base import Tool
from studies.incoming_tables.formats.tools.pairs import PAIR_ROLES, holds_pairs, unfold_pairs
from studies.incoming_tables.tables import IncomingTable, TableKind


class LitBench(Tool):
    name = "litbench"
    title = "LitBench"
    story_roles = PAIR_ROLES

    @classmethod
    def wrote(cls, table: IncomingTable) -> bool:
        return holds_pairs(table, "story")

    @classmethod
    def reshape(cls, table: IncomingTable, kind: TableKind) -> IncomingTable:
        return unfold_pairs(table) if kind.has_stories else table
