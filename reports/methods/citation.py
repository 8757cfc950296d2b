"""How to cite a report: by its fingerprint, which names one computation of one set of answers for good."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from django.conf import settings

from reports.document.latex import escape
from reports.models import Report

SHORT = 12  # letters of a fingerprint in an address: of a million reports no two share them


@dataclass(frozen=True)
class Citation:
    """One report. made_at : when it was computed; address : where it stands"""

    title: str
    organiser: str
    made_at: datetime
    fingerprint: str
    address: str
    version: str

    @property
    def plain(self) -> str:
        """In one sentence, as reference lists have it."""
        who = f"{self.organiser}. " if self.organiser else ""
        return (
            f"{who}{self.title.rstrip('.')} ({self.made_at.year}). Report {self.fingerprint[:SHORT]}, computed "
            f"{self.made_at:%Y-%m-%d} with Quire {self.version}. {self.address}"
        )

    @property
    def bibtex(self) -> str:
        """As an entry of a BibTeX file."""
        fields = {
            "author": f"{{{escape(self.organiser)}}}" if self.organiser else "",
            "title": f"{{{escape(self.title)}}}",
            "year": str(self.made_at.year),
            "howpublished": f"\\url{{{self.address}}}",
            "note": f"Report {self.fingerprint}, computed {self.made_at:%Y-%m-%d} with Quire {escape(self.version)}",
        }
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        return "\n".join([f"@misc{{quire-{self.fingerprint[:SHORT]},", *lines, "}"])


def cite(report: Report, address: str) -> Citation:
    """How to cite a stored report that stands at that address."""
    study = report.study
    return Citation(study.title, study.organiser, report.made_at, report.fingerprint, address, quire_version())


@cache
def quire_version() -> str:
    """The version of this code, as its project file has it."""
    document = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))
    return str(document["project"]["version"])
