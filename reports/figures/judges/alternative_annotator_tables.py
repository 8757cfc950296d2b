"""How judges do in place of an expert, as the page shows it: findings, plots, and a table for each kind of item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports.dataset.jury import is_made
from reports.document import columns, plots
from reports.document.columns import with_reason
from reports.document.files import file_only
from reports.document.model import (
    Block,
    DocumentSection,
    DrawnPlot,
    Files,
    Phrase,
    ReportTable,
    Subsection,
    TableCell,
    TableColumn,
    TextBlock,
)
from reports.document.phrases import joined, phrase
from reports.numbers import NONE, coefficient, decimal, whole
from reports.reasons import to_english

if TYPE_CHECKING:
    from reports.figures.judges.alternative_annotator import JudgeStandings
    from reports.figures.judges.standings import Standing

# Of each judge, in this order; whole stories have the advantage of the test as published.
DRAWN = ("test", "unanswered", "models", "constant")
TABLE = "alternative-annotator"


def in_place_of_an_expert(rows: Sequence[JudgeStandings], *, epsilon: float) -> DocumentSection:
    kinds = [(score, [row for row in rows if row.score == score]) for score in dict.fromkeys(row.score for row in rows)]
    plot_by_score = {score: _plot(of_kind) for score, of_kind in kinds}
    drawings = (_drawing(score, of_kind, plot_by_score[score]) for score, of_kind in kinds)
    tables = (_part(score, of_kind, is_open=plot_by_score[score] is None) for score, of_kind in kinds)
    test = _(
        "Each expert is left out in turn: who agrees better with the others, the expert or the judge? The winning rate "
        "is the share of experts whom the judge beats, where an expert may be better by %(epsilon)s; with a winning "
        "rate of a half or more it may stand in. The advantage, which is drawn, is the share of answers on which the "
        "judge does at least as well; it does not decide. Calderon, Reichart and Dror, 2025."
    )
    strictness = _(
        "Where one source differs from all others, a judge that tells nothing but that source passes the test. So it "
        "must also pass among models’ stories, story by story, with its gaps counted, and do better than the best "
        "constant answer. Where a constant answer passes, of all stories or of models’, the test shows nothing of "
        "any judge."
    )
    draws = _(
        "Not shown is not refuted: few experts or stories let judges fail that are as good as an expert. How often, is "
        "simulated: on each question an expert drawn by lot makes room for a judge that gives that expert’s answer."
    )
    return DocumentSection(
        heading=_("Alternative annotator test"),
        body=[
            *(block for blocks in drawings for block in blocks),
            *tables,
            _file(rows),
            Files(words=_("Every judge and form of the test"), table=TABLE),
        ],
        margin=[
            TextBlock(words=test % {"epsilon": coefficient(epsilon)}),
            TextBlock(words=strictness),
            TextBlock(words=draws),
        ],
    )


def _plot(rows: Sequence[JudgeStandings]) -> plots.DotPlot | None:
    """The advantages of every judge on one axis; None if none has a value."""
    names = [_("As published"), _("Unanswered is lost"), _("Among models’ stories"), _("Best constant answer")]
    marks_by_judge = {row.judge: _marks(row) for row in rows}
    if all(mark.value is None for marks in marks_by_judge.values() for mark in marks):
        return None
    ticks = tuple((n / 4, coefficient(n / 4) if n else "0") for n in range(5))
    return plots.DotPlot(
        [plots.PlotRow(judge, "", marks) for judge, marks in marks_by_judge.items()],
        names,
        plots.Axis(0.0, 1.0, ticks),
    )


def _marks(row: JudgeStandings) -> tuple[plots.Mark, ...]:
    by_form = {standing.form: standing for standing in row.standings}
    drawn = [by_form[form] for form in DRAWN if form in by_form]
    return tuple(plots.Mark.of(n, standing.advantage, standing.interval) for n, standing in enumerate(drawn))


def _title(score: str) -> str:
    return _("Alternative annotator test: verdicts") if score == "accuracy" else _("Alternative annotator test: scales")


def _drawing(score: str, rows: Sequence[JudgeStandings], plot: plots.DotPlot | None) -> Iterator[Block]:
    if plot is None:
        return
    caption = _(
        "The advantage of each judge: on how many answers it does at least as well as the expert who is left out, with "
        "its 95 %% interval over groups of stories."
    )
    described = _("Each judge’s advantage with its interval, in four forms of the test. The table below says the same.")
    yield TextBlock(words=_finding(score, rows), css="says")
    label = _("verdicts") if score == "accuracy" else _("scales")
    yield DrawnPlot(plot=plot, title=_title(score), described=described, label=label, caption=phrase(caption))


def _finding(score: str, rows: Sequence[JudgeStandings]) -> Phrase:
    """Which judges may stand in for an expert, or that none was shown to, of how many that are no jury and no expected
    scores."""
    passed = [row.judge for row in rows if row.may_stand_in]
    if passed:
        sentence = _("%(judge)s may stand in for an expert, by every form of the test.")
        return joined(*(phrase(sentence, judge=judge) for judge in passed))
    n = sum(not is_made(row.judge) for row in rows)
    if score == "accuracy":
        sentence = ngettext(
            "On verdicts it was not shown that the judge can replace an expert.",
            "On verdicts it was not shown of any of the %(n)s judges that it can replace an expert.",
            n,
        )
    else:
        sentence = ngettext(
            "On scales it was not shown that the judge can replace an expert.",
            "On scales it was not shown of any of the %(n)s judges that it can replace an expert.",
            n,
        )
    return phrase(sentence, n=n)


def _part(score: str, rows: Sequence[JudgeStandings], *, is_open: bool) -> Subsection:
    headings = [_("As<br>published"), _("Unanswered<br>is lost"), _("Whole<br>stories"), _("Models’<br>stories")]
    table = ReportTable(
        label=_title(score),
        caption=joined(
            _("Verdicts.") if score == "accuracy" else _("Scales."),
            _constant(score, rows[0].standings[-1]),
            chances(rows[0]),
        ),
        rows=rows,
        why=lambda row: row.standings[0].why,
        columns=[
            columns.words("judge", _("Judge"), is_head=True),
            *(_standing(phrase(heading), n) for n, heading in enumerate(headings)),
            columns.shown(_("Experts"), lambda row: _tested(row.standings[0])),
            columns.shown(_("Answers"), lambda row: whole(row.standings[0].n_units)),
            replace(columns.shown(phrase(_("A stand-in<br>for an expert?")), _verdict), is_number=False, is_kept=True),
        ],
    )
    summaries = {"accuracy": _("Verdicts: winning rates, as a table")}
    return Subsection(
        summary=summaries.get(score, _("Scales: winning rates, as a table")), is_open=is_open, blocks=[table]
    )


def _standing(heading: Phrase, n: int) -> TableColumn[JudgeStandings]:
    def cell(row: JudgeStandings) -> TableCell:
        standing = row.own_standings[n]
        if standing.winning_rate is None:
            return with_reason(TableCell(words=NONE), standing.why)
        values = {"rate": coefficient(standing.winning_rate), "advantage": coefficient(standing.advantage)}
        return TableCell(words=phrase('%(rate)s <span class="ends">%(advantage)s</span>', **values))

    return TableColumn(heading=heading, cell=cell)


def _tested(standing: Standing) -> str:
    return _("%(n_tested)s of %(n_people)s") % {"n_tested": standing.n_tested, "n_people": standing.n_people}


def _verdict(row: JudgeStandings) -> str:
    if row.may_stand_in:
        return _("by every form of the test")
    return NONE if row.standings[0].winning_rate is None else _("no")


def _constant(score: str, constant: Standing) -> str:
    """What the answer that does best would have if it were given always; "" if there is none."""
    if constant.winning_rate is None:
        return ""
    if score != "accuracy":
        sentence = _(
            "Always giving %(answer)s would have a winning rate of %(rate)s and an advantage of %(advantage)s."
        )
    elif constant.answer:
        sentence = _("Always saying Yes would have a winning rate of %(rate)s and an advantage of %(advantage)s.")
    else:
        sentence = _("Always saying No would have a winning rate of %(rate)s and an advantage of %(advantage)s.")
    values = {"rate": coefficient(constant.winning_rate), "advantage": coefficient(constant.advantage)}
    return sentence % {"answer": decimal(constant.answer, 0), **values}


def chances(row: JudgeStandings) -> str:
    """Whether a judge that is as good as the experts would be shown to be so, and how often; "" if unknown."""
    constant = row.passed_constant
    if constant is not None:
        answer = decimal(constant.answer, 0)
        if row.score == "accuracy":
            answer = _("Yes") if constant.answer else _("No")
        if constant.form == "constant":
            sentence = _("This study could show it of no judge: one that always says %(answer)s passes the test, too.")
        else:
            sentence = _(
                "This study could show it of no judge: among models’ stories, one that always says %(answer)s passes "
                "the test, too."
            )
        return sentence % {"answer": answer}
    if row.drawn.value is None:
        return ""
    sentence = _(
        "A judge that gives the answer of one of these experts, drawn anew for each question, would pass every form of "
        "the test in %(percent)s %% of draws."
    )
    return sentence % {"percent": decimal(row.drawn.value, 0)}


def _file(rows: Sequence[JudgeStandings]) -> ReportTable[tuple[JudgeStandings, Standing]]:
    """Every form of the test in a row of its own."""
    return file_only(
        TABLE,
        [(row, standing) for row in rows for standing in row.standings],
        columns.fields("judge", "score", "epsilon", "may_stand_in", of=lambda pair: pair[0]),
        columns.fields(drawn_percent="drawn.value", of=lambda pair: pair[0]),
        columns.fields("form", "answer", "winning_rate", advantage_probability="advantage", of=lambda pair: pair[1]),
        columns.fields(advantage_low="interval.low", advantage_high="interval.high", of=lambda pair: pair[1]),
        columns.fields(n_people_tested="n_tested", n_people="n_people", n_units="n_units", of=lambda pair: pair[1]),
        columns.note(lambda pair: to_english(pair[1].why) if pair[1].why else ""),
    )
