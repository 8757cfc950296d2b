"""How a figure moved by the day, as a line: small beside the figure, or with its axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from reports.numbers import coefficient, decimal, percent
from reports.overview import COEFFICIENT, PERCENT, Trend

Points = Sequence[tuple[date, float]]


@dataclass(frozen=True)
class Box:
    """Where a line is drawn: the ends of its axes, in units of the drawing."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float


SMALL = Box(width=88, height=26, left=4, right=84, top=3, bottom=23)
LARGE = Box(width=400, height=132, left=44, right=388, top=12, bottom=104)
# All coefficients share an axis, so that studies can be compared by eye; what lies below is drawn at its end.
ENDS = {COEFFICIENT: (-0.2, 1.0), PERCENT: (0.0, 100.0)}


def draw_sparkline(trend: Trend) -> SafeString:
    """The days as a line beside the figure, its chance floor dashed; nothing before there are two days."""
    if len(trend.points) < 2:
        return SafeString("")
    return format_html(
        '<svg class="spark" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>',
        SMALL.width,
        SMALL.height,
        describe(trend),
        _line(trend, SMALL),
    )


def draw_days(trend: Trend) -> SafeString:
    """The days as a line with both its axes."""
    low, high = _ends(trend)
    ticks = [tick for tick in ((0, 0.5, 1) if trend.form == COEFFICIENT else (low, high)) if low <= tick <= high]
    grid = format_html_join(
        "",
        '<path class="grid" d="M{} {}H{}"/><text class="tick" x="{}" y="{}" text-anchor="end">{}</text>',
        [
            (LARGE.left, y, LARGE.right, LARGE.left - 6, y + 4, write(tick, trend.form))
            for tick, y in ((tick, _y(tick, trend, LARGE)) for tick in ticks)
        ],
    )
    first, last = trend.points[0][0], trend.points[-1][0]
    mark = '<text class="tick" x="{}" y="{}" text-anchor="{}">{}</text>'
    ends = [(LARGE.left, "start", first), (LARGE.right, "end", last)][: 1 + (last != first)]
    days = format_html_join(
        "", mark, [(x, LARGE.height - 8, anchor, date_format(day, "SHORT_DATE_FORMAT")) for x, anchor, day in ends]
    )
    return format_html(
        '<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}{}</svg>',
        LARGE.width,
        LARGE.height,
        describe(trend),
        grid,
        days,
        _line(trend, LARGE),
    )


def describe(trend: Trend) -> str:
    """The line in words: its first and its last day."""
    (first, before), (last, after) = trend.points[0], trend.points[-1]
    words = {
        "title": trend.title,
        "before": write(before, trend.form),
        "first": date_format(first, "SHORT_DATE_FORMAT"),
        "after": write(after, trend.form),
        "last": date_format(last, "SHORT_DATE_FORMAT"),
    }
    if len(trend.points) == 1:
        return _("%(title)s: %(after)s on %(last)s") % words
    return _("%(title)s: %(before)s on %(first)s, %(after)s on %(last)s") % words


def write(number: float | None, form: str) -> str:
    """A number as its kind is written."""
    if form == COEFFICIENT:
        return coefficient(number)
    return percent(number) if form == PERCENT and number is not None else decimal(number, 2)


def write_signed(number: float, form: str) -> str:
    """A change with its sign."""
    written = write(number, form)
    return written if written.startswith("−") else f"+{written}"


def _line(trend: Trend, box: Box) -> SafeString:
    first, last = trend.points[0][0], trend.points[-1][0]
    n_days = max((last - first).days, 1)
    width = box.right - box.left
    places = [
        (round(box.left + width * (day - first).days / n_days, 1), _y(value, trend, box)) for day, value in trend.points
    ]
    path = "M" + "L".join(f"{x} {y}" for x, y in places)
    x, y = places[-1]
    floor = SafeString("")
    if trend.floor is not None:
        floor = format_html('<path class="chance" d="M{} {}H{}"/>', box.left, _y(trend.floor, trend, box), box.right)
    line = format_html('<path class="days" d="{}"/><circle class="value" cx="{}" cy="{}" r="2.5"/>', path, x, y)
    return floor + line


def _ends(trend: Trend) -> tuple[float, float]:
    if trend.form in ENDS:
        return ENDS[trend.form]
    values = [value for _day, value in trend.points]
    return min(values), max(values)


def _y(value: float, trend: Trend, box: Box) -> float:
    low, high = _ends(trend)
    share = (min(max(value, low), high) - low) / (high - low) if high > low else 0.5
    return round(box.bottom - share * (box.bottom - box.top), 1)
