"""Judges beside people, as the figures about them show it: statistics, their plot, what judges lost, and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports.document import columns, notes
from reports.document.columns import CHANCE, ENDS, LEAD, cell_with_ends, floor_cell, interval_cell, with_reason
from reports.document.files import file_only
from reports.document.model import (
    Block,
    DrawnPlot,
    Files,
    Head,
    Notice,
    Phrase,
    ReportTable,
    RowGroup,
    TableCell,
    TableColumn,
    TextBlock,
)
from reports.document.phrases import hidden, in_language, joined, phrase
from reports.document.plots import JudgePlot
from reports.document.strips import Coefficient, StripAxis
from reports.document.values import Floor
from reports.figures.base import ALL_ITEMS, ItemRow, note_of
from reports.figures.judges.outcomes import Outcomes, SourceOutcomes
from reports.figures.judges.person_lines import PersonLine
from reports.figures.judges.scores import Score, ScorePart, WithOutcomes, WithScores
from reports.numbers import decimal, whole

J = TypeVar("J", bound=WithOutcomes)
LOSSES = ("answered", "declined", "unreadable", "missing", "expected")  # of `SourceOutcomes`


@dataclass(frozen=True)
class StatisticLine:
    """A statistic of a judge. title : of the item, where judges have several; axis : if it is drawn"""

    judge: WithScores
    title: str
    score: Score
    axis: StripAxis | None = None

    @property
    def coefficient(self) -> Coefficient:
        whole_part = self.score.whole
        return whole_part, whole_part.interval, whole_part.floor


@dataclass(frozen=True)
class PartLine:
    """A statistic over some of the units, as a file has it. judge : "" for what one of the people has"""

    judge: str
    about: ItemRow
    statistic: str
    part: ScorePart


def statistics(judges: Sequence[WithScores], head: Head, *, label: Phrase, caption: Phrase) -> list[Block]:
    """Each statistic of every judge, open with its interval and floor, and folded away over some of the units."""
    groups = _by_statistic(judges)
    judge = _judge_column(head)
    return [
        ReportTable(
            label=_("%(label)s: every statistic") % {"label": label},
            caption=caption,
            groups=groups,
            why=lambda line: line.score.whole.why,
            columns=[judge, *_whole_columns()],
        ),
        ReportTable(
            label=_("%(label)s: within sources, and where people agree or differ") % {"label": label},
            groups=[RowGroup(heading=group.heading, rows=group.rows) for group in groups],
            columns=[judge, *_part_columns()],
            summary=_("Within sources, and where people agree or differ"),
        ),
    ]


def against_labels(judges: Sequence[WithScores], head: Head, *, label: Phrase, caption: Phrase) -> list[Block]:
    """Each statistic of every judge that is held against labels, which nobody agrees or differs on."""
    return [
        ReportTable(
            label=_("%(label)s: every statistic") % {"label": label},
            caption=caption,
            groups=_by_statistic(judges),
            why=lambda line: line.score.whole.why,
            columns=[
                _judge_column(head),
                *_score_columns(),
                _floor_column(phrase(_("Floor within<br>source")), lambda part: part.floor_within).at(_score_of),
                columns.shown(_("Answers"), lambda line: whole(line.score.whole.n)),
            ],
        )
    ]


def beside_people(judges: Sequence[WithScores], head: Head, *, label: Phrase, caption: Phrase) -> list[Block]:
    """The same, or a sentence where nobody has answered."""
    if any(judge.n_people for judge in judges):
        return statistics(judges, head, label=label, caption=caption)
    sentence = ngettext(
        "No person has answered this, so there is nobody to compare the judge with.",
        "No person has answered this, so there is nobody to compare the judges with, except one another.",
        len(judges),
    )
    return [TextBlock(words=sentence)]


def statistics_file(name: str, judges: Sequence[WithScores]) -> ReportTable[PartLine]:
    """Every part of every statistic, over all items and item by item; last what one of the people has."""
    return file_only(
        name,
        [*_lines_of_judges(judges), *_lines_of_people(judges)],
        columns.fields("judge"),
        columns.item_in_file(lambda line: line.about),
        columns.fields("statistic"),
        columns.fields("part", "value", **ENDS, **CHANCE, of=lambda line: line.part),
        columns.fields(chance_within_source_mean="floor_within.mean", of=lambda line: line.part),
        columns.fields(chance_within_source_upper="floor_within.upper", of=lambda line: line.part),
        columns.fields("n", "n_units", n_people="n_raters", of=lambda line: line.part),
        columns.note(lambda line: note_of(line.part, line.part.interval)),
    )


def plot(judges: JudgePlot | None, *, label: str = "") -> list[Block]:
    """Judges on one axis with people, below what the plot says in words; nothing if no judge has a value."""
    if judges is None:
        return []
    if len(judges.rows) > 1:
        sentence = _(
            "%(statistic)s: the best of %(n)s judges, %(judge)s, has %(numbers)s; shown to be above what shuffled "
            "answers reach: %(n_above)s of %(n)s."
        )
    elif judges.n_above_floor:
        sentence = _("%(statistic)s: %(judge)s has %(numbers)s, shown to be above what shuffled answers reach.")
    else:
        sentence = _("%(statistic)s: %(judge)s has %(numbers)s, not shown to be above what shuffled answers reach.")
    best = {"statistic": judges.statistic, "judge": judges.best.label, "numbers": judges.best.text}
    counts = {"n_above": judges.n_above_floor, "n": len(judges.rows)}
    key = [
        _("Disc: the judge, with its interval. Grey: its chance floor."),
        _("Ring: among models’ stories alone.") if judges.has_ring else "",
        _("Upright line with its name: one of the people; the band around it is the interval.") if judges.lines else "",
    ]
    described = (
        _(
            "Each judge with its interval and its chance floor, and lines of one of the people. The table below says "
            "the same."
        )
        if judges.lines
        else _("Each judge with its interval and its chance floor. The table below says the same.")
    )
    return [
        TextBlock(
            words=joined(phrase(sentence, **best, **counts), *(line.sentence for line in judges.lines)), css="says"
        ),
        DrawnPlot(
            plot=judges,
            title=judges.statistic,
            described=described,
            label=label or judges.statistic,
            caption=joined(*key),
        ),
    ]


def losses(
    name: str, judges: Sequence[J], *, caption: Phrase, more: Callable[[J], Phrase] = lambda judge: ""
) -> list[Block]:
    """What judges did not answer, by source, with its file. more : what is said of a judge that lost unevenly"""
    table = ReportTable(
        name=name,
        label=caption,
        caption=caption,
        rows=[line for judge in judges for line in _lines_of_losses(judge)],
        groups=[RowGroup(heading=_losses_of(judge), rows=_lines_of_losses(judge)) for judge in judges],
        columns=[
            columns.in_file("judge", lambda line: line[0]),
            columns.source(lambda line: line[1]),
            columns.number(
                *("lost_percent", phrase(_("Lost, %%"))),
                of=lambda line: line[1].lost_percent,
                write=decimal,
                css=lambda line: f"{LEAD} heat-{line[1].heat}",
            ),
            columns.shown(_("Answers lost"), lambda line: _lost_of_expected(line[1])),
            columns.fields(*LOSSES, of=lambda line: line[1], prefix="n_"),
        ],
    )
    uneven = (_uneven(judge.judge, judge.outcomes, more(judge)) for judge in judges)
    return [table, *(notice for notices in uneven for notice in notices), Files(words=_("By source"), table=name)]


def floor_notes() -> list[TextBlock]:
    """What the floors of judges are, and what intervals are over."""
    return [_floor_note(), notes.models_stories(), people_held_fixed()]


def _floor_note() -> TextBlock:
    sentence = _(
        "<strong>Chance floor</strong>: what the judge’s own answers give at other stories, all answers about a story "
        "moved together; its mean, and the end that one shuffle in forty passes. <strong>Within source</strong>: moved "
        "among stories of one source only. A judge that is above the first and not above the second has told nothing "
        "but the source."
    )
    return TextBlock(words=phrase(sentence))


def label_floor_notes() -> list[TextBlock]:
    """The same where judges are held against labels, which no people gave."""
    return [_floor_note(), notes.models_stories(), TextBlock(words=_("Intervals are over clusters."))]


def people_held_fixed() -> TextBlock:
    return TextBlock(words=_("Intervals are over clusters, with people held fixed."))


def _by_statistic(judges: Sequence[WithScores]) -> list[RowGroup[StatisticLine]]:
    """The statistics that the judges have, in the order of the first judge's."""
    titles = [str(getattr(judge, "title", "")) for judge in judges]
    has_several = len(set(titles)) > 1
    groups = []
    for first in judges[0].scores if judges else ():
        lines = [
            StatisticLine(judge, title if has_several else "", score)
            for judge, title in zip(judges, titles, strict=True)
            for score in judge.scores
            if score.statistic == first.statistic
        ]
        if first.form == "coefficient":
            axis = StripAxis.over(line.coefficient for line in lines)
            lines = [replace(line, axis=axis) for line in lines]
            groups.append(RowGroup(heading=first.name, rows=lines, axis=columns.axis_words(axis)))
        else:
            groups.append(RowGroup(heading=first.name, rows=lines))
    return groups


