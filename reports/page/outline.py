"""Which figures of a report have something to show, in which sections, and why the others have nothing."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from reports.document.model import DocumentSection, DrawnPlot, Head, Own, ReportTable, find_blocks
from reports.figures import Figure, all_figures
from reports.page.sections import FINDINGS, METHODS, SECTIONS
from reports.results import Results

SEALED, UNANSWERED, UNASKED, REFUSED, LATER = "sealed", "unanswered", "unasked", "refused", "later"


@dataclass(frozen=True)
class ReportOutline:
    """leads : the section that comes first, by its key, "" for none; shown : keys of the figures with something to
    show, in the order of the page; silent : of each other figure why it has nothing"""

    leads: str
    shown: tuple[str, ...]
    silent: dict[str, str]

    def write(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, written: str) -> ReportOutline:
        fields = json.loads(written)
        return cls(fields["leads"], tuple(fields["shown"]), fields["silent"])

    def sections(self) -> list[str]:
        """The keys of the sections that have something to show: findings, then the one that leads, then in order."""
        filled = {all_figures()[key].section for key in self.shown} | {FINDINGS, METHODS}
        return sorted((key for key in SECTIONS if key in filled), key=lambda key: key not in (FINDINGS, self.leads))

    def figures_in(self, section: str) -> list[Figure[Any]]:
        return [figure for key in self.shown if (figure := all_figures()[key]).section == section]


def outline(results: Results, head: Head, *, editions: Collection[str] = ()) -> ReportOutline:
    """The outline of a report, for which every figure describes what it has.

    editions : the figures that there were when it was stored, by their keys; empty where that is not known
    """
    visible = {figure.key for figure, _result in results.visible}
    keys, silent = [], {}
    for key, figure in all_figures().items():
        result = results.figures[key]
        if editions and key not in editions:
            silent[key] = LATER
        elif key not in visible:
            silent[key] = _why_silent(results, figure, result)
        elif is_refused(description := list(figure.describe(result, head))):
            silent[key] = REFUSED
        elif description:
            keys.append(key)
        else:
            silent[key] = UNASKED
    lead = find_leader(results, head)
    return ReportOutline(lead.section if lead else "", tuple(keys), silent)


def find_leader(results: Results, head: Head) -> Figure[Any] | None:
    """The figure whose leaderboard the summary shows; None where nothing leads."""
    pairs = sorted(results.visible, key=lambda pair: pair[0].lead)
    return next((figure for figure, result in pairs if figure.leaderboard(result, head)), None)


def is_refused(description: Sequence[DocumentSection]) -> bool:
    """Whether all that a figure has is rows without a value, each with its reason."""
    if any(find_blocks(description, DrawnPlot)) or any(find_blocks(description, Own)):
        return False
    tables = list(find_blocks(description, ReportTable))
    why = [table.why(row) for table in tables for row in table.rows]
    return bool(why) and None not in why


def _why_silent(results: Results, figure: Figure[Any], result: Any) -> str:
    if results.is_sealed and not figure.is_shown_sealed:
        return SEALED
    if result is None or figure.is_empty(result):
        return UNASKED
    return UNANSWERED
