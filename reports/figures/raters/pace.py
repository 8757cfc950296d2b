"""How long raters take, by rater and by place: what to ask about, never a verdict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.dataset.records.reading_times import FASTEST, words_a_minute
from reports.document import columns
from reports.document.columns import LEAD, decimals
from reports.document.model import Block, DocumentSection, Files, Head, ReportTable, Subsection, TextBlock
from reports.document.phrases import joined, phrase
from reports.figures.base import Figure
from reports.numbers import decimal

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.records.reading_times import TimedReading

FEWEST_STORIES = 6  # to see a change over the places
FEWEST_RATERS = 3  # to be unlike the others
MOST_OPEN = 30  # raters; the table of more is folded away
QUESTIONS = {
    "fast": gettext_lazy(
        "More than %(fastest)d words of story a minute, answers included: read in full, or elsewhere?"
    ),
    "short": gettext_lazy("Less than half the panel’s median time: were the stories known?"),
    "long": gettext_lazy(
        "More than twice the panel’s median time: was the page left open, or is something hard to use?"
    ),
    "hurried": gettext_lazy(
        "The last third of the stories took less than half the time of the first: too many at once?"
    ),
    "untimed": gettext_lazy("Some stories have no active time: was the clock stopped?"),
}


@dataclass(frozen=True, kw_only=True)
class RaterPace:
    """One rater's active time on stories one by one, answers included.

    words_read : words of story a minute, withheld texts left out; words_written : words of rationale a minute
    questions : keys of what to ask about; no rule makes a verdict of it
    """

    rater: str
    n_stories: int
    n_untimed: int
    median_minutes: float | None
    words_read: float | None
    words_written: float | None
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PlacePace:
    """The stories that raters read in one place, counted over all that a rater reads.

    percent_of_own : median over raters of the minutes in percent of the same rater's median
    """

    place: int
    n: int
    median_minutes: float
    percent_of_own: float


@dataclass(frozen=True, kw_only=True)
class PaceResult:
    median_minutes: float
    raters: tuple[RaterPace, ...]
    places: tuple[PlacePace, ...]


class PanelPace(Figure[PaceResult]):
    key = "pace"
    title = gettext_lazy("Time on task")
    position = 55
    section = "raters"
    tables = ("pace", "pace-by-place")
    pages_of = "raters"

    def compute(self, dataset: Dataset) -> PaceResult | None:
        readings = dataset.records.timed_readings
        timed = [reading for reading in readings if reading.minutes]
        if not timed:
            return None
        by_rater: dict[str, list[TimedReading]] = defaultdict(list)
        for reading in readings:
            by_rater[reading.rater].append(reading)
        middle = {
            rater: median(r.minutes for r in own if r.minutes)
            for rater, own in by_rater.items()
            if any(r.minutes for r in own)
        }
        panel = median(middle.values())
        return PaceResult(
            median_minutes=median(reading.minutes for reading in timed),
            raters=tuple(_rater(rater, by_rater[rater], panel, len(middle)) for rater in sorted(by_rater)),
            places=tuple(_places(timed, middle)),
        )

    def describe(self, result: PaceResult, head: Head) -> Iterator[DocumentSection]:
        half = _("The median active time was %(minutes)s minutes a story, answers included.")
        n_asked = sum(bool(row.questions) for row in result.raters)
        questions = ngettext(
            "There is something to ask about %(n)s rater.", "There is something to ask about %(n)s raters.", n_asked
        )
        sentences = [half % {"minutes": decimal(result.median_minutes)}, questions % {"n": n_asked} if n_asked else ""]
        by_rater = Subsection(
            summary=_("Rater by rater"), is_open=len(result.raters) <= MOST_OPEN, blocks=[_by_rater(result)]
        )
        note = _(
            "Time counts only while the page is visible and active. A question here is something to ask the rater, "
            "never a verdict, and nobody is left out by it."
        )
        yield DocumentSection(
            heading=_("Time on task"),
            body=[
                TextBlock(words=joined(*sentences)),
                by_rater,
                Files(words=_("Active time on stories one by one"), table="pace"),
                *_by_place(result),
            ],
            margin=[TextBlock(words=note)],
        )


def _by_rater(result: PaceResult) -> ReportTable[RaterPace]:
    return ReportTable(
        name="pace",
        label=_("Pace by rater"),
        rows=result.raters,
        columns=[
            columns.words("rater", _("Rater"), is_head=True),
            columns.number("n_stories", _("Stories")),
            columns.in_file("n_untimed"),
            columns.number("median_minutes", phrase(_("Median<br>minutes")), write=decimals(1), css=LEAD),
            columns.number(
                *("story_words_a_minute", phrase(_("Words of story<br>a minute"))),
                of=lambda row: row.words_read,
                write=decimals(0),
            ),
            columns.number(
                *("rationale_words_a_minute", phrase(_("Words of reasons<br>a minute"))),
                of=lambda row: row.words_written,
                write=decimals(1),
            ),
            columns.words(
                *("to_ask_about", _("To ask about")),
                of=lambda row: "; ".join(row.questions),
                shown=lambda row: joined(*map(question_words, row.questions)),
                css="statement",
            ),
        ],
    )


def _by_place(result: PaceResult) -> list[Block]:
    """Whether pace changes on the way; nothing where no place is known."""
    if not result.places:
        return []
    table = ReportTable(
        name="pace-by-place",
        label=_("Pace by position"),
        rows=result.places,
        columns=[
            replace(columns.number("place", _("Position")), is_head=True),
            columns.number("n", _("Times read")),
            columns.number("median_minutes", phrase(_("Median<br>minutes")), write=decimals(1), css=LEAD),
            columns.number(
                *("own_median_percent", phrase(_("Of their own<br>median, %%"))),
                of=lambda row: row.percent_of_own,
                write=decimals(0),
            ),
        ],
    )
    files = Files(words=_("Positions count over all that a rater reads"), table="pace-by-place")
    return [Subsection(summary=_("Pace by position"), blocks=[table, files])]


def question_words(key: str) -> str:
    """The question in the reader's language."""
    return str(QUESTIONS[key]) % {"fastest": FASTEST}


