"""What became of the clozes that a study asked to be filled: who gave up and where, who submitted, who was shortlisted.

The three groups are those of Zou & Xu (2026), section 5.6: mid-task dropout, submitted, shortlisted.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.models import Assignment, Fill, Rater
from reports.document import columns
from reports.document.columns import LEAD
from reports.document.files import file_only
from reports.document.model import Block, DocumentSection, DrawnPlot, Files, Head, Phrase, ReportTable, TextBlock
from reports.document.phrases import in_language, joined, phrase
from reports.document.values import Interval, IntervalEstimate, Reason
from reports.figures.base import Figure, Statement
from reports.figures.cloze.completion import (
    CompletionPoint,
    completion_of,
    completion_plot,
    completion_table,
    section_column,
)
from reports.lazy import cloze as cloze_statistics
from reports.lazy import rates
from reports.numbers import decimal, whole
from reports.numbers import interval as between
from stats.reasons import Incomputable
from studies.cloze import cascade
from studies.models import Cloze

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.records.writers import Writer


@dataclass(frozen=True, kw_only=True)
class GroupShare(IntervalEstimate):
    """How many writers belong to a group, in percent of those who have ended."""

    group: str
    n: int


@dataclass(frozen=True, kw_only=True)
class Groups:
    """n : writers who have ended; the other counts are of those who belong to no group"""

    n: int
    groups: tuple[GroupShare, ...]
    n_at_work: int
    n_never_begun: int
    n_unreadable: int


@dataclass(frozen=True, kw_only=True)
class SectionRow:
    """Where people gave up, and what the section cost those who were at it."""

    section: int
    title: str
    n_blanks: int
    n_stopped: int
    n_changes: int
    median_minutes: float | None
    n_timed: int


@dataclass(frozen=True, kw_only=True)
class WriterRow:
    rater: str
    kind: str
    assignment: str
    outcome: str
    stopped_at: int | None
    n_filled: int
    n_changes: int
    active_seconds: int
    order: tuple[int, ...]
    seconds_by_section: dict[str, int]
    changes_by_section: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class ClozeResult:
    slug: str
    version: str
    title: str
    n_blanks: int
    people: Groups
    models: Groups
    sections: tuple[SectionRow, ...]
    completion: tuple[CompletionPoint, ...]
    writers: tuple[WriterRow, ...]


class ClozeFilling(Figure[ClozeResult]):
    key = "cloze"
    title = gettext_lazy("Filled texts: participants")
    position = 142
    section = "cloze"
    tables = ("cloze", "cloze-sections", "cloze-completion")
    edition = 2
    needs_answers = False

    def compute(self, dataset: Dataset) -> ClozeResult | None:
        cloze = dataset.records.cloze
        return None if cloze is None else summarise(cloze, dataset.records.writers, is_over=dataset.study.is_closed)

    def describe(self, result: ClozeResult, head: Head) -> Iterator[DocumentSection]:
        given_up = _(
            "People who say that they give up are counted where they say it; those who leave, or submit with open "
            "blanks, at the first section that is not complete."
        )
        change = _("A change is another text in a blank that was filled, after something else was done in between.")
        yield DocumentSection(
            heading=self.title,
            body=[
                _group_table(result, head),
                _every_writer(result),
                Files(words=_("One row a writer"), table="cloze"),
                *_curve(result, head),
                _section_table(result, head),
                Files(words=_("Section by section"), table="cloze-sections"),
            ],
            margin=[TextBlock(words=given_up), TextBlock(words=change), _in_no_group(result)],
        )

    def statements(self, result: ClozeResult, head: Head) -> Iterator[Statement]:
        of_people = {share.group: share for share in result.people.groups}
        left = of_people.get(Fill.State.DROPPED_OUT)
        if left is not None and left.value is not None:
            yield _statement(left, result.people.n)


def _statement(left: GroupShare, n: int) -> Statement:
    """How many of those who began gave up on the way."""
    words = {"n": whole(n), "left": whole(left.n), "percent": decimal(left.value, 0), "ends": between(left.interval, 0)}
    sentence = _("Of %(n)s writers who began and have ended, %(left)s gave up on the way: %(percent)s %%.") % words
    sentence += " " + _("95 %% interval %(ends)s.") % words
    return Statement(sentence=sentence, basis=_("One text a writer; for other writers of this text"), position=50)


def summarise(cloze: Cloze, writers: Sequence[Writer], *, is_over: bool) -> ClozeResult:
    """The three groups, for people and for models, and where texts were given up. is_over : the study is closed"""
    rows = tuple(_row(writer, cloze, is_over=is_over) for writer in writers)
    people = [row for row in rows if row.kind == Rater.Kind.PERSON]
    return ClozeResult(
        slug=cloze.slug,
        version=cloze.version,
        title=cloze.title,
        n_blanks=len(cloze.parsed.blanks),
        people=_groups(people),
        models=_groups([row for row in rows if row.kind == Rater.Kind.MODEL]),
        sections=tuple(_sections(cloze, people)),
        completion=tuple(_completion(cloze, rows)),
        writers=rows,
    )


def _row(writer: Writer, cloze: Cloze, *, is_over: bool) -> WriterRow:
    """One writer as the report shows them.

    is_over : the study is closed, so whoever is still at it has left it
    """
    outcome = _outcome(writer, is_over=is_over)
    fill = getattr(writer.assignment, "fill", None)
    stopped_at = (fill and fill.stopped_at) or cascade.find_open_section(cloze.parsed, writer.filled)
    saves = [(save.blank, save.text) for save in writer.events]
    changes = cloze_statistics.count_changes(saves)
    section_by_blank = cloze.parsed.section_by_blank
    changes_by_section = Counter[int]()
    for blank, n in changes.items():
        changes_by_section[section_by_blank[blank]] += n
    return WriterRow(
        rater=writer.assignment.rater.code,
        kind=writer.assignment.rater_kind,
        assignment=writer.assignment.code,
        outcome=outcome,
        stopped_at=stopped_at if outcome == "dropped_out" else None,
        n_filled=len(writer.filled),
        n_changes=sum(changes.values()),
        active_seconds=sum(writer.seconds.values()),
        order=tuple(cloze_statistics.filling_order(saves)),
        seconds_by_section={str(section): n for section, n in sorted(writer.seconds.items())},
        changes_by_section={str(section): n for section, n in sorted(changes_by_section.items())},
    )


def _outcome(writer: Writer, *, is_over: bool) -> str:
    """One of the three groups; or still at work, never begun, or without a readable text."""
    assignment = writer.assignment
    if fill := getattr(assignment, "fill", None):
        return str(fill.state)
    if assignment.status == Assignment.Status.SUBMITTED:
        return "unreadable"
    if assignment.status == Assignment.Status.OPEN and not is_over:
        return "at_work"
    return "dropped_out" if writer.filled else "never_begun"


def _groups(rows: list[WriterRow]) -> Groups:
    """How many belong to each group, with its share of those who have ended; and who belongs to none."""
    n_by_outcome = Counter(row.outcome for row in rows)
    n = sum(n_by_outcome[group] for group in Fill.State.values)
    return Groups(
        n=n,
        groups=tuple(_share(group, n_by_outcome[group], n) for group in Fill.State.values),
        n_at_work=n_by_outcome["at_work"],
        n_never_begun=n_by_outcome["never_begun"],
        n_unreadable=n_by_outcome["unreadable"],
    )


def _completion(cloze: Cloze, rows: Sequence[WriterRow]) -> Iterator[CompletionPoint]:
    titles = {section.number: section.title for section in cloze.parsed.sections}
    for kind in (Rater.Kind.PERSON, Rater.Kind.MODEL):
        ended = [row for row in rows if row.kind == kind and row.outcome in Fill.State.values]
        yield from completion_of(str(kind), ended, titles)


def _share(group: str, n: int, of: int) -> GroupShare:
    try:
        ends = rates.wilson(n, of)
    except Incomputable as error:
        return GroupShare(group=group, n=n, value=None, interval=Interval(low=None, high=None), why=Reason.of(error))
    return GroupShare(group=group, n=n, value=100 * n / of, interval=Interval(low=ends.low, high=ends.high))


def _sections(cloze: Cloze, people: list[WriterRow]) -> Iterator[SectionRow]:
    n_stopped = Counter(row.stopped_at for row in people if row.stopped_at)
    for section in cloze.parsed.sections:
        key = str(section.number)
        minutes = [row.seconds_by_section[key] / 60 for row in people if row.seconds_by_section.get(key)]
        yield SectionRow(
            section=section.number,
            title=section.title,
            n_blanks=len(cloze.parsed.blanks_of(section.number)),
            n_stopped=n_stopped[section.number],
            n_changes=sum(row.changes_by_section.get(key, 0) for row in people),
            median_minutes=statistics.median(minutes) if minutes else None,
            n_timed=len(minutes),
        )


def _group_table(result: ClozeResult, head: Head) -> ReportTable[tuple[str, Groups, GroupShare]]:
    """The three groups, for people and for models if there are some."""
    by_kind = [(_("People"), result.people), *([(_("Models"), result.models)] if result.models.n else [])]
    names = {
        Fill.State.DROPPED_OUT: _("dropped out"),
        Fill.State.SHORTLISTED: _("shortlisted"),
        Fill.State.SUBMITTED: _("submitted"),
    }
    blanks = ngettext("%(n)s blank.", "%(n)s blanks.", result.n_blanks) % {"n": result.n_blanks}
    shares = phrase(_("Shares of those who have ended, with their 95 %% interval."))
    return ReportTable(
        label=_("The three groups"),
        caption=joined(joined(in_language(result.title, head.language), blanks, by=", "), shares),
        rows=[(name, groups, share) for name, groups in by_kind for share in groups.groups],
        columns=[
            columns.words("writers", _("Writers"), lambda row: row[0], is_head=True),
            columns.words("group", _("Group"), lambda row: names[Fill.State(row[2].group)]),
            columns.count_of("n", "n", lambda row: row[2].n, n_all=lambda row: row[1].n),
            *columns.with_interval("percent", phrase(_("Share, %%")), lambda row: row[2], places=1, css=LEAD),
        ],
    )


def _every_writer(result: ClozeResult) -> ReportTable[WriterRow]:
    names = [field.name for field in fields(WriterRow) if field.name != "order"]
    return file_only(
        "cloze",
        result.writers,
        columns.fields(*names),
        columns.in_file("order", lambda writer: list(writer.order)),
    )


def _curve(result: ClozeResult, head: Head) -> Iterator[Block]:
    """Who is still filling after each section."""
    if plot := completion_plot(result.completion):
        yield DrawnPlot(
            plot=plot,
            title=_("Participants remaining after each section"),
            described=_("The table below the plot holds every share with its interval."),
            caption=_("Still filling after each section, in percent of those who have ended"),
        )
        yield Files(words=_("Still filling, section by section"), table="cloze-completion")
        yield completion_table(result.completion, head.language)


def _section_table(result: ClozeResult, head: Head) -> ReportTable[SectionRow]:
    def minutes(row: SectionRow) -> Phrase:
        median = decimal(row.median_minutes, 1)
        timed = format_html('<span class="note">n = {}</span>', whole(row.n_timed))
        return joined(median, timed) if row.n_timed else median

    return ReportTable(
        name="cloze-sections",
        label=_("Drop-out by section"),
        caption=_("Drop-out by section, and what each section cost participants."),
        rows=result.sections,
        columns=[
            section_column(head.language),
            columns.number("n_blanks", _("Blanks")),
            columns.number("n_stopped", _("Gave up here"), css=LEAD),
            columns.number("n_changes", _("Changes")),
            columns.number("median_minutes", _("Median minutes"), shown=minutes),
            columns.in_file("n_timed"),
        ],
    )


def _in_no_group(result: ClozeResult) -> TextBlock:
    """How many writers have not ended."""
    people, n_unreadable = result.people, result.models.n_unreadable
    with_models = _(
        "In no group: %(n_at_work)s people still at work, %(n_never_begun)s who wrote nothing, "
        "%(n_unreadable)s models whose answer could not be parsed."
    )
    of_people = _("In no group: %(n_at_work)s people still at work, %(n_never_begun)s who wrote nothing.")
    counts = {"n_at_work": whole(people.n_at_work), "n_never_begun": whole(people.n_never_begun)}
    counts["n_unreadable"] = whole(n_unreadable)
    return TextBlock(words=(with_models if n_unreadable else of_people) % counts)
