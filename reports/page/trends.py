"""How a figure moved by the day, as a line: small beside the figure, or with its axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache

from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from reports.numbers import coefficient, decimal, percent
from reports.overview import COEFFICIENT, PERCENT, DailyFigure

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
MOST_OPEN = 4  # figures of a study that are not folded away
# All coefficients share an axis, so that studies can be compared by eye; what lies below is drawn at its end.
ENDS = {COEFFICIENT: (-0.2, 1.0), PERCENT: (0.0, 100.0)}


def list_figures(figures: Sequence[DailyFigure]) -> SafeString:
    """The figures one a line, each with its days drawn beside it; more than four are folded away. "" of none.

    Written without a template, which for a list of fifty studies would be most of the page's time.
    """
    if not figures:
        return SafeString("")
    words = _Words()
    items = [_item(figure, words) for figure in figures]
    first = SafeString(f'<ul class="trends">{"".join(items[:MOST_OPEN])}</ul>')
    if len(items) <= MOST_OPEN:
        return first
    rest = SafeString("".join(items[MOST_OPEN:]))
    fold = '<details class="more-trends"><summary>{}</summary><ul class="trends">{}</ul></details>'
    return first + format_html(fold, _("%(n)s more") % {"n": len(items) - MOST_OPEN}, rest)


@dataclass(frozen=True)
class _Words:
    """Sentences that are translated once for a list."""

    chance: str = field(default_factory=lambda: _("chance %(floor)s"))
    moved: str = field(default_factory=lambda: _("%(by)s since %(day)s"))


def _item(figure: DailyFigure, words: _Words) -> SafeString:
    return format_html(
        '<li><span class="trend-title" title="{}">{}</span><span class="trend-value">{}</span>'
        '<span class="trend-line">{}</span><span class="trend-note">{}</span></li>',
        figure.about,
        figure.title,
        write(figure.value, figure.form),
        _sparkline(figure),
        _note(figure, words),
    )


def _note(figure: DailyFigure, words: _Words) -> str:
    """The chance floor; of a judge the statistic, and how it moved."""
    if figure.floor is not None:
        return words.chance % {"floor": write(figure.floor, figure.form)}
    if not figure.of_a_judge:
        return ""
    if figure.moved is None or figure.since is None:
        return figure.about
    moved = words.moved % {"by": write_signed(figure.moved, figure.form), "day": _day(figure.since, get_language())}
    return f"{figure.about}; {moved}"


def _sparkline(figure: DailyFigure) -> SafeString:
    """The days as a line, the chance floor dashed; nothing before there are two days."""
    if len(figure.points) < 2:
        return SafeString("")
    return format_html(
        '<svg class="spark" viewBox="0 0 88 26" role="img" aria-label="{}">{}</svg>',
        describe(figure),
        _line(figure, SMALL),
    )


def draw_days(figure: DailyFigure) -> SafeString:
    """The days as a line with both its axes."""
    low, high = _ends(figure)
    ticks = [tick for tick in ((0, 0.5, 1) if figure.form == COEFFICIENT else (low, high)) if low <= tick <= high]
    grid = format_html_join(
        "",
        '<path class="grid" d="M{} {}H{}"/><text class="tick" x="{}" y="{}" text-anchor="end">{}</text>',
        [
            (LARGE.left, y, LARGE.right, LARGE.left - 6, y + 4, write(tick, figure.form))
            for tick, y in ((tick, _y(tick, figure, LARGE)) for tick in ticks)
        ],
    )
    first, last = figure.points[0][0], figure.points[-1][0]
    mark = '<text class="tick" x="{}" y="{}" text-anchor="{}">{}</text>'
    ends = [(LARGE.left, "start", first), (LARGE.right, "end", last)][: 1 + (last != first)]
    days = format_html_join(
        "", mark, [(x, LARGE.height - 8, anchor, _day(day, get_language())) for x, anchor, day in ends]
    )
    return format_html(
        '<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}{}</svg>',
        LARGE.width,
        LARGE.height,
        describe(figure),
        grid,
        days,
        _line(figure, LARGE),
    )


def describe(figure: DailyFigure) -> str:
    """The line in words: its first and its last day."""
    (first, before), (last, after) = figure.points[0], figure.points[-1]
    words = {
        "title": figure.title,
        "before": write(before, figure.form),
        "first": _day(first, get_language()),
        "after": write(after, figure.form),
        "last": _day(last, get_language()),
    }
    if len(figure.points) == 1:
        return _("%(title)s: %(after)s on %(last)s") % words
    return _("%(title)s: %(before)s on %(first)s, %(after)s on %(last)s") % words


@lru_cache(maxsize=400)
def _day(day: date, language: str | None) -> str:
    """The day as it is written in the language, which is the active one."""
    return date_format(day, "SHORT_DATE_FORMAT")


def write(number: float | None, form: str) -> str:
    """A number as its kind is written."""
    if form == COEFFICIENT:
        return coefficient(number)
    return percent(number) if form == PERCENT and number is not None else decimal(number, 2)


def write_signed(number: float, form: str) -> str:
    """A change with its sign."""
    written = write(number, form)
    return written if written.startswith("−") else f"+{written}"


def _line(figure: DailyFigure, box: Box) -> SafeString:
    first, last = figure.points[0][0].toordinal(), figure.points[-1][0].toordinal()
    a_day = (box.right - box.left) / max(last - first, 1)
    places = [
        (round(box.left + a_day * (day.toordinal() - first), 1), _y(value, figure, box)) for day, value in figure.points
    ]
    path = "M" + "L".join(f"{x} {y}" for x, y in places)
    x, y = places[-1]
    floor = ""
    if figure.floor is not None:
        floor = f'<path class="chance" d="M{box.left} {_y(figure.floor, figure, box)}H{box.right}"/>'
    # Of numbers alone, so that nothing is to be escaped.
    return SafeString(f'{floor}<path class="days" d="{path}"/><circle class="value" cx="{x}" cy="{y}" r="2.5"/>')


def _ends(figure: DailyFigure) -> tuple[float, float]:
    if figure.form in ENDS:
        return ENDS[figure.form]
    values = [value for _day, value in figure.points]
    return min(values), max(values)


def _y(value: float, figure: DailyFigure, box: Box) -> float:
    low, high = _ends(figure)
    share = (min(max(value, low), high) - low) / (high - low) if high > low else 0.5
    return round(box.bottom - share * (box.bottom - box.top), 1)
