"""Values that figures share: estimates, intervals and chance floors, each with the reason where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stats.reasons import Incomputable

if TYPE_CHECKING:
    from stats.intervals import Interval as StatisticInterval

FEWEST_CLUSTERS = 5  # below, an interval is drawn broken


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why there is no value: a code of `reports.reasons`, and what its sentence names."""

    code: str
    values: dict[str, str | int | float]

    @classmethod
    def of(cls, error: Incomputable) -> Reason:
        return cls(code=error.code, values=dict(error.values))


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A value, or None and why there is none; with its name, what it rests on and a note where it has them."""

    value: float | None
    why: Reason | None = None
    name: str | None = None
    n_units: int | None = None
    n_raters: int | None = None
    note: str | None = None


@dataclass(frozen=True, kw_only=True)
class Mean(Estimate):
    """The mean of n values; of n_left_out there is none."""

    n: int | None = None
    n_left_out: int | None = None


@dataclass(frozen=True, kw_only=True)
class Interval:
    """The ends of a 95 % interval, or None and why there are none.

    n_resampled : the clusters that it rests on
    method : "percentile", "t", "jackknife", "wilson", "crossed" (other raters, too) or "wald" (of log odds)
    """

    low: float | None
    high: float | None
    why: Reason | None = None
    n_resampled: int | None = None
    note: str | None = None
    method: str = "percentile"

    @classmethod
    def of(cls, ends: StatisticInterval | Incomputable) -> Interval:
        """The interval of a statistic, or the reason why it has none."""
        if isinstance(ends, Incomputable):
            return cls(low=None, high=None, why=Reason.of(ends))
        return cls(low=ends.low, high=ends.high, n_resampled=int(ends.n_units), note=ends.note, method=ends.method)

    @property
    def is_weak(self) -> bool:
        """Whether it rests on fewer than five clusters, or on answers that hardly vary: drawn broken, and marked."""
        return self.low is not None and (self.method == "wilson" or (self.n_resampled or 0) < FEWEST_CLUSTERS)


@dataclass(frozen=True, kw_only=True)
class IntervalEstimate(Estimate):
    """An estimate with its interval over clusters."""

    interval: Interval


@dataclass(frozen=True, kw_only=True)
class SourceShare(IntervalEstimate):
    """A share in percent of n answers, of one source or, without a name, of all."""

    source: str = ""
    n: int


@dataclass(frozen=True, kw_only=True)
class Floor:
    """The chance floor of a coefficient: what shuffled answers give, mean and 97.5th percentile."""

    mean: float | None
    upper: float | None
    why: Reason | None = None
