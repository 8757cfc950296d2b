"""Responses as a long file: one row an answer, with everything that a result may depend on.

Answers and sources are joined only if the caller says that they may be (`dataset.is_sealed`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from typing import Any

from django.db.models import Count, QuerySet, Sum

from annotation.models import Assignment, Rater, Recognition, Response, Timing, Withdrawal
from reports.dataset.answers import find_apart, responses, status
from reports.dataset.sources import list_factors, source_by_story
from reports.dataset.versions import AnsweredVersions
from reports.export.long_table_columns import COLUMNS, LongRow
from reports.lazy import pd
from studies.models import Item, Study

_FIELDS = (
    *("assignment_id", "assignment__group__code", "step_id", "step__key", "item_id", "story_id", "story__code"),
    *("value", "outcome"),
)
_DEAR_FIELDS = ("rationale", "quotes", "first_answered_at", "last_edited_at", "n_events")


def columns(study: Study, *, with_sources: bool) -> dict[str, str]:
    """The columns of the long file with their meaning; factors of stories only with their sources."""
    meaning_by_name = {column.name: column.meaning for column in COLUMNS if with_sources or not column.is_of_source}
    if with_sources:
        meaning_by_name |= {factor_column(name): f"Factor “{name}” of the story." for name in list_factors(study)}
    return meaning_by_name


def factor_column(name: str) -> str:
    """The name of the column in which a factor of the stories stands."""
    return f"factor_{name}"


def rows(
    study: Study,
    *,
    with_sources: bool,
    among: QuerySet[Response] | None = None,
    is_part: bool = False,
    names: Collection[str] | None = None,
) -> Iterator[dict[str, Any]]:
    """The responses, all or some, each with everything about it. Read from the database as it goes.

    is_part : whether `among` are a few of very many, so that only what is about them is read
    names : of the columns that are needed, without factors, and none of reasons, times, edits or versions; all columns
        unless said
    """
    assignments = study.assignments.all()
    if is_part and among is not None:
        assignments = assignments.filter(pk__in=set(among.order_by().values_list("assignment_id", flat=True)))
    context = _Context(study, assignments, with_sources=with_sources)
    answers = responses(study) if among is None else among
    fields: tuple[str, ...] = _FIELDS
    if names is None:
        # Revisions may have gaps, after a restore; a save is an event.
        answers, fields = answers.annotate(n_events=Count("events")), _FIELDS + _DEAR_FIELDS
    needed = [column for column in COLUMNS if names is None or column.name in names]
    of_assignment = [column for column in needed if column.is_of_assignment]
    of_answer = [column for column in needed if not column.is_of_assignment]
    shared: dict[int, dict[str, Any]] = {}
    for response in answers.values(*fields).iterator(chunk_size=2000):
        row = context.row(response)
        if row.assignment.pk not in shared:
            shared[row.assignment.pk] = {column.name: column.value(row) for column in of_assignment}
        # A story without provenance leaves the columns about its source out: they are empty in the file.
        values = {c.name: c.value(row) for c in of_answer if row.source or not c.is_of_source}
        factors = row.source.factors if row.source and names is None else {}
        yield shared[row.assignment.pk] | values | {factor_column(name): value for name, value in factors.items()}


def frame(study: Study, *, with_sources: bool) -> pd.DataFrame:
    """The rows as a table."""
    names = list(columns(study, with_sources=with_sources))
    return pd.DataFrame(list(rows(study, with_sources=with_sources)), columns=names)


FOR_ROWS = ("rater", "seat", "version", "reading__run__persona_set")


class _Context:
    """What the rows of one study share, read once.

    assignments : those of whose answers there will be rows; of the others nothing is read but what positions need
    """

    def __init__(self, study: Study, assignments: QuerySet[Assignment], *, with_sources: bool) -> None:
        self.slug = study.slug
        keys = assignments.values("pk")
        self.item_by_id = {
            i.pk: i
            for i in Item.objects.filter(instrument__step__version__study=study).distinct().select_related("instrument")
        }
        self.assignment_by_id = {a.pk: a for a in assignments.select_related(*FOR_ROWS).defer("version__document")}
        self.versions = AnsweredVersions(self.assignment_by_id.values())
        self.seconds_by_key = {
            (assignment, step, story): seconds
            for assignment, step, story, seconds in Timing.objects.filter(assignment__in=keys)
            .values_list("assignment_id", "step_id", "story_id")
            .annotate(seconds=Sum("active_seconds"))
        }
        self.recognised: dict[int, set[int]] = defaultdict(set)
        recognitions = Recognition.objects.filter(assignment__in=keys)
        for assignment_id, story_id in recognitions.values_list("assignment_id", "story_id"):
            self.recognised[assignment_id].add(story_id)
        withdrawals = Withdrawal.objects.filter(rater__in=assignments.values("rater"))
        withdrawn = set(withdrawals.values_list("rater_id", flat=True))
        apart = find_apart(assignments)
        people = study.raters.filter(kind=Rater.Kind.PERSON, is_simulated=False)
        is_mixed = people.filter(assignments__isnull=False).exists()
        self.status_by_id = {
            pk: status(assignment, withdrawn=withdrawn, apart=apart, is_mixed=is_mixed)
            for pk, assignment in self.assignment_by_id.items()
        }
        self.n_stories_before = _count_stories_before(assignments)
        self.source_by_story = source_by_story(study) if with_sources else {}

    def row(self, response: dict[str, Any]) -> LongRow:
        assignment = self.assignment_by_id[response["assignment_id"]]
        timing_key = (response["assignment_id"], response["step_id"], response["story_id"])
        return LongRow(
            study=self.slug,
            response=response,
            assignment=assignment,
            item=self.item_by_id[response["item_id"]],
            status=self.status_by_id[assignment.pk],
            read_before=self._read_before(assignment, response["story_id"]),
            active_seconds=self.seconds_by_key.get(timing_key),
            n_stories_before=self._count_stories_before(assignment),
            source=self.source_by_story.get(response["story__code"] or ""),
            versions=self.versions,
        )

    def _count_stories_before(self, assignment: Assignment) -> int | None:
        """Of a person; a judge reads every group afresh."""
        return self.n_stories_before.get(assignment.pk) if assignment.rater_kind == Rater.Kind.PERSON else 0

    def _read_before(self, assignment: Assignment, story: int | None) -> str:
        recognised = self.recognised.get(assignment.pk, set())
        if assignment.read_before or (recognised if story is None else story in recognised):
            return "yes"
        return "" if assignment.read_before is None else "no"


def _count_stories_before(assignments: QuerySet[Assignment]) -> dict[int, int]:
    """How many stories a person had been given to read before each of these assignments, by its id. One query.

    Of imported groups nothing is known, and they are left out.
    """
    placed = Assignment.objects.filter(position__isnull=False)
    of_same_raters = placed.filter(rater__in=assignments.filter(position__isnull=False).values("rater"))
    n_read: Counter[int] = Counter()
    n_before = {}
    rows = of_same_raters.order_by("position").values_list("pk", "rater_id", "read_before", "seat__order")
    for pk, rater, read_before, stories in rows:
        n_before[pk] = n_read[rater]
        if stories and not read_before:
            n_read[rater] += len(stories)
    return n_before
