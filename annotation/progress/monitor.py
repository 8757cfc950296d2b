"""How a live study is going, by code: places, people at work, and what a person might be asked about.

Nothing of who wrote a story is read here, and of answers only how many there are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from statistics import median

from django.db.models import Count, Max, Q, QuerySet, Sum
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation import progress, responses
from annotation.models import Assignment, Rater, Response, ResponseEvent, Seat, StepTaken, Timing
from annotation.participation.roster import SILENT, say_place
from annotation.progress.outlines import load_outline
from studies.models import ProtocolVersion, StoryGroup, Study

Status = Assignment.Status
MOST_GROUPS = 40  # rows of the matrix; those that lack something come first
FAST = 0.25  # of the median of active time: less than that is asked about
MIN_PLACES_FOR_MEDIAN = 5  # submitted places, before so many there is no median to go by
MOST_QUERIES = 200  # of one kind, which nobody could ask in a day
MUCH = 200  # characters pasted into reasons


@dataclass(frozen=True)
class Totals:
    """The places of a study. n_groups_complete : groups of which every place is submitted"""

    n_places: int
    n_submitted: int
    n_at_work: int
    n_free: int
    n_groups: int
    n_groups_complete: int


@dataclass(frozen=True)
class Cell:
    """One place of the matrix. assignment : who is or was there"""

    state: str
    assignment: Assignment | None
    words: str


@dataclass(frozen=True)
class GroupRow:
    group: StoryGroup
    cells: list[Cell]


@dataclass(frozen=True)
class WorkRow:
    """One person with the place at which they are, or the last that they had. n_answers : of the place at work"""

    rater: Rater
    assignment: Assignment
    state: str
    words: str
    n_answers: int
    n_questions: int
    n_submitted: int
    active_seconds: int

    @property
    def active_minutes(self) -> int:
        return self.active_seconds // 60


@dataclass(frozen=True)
class PlaceRow:
    """One place that a person has or had. n_declined : questions that were put aside, or whose answer is unreadable"""

    assignment: Assignment
    state: str
    words: str
    n_answered: int
    n_declined: int
    n_questions: int
    active_seconds: int

    @property
    def n_missing(self) -> int:
        """Questions of a submitted place that have no answer at all."""
        if self.state != "submitted":
            return 0
        return max(self.n_questions - self.n_answered - self.n_declined, 0)

    @property
    def active_minutes(self) -> int:
        return self.active_seconds // 60


@dataclass(frozen=True)
class Query:
    """Something to ask a person about; no verdict. invitation : through which they can be written to, if any"""

    code: str
    sentence: str
    reason: str
    invitation: int | None
    assignment: str


def count_places(study: Study) -> Totals:
    """How many places there are and how far they are. Two queries."""
    places = _places(study)
    of_groups = places.values_list("group").annotate(n=Count("pk"), n_free=Count("pk", filter=Q(is_taken=False)))
    submitted = dict(
        _first(study).filter(status=Status.SUBMITTED).values_list("group").annotate(n=Count("pk")).order_by()
    )
    n_by_group = {group: (n, n_free) for group, n, n_free in of_groups.order_by()}
    n_places, n_free = (sum(counts[i] for counts in n_by_group.values()) for i in (0, 1))
    n_submitted = sum(submitted.values())
    n_complete = sum(submitted.get(group, 0) >= n for group, (n, _n_free) in n_by_group.items())
    return Totals(n_places, n_submitted, n_places - n_free - n_submitted, n_free, len(n_by_group), n_complete)


def list_groups(study: Study) -> list[GroupRow]:
    """Groups with their places, those that lack something first; not more than a page holds. Four queries."""
    ranked = _places(study).values("group").annotate(n_free=Count("pk", filter=Q(is_taken=False)))
    at_work = Counter(_first(study).filter(status=Status.OPEN).values_list("group", flat=True))
    order = sorted(
        ranked.values_list("group", "group__code", "n_free"),
        key=lambda row: (-row[2], -at_work.get(row[0], 0), row[1]),
    )
    chosen = [group for group, _code, _n_free in order[:MOST_GROUPS]]
    holders: dict[int, Assignment] = {}
    for row in _first(study).filter(group__in=chosen).select_related("rater", "seat").order_by("pk"):
        if row.seat_id and (row.status in Assignment.LIVE or row.seat_id not in holders):
            holders[row.seat_id] = row
    seats: dict[int, list[Seat]] = defaultdict(list)
    for seat in _places(study).filter(group__in=chosen).select_related("group").order_by("number"):
        seats[seat.group_id].append(seat)
    rows = [GroupRow(seats[pk][0].group, [_cell(seat, holders.get(seat.pk)) for seat in seats[pk]]) for pk in chosen]
    return sorted(rows, key=lambda row: row.group.code)


def _cell(seat: Seat, holder: Assignment | None) -> Cell:
    if holder and holder.status == Status.SUBMITTED:
        return Cell("submitted", holder, _("submitted"))
    if holder and holder.status == Status.OPEN:
        return Cell("work", holder, say_place(holder))
    if holder and not seat.is_taken:
        return Cell("free", holder, _("left by %(code)s") % {"code": holder.rater.code})
    return Cell("free", None, _("never taken"))


def list_work(study: Study, raters: Sequence[int]) -> list[WorkRow]:
    """These people with where they are, in that order. Five queries."""
    rows = _assignments(study).filter(rater__in=raters).values("rater").order_by()
    rows = rows.annotate(
        n_submitted=Count("pk", filter=Q(status=Status.SUBMITTED)),
        open_pk=Max("pk", filter=Q(status=Status.OPEN)),
        last_pk=Max("pk"),
    )
    counts = {row["rater"]: row for row in rows}
    pks = [row["open_pk"] or row["last_pk"] for row in counts.values()]
    of_raters = Assignment.objects.filter(pk__in=pks).select_related("rater", "group", "seat", "version")
    latest = {row.rater_id: row for row in of_raters.defer("version__document")}
    answered = Response.objects.filter(assignment__in=[row.pk for row in latest.values()])
    answered = answered.exclude(outcome=Response.Outcome.OPEN)
    n_answers = dict(answered.values_list("assignment").annotate(n=Count("pk")).order_by())
    times = Timing.objects.filter(assignment__rater__in=raters, assignment__seat__isnull=False)
    seconds = dict(times.values_list("assignment__rater").annotate(n=Sum("active_seconds")).order_by())
    return [
        WorkRow(
            latest[pk].rater,
            latest[pk],
            *_state(latest[pk]),
            n_answers=n_answers.get(latest[pk].pk, 0),
            n_questions=_count_questions(latest[pk]),
            n_submitted=counts[pk]["n_submitted"],
            active_seconds=seconds.get(pk, 0),
        )
        for pk in raters
        if pk in latest
    ]


def list_places(rater: Rater) -> list[PlaceRow]:
    """Every place of a person, the first first. Three queries."""
    rows = _assignments(rater.study).filter(rater=rater).select_related("group", "seat", "version").order_by("pk")
    places = list(rows.defer("version__document"))
    counted = Response.objects.filter(assignment__in=places).values_list("assignment").order_by()
    is_answered, is_open = Q(outcome=Response.Outcome.ANSWERED), Q(outcome=Response.Outcome.OPEN)
    counts = {
        pk: (n_answered, n_declined)
        for pk, n_answered, n_declined in counted.annotate(
            n_answered=Count("pk", filter=is_answered), n_declined=Count("pk", filter=~is_answered & ~is_open)
        )
    }
    times = Timing.objects.filter(assignment__in=places).values_list("assignment").order_by()
    seconds = dict(times.annotate(n=Sum("active_seconds")))
    return [
        PlaceRow(
            place, *_state(place), *counts.get(place.pk, (0, 0)), _count_questions(place), seconds.get(place.pk, 0)
        )
        for place in places
    ]


def order_raters(study: Study) -> list[int]:
    """The ids of people who have had a place, those at work first, then by when they were last there."""
    rows = _assignments(study).values("rater").order_by()
    rows = rows.annotate(
        n_open=Count("pk", filter=Q(status=Status.OPEN)), last=Max("last_active_at"), first=Max("started_at")
    )
    ordered = sorted(rows, key=lambda row: (-row["n_open"], -(row["last"] or row["first"]).timestamp(), row["rater"]))
    return [row["rater"] for row in ordered]


def _state(row: Assignment) -> tuple[str, str]:
    if row.status == Status.OPEN:
        return "work", say_place(row)
    if row.status == Status.SUBMITTED:
        return "submitted", _("submitted")
    if row.status == Status.WITHDRAWN:
        return "withdrawn", _("withdrawn")
    return "returned", _("released the place")


def _count_questions(row: Assignment) -> int:
    if not row.version.frozen_at or row.seat is None:
        return 0
    return _count_frozen(row.version.pk, row.version.sha256, len(row.seat.order))


@lru_cache(maxsize=256)
def _count_frozen(pk: int, sha256: str, n_stories: int) -> int:
    outline = load_outline(ProtocolVersion.objects.defer("document").get(pk=pk, sha256=sha256))
    letters = list(responses.letters([str(n) for n in range(n_stories)]))
    return sum(len(progress.list_questions(part, letters)) for part in outline.parts)


def list_queries(study: Study, *, at: datetime) -> list[Query]:
    """What people might be asked about: silence, haste, much that was pasted, a check not passed. Five queries."""
    queries = [*_silent(study, at=at), *_fast(study), *_pasted(study), *_failed(study)]
    return sorted(queries, key=lambda query: query.code)


def _silent(study: Study, *, at: datetime) -> Iterator[Query]:
    for row in _with_people(study).filter(status=Status.OPEN).select_related("seat"):
        last = row.last_active_at or row.started_at
        days = (at - last).days
        if at - last > SILENT:
            sentence = ngettext(
                "No activity for %(n)d day, %(place)s. Away, or link lost?",
                "No activity for %(n)d days, %(place)s. Away, or link lost?",
                days,
            )
            yield _query(row, sentence % {"n": days, "place": say_place(row)}, _("The place waits for them."))


def _fast(study: Study) -> Iterator[Query]:
    submitted = _first(study).filter(status=Status.SUBMITTED, rater__is_simulated=False)
    rows = submitted.values_list("pk").annotate(seconds=Coalesce(Sum("timings__active_seconds"), 0)).order_by()
    seconds = dict(rows)
    if len(seconds) < MIN_PLACES_FOR_MEDIAN:
        return
    usual = median(seconds.values())
    fast = [pk for pk, n in seconds.items() if n < FAST * usual]
    for row in _with_people(study).filter(pk__in=fast[:MOST_QUERIES]):
        minutes, middle = seconds[row.pk] // 60, round(usual / 60)
        sentence = _("%(n)d minutes for a group; others usually take %(usual)d. Read on paper first?")
        reason = _("Active time counts only while the page is visible and in use.")
        yield _query(row, sentence % {"n": minutes, "usual": middle}, reason)


def _pasted(study: Study) -> Iterator[Query]:
    events = ResponseEvent.objects.filter(n_pasted__gt=0, response__assignment__study=study)
    pasted = dict(events.values_list("response__assignment").annotate(n=Sum("n_pasted")).order_by())
    much = [pk for pk, n in pasted.items() if n > MUCH]
    for row in _with_people(study).filter(pk__in=much[:MOST_QUERIES]):
        sentence = _("%(n)d characters were pasted into reasons. Written elsewhere first?")
        yield _query(row, sentence % {"n": pasted[row.pk]}, _("Pasting is allowed; the text itself is not shown here."))


def _failed(study: Study) -> Iterator[Query]:
    failures = StepTaken.failures().filter(rater__study=study, rater__withdrawal=None)
    for failure in failures.select_related("rater__invitation", "step").order_by("pk")[:MOST_QUERIES]:
        invitation = getattr(failure.rater, "invitation", None)
        sentence = ngettext(
            "The check was not passed in its one attempt. Was a question of it unclear?",
            "The check was not passed in %(n)d attempts. Was a question of it unclear?",
            failure.attempt,
        )
        reason = _("They went no further.") if not failure.lets_on else _("They went on; their answers count.")
        query = sentence % {"n": failure.attempt}
        yield Query(failure.rater.code, query, reason, invitation and invitation.pk, "")


def _query(row: Assignment, sentence: str, reason: str) -> Query:
    invitation = getattr(row.rater, "invitation", None)
    is_open = row.status == Status.OPEN
    return Query(row.rater.code, sentence, reason, invitation and invitation.pk, row.code if is_open else "")


def _places(study: Study) -> QuerySet[Seat]:
    return Seat.objects.filter(study=study, rater_kind=Rater.Kind.PERSON).order_by()


def _assignments(study: Study) -> QuerySet[Assignment]:
    return Assignment.objects.filter(study=study, rater_kind=Rater.Kind.PERSON, seat__isnull=False)


def _first(study: Study) -> QuerySet[Assignment]:
    return Assignment.objects.first_readings().filter(study=study)


def _with_people(study: Study) -> QuerySet[Assignment]:
    return _assignments(study).select_related("rater__invitation").order_by("pk")