def _judge_column(head: Head) -> TableColumn[StatisticLine]:
    def words(line: StatisticLine) -> Phrase:
        return joined(line.judge.judge, line.title and in_language(line.title, head.language), by=", ")

    return columns.shown(_("Judge"), words, is_head=True)


def _whole_columns() -> Iterator[TableColumn[StatisticLine]]:
    yield from _score_columns()
    yield columns.shown(
        phrase(_("Answers,<br>people")), lambda line: f"{whole(line.score.whole.n)}, {whole(line.judge.n_people)}"
    )


def _score_columns() -> Iterator[TableColumn[StatisticLine]]:
    def drawn(line: StatisticLine) -> TableCell:
        return TableCell(strip=line.axis.draw(line.coefficient) if line.axis else None)

    value, ends, floor, models = score_columns(_("Value"))
    heading = hidden(_("Drawing"))
    yield value.at(_score_of)
    yield ends.at(_score_of)
    yield TableColumn(heading=heading, cell=drawn, is_number=False, is_drawn=True)
    yield floor.at(_score_of)
    yield models.at(_score_of)


def _part_columns() -> Iterator[TableColumn[StatisticLine]]:
    yield score_columns(_("Value"))[0].at(_score_of)
    yield _floor_column(phrase(_("Floor within<br>source")), lambda part: part.floor_within).at(_score_of)
    yield _part_column(phrase(_("People<br>agree")), "unanimous").at(_score_of)
    yield _part_column(phrase(_("People<br>differ")), "split").at(_score_of)


