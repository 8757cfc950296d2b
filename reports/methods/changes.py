"""What changed between two stored reports of one study: what they say at their head, and how many numbers moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports.fingerprints import StudySummary
from reports.models import Report
from reports.page.context import headline, highlights
from reports.results import Results


@dataclass(frozen=True)
class Change:
    """One thing that is not as it was; before, after : "" where it did not stand"""

    words: str
    before: str
    after: str


def previous(report: Report) -> Report | None:
    """The report of the study that was stored before this one, of those as sealed as it is."""
    earlier = Report.objects.filter(
        study=report.study_id,
        kind=report.kind,
        made_at__lt=report.made_at,
        is_sealed=report.is_sealed,
    )
    return earlier.order_by("-made_at", "-pk").first()


def compare(before: Results, after: Results) -> list[Change]:
    """What the later of two reports says otherwise: the study, its key figures, its findings, then by section."""
    pairs = [
        (_("State of the study"), before.study.state, after.study.state),
        (_("Protocol"), _protocol(before.study), _protocol(after.study)),
        (_("Main finding"), headline(before), headline(after)),
    ]
    changes = [Change(words, old, new) for words, old, new in pairs if old != new]
    return [*changes, *_of_highlights(before, after), *_of_statements(before, after), *_of_tables(before, after)]


def _protocol(study: StudySummary) -> str:
    return f"{study.protocol.version}, {study.protocol.sha256[:8]}" if study.protocol else ""


def _of_highlights(before: Results, after: Results) -> Iterator[Change]:
    old, new = dict(highlights(before)), dict(highlights(after))
    for words in dict.fromkeys([*old, *new]):
        if old.get(words) != new.get(words):
            yield Change(words, old.get(words, ""), new.get(words, ""))


def _of_statements(before: Results, after: Results) -> Iterator[Change]:
    """Findings that came or went; one whose number moved is both."""
    old, new = _sentences(before), _sentences(after)
    yield from (Change(_("A finding that stood there"), sentence, "") for sentence in old if sentence not in new)
    yield from (Change(_("A finding that is new"), "", sentence) for sentence in new if sentence not in old)


def _sentences(results: Results) -> list[str]:
    return [
        str(statement.sentence)
        for figure, result in results.visible
        for statement in figure.statements(result, results.head)
    ]


def _of_tables(before: Results, after: Results) -> Iterator[Change]:
    """Of each section how many cells of its tables are not as they were."""
    old = {figure.key: _cells(figure.rows(result)) for figure, result in before.visible}
    new = {figure.key: _cells(figure.rows(result)) for figure, result in after.visible}
    titles = {figure.key: str(figure.title) for figure, _result in [*before.visible, *after.visible]}
    for key, title in titles.items():
        if key not in old:
            yield Change(title, "", _("a new section"))
        elif key not in new:
            yield Change(title, _("a section"), "")
        elif n := sum(old[key].get(at) != new[key].get(at) for at in old[key].keys() | new[key].keys()):
            sentence = ngettext("%(n)s value of %(all)s moved", "%(n)s values of %(all)s moved", n)
            yield Change(title, "", sentence % {"n": n, "all": len(new[key])})


def _cells(tables: Mapping[str, Any]) -> dict[tuple[str, int, str], str]:
    """Every cell of some tables, by table, row and column."""
    return {
        (name, n, column): repr(value)
        for name, rows in tables.items()
        for n, row in enumerate(rows)
        for column, value in row.items()
    }
