"""What a stored report says of one rater beside the others: numbers and questions, never a verdict.

Everything is read from the figures on raters, which tell nothing by source; nothing is computed here a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import TypeVar

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports.document.model import Head, Phrase
from reports.document.phrases import in_language
from reports.figures.base import Listing
from reports.figures.block_titles import block_title
from reports.figures.raters.pace import PaceResult, RaterPace, question_words
from reports.figures.raters.panel import PanelBlock, PanelResult, RaterRow
from reports.figures.raters.questions import RaterQuestionsResult, write_question
from reports.figures.raters.repeats import RepeatRow
from reports.lazy import outlying_raters
from reports.models import Report
from reports.numbers import NONE, coefficient, decimal, interval, measured, whole
from reports.page.marked_strips import MarkedAxis, MarkedStrip, draw_strip
from reports.page.stored_figures import read_stored_figure

T = TypeVar("T", RaterPace, RaterRow)
SIGNS = ("same_answer", "severity", "agreement", "pace")


@dataclass(frozen=True)
class RaterLine:
    """A rater's number beside the others'. basis : what it rests on; strip : all raters, with this one marked"""

    title: Phrase
    own: str
    others: str
    basis: str
    detail: str = ""
    strip: MarkedStrip | None = None


@dataclass(frozen=True)
class LineGroup:
    """Lines under one heading. own, others : what the columns of the rater and of the others have"""

    key: str
    title: str
    hint: str
    own: str
    others: str
    lines: Sequence[RaterLine]


@dataclass(frozen=True)
class RaterSummary:
    """A rater in the list of all."""

    code: str
    n_stories: int | None
    median_minutes: float | None
    n_questions: int


@dataclass(frozen=True)
class RaterFigures:
    """The figures of a stored report that name raters by their codes; None where it has nothing of one.

    has_few_raters : whether the report found them too few to compare; False of one that does not compare raters
    """

    pace: PaceResult | None
    panel: PanelResult | None
    repeats: Listing[RepeatRow] | None
    questions: RaterQuestionsResult | None
    has_few_raters: bool

    @classmethod
    def of(cls, report: Report) -> RaterFigures:
        """Raises Undecodable."""
        keys = ("pace", "panel", "repeats", "rater_questions")
        has_few_raters = "rater_questions" in report.result and report.result["rater_questions"] is None
        pace, panel, repeats, questions = (read_stored_figure(report, key) for key in keys)
        return cls(pace, panel, repeats, questions, has_few_raters)

    @cached_property
    def pace_by_rater(self) -> dict[str, RaterPace]:
        return {row.rater: row for row in self.pace.raters} if self.pace else {}

    def list_questions(self, code: str) -> list[Phrase]:
        """What to ask that rater, as the report words it."""
        rows = [row for row in self.questions.rows if row.rater == code] if self.questions else []
        pace = self.pace_by_rater.get(code)
        return [*map(write_question, rows), *map(question_words, pace.questions if pace else ())]

    def summarise(self, code: str) -> RaterSummary:
        pace = self.pace_by_rater.get(code)
        n_rated = [row.n_stories for block in self.blocks for row in block.raters if row.rater == code]
        return RaterSummary(
            code=code,
            n_stories=pace.n_stories if pace else max(n_rated, default=None),
            median_minutes=pace.median_minutes if pace else None,
            n_questions=len(self.list_questions(code)),
        )

    @property
    def blocks(self) -> Sequence[PanelBlock]:
        return self.panel.blocks if self.panel else ()

    def looked_for(self, code: str) -> list[tuple[str, str]]:
        """What this rater was held against the others in, and whether it is something to ask about."""
        titles = {
            "same_answer": _("One answer throughout"),
            "severity": _("Severity"),
            "agreement": _("Distance from the others"),
            "pace": _("Minutes a story"),
        }
        if self.questions is None:
            return []
        asked = {row.sign for row in self.questions.rows if row.rater == code}
        signs = asked | self._signs_compared(self.questions, code)
        # The severity that comes with one answer throughout is not asked about, and yet stands out.
        if "same_answer" in asked and "severity" not in asked:
            signs -= {"severity"}
        return [
            (titles[sign], _("to ask about") if sign in asked else _("nothing stands out"))
            for sign in SIGNS
            if sign in signs
        ]

    def _signs_compared(self, questions: RaterQuestionsResult, code: str) -> set[str]:
        """In what there were stories and raters enough: three tests for every scale, one for pace."""
        signs = set()
        n_by_rater = {row.rater: row.n_stories - row.n_untimed for row in self.pace_by_rater.values()}
        if questions.n_tests % 3 == 1 and _is_compared(n_by_rater, code):
            signs.add("pace")
        scales = [block for block in self.blocks if block.kind != "numbers"] if questions.n_tests >= 3 else []
        if any(_is_compared({row.rater: row.n_stories for row in block.raters}, code) for block in scales):
            signs |= {"same_answer", "severity", "agreement"}
        return signs

    def say_why_not_compared(self, code: str) -> str:
        """Why nothing of this rater was held against the others, as far as the report tells; "" where something was."""
        if self.has_few_raters:
            words = _(
                "With fewer than %(fewest)s raters, nobody is compared with the others in severity, distance, pace or "
                "one answer throughout."
            )
            return words % {"fewest": outlying_raters.FEWEST_RATERS}
        if self.questions is None:
            return _("This report was made before raters were compared with each other.")
        if self.looked_for(code):
            return ""
        return _("Not compared with the other raters: there are too few stories or raters to compare.")

    def list_groups(self, code: str, head: Head) -> list[LineGroup]:
        """The rater's numbers beside the others', such as there are."""
        groups = [
            LineGroup(
                "pace",
                _("Pace"),
                _("Active time counts only while the page is visible and in use; answers are included."),
                _("This rater"),
                _("Median of raters"),
                list(_pace_lines(self.pace, self.pace_by_rater.get(code))),
            ),
            LineGroup(
                "severity",
                _("Severity"),
                _(
                    "Below 0 a rater is stricter than the others were on the same stories; the interval is over "
                    "stories."
                ),
                _("This rater"),
                _("The others"),
                [line for block in self.blocks for line in _severity_lines(block, code, head)],
            ),
            LineGroup(
                "without",
                _("Agreement without this rater"),
                _("Agreement of all raters when this one is left out; one person may make or break it."),
                _("Without this rater"),
                _("With all"),
                [line for block in self.blocks for line in _agreement_lines(block, code, head)],
            ),
            LineGroup(
                "repeats",
                _("What was read twice"),
                _("Of 100 answers given twice about one text, how many are the same."),
                _("This rater"),
                _("All raters"),
                list(_repeat_lines(self.repeats, code, head)),
            ),
        ]
        return [group for group in groups if group.lines]


def _pace_lines(result: PaceResult | None, own: RaterPace | None) -> Iterator[RaterLine]:
    if result is None or own is None:
        return
    stories = ngettext("%(n)s story", "%(n)s stories", own.n_stories) % {"n": whole(own.n_stories)}
    numbers: tuple[tuple[str, Callable[[RaterPace], float | None], int], ...] = (
        (_("Minutes a story, median"), lambda row: row.median_minutes, 1),
        (_("Words of story a minute"), lambda row: row.words_read, 0),
        (_("Words of reasons a minute"), lambda row: row.words_written, 1),
    )
    for title, number, places in numbers:
        values = _present(result.raters, number)
        if number(own) is None or not values:
            continue
        yield RaterLine(
            title=title,
            own=decimal(number(own), places),
            others=decimal(median(values), places),
            basis=stories,
            strip=draw_strip(values, number(own), MarkedAxis.over(0.0, *values)),
        )
    if own.n_untimed:
        yield RaterLine(title=_("Stories without active time"), own=whole(own.n_untimed), others=NONE, basis=stories)


def _severity_lines(block: PanelBlock, code: str, head: Head) -> Iterator[RaterLine]:
    values = _present(block.raters, lambda row: row.value)
    for row in _rows_of(block, code):
        ends = (row.interval.low, row.interval.high)
        title = _("percent Yes less the others’") if block.is_percent else _("points less the others’")
        yield RaterLine(
            title=block_title(block, head),
            own=decimal(row.value, block.places),
            others="0",
            basis=ngettext("%(n)s story", "%(n)s stories", row.n_stories) % {"n": whole(row.n_stories)},
            detail=title if row.interval.low is None else f"{title}; {interval(row.interval, block.places)}",
            strip=draw_strip(values, row.value, MarkedAxis.over(0.0, *values, *ends), ends=ends, has_zero=True),
        )


def _agreement_lines(block: PanelBlock, code: str, head: Head) -> Iterator[RaterLine]:
    values = _present(block.raters, lambda row: row.without)
    for row in _rows_of(block, code):
        if row.without is None:
            continue
        yield RaterLine(
            title=block_title(block, head),
            own=coefficient(row.without),
            others=coefficient(block.agreement),
            basis=ngettext("%(n)s item", "%(n)s items", block.n_items) % {"n": whole(block.n_items)},
            detail=block.name,
            strip=draw_strip(values, row.without, MarkedAxis.over(block.agreement, *values)),
        )


def _repeat_lines(result: Listing[RepeatRow] | None, code: str, head: Head) -> Iterator[RaterLine]:
    rows = result.rows if result else ()
    together = {(row.step, row.item): row for row in rows if not row.rater}
    for row in rows:
        if row.rater == code:
            of_all = together.get((row.step, row.item))
            by_chance = _("by chance %(percent)s") % {"percent": measured(row.floor.mean, 0)}
            yield RaterLine(
                title=in_language(row.title, head.language),
                own=decimal(row.percent_same, 0),
                others=decimal(of_all.percent_same if of_all else None, 0),
                basis=ngettext("%(n)s answer", "%(n)s answers", row.n) % {"n": whole(row.n)},
                detail=by_chance if row.floor.mean is not None else "",
            )


def _is_compared(n_by_rater: Mapping[str, int], code: str) -> bool:
    """Whether the rater is among those with stories enough, and these are enough to say how far raters differ."""
    raters = {rater for rater, n in n_by_rater.items() if n >= outlying_raters.FEWEST_STORIES}
    return code in raters and len(raters) >= outlying_raters.FEWEST_RATERS


def _rows_of(block: PanelBlock, code: str) -> list[RaterRow]:
    return [row for row in block.raters if row.rater == code]


def _present(rows: Sequence[T], number: Callable[[T], float | None]) -> list[float]:
    return [value for value in map(number, rows) if value is not None]
