"""Plum Survey: answers as CSV, with the number of each respondent."""

from studies.incoming_tables.formats.tools.base import Tool
from studies.incoming_tables.tables import IncomingTable


class PlumSurvey(Tool):
    name = "plum-survey"
    title = "Plum Survey"
    roles = {"Respondent no": "rater"}
    left_out = {"Plum status": ("rotten",)}

    @classmethod
    def wrote(cls, table: IncomingTable) -> bool:
        return "Respondent no" in table.columns
