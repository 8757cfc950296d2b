"""What became of the answers that judges were expected to give, as figures about judges share it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any

from reports.dataset.judged import asked_units

if TYPE_CHECKING:
    import pandas as pd

    from reports.dataset import Dataset

UNEVEN_POINTS = 5  # between sources, from which a loss is said to depend on them


@dataclass(frozen=True, kw_only=True)
class SourceOutcomes:
    """What became of the answers that a judge was expected to give; what is lost is never an answer."""

    source: str = ""
    answered: int
    declined: int
    unreadable: int
    missing: int
    expected: int
    lost_percent: float | None

    @property
    def lost(self) -> int:
        return self.expected - self.answered

    @property
    def heat(self) -> int:
        """How dark its cell is, from 1 to 4: from a first loss, 5 and 15 % on darker."""
        return 1 + sum((self.lost_percent or 0) > bound for bound in (0, 5, 15))


@dataclass(frozen=True, kw_only=True)
class Outcomes(SourceOutcomes):
    by_source: tuple[SourceOutcomes, ...]

    @property
    def uneven(self) -> tuple[SourceOutcomes, SourceOutcomes] | None:
        """The sources of which the most and the least is lost, if five points or more lie between them."""
        ranked = sorted(
            (row for row in self.by_source if row.lost_percent is not None), key=lambda row: row.lost_percent or 0
        )
        if not ranked or (ranked[-1].lost_percent or 0) - (ranked[0].lost_percent or 0) < UNEVEN_POINTS:
            return None
        return ranked[-1], ranked[0]


def outcomes(dataset: Dataset, judge: str, rows: pd.DataFrame, n_items: int) -> Outcomes:
    """What became of a judge's answers to so many items about every story that it is asked about, and by source."""
    units = list(compress(dataset.units, asked_units(dataset, judge, dataset.units)))
    n_units = {source: sum(dataset.source_of(s) == source for _g, s in units) for source, _k in dataset.sources}
    by_source = tuple(
        SourceOutcomes(source=source, **count_outcomes(rows[rows["source"] == source], n_items * n))
        for source, n in n_units.items()
    )
    return Outcomes(**count_outcomes(rows, n_items * len(units)), by_source=by_source)


def count_outcomes(rows: pd.DataFrame, n_expected: int) -> dict[str, Any]:
    """The fields of `SourceOutcomes`."""
    counts = rows["outcome"].value_counts()
    n_by_outcome = {outcome: int(counts.get(outcome, 0)) for outcome in ("answered", "declined", "unreadable")}
    n_lost = n_expected - n_by_outcome["answered"]
    return n_by_outcome | {
        "missing": n_lost - n_by_outcome["declined"] - n_by_outcome["unreadable"],
        "expected": n_expected,
        "lost_percent": 100 * n_lost / n_expected if n_expected else None,
    }
