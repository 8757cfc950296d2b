"""How far a study has come: seats, people, answers, and what is left out of all results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext

from reports.dataset import answers
from reports.document import columns
from reports.document.model import DocumentSection, Files, Head, ReportTable, Subsection, TextBlock
from reports.figures.base import Figure, Highlight
from reports.lazy import pd
from reports.numbers import decimal, whole
from studies.models import Step

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.records.participation import GroupSeats

MOST_OPEN = 6  # groups; the table of more is folded away


@dataclass(frozen=True, kw_only=True)
class GroupProgress:
    """Seats of people: submitted, being worked on, free."""

    group: str
    n_stories: int
    n_seats: int
    n_submitted: int
    n_open: int
    n_free: int


@dataclass(frozen=True, kw_only=True)
class ExcludedAssignments:
    """Answers that people gave and that no result counts, by why."""

    open: int
    given_up: int
    withdrawn: int
    simulated: int
    practice: int


@dataclass(frozen=True, kw_only=True)
class JudgeProgress:
    judge: str
    kind: str
    n_answered: int


@dataclass(frozen=True, kw_only=True)
class ProgressResult:
    """raters : who the people in the results are: "real", "simulated" or "none" yet"""

    n_groups: int
    n_stories: int
    n_withheld: int
    n_invited: int
    n_consented: int
    n_raters: int
    n_seats: int
    n_submitted: int
    n_open: int
    n_answers: int
    n_missing: int
    left_out: ExcludedAssignments
    raters: str
    median_minutes_per_story: float | None
    groups: tuple[GroupProgress, ...]
    judges: tuple[JudgeProgress, ...]


class Progress(Figure[ProgressResult]):
    """Counts for the head of a report and its first table. Nothing here tells one source from another."""

    key = "progress"
    title = gettext_lazy("Progress")
    position = 10
    section = "raters"
    tables = ("progress",)
    needs_answers = False

    def compute(self, dataset: Dataset) -> ProgressResult:
        participation = dataset.records.participation
        groups = _groups(dataset, participation.groups)
        answered = _answered(dataset.people)
        return ProgressResult(
            n_groups=len(groups),
            n_stories=len({story for _group, story in dataset.units}),
            n_withheld=participation.n_withheld,
            n_invited=participation.n_invited,
            n_consented=participation.n_consented,
            n_raters=int(dataset.people["rater"].nunique()),
            n_seats=sum(group.n_seats for group in groups),
            n_submitted=sum(group.n_submitted for group in groups),
            n_open=sum(group.n_open for group in groups),
            n_answers=len(answered),
            n_missing=_n_expected(dataset, groups) - len(_owed(dataset, answered)),
            left_out=_left_out(dataset),
            raters=_raters(dataset),
            median_minutes_per_story=_median_minutes(dataset.records.seconds_by_story),
            groups=groups,
            judges=_judges(dataset.judges),
        )

    def describe(self, result: ProgressResult, head: Head) -> Iterator[DocumentSection]:
        table = ReportTable(
            name="progress",
            label=_("Progress by group"),
            rows=result.groups,
            columns=[
                columns.words("group", _("Group"), is_head=True),
                columns.number("n_stories", _("Stories")),
                columns.number("n_seats", _("Places")),
                columns.number("n_submitted", pgettext("places", "Submitted")),
                columns.number("n_open", _("At work")),
                columns.number("n_free", _("Free")),
            ],
        )
        by_group = Subsection(summary=_("Group by group"), is_open=len(result.groups) <= MOST_OPEN, blocks=[table])
        nobody = [TextBlock(words=_("No person has submitted a group yet."))]
        counted = ngettext("%(shown)s place submitted", "%(shown)s places submitted", result.n_submitted)
        submitted = Files(words=counted % {"shown": whole(result.n_submitted)}, table="progress", is_count=True)
        yield DocumentSection(
            heading=_("Progress"),
            body=[by_group, *(nobody if result.judges and not result.n_submitted else []), submitted],
            margin=[TextBlock(words=words) for words in _margin(result)],
        )

    def headline(self, result: ProgressResult, head: Head) -> str:
        if not head.is_sealed or not result.n_seats:
            return ""
        counts = {"n": whole(result.n_submitted), "all": whole(result.n_seats)}
        return _("%(title)s: %(n)s of %(all)s places submitted") % {"title": head.title, **counts}

    def notices(self, result: ProgressResult) -> list[str]:
        if result.raters == "simulated":
            return [_("The answers are simulated: no person gave them.")]
        if result.judges and not result.n_submitted:
            return [_("No person has submitted a group: the answers are those of judges.")]
        return []

    def highlights(self, result: ProgressResult) -> list[Highlight]:
        stories = ngettext("stories in %(n)s group", "stories in %(n)s groups", result.n_groups)
        if result.n_stories == 1:
            stories = ngettext("story in %(n)s group", "story in %(n)s groups", result.n_groups)
        missing = _("answers, none missing") if result.n_answers else _("answers")
        if result.n_missing:
            missing = _("answers, %(n)s missing")
        highlights = [
            Highlight(stories % {"n": whole(result.n_groups)}, whole(result.n_stories), position=10),
            Highlight(_("rater") if result.n_raters == 1 else _("raters"), whole(result.n_raters), position=20),
            Highlight(
                _("of %(n)s places submitted") % {"n": whole(result.n_seats)}, whole(result.n_submitted), position=30
            ),
            Highlight(missing % {"n": whole(result.n_missing)}, whole(result.n_answers), position=40),
        ]
        if result.median_minutes_per_story is not None:
            minutes = decimal(result.median_minutes_per_story, 0)
            highlights.append(Highlight(_("median minutes a story"), minutes, position=60))
        if result.judges and not result.n_answers:
            n_answered = sum(judge.n_answered for judge in result.judges)
            highlights.append(Highlight(_("answers of judges"), whole(n_answered), position=45))
        return highlights

    def has_answers(self, result: ProgressResult) -> bool:
        return bool(result.n_answers or result.judges)


def _margin(result: ProgressResult) -> Iterator[str]:
    """What a place is, and what is left out of all results."""
    yield _("A place is one rater’s work on one group of stories: reading it and answering all that is asked about it.")
    out = result.left_out
    if out.practice:
        practised = ngettext(
            "%(shown)s answer was given to practise on, and stands in no figure.",
            "%(shown)s answers were given to practise on, and stand in no figure.",
            out.practice,
        )
        yield practised % {"shown": whole(out.practice)}
    counts = {f"n_{name}": whole(n) for name, n in vars(out).items()}
    if out.simulated:
        sentence = _(
            "In no figure below: %(n_open)s answers not yet submitted, %(n_given_up)s of places that were given up, "
            "%(n_withdrawn)s of people who withdrew, %(n_simulated)s simulated."
        )
        yield sentence % counts
    elif out.open or out.given_up or out.withdrawn:
        sentence = _(
            "In no figure below: %(n_open)s answers not yet submitted, %(n_given_up)s of places that were given up, "
            "%(n_withdrawn)s of people who withdrew."
        )
        yield sentence % counts
    if result.n_withheld:
        withheld = ngettext(
            "The text of %(n)s story is withheld: there are answers about it, but no right to the text.",
            "The texts of %(n)s stories are withheld: there are answers about them, but no right to the text.",
            result.n_withheld,
        )
        yield withheld % {"n": result.n_withheld}
    if result.n_invited:
        counts = {"n_invited": whole(result.n_invited), "n_consented": whole(result.n_consented)}
        yield _("%(n_invited)s invited, %(n_consented)s consented.") % counts


def _groups(dataset: Dataset, seats: Sequence[GroupSeats]) -> tuple[GroupProgress, ...]:
    n_stories = Counter(group for group, _story in dataset.units)
    return tuple(
        GroupProgress(**vars(of_group), n_stories=n_stories[of_group.group], n_free=of_group.n_free)
        for of_group in seats
    )


def _answered(table: pd.DataFrame) -> pd.DataFrame:
    return table[(table["outcome"] == "answered") & (table["group"] != "")]


def _owed(dataset: Dataset, answered: pd.DataFrame) -> pd.DataFrame:
    """Those of the answers that could not be skipped."""
    owed = [item.key for item in dataset.items if not item.item.is_skippable]
    return answered[pd.MultiIndex.from_frame(answered[["step", "item"]]).isin(owed)]


def _n_expected(dataset: Dataset, groups: tuple[GroupProgress, ...]) -> int:
    """How many answers the submitted assignments that count should hold, leaving out what may be skipped."""
    owed = [item for item in dataset.items if not item.item.is_skippable]
    n_of_story = sum(item.is_about_a_story for item in owed)
    n_of_group = sum(item.step.scope == Step.Scope.GROUP for item in owed)
    n_stories = {group.group: group.n_stories for group in groups}
    read = dataset.people[["rater", "group"]].drop_duplicates()["group"]
    return sum(n_of_story * n_stories[code] + n_of_group for code in read if code in n_stories)


def _left_out(dataset: Dataset) -> ExcludedAssignments:
    people = answers.select_people(dataset.answers)
    # Of erased answers it is still recorded that they were given.
    was_given = (people["status"] == "withdrawn") & people["was_given"].astype(bool)
    counts = people.loc[(people["outcome"] == "answered") | was_given, "status"].value_counts()
    return ExcludedAssignments(
        open=int(counts.get("open", 0)),
        given_up=int(counts.get("given_up", 0)),
        withdrawn=int(counts.get("withdrawn", 0)),
        simulated=int(counts.get("simulated", 0)),
        practice=dataset.records.participation.n_practised,
    )


def _raters(dataset: Dataset) -> str:
    if not len(dataset.people):
        return "none"
    return "simulated" if dataset.records.has_simulated else "real"


def _median_minutes(seconds: Sequence[int]) -> float | None:
    return float(pd.Series(seconds).median() / 60) if seconds else None


def _judges(table: pd.DataFrame) -> tuple[JudgeProgress, ...]:
    n_answered = table[table["outcome"] == "answered"].groupby("rater").size()
    kind_by_name = dict(zip(table["rater"], table["rater_kind"], strict=True))
    return tuple(
        JudgeProgress(judge=name, kind=kind, n_answered=int(n_answered.get(name, 0)))
        for name, kind in sorted(kind_by_name.items())
    )
