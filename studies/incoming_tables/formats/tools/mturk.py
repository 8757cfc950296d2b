"""Amazon Mechanical Turk: the results of a batch as CSV, a row for each assignment."""

from __future__ import annotations

import re
from collections.abc import Mapping

from studies.incoming_tables.formats.tools.base import LEAVE_OUT, Tool
from studies.incoming_tables.formats.tools.options import fold_ticks
from studies.incoming_tables.tables import IncomingTable, TableKind

OPTION = re.compile(r"(Answer\..+)\.(?!label$)([^.]+)")  # crowd elements have a column for each option
TICKS = {"true": True, "false": False}  # yes and no are answers
NAME = re.compile(r"(?:Input|Answer)\.(.+?)(?:\.label)?")
UNREAD = (
    *("HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward", "CreationTime", "MaxAssignments"),
    *("RequesterAnnotation", "AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds", "Expiration"),
    *("NumberOfSimilarHITs", "LifetimeInSeconds", "AssignmentId", "AssignmentStatus", "AcceptTime"),
    *("AutoApprovalTime", "ApprovalTime", "RejectionTime", "RequesterFeedback", "WorkTimeInSeconds", "*ApprovalRate"),
    *("Approve", "Reject"),
)


class MechanicalTurk(Tool):
    name = "mturk"
    title = "Amazon Mechanical Turk"
    roles = {"WorkerId": "rater", "SubmitTime": "time", **dict.fromkeys(UNREAD, LEAVE_OUT)}
    story_roles = dict.fromkeys(("WorkerId", "SubmitTime", "Answer.*", *UNREAD), LEAVE_OUT)
    left_out = {"AssignmentStatus": ("Rejected",)}
    task_column = "HITId"

    @classmethod
    def wrote(cls, table: IncomingTable) -> bool:
        has_parts = any(column.startswith(("Input.", "Answer.")) for column in table.columns)
        return {"HITId", "WorkerId"} <= {*table.columns} and has_parts

    @classmethod
    def reshape(cls, table: IncomingTable, kind: TableKind) -> IncomingTable:
        return fold_ticks(table, OPTION, TICKS)

    @classmethod
    def names(cls, table: IncomingTable) -> Mapping[str, str]:
        return {column: match[1] for column in table.columns if (match := NAME.fullmatch(column))}
