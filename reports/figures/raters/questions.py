"""Raters whom the study's team may want to ask: one answer throughout, or far from how the others are among themselves.

Never a verdict: nobody is left out, and at most one study in twenty in which all raters are alike names anybody.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.dataset.blocks import ItemBlock, item_blocks
from reports.document import columns
from reports.document.columns import LEAD, decimals
from reports.document.model import DocumentSection, Files, Head, Phrase, ReportTable, TextBlock
from reports.document.phrases import joined, phrase
from reports.figures.base import Figure, Statement
from reports.lazy import np, outlying_raters
from reports.numbers import decimal, measured, whole

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from stats.arrays import FloatArray

LEVEL = 0.05  # of studies of alike raters, in how many somebody is named
POSITION = 60  # among the findings: after what they are about
MOST_NAMED = 3  # in the findings; the section has all


@dataclass(frozen=True, kw_only=True)
class RaterQuestion:
    """What to ask a rater about.

    sign : "same_answer", "severity", "agreement" or "pace"
    kind, title : of the items, as in the section of raters
    value, others : the rater's own number, and the median of the others': the answer given throughout (others None);
        mean less others; mean distance from others, severity taken off; median minutes a story
    p : corrected for all raters, and for all that was looked at
    """

    rater: str
    sign: str
    kind: str = ""
    title: str = ""
    value: float
    others: float | None
    n_stories: int
    n_answers: int
    p: float


@dataclass(frozen=True, kw_only=True)
class RaterQuestionsResult:
    """n_raters : of how many; n_tests : how often they were held beside each other"""

    n_raters: int
    n_tests: int
    rows: tuple[RaterQuestion, ...]


class RaterQuestions(Figure[RaterQuestionsResult]):
    """Raters are named by their codes; nothing here is told by source."""

    key = "rater_questions"
    title = gettext_lazy("Data-quality flags")
    position = 59
    section = "raters"
    tables = ("raters-to-ask",)
    pages_of = "raters"

    def compute(self, dataset: Dataset) -> RaterQuestionsResult | None:
        if len(dataset.raters) < outlying_raters.FEWEST_RATERS:
            return None
        # Numbers without ends may have a few that are far off, which no rater is to be asked about.
        blocks = [block for block in item_blocks(dataset) if block.kind != "numbers"]
        candidates = [row for block in blocks for row in _of_block(block)]
        paces, has_times = _of_pace(dataset)
        n_tests = 3 * len(blocks) + has_times
        rows = [row for row in [*candidates, *paces] if row.p * n_tests <= LEVEL]
        # One answer throughout is a severity, too, and need not be asked about twice.
        constant = {(row.rater, row.kind, row.title) for row in rows if row.sign == "same_answer"}
        rows = [r for r in rows if r.sign != "severity" or (r.rater, r.kind, r.title) not in constant]
        return RaterQuestionsResult(
            n_raters=len(dataset.raters),
            n_tests=n_tests,
            rows=tuple(RaterQuestion(**{**vars(row), "p": row.p * n_tests}) for row in rows),
        )

    def is_empty(self, result: RaterQuestionsResult) -> bool:
        return not result.rows

    def describe(self, result: RaterQuestionsResult, head: Head) -> Iterator[DocumentSection]:
        rule = _(
            "Each rater is held against the others’ mean and spread (Grubbs): in severity, in distance from the others "
            "once severity is taken off, in how often an answer is given by who gave no other, and in minutes a story. "
            "Corrected for all raters and all that is looked at: of 100 simulated studies of raters who differ only as "
            "raters do, 3 named anybody, and 7 where Yes was rare and some were far more severe."
        )
        table = ReportTable(
            name="raters-to-ask",
            label=_("Data-quality flags"),
            rows=result.rows,
            columns=[
                columns.words("rater", _("Rater"), is_head=True),
                columns.words("sign", _("To ask about"), shown=write_question, css="statement"),
                columns.fields("kind", "title"),
                columns.number("value", _("Value"), write=decimals(2), css=LEAD),
                columns.number("others_value", _("Others"), of=lambda row: row.others, write=decimals(2)),
                columns.number("n_stories", _("Stories")),
                columns.number("n_answers", _("Answers")),
                columns.number("p_adjusted", _("p, corrected"), of=lambda row: row.p, write=decimals(3)),
            ],
        )
        yield DocumentSection(
            heading=_("Data-quality flags"),
            body=[table, Files(words=_("Data-quality flags"), table="raters-to-ask")],
            margin=[
                TextBlock(words=rule),
                TextBlock(words=_("A question is something to ask the rater; nobody is left out by it.")),
            ],
        )

    def statements(self, result: RaterQuestionsResult, head: Head) -> Iterator[Statement]:
        by_rater: dict[str, list[RaterQuestion]] = defaultdict(list)
        for row in result.rows:
            by_rater[row.rater].append(row)
        basis = ngettext("beside %(n)s other rater", "beside %(n)s other raters", result.n_raters - 1)
        for rater, rows in list(by_rater.items())[:MOST_NAMED]:
            questions = joined(*map(write_question, rows))
            yield Statement(
                sentence=str(phrase(_("Ask rater %(rater)s: %(questions)s"), rater=rater, questions=questions)),
                basis=basis % {"n": result.n_raters - 1},
                position=POSITION,
            )


def write_question(row: RaterQuestion) -> Phrase:
    """What to ask, with the rater's number beside the others'."""
    numbers = {"value": decimal(row.value, 2), "others": decimal(row.others, 2), "stories": whole(row.n_stories)}
    if row.sign == "same_answer" and row.kind == "verdicts":
        words = (
            _("Yes to all %(answers)s questions on %(stories)s stories, where others vary; was that meant?")
            if row.value
            else _("No to all %(answers)s questions on %(stories)s stories, where others vary; was that meant?")
        )
        return words % {**numbers, "answers": whole(row.n_answers)}
    if row.sign == "same_answer":
        words = _("%(value)s in all %(answers)s ratings of %(stories)s stories, where others vary; was that meant?")
        return words % {**numbers, "value": measured(row.value, 2), "answers": whole(row.n_answers)}
    if row.sign == "severity":
        return _severity_question(row)
    if row.sign == "agreement":
        words = _(
            "further from the others than they are from each other (%(value)s, the others %(others)s), severity taken "
            "off; are the questions read alike?"
        )
        return words % numbers
    words = _("%(value)s minutes a story, the others %(others)s; were the stories known, or read elsewhere?")
    return words % {"value": decimal(row.value), "others": decimal(row.others)}


def _severity_question(row: RaterQuestion) -> str:
    if row.kind == "verdicts":
        words = (
            _("Yes far more often than the others on the same stories (log odds %(value)s); are questions read alike?")
            if row.value > 0
            else _(
                "Yes far less often than the others on the same stories (log odds %(value)s); are questions read alike?"
            )
        )
    else:
        words = (
            _("%(value)s points above the others on the same stories; is the scale read alike?")
            if row.value > 0
            else _("%(value)s points below the others on the same stories; is the scale read alike?")
        )
    return words % {"value": decimal(row.value if row.kind == "verdicts" else abs(row.value), 2)}


def _of_block(block: ItemBlock) -> Iterator[RaterQuestion]:
    """What each rater's answers on one scale give, with p corrected for raters."""
    ratings = block.cube.values
    is_verdicts = block.kind == "verdicts"
    severities = outlying_raters.excesses(ratings, 1.0) if is_verdicts else outlying_raters.severities(ratings)
    deviations = outlying_raters.deviations(ratings)
    parts = (
        ("same_answer", outlying_raters.constant_answers(ratings), outlying_raters.constant_ps(ratings)),
        ("severity", severities, outlying_raters.apart(severities)),
        ("agreement", np.exp(deviations / 2), outlying_raters.apart(deviations, lower=False)),
    )
    is_answered = np.isfinite(ratings)
    for sign, values, ps in parts:
        for rater in np.flatnonzero(np.isfinite(ps)).tolist():
            yield RaterQuestion(
                rater=block.cube.raters[rater],
                sign=sign,
                kind=block.kind,
                title=block.title,
                value=float(values[rater]),
                others=None if sign == "same_answer" else _median_of_others(values, rater),
                n_stories=int(is_answered[:, rater].any(axis=0).sum()),
                n_answers=int(is_answered[:, rater].sum()),
                p=float(ps[rater]),
            )


def _median_of_others(values: FloatArray, rater: int) -> float:
    return float(np.nanmedian(np.delete(values, rater)))


def _of_pace(dataset: Dataset) -> tuple[list[RaterQuestion], bool]:
    """Who took far less time than the others, with p corrected for raters; and whether times are known."""
    minutes_by_rater: dict[str, list[float]] = defaultdict(list)
    for reading in dataset.records.timed_readings:
        if reading.minutes:
            minutes_by_rater[reading.rater].append(reading.minutes)
    enough = {
        rater: minutes
        for rater, minutes in sorted(minutes_by_rater.items())
        if len(minutes) >= outlying_raters.FEWEST_STORIES
    }
    if len(enough) < outlying_raters.FEWEST_RATERS:
        return [], False
    medians = np.array([median(minutes) for minutes in enough.values()])
    ps = outlying_raters.apart(np.log(medians), upper=False)
    rows = [
        RaterQuestion(
            rater=rater,
            sign="pace",
            value=float(medians[n]),
            others=_median_of_others(medians, n),
            n_stories=len(minutes),
            n_answers=0,
            p=float(ps[n]),
        )
        for n, (rater, minutes) in enumerate(enough.items())
        if np.isfinite(ps[n])
    ]
    return rows, True
