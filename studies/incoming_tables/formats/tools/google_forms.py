"""Google Forms: responses as CSV or from its sheet, with whole questions as headers and a column for each grid row."""

from __future__ import annotations

import re
from collections.abc import Mapping

from studies.incoming_tables.formats.tools.base import LEAVE_OUT, Tool
from studies.incoming_tables.tables import IncomingTable

# As the first header is called in the languages of forms.
TIMESTAMPS = (
    *("Timestamp", "Zeitstempel", "Carimbo de data/hora", "Marca temporal", "Horodateur", "Informazioni cronologiche"),
    *("Tijdstempel", "Sygnatura czasowa", "Tidstempel", "Tidstämpel", "Отметка времени", "时间戳记", "タイムスタンプ"),
)
TIME = re.compile(r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}\.?,?[ T]+[0-9]{1,2}[:.][0-9]{2}.*")
GRID = re.compile(r".+ \[([^\[\]]+)\]", re.DOTALL)


class GoogleForms(Tool):
    name = "google-forms"
    title = "Google Forms"
    roles = {
        **dict.fromkeys(TIMESTAMPS, "time"),
        **dict.fromkeys(("Email Address", "Email", "Username", "E-Mail-Adresse", "Endereço de e-mail"), "rater"),
        "Score": LEAVE_OUT,
    }
    story_roles = dict.fromkeys(roles, LEAVE_OUT)

    @classmethod
    def wrote(cls, table: IncomingTable) -> bool:
        times = [cells[0].strip() for _n, cells in table.rows[:20] if cells[0].strip()]
        return table.columns[0] in TIMESTAMPS and bool(times) and all(map(TIME.fullmatch, times))

    @classmethod
    def names(cls, table: IncomingTable) -> Mapping[str, str]:
        return {column: match[1] for column in table.columns if (match := GRID.fullmatch(column))}
