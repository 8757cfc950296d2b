"""What was changed after the launch, with its reason, and how many answers were given under each version."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy

from reports.dataset.versions import count_answers_by_version
from reports.figures.base import Figure, Listing, Row
from reports.numbers import whole

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
    title = gettext_lazy("Changes after the launch")
    position = 98
    result = Listing[AmendedVersion]
    tables = ("amendments",)

    def compute(self, dataset: Dataset) -> Listing[AmendedVersion]:
        rows = list(dataset.study.amendments.select_related("version").defer("version__document").order_by("number"))
        if not rows:
            return Listing()
        n_by_version = count_answers_by_version(dataset.people)
        first = dataset.study.frozen_versions.defer("document")[0]
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

    def rows(self, result: Listing[AmendedVersion]) -> dict[str, Iterator[Row]]:
        return {"amendments": _rows(result)}

    def lines(self, result: Listing[AmendedVersion]) -> Iterator[str]:
        yield "\nChanges after the launch, with answers first given under each version"
        for row in result.rows:
            number = "–" if row.version is None else f"{row.version}"
            yield f"  {number:>3} {row.at[:10]} {row.reason[:66]:<66} {whole(row.n_answers):>6}"


def _rows(result: Listing[AmendedVersion]) -> Iterator[Row]:
    for row in result.rows:
        for change in row.changes or (WordingChange(place="", before="", after=""),):
            yield {
                "version": row.version,
                "at": row.at,
                "reason": row.reason,
                "holds_for": row.holds_for,
                "n_answers": row.n_answers,
                "place": change.place,
                "before": change.before,
                "after": change.after,
            }
