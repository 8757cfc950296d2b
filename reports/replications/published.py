"""A comparison as it was stored, read back for its page: published beside recomputed, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from reports.models import Report
from studies.models import Study


@dataclass(frozen=True)
class StoredFigure:
    """One figure; published, value : as written, "" for none

    mark : same, known, expected, new or DIFFERS, as the comparison has them; why_none : why there is no value
    """

    name: str
    published: str
    value: str
    mark: str
    why_none: str
    is_of_judge: bool


@dataclass(frozen=True)
class StoredBlock:
    key: str
    title: str
    printed_in: str
    procedure: str
    reason: str
    figures: tuple[StoredFigure, ...]

    @property
    def n_same(self) -> int:
        return sum(figure.mark == "same" for figure in self.figures)

    @property
    def n_published(self) -> int:
        return sum(bool(figure.published) for figure in self.figures)


@dataclass(frozen=True)
class StoredComparison:
    """What `replicate` found in one study. n_met of n_due figures, but for judges', are as they must be."""

    study: Study
    command: str
    compared_at: datetime
    is_replicated: bool
    caution: str
    differences: tuple[str, ...]
    judge_differences: tuple[str, ...]
    blocks: tuple[StoredBlock, ...]
    files: tuple[tuple[str, str], ...]
    n_due: int

    @property
    def n_met(self) -> int:
        return self.n_due - len(self.differences)


def read_comparison(record: Report) -> StoredComparison | None:
    """The comparison in the record of a release; None if none was stored with it."""
    document = record.result.get("comparison")
    if document is None:
        return None
    figures = document["figures"]
    return StoredComparison(
        study=record.study,
        command=record.result["command"],
        compared_at=datetime.fromisoformat(record.result["compared_at"]),
        is_replicated=document["is_replicated"],
        caution=document["caution"],
        differences=tuple(document["differences"]),
        judge_differences=tuple(document["judge_differences"]),
        blocks=tuple(_blocks(figures)),
        files=tuple(sorted(document["files"].items())),
        n_due=sum(figure["expected"] is not None and not figure["is_of_judge"] for figure in figures),
    )


def _blocks(figures: list[dict[str, Any]]) -> Iterator[StoredBlock]:
    for key, group in groupby(figures, key=lambda figure: str(figure["key"])):
        rows = list(group)
        places = max((_n_decimals(row["published"]) for row in rows), default=0)
        yield StoredBlock(
            key=key,
            title=rows[0]["title"],
            printed_in=rows[0]["printed_in"],
            procedure=rows[0]["procedure"],
            reason=next((row["reason"] for row in rows if row["reason"]), ""),
            figures=tuple(_figure(row, places=places) for row in rows),
        )


def _n_decimals(number: float | None) -> int:
    """How many decimals a printed number has, as far as its value tells: .40 of a list that also has .48 has two."""
    return 0 if number is None else len(f"{number:g}".partition(".")[2])


def _figure(row: dict[str, Any], *, places: int) -> StoredFigure:
    return StoredFigure(
        name=", ".join(f"test {at}" if at.isdigit() else at for at in row["at"]),
        published="" if row["published"] is None else f"{row['published']:.{places}f}",
        value="" if row["value"] is None else f"{row['value']:.4f}".rstrip("0").rstrip("."),
        mark=row["mark"],
        why_none=row["why_none"],
        is_of_judge=row["is_of_judge"],
    )