def score_columns(heading: Phrase) -> list[TableColumn[Score]]:
    """A statistic with its interval, its floor, and the same among models' stories."""

    def value(score: Score) -> TableCell:
        return with_reason(TableCell(words=score.write(score.whole.value), css=LEAD), score.whole.why)

    def ends(score: Score) -> TableCell:
        return interval_cell(score.whole.interval, score.write_ends(score.whole.interval))

    def among_models(score: Score) -> float | None:
        return getattr(score.by_part.get("models"), "value", None)

    floor = _floor_column(phrase(_("Chance floor<br>mean, end")), lambda part: part.floor)
    return [
        TableColumn(heading=heading, cell=value, files={"value": lambda score: score.whole.value}),
        replace(columns.fields(**ENDS, of=_whole_of), heading=phrase(_("95 %% interval")), cell=ends),
        replace(floor, files=columns.fields(**CHANCE, of=_whole_of).files),
        replace(_part_column(phrase(_("Models’<br>stories")), "models"), files={"among_models": among_models}),
    ]


def _score_of(line: StatisticLine) -> Score:
    return line.score


def _floor_column(heading: Phrase, of: Callable[[ScorePart], Floor | None]) -> TableColumn[Score]:
    return TableColumn(heading=heading, cell=lambda score: floor_cell(of(score.whole), score.write))


def _part_column(heading: Phrase, name: str) -> TableColumn[Score]:
    def cell(score: Score) -> TableCell:
        return cell_with_ends(score.by_part.get(name), score.write, score.write_ends)

    return TableColumn(heading=heading, cell=cell)


def _lines_of_judges(judges: Sequence[WithScores]) -> Iterator[PartLine]:
    for judge in judges:
        for about, scores in [(_about(judge), judge.scores), *((i, i.scores) for i in getattr(judge, "items", ()))]:
            for score in scores:
                yield from (PartLine(judge.judge, about, score.statistic, part) for part in score.parts)


def _lines_of_people(judges: Sequence[WithScores]) -> list[PartLine]:
    """What one of the people has on each item: the same beside each judge."""
    lines = {
        (about.step, about.item, line.against): PartLine("", about, judge.scores[0].statistic, _part_of_people(line))
        for judge in judges
        for about in [_about(judge)]
        for line in judge.person_lines
    }
    return list(lines.values())


def _about(judge: WithScores) -> ItemRow:
    return judge if isinstance(judge, ItemRow) else ALL_ITEMS


def _part_of_people(line: PersonLine) -> ScorePart:
    return ScorePart(
        part=line.against,
        value=line.value,
        why=line.why,
        n=line.n_units or 0,
        n_raters=line.n_raters,
        interval=line.interval,
        floor=Floor(mean=None, upper=None),
    )


def _whole_of(score: Score) -> ScorePart:
    return score.whole


def _lines_of_losses(judge: WithOutcomes) -> list[tuple[str, SourceOutcomes]]:
    return [(judge.judge, counted) for counted in (judge.outcomes, *judge.outcomes.by_source)]


def _losses_of(judge: WithOutcomes) -> str:
    heading = _("%(judge)s: declined %(declined)s, unreadable %(unreadable)s, missing %(missing)s")
    counts = {name: whole(getattr(judge.outcomes, name)) for name in ("declined", "unreadable", "missing")}
    return heading % {"judge": judge.judge, **counts}


def _lost_of_expected(counted: SourceOutcomes) -> str:
    return _("%(n)s of %(all)s") % {"n": whole(counted.lost), "all": whole(counted.expected)}


def _uneven(judge: str, counted: Outcomes, more: Phrase) -> Iterator[Notice]:
    if counted.uneven is None:
        return
    most, least = counted.uneven
    sentence = _(
        "<strong>Lost unevenly.</strong> %(judge)s left out %(high)s %% on stories of %(most)s, "
        "%(low)s %% on those of %(least)s: what is said of it is based on what it was willing to "
        "judge."
    )
    percent = {"high": decimal(most.lost_percent), "low": decimal(least.lost_percent)}
    yield Notice(words=joined(phrase(sentence, judge=judge, most=most.source, least=least.source, **percent), more))
