"""Files of a survey tool that sets two lines above its header."""

from studies.incoming_tables.formats.base import FileFormat
from studies.incoming_tables.formats.delimited import read_delimited
from studies.incoming_tables.tables import IncomingTable, TableKind


class PlumSurvey(FileFormat):
    name = "plum-survey"
    suffixes = (".csv",)
    is_of_one_tool = True

    @staticmethod
    def recognises(content: bytes) -> bool:
        return content.startswith(b"Plum Survey")

    @staticmethod
    def read(name: str, content: bytes, kind: TableKind) -> IncomingTable:
        return read_delimited(name, content.split(b"\n", 2)[2].replace(b"Respondent no", b"rater", 1), kind)
