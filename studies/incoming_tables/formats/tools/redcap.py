"""REDCap: records as CSV, raw or with labels; a checkbox has a column for each of its options."""

from __future__ import annotations

import re
from dataclasses import replace

from studies.incoming_tables.formats.tools.base import LEAVE_OUT, Tool, list_present
from studies.incoming_tables.formats.tools.options import fold_ticks
from studies.incoming_tables.tables import IncomingTable, TableKind

RECORDS = ("record_id", "Record ID", "study_id", "Study ID")
RAW_CHECKBOX = re.compile(r"(\w+?)___(\w+)")
LABELLED_CHECKBOX = re.compile(r"(.+) \(choice=(.+)\)", re.DOTALL)
MARK = re.compile(r"\w+_complete|Complete\?|redcap_\w+|\w+___\w+|.+ \(choice=.+\)", re.DOTALL)


class RedCap(Tool):
    name = "redcap"
    title = "REDCap"
    roles = {
        **dict.fromkeys(("redcap_survey_identifier", "Survey Identifier", *RECORDS), "rater"),
        **dict.fromkeys(("*_timestamp", "Survey Timestamp"), "time"),
        **dict.fromkeys(("redcap_*", "*_complete", "Complete[?]", "Event Name", "Repeat *"), LEAVE_OUT),
    }
    story_roles = dict.fromkeys(roles, LEAVE_OUT) | dict.fromkeys(RECORDS, "code")

    @classmethod
    def wrote(cls, table: IncomingTable) -> bool:
        return table.columns[0] in RECORDS and any(map(MARK.fullmatch, table.columns))

    @classmethod
    def reshape(cls, table: IncomingTable, kind: TableKind) -> IncomingTable:
        table = fold_ticks(fold_ticks(table, RAW_CHECKBOX), LABELLED_CHECKBOX)
        forms = [column for column in table.columns if column.endswith("_complete") or column == "Complete?"]
        if len(forms) != 1:  # where one of several is unfinished, its row still has the answers to the others
            return table
        values = list_present(table, forms[0], ("0", "Incomplete"))
        return replace(table, hints={"left_out": {forms[0]: values}} if values else {})
