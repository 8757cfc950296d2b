"""docs/trials.md: what the trials found, each on each kind of database when it was last run there."""

import re
from dataclasses import dataclass
from datetime import date
from typing import Any

from tools import measurement

PAGE = "docs/trials.md"
HEAD = """# Trials

Written by `make trials`; do not edit. Of each a short form runs with the tests (`tests/tools`), which also shows that
it finds something when the defence that it tries is switched off. A trial that is run alone, or on another database,
leaves what was found of the others; where and when each was run stands under its table.
"""
TRIAL = re.compile(r"^## (.+)$", re.MULTILINE)
RUN = re.compile(r"^### (\w+): ", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """One trial on one kind of database.

    must : its numbers that must be what
    commit : as it was before this page was written
    """

    trial: str
    about: str
    result: dict[str, Any]
    must: dict[str, Any]
    database: str
    seconds: float
    commit: str
    day: date

    @property
    def broken(self) -> list[str]:
        return [name for name, value in self.must.items() if self.result.get(name) != value]

    @property
    def kind(self) -> str:
        """Of the database, without its version."""
        return self.database.split()[0]

    def words(self) -> str:
        rows = [
            f"| {name} | {words(value)} | {words(self.must[name]) if name in self.must else ''} |"
            for name, value in self.result.items()
        ]
        where = f"{self.database}; commit {self.commit}, {self.day}; {measurement.machine()}"
        table = ["| | found | must be |", "|---|---|---|", *rows]
        holds = "holds" if not self.broken else "**does not hold**"
        return "\n".join([f"### {self.kind}: {holds}", "", *table, "", f"{where}. Took {self.seconds:.0f} s."])


def words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {n}" for name, n in value.items()) or "none"
    if isinstance(value, (list, tuple, set)):
        return ", ".join(map(str, value)) or "none"
    return str(value)


def put_into(page: str, run: Run, order: list[str]) -> str:
    """The page with this run in the place of the same trial's last one on that kind of database.

    order : the names of all trials; what the page says of any other is left out
    """
    sections = {name: text for name, text in _split(TRIAL, page) if name in order}
    runs = dict(_split(RUN, sections.get(run.trial, ""), keeps_heading=True)) | {run.kind: run.words()}
    sections[run.trial] = "\n\n".join([run.about, *(runs[kind] for kind in sorted(runs, reverse=True))])
    return HEAD + "".join(f"\n## {name}\n\n{sections[name].strip()}\n" for name in order if name in sections)


def _split(heading: re.Pattern[str], text: str, *, keeps_heading: bool = False) -> list[tuple[str, str]]:
    found = list(heading.finditer(text))
    ends = [*(match.start() for match in found), len(text)][1:]
    return [
        (match[1], text[match.start() if keeps_heading else match.end() : end].strip())
        for match, end in zip(found, ends, strict=True)
    ]
