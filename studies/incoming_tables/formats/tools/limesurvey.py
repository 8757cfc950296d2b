"""LimeSurvey: responses as CSV, Excel or JSON, with codes, whole questions or both as headers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from studies.incoming_tables.formats.tools.base import LEAVE_OUT, AnnotatedTask, Tool, column_cells
from studies.incoming_tables.tables import IncomingTable, TableKind

# What is no question, by its code and by its heading.
RESPONSE, SUBMITTED = ("id", "Response ID"), ("submitdate", "Date submitted")
UNREAD = (
    *("lastpage", "Last page", "startlanguage", "Start language", "seed", "Seed", "startdate", "Date started"),
    *("datestamp", "Date last action", "ipaddr", "IP address", "refurl", "Referrer URL", "interviewtime", "Total time"),
)
BOTH = re.compile(r"([A-Za-z]\w*(?:\[\w+\])*)\. .+", re.DOTALL)  # `work[SQ001]. Where do you work? [At home]`
PART = re.compile(r".+\[([^\[\]]+)\]", re.DOTALL)
NO_DATE = "1980-01-01 00:00:00"  # stands where a survey keeps no dates


def _headings(*names: str) -> list[str]:
    """The headings by which a column of the tool itself goes: its code or its title, alone or with a text behind."""
    return [pattern for name in names for pattern in (name, f"{name}. *")]


class LimeSurvey(Tool):
    name = "limesurvey"
    title = "LimeSurvey"
    roles = {
        **dict.fromkeys(_headings("token", "Access code", *RESPONSE), "rater"),
        **dict.fromkeys(_headings(*SUBMITTED), "time"),
        **dict.fromkeys(_headings(*UNREAD), LEAVE_OUT),
    }
    story_roles = dict.fromkeys(roles, LEAVE_OUT)
    left_out = dict.fromkeys(_headings(*SUBMITTED), ("",))

    @classmethod
    def wrote(cls, table: IncomingTable) -> bool:
        codes = {_code(column) for column in table.columns}
        return all(codes.intersection(names) for names in (RESPONSE, SUBMITTED, ("startlanguage", "Start language")))

    @classmethod
    def unpack(cls, entry: Mapping[str, Any]) -> list[AnnotatedTask] | None:
        entries = entry.get("responses")
        if not isinstance(entries, list) or not entries or not all(isinstance(response, dict) for response in entries):
            return None
        # Earlier versions put each response under its number.
        responses = [next(iter(part.values())) if len(part) == 1 else part for part in entries]
        if not all(isinstance(response, dict) and {*SUBMITTED} & response.keys() for response in responses):
            return None
        return [AnnotatedTask(response, [{}]) for response in responses]

    @classmethod
    def reshape(cls, table: IncomingTable, kind: TableKind) -> IncomingTable:
        """With no time where the survey kept none."""
        column = next(column for column in table.columns if _code(column) in SUBMITTED)
        return replace(table, hints={"roles": {column: LEAVE_OUT}}) if NO_DATE in column_cells(table, column) else table

    @classmethod
    def names(cls, table: IncomingTable) -> Mapping[str, str]:
        return {
            column: match[1] if (match := PART.fullmatch(_code(column))) else _code(column)
            for column in table.columns
            if _code(column) != column or PART.fullmatch(column)
        }


def _code(column: str) -> str:
    """The code where a heading has code and text, else the heading."""
    return match[1] if (match := BOTH.fullmatch(column)) else column
