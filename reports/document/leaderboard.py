"""Who leads, and how far raters agree: what the summary of a report draws in a few lines."""

from __future__ import annotations

from dataclasses import dataclass

from reports.document.model import Phrase
from reports.document.values import Interval


@dataclass(frozen=True, kw_only=True)
class Leader:
    """One line of a leaderboard.

    words : the value as it is written; places : decimals of its interval
    letters : two that share one were not shown to differ; "" where that was not asked
    """

    name: Phrase
    value: float
    words: str
    ends: Interval | None = None
    places: int = 2
    letters: str = ""


@dataclass(frozen=True, kw_only=True)
class Leaderboard:
    """What a study is about, the best first.

    title : of what, and in which unit
    notes : what values, lines and letters are, a sentence each
    bounds : the least and the most that a value can be, beyond which nothing is drawn; None where that is not known
    """

    title: Phrase
    leaders: tuple[Leader, ...]
    notes: tuple[Phrase, ...] = ()
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Gauge:
    """A coefficient of agreement beside what shuffled answers reach.

    name : of what; upper : None where what shuffled answers reach is not known
    """

    name: Phrase
    value: float
    ends: Interval | None
    upper: float | None
