"""What was changed after the launch, with its reason, and how many answers were given under each version."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from django.utils.html import format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.document import columns
from reports.document.files import file_only
from reports.document.model import DocumentSection, Files, Head, ReportTable, TableCell, TableColumn, TextBlock
from reports.figures.base import Figure, Listing
from reports.numbers import NONE

if TYPE_CHECKING:
    from reports.dataset import Dataset


@dataclass(frozen=True, kw_only=True)
class WordingChange:
    """A place that says something else: a field of the study, or the words of a step."""

    place: str
    before: str
    after: str


@dataclass(frozen=True, kw_only=True)
class AmendedVersion:
    """The version that was launched, or an amendment.

    version : its number; None where an amendment left the protocol's words as they were
    at : ISO 8601, UTC
    holds_for : "newcomers" or "everybody"; "" of the launched version
    n_answers : answers of people that count and were first given under it; None without a version
    """

    version: int | None
    at: str
    reason: str
    holds_for: str
    changes: tuple[WordingChange, ...]
    n_answers: int | None


class Amendments(Figure[Listing[AmendedVersion]]):
    key = "amendments"
    title = gettext_lazy("Amendments after launch")
    position = 98
    section = "methods"
    tables = ("amendments",)

    def compute(self, dataset: Dataset) -> Listing[AmendedVersion]:
        rows = dataset.records.amendments
        if not rows:
            return Listing()
        first, n_by_version = dataset.records.launched_version, dataset.records.n_answers_by_version
        launched = AmendedVersion(
            version=first.number,
            at=first.frozen_at.astimezone(UTC).isoformat() if first.frozen_at else "",
            reason=first.reason,
            holds_for="",
            changes=(),
            n_answers=n_by_version[first.number],
        )
        amended = [
            AmendedVersion(
                version=row.version.number if row.version else None,
                at=row.at.astimezone(UTC).isoformat(),
                reason=row.reason,
                holds_for=row.holds_for,
                changes=tuple(WordingChange(**change) for change in row.changes),
                n_answers=n_by_version[row.version.number] if row.version else None,
            )
            for row in rows
        ]
        return Listing((launched, *amended))

    def describe(self, result: Listing[AmendedVersion], head: Head) -> Iterator[DocumentSection]:
        table = ReportTable(
            label=_("Amendments after launch"),
            caption=_(
                "What was changed after the launch, with its reason, and how many answers that count were first given "
                "under each version."
            ),
            rows=result.rows,
            columns=[
                TableColumn(
                    heading=_("Version"),
                    cell=lambda row: TableCell(words=NONE if row.version is None else str(row.version)),
                    files={},
                    is_number=False,
                    is_head=True,
                ),
                columns.words("at", _("Day"), shown=lambda row: row.at[:10]),
                columns.words(
                    "reason",
                    _("Reason"),
                    shown=lambda row: row.reason if row.holds_for else _("Launched"),
                    css="statement",
                ),
                TableColumn(heading=_("What changed"), cell=_changes, files={}, is_number=False),
                columns.words("holds_for", _("Holds for"), shown=_holds_for),
                columns.number("n_answers", _("Answers")),
            ],
        )
        note = _(
            "The questions are the same under every version, so answers to them are taken together. Deadline, title "
            "and address are the same for everybody at once."
        )
        yield DocumentSection(
            heading=_("Amendments after launch"),
            body=[table, _file(result), Files(words=_("All changes"), table="amendments")],
            margin=[TextBlock(words=note)],
        )


def _changes(row: AmendedVersion) -> TableCell:
    changes = ((change.place, change.before, change.after) for change in row.changes)
    paragraph = "<p><code>{}</code>: <del>{}</del> <ins>{}</ins></p>"
    return TableCell(words=format_html_join("", paragraph, changes), css="statement")


def _holds_for(row: AmendedVersion) -> str:
    if row.holds_for == "everybody":
        return _("everybody")
    return _("those who began after it") if row.holds_for else ""


def _file(result: Listing[AmendedVersion]) -> ReportTable[Any]:
    """A row for every change, and one for a version without any."""
    nothing = WordingChange(place="", before="", after="")
    return file_only(
        "amendments",
        [(row, change) for row in result.rows for change in row.changes or (nothing,)],
        columns.fields("version", "at", "reason", "holds_for", "n_answers", of=itemgetter(0)),
        columns.fields("place", "before", "after", of=itemgetter(1)),
    )
