"""Qualtrics: responses as CSV, TSV or Excel, with the question and an identifier below each header."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from zoneinfo import available_timezones

from studies.incoming_tables.formats.tools.base import LEAVE_OUT, Tool
from studies.incoming_tables.tables import IncomingTable, TableKind

IDENTIFIER = '{"ImportId"'
UNREAD = (
    *("StartDate", "RecordedDate", "Status", "IPAddress", "Progress", "Duration (in seconds)", "Finished", "Q_*"),
    *("ExternalReference", "Location*", "DistributionChannel", "UserLanguage", "Recipient*"),
    *("*_First Click", "*_Last Click", "*_Page Submit", "*_Click Count"),
)


class Qualtrics(Tool):
    name = "qualtrics"
    title = "Qualtrics"
    roles = {
        **dict.fromkeys(("PROLIFIC_PID", "PROLIFIC_ID", "workerId", "ResponseId"), "rater"),
        "EndDate": "time",
        **dict.fromkeys(UNREAD, LEAVE_OUT),
    }
    story_roles = dict.fromkeys(("ResponseId", "EndDate", *UNREAD), LEAVE_OUT)
    left_out = {
        "Status": ("Survey Preview", "Survey Test", "Spam", "Spam Preview", "1", "2", "8", "9", "10", "17"),
        "Finished": ("False", "FALSE", "false", "No", "no", "0"),
    }

    @classmethod
    def wrote(cls, table: IncomingTable) -> bool:
        names = {"StartDate", "EndDate", "RecordedDate", "Status", "Finished", "Progress"}
        return "ResponseId" in table.columns and len(names.intersection(table.columns)) > 1

    @classmethod
    def reshape(cls, table: IncomingTable, kind: TableKind) -> IncomingTable:
        at = table.columns.index("ResponseId")
        rows = list(table.rows)
        names: dict[str, str] = {}
        zone = ""
        is_identified = len(rows) > 1 and rows[1][1][at].startswith(IDENTIFIER)
        if is_identified or rows[0][1][at].strip() == "Response ID":
            questions = rows.pop(0)[1]
            names = {column: words for column, words in zip(table.columns, questions, strict=True) if words.strip()}
        if rows and rows[0][1][at].startswith(IDENTIFIER):
            for cell in rows.pop(0)[1]:
                zone = zone or _read_zone(cell)
        hints = {"names": names} | ({"zone": zone} if zone else {})
        return replace(table, rows=tuple(rows), hints=hints)


def _read_zone(cell: str) -> str:
    """The time zone that an identifier names; "" if it names none that there is."""
    with suppress(ValueError, RecursionError, AttributeError):
        name = json.loads(cell).get("timeZone")
        if isinstance(name, str) and name in available_timezones() | {"Z"}:
            return "UTC" if name == "Z" else name
    return ""
