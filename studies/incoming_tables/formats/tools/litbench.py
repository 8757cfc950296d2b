"""LitBench: two stories to a prompt in each row, the one with more votes and the other."""

from __future__ import annotations

from studies.incoming_tables.formats.tools.base import Tool
from studies.incoming_tables.tables import IncomingTable


class LitBench(Tool):
    name = "litbench"
    title = "LitBench"
    story_roles = {"prompt": "premise"}

    @classmethod
    def wrote(cls, table: IncomingTable) -> bool:
        return {"chosen_story", "rejected_story"} <= {*table.columns}