def _rater(rater: str, readings: list[TimedReading], panel: float, n_raters: int) -> RaterPace:
    timed = [reading for reading in readings if reading.minutes]
    minutes = sum(reading.minutes for reading in timed)
    row = RaterPace(
        rater=rater,
        n_stories=len(readings),
        n_untimed=len(readings) - len(timed),
        median_minutes=median(reading.minutes for reading in timed) if timed else None,
        words_read=words_a_minute(timed),
        words_written=sum(reading.n_written for reading in timed) / minutes if timed else None,
    )
    return RaterPace(**{**vars(row), "questions": tuple(_questions(row, timed, panel, n_raters))})


def _questions(row: RaterPace, timed: list[TimedReading], panel: float, n_raters: int) -> Iterator[str]:
    if (row.words_read or 0) > FASTEST:
        yield "fast"
    if row.median_minutes is not None and n_raters >= FEWEST_RATERS:
        if row.median_minutes < panel / 2:
            yield "short"
        elif row.median_minutes > 2 * panel:
            yield "long"
    ordered = [reading.minutes for reading in sorted(timed, key=lambda r: r.place or 0) if reading.place]
    third = len(ordered) // 3
    if len(ordered) >= FEWEST_STORIES and fmean(ordered[-third:]) < fmean(ordered[:third]) / 2:
        yield "hurried"
    if row.n_untimed and timed:
        yield "untimed"


def _places(timed: list[TimedReading], middle: dict[str, float]) -> Iterator[PlacePace]:
    by_place: dict[int, list[TimedReading]] = defaultdict(list)
    for reading in timed:
        if reading.place is not None:
            by_place[reading.place].append(reading)
    for place in sorted(by_place):
        readings = by_place[place]
        yield PlacePace(
            place=place,
            n=len(readings),
            median_minutes=median(reading.minutes for reading in readings),
            percent_of_own=median(100 * reading.minutes / middle[reading.rater] for reading in readings),
        )
