"""How fast a run is answered, as two small drawings: answers a second or a minute, and seconds to an answer."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil, floor, log10
from statistics import median, quantiles

from django.db.models import Q

from judges.models import Attempt, Run

LATEST = 1000  # answers that are looked at, so that a long run costs no more than a short one
FEWEST_TIMES = 10  # below, a pace says nothing
MOST_BINS = 30
PER_BIN = 6  # answers on average, so that the line shows the pace and not the chance
# Seconds up to which a bar counts; only those between the fastest and the slowest answer are drawn.
BOUNDS = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0)
WIDTH, HEIGHT = 320.0, 80.0
MOST_TICKS = 4
# How a provider says that it is asked too much.
ASKS_TO_WAIT = (429, 503, 529)


@dataclass(frozen=True)
class Bar:
    """x, y, width, height : in user units; middle : of the bar; up_to : seconds"""

    n: int
    up_to: float
    x: float
    y: float
    width: float
    height: float
    middle: float


@dataclass(frozen=True)
class Tick:
    """A line of the scale. y : in user units"""

    y: float
    rate: float


@dataclass(frozen=True)
class RunPace:
    """The pace of the latest answers. rate : path of answers a second; highest, latest : of them

    is_by_minute : whether they are counted by the minute instead, since fewer than one came a second
    scale : from nothing up
    latest_y : where the path ends
    waits : where on it the provider asked to wait

    median_seconds, slow_seconds : up to which half and 95 of 100 answers came
    """

    n: int
    begins: datetime
    ends: datetime
    rate: str
    highest: float
    latest: float
    is_by_minute: bool
    scale: Sequence[Tick]
    latest_y: float
    waits: Sequence[float]
    bars: Sequence[Bar]
    median_seconds: float
    slow_seconds: float


def load_pace(run: Run) -> RunPace | None:
    """The pace of the run, None while fewer than ten requests were answered. One query."""
    condition = Q(outcome=Attempt.Outcome.ANSWERED) | Q(status__in=ASKS_TO_WAIT)
    rows = Attempt.objects.filter(condition, call__run=run, ended_at__isnull=False)
    latest = sorted(rows.order_by("-ended_at").values_list("ended_at", "sent_at", "status")[:LATEST])
    times = [(sent_at, ended_at) for ended_at, sent_at, status in latest if ended_at and status not in ASKS_TO_WAIT]
    return draw_pace(times, [ended_at for ended_at, _sent_at, status in latest if ended_at and status in ASKS_TO_WAIT])


def draw_pace(times: Sequence[tuple[datetime, datetime]], waits: Sequence[datetime] = ()) -> RunPace | None:
    """Of answers, in the order in which they came: when each was sent, and when it came.

    waits : when the provider asked to wait
    """
    if len(times) < FEWEST_TIMES:
        return None
    begins, ends = min(sent_at for sent_at, _ended_at in times), times[-1][1]
    n_bins = min(MOST_BINS, max(len(times) // PER_BIN, 2))
    bin_seconds = max((ends - begins) / timedelta(seconds=1) / n_bins, 0.001)
    counts = [0] * n_bins
    for _sent_at, ended_at in times:
        counts[min(int((ended_at - begins).total_seconds() / bin_seconds), n_bins - 1)] += 1
    is_by_minute = max(counts) < bin_seconds
    rates = [n / bin_seconds * (60 if is_by_minute else 1) for n in counts]
    top, scale = _scale(max(rates))
    seconds = sorted((ended_at - sent_at).total_seconds() for sent_at, ended_at in times)
    return RunPace(
        n=len(times),
        begins=begins,
        ends=ends,
        rate=_path(rates, top),
        highest=max(rates),
        latest=rates[-1],
        is_by_minute=is_by_minute,
        scale=scale,
        latest_y=_y(rates[-1], top),
        waits=[round(WIDTH * ((at - begins) / (ends - begins)), 1) for at in waits if begins < at <= ends],
        bars=_bars(seconds),
        median_seconds=median(seconds),
        slow_seconds=quantiles(seconds, n=20)[-1],
    )


def _path(rates: Sequence[float], top: float) -> str:
    step = WIDTH / (len(rates) - 1)
    return "M" + "L".join(f"{n * step:.1f} {_y(rate, top)}" for n, rate in enumerate(rates))


def _y(rate: float, top: float) -> float:
    return round(HEIGHT * (1 - rate / top), 1)


def _scale(highest: float) -> tuple[float, list[Tick]]:
    """The rate at the upper edge, and ticks at round numbers up to it."""
    power = 10.0 ** floor(log10(highest))
    unit = next(n * power / 10 for n in (1, 2, 5, 10, 20, 50) if highest <= n * power / 10 * MOST_TICKS)
    n_ticks = ceil(highest / unit)
    return n_ticks * unit, [Tick(_y(n * unit, n_ticks * unit), n * unit) for n in range(n_ticks + 1)]


def _bars(seconds: Sequence[float]) -> list[Bar]:
    """How many of the sorted seconds lie up to each bound, and beyond the one before."""
    first, last = bisect_left(BOUNDS, seconds[0]), bisect_left(BOUNDS, seconds[-1])
    bounds = BOUNDS[first : last + 1] or (float(ceil(seconds[-1])),)
    if seconds[-1] > bounds[-1]:
        bounds = (*bounds, float(ceil(seconds[-1])))
    ns, before = [], 0
    for bound in bounds:
        n = sum(second <= bound for second in seconds)
        ns.append(n - before)
        before = n
    width = min(WIDTH / len(bounds), WIDTH / 6)
    return [
        Bar(
            n=n,
            up_to=bound,
            x=round(at * width + 1, 1),
            y=round(HEIGHT * (1 - n / max(ns)), 1),
            width=round(width - 2, 1),
            height=round(HEIGHT * n / max(ns), 1),
            middle=round((at + 0.5) * width, 1),
        )
        for at, (n, bound) in enumerate(zip(ns, bounds, strict=True))
    ]
