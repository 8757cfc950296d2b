"""Prolific: the demographics of a study's participants as CSV, to be answers to questions asked once."""

from __future__ import annotations

from dataclasses import replace

from studies.incoming_tables.formats.tools.base import LEAVE_OUT, Tool
from studies.incoming_tables.tables import IncomingTable, TableKind

GONE = ("DATA_EXPIRED", "DATA EXPIRED", "CONSENT_REVOKED", "CONSENT REVOKED", "REVOKED")
UNREAD = (
    *("Submission id", "Status", "Custom study tncs accepted at", "Started at", "Reviewed at", "Archived at"),
    *("Time taken", "Completion code", "Total approvals", "Bonus*", "session_id", "status", "started_datetime"),
    *("reviewed_at_datetime", "time_taken", "entered_code", "num_approvals", "prolific_score", "submission_id"),
)


class Prolific(Tool):
    name = "prolific"
    title = "Prolific"
    roles = {
        **dict.fromkeys(("Participant id", "participant_id"), "rater"),
        **dict.fromkeys(("Completed at", "completed_date_time"), "time"),
        **dict.fromkeys(UNREAD, LEAVE_OUT),
    }
    left_out = {
        "[Ss]tatus": (
            *("RETURNED", "TIMED-OUT", "REJECTED", "RESERVED", "ACTIVE", "SCREENED OUT", "PARTIALLY APPROVED"),
            *("Returned", "Timed-out", "Rejected", "Reserved", "Active", "Screened out"),
        )
    }

    @classmethod
    def wrote(cls, table: IncomingTable) -> bool:
        now, earlier = {"Submission id", "Participant id", "Status"}, {"session_id", "participant_id", "entered_code"}
        return any(names <= {*table.columns} for names in (now, earlier))

    @classmethod
    def reshape(cls, table: IncomingTable, kind: TableKind) -> IncomingTable:
        """With empty cells where an answer has expired or its participant has taken it back."""
        rows = tuple((n, tuple("" if cell.strip() in GONE else cell for cell in cells)) for n, cells in table.rows)
        return replace(table, rows=rows)
