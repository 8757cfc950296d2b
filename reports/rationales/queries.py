"""The reasons of a study that may be read: of answers that count, filtered, by the story or group that they are about.

Left out are practice, whoever withdrew or has not submitted, judges that only tried a prompt, and simulated raters
where there are real ones. Queries stay few however many reasons there are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from annotation.models import Assignment, Rater, Response
from studies import items
from studies.models import Item, Provenance, Step, Study

PAGE_SIZE = 60
VERDICTS = ("yes", "no")
KINDS = (Rater.Kind.PERSON, Rater.Kind.MODEL)


@dataclass(frozen=True)
class Filters:
    """What is looked for; "" for everything.

    item : keys of step and item, "tests.ending"
    verdict : "yes" or "no", of items answered so
    kind : of rater, "person" or "model"
    source : name of who wrote the story; whoever asks has made sure that it may be known
    words : what the reason says, in small letters or capitals
    """

    item: str = ""
    verdict: str = ""
    kind: str = ""
    source: str = ""
    words: str = ""

    @property
    def is_any(self) -> bool:
        return any((self.item, self.verdict, self.kind, self.source, self.words))

    @property
    def condition(self) -> Q:
        """Of responses."""
        condition = Q()
        if self.item:
            step, _dot, item = self.item.partition(".")
            condition &= Q(step__key=step, item__key=item)
        if self.verdict:
            condition &= Q(item__type__in=verdict_types(), value=self.verdict)
        if self.kind:
            condition &= Q(assignment__rater_kind=self.kind)
        if self.source:
            condition &= Q(story__provenance__source__name=self.source)
        if self.words:
            # A regular expression, since SQLite's LIKE knows no capitals but those of ASCII.
            condition &= Q(rationale__iregex=re.escape(self.words))
        return condition


@dataclass(frozen=True)
class RationaleRow:
    """One reason with what was answered and by whom.

    value : as stored; None unless answered
    answer : in the words of the item
    rater : the code of a person; the name of a judge
    prompt : of a judge, its name and version; "" if its answers were imported
    """

    pk: int
    item: Item
    step: str
    value: Any
    answer: str
    is_answered: bool
    rater: str
    kind: str
    prompt: str
    persona: str
    text: str
    quotes: Sequence[Any]

    @property
    def is_person(self) -> bool:
        return self.kind == Rater.Kind.PERSON


@dataclass(frozen=True)
class RationaleItem:
    """An item for whose answers there are reasons. key : of step and item, as a filter names it"""

    key: str
    title: str
    is_verdict: bool


def verdict_types() -> list[str]:
    """The names of the item types that are answered Yes or No."""
    return [name for name, type_ in items.all_types().items() if type_.is_verdict]


def reasons(study: Study, filters: Filters | None = None) -> QuerySet[Response]:
    """The responses of the study that count and give a reason, such as are looked for. One query."""
    rows = answers(study).exclude(rationale="")
    return rows.filter(filters.condition) if filters else rows


def answers(study: Study) -> QuerySet[Response]:
    """The responses of the study that count, with a reason or without. One query."""
    rows = Response.objects.filter(assignment__study=study, assignment__rater__withdrawal=None)
    rows = rows.exclude(step__kind=Step.Kind.PRACTICE).exclude(assignment__reading__run__judge__is_trial=True)
    rows = rows.exclude(assignment__reading__intervention__gt="")  # which are about other words
    is_person = Q(assignment__rater_kind=Rater.Kind.PERSON)
    submitted, at_work = Assignment.Status.SUBMITTED, Assignment.Status.OPEN
    rows = rows.filter(assignment__repeats=None).filter(
        Q(assignment__status=submitted) | (~is_person & Q(assignment__status=at_work))
    )
    people = study.assignments.filter(rater_kind=Rater.Kind.PERSON, rater__is_simulated=False)
    if people.exists():
        rows = rows.filter(assignment__rater__is_simulated=False)
    return rows


def asked_items(study: Study) -> list[RationaleItem]:
    """The items that ask for reasons, in the order in which they are asked. One query."""
    # Not by exclude(): that leaves out every item that any study's practice asks.
    kinds = [kind for kind in Step.Kind if kind != Step.Kind.PRACTICE]
    rows = Item.objects.filter(instrument__step__version__study=study, instrument__step__kind__in=kinds)
    rows = rows.exclude(rationale=Item.Rationale.NONE).order_by("instrument__step__position", "position")
    fields = ("instrument__step__key", "key", "title", "question", "type")
    types = verdict_types()
    asked = {
        f"{step}.{key}": RationaleItem(f"{step}.{key}", title or question, type_ in types)
        for step, key, title, question, type_ in rows.values_list(*fields)
    }
    return list(asked.values())


def source_names(study: Study) -> list[str]:
    """Who wrote the stories, by name. One query; whoever asks has made sure that they may be known."""
    rows = Provenance.objects.filter(story__study=study).order_by("source__name")
    return list(rows.values_list("source__name", flat=True).distinct())


def count_by_unit(rows: QuerySet[Response]) -> dict[tuple[int | None, int | None], tuple[int, int]]:
    """How many of the reasons are of people and how many of judges, by story, or by group where no story is meant.

    Keys are ids of story and group; of a reason about a story the group is None. One query.
    """
    is_person = Q(assignment__rater_kind=Rater.Kind.PERSON)
    counted = rows.order_by().values_list("story_id", "assignment__group_id")
    counts: dict[tuple[int | None, int | None], tuple[int, int]] = {}
    for story, group, n, n_people in counted.annotate(n=Count("pk"), n_people=Count("pk", filter=is_person)):
        key = (story, None) if story else (None, group)
        people, judges = counts.get(key, (0, 0))
        counts[key] = (people + n_people, judges + n - n_people)
    return counts


_FIELDS = (
    *("pk", "item_id", "step__key", "value", "outcome", "rationale", "quotes"),
    *("assignment__rater__code", "assignment__rater_kind", "assignment__reading__persona"),
    *("assignment__reading__run__judge__prompt__name", "assignment__reading__run__judge__prompt__version"),
    *("assignment__seat__order",),
)


def in_order(rows: QuerySet[Response]) -> QuerySet[Response]:
    """The reasons item by item, people before judges, then by code."""
    return rows.order_by(
        "step__position", "step__key", "item__position", "-assignment__rater_kind", "assignment__rater__code", "pk"
    )


def read(rows: QuerySet[Response]) -> list[RationaleRow]:
    """The reasons with all that is shown of them. Two queries."""
    values = list(rows.values(*_FIELDS))
    item_by_id = Item.objects.in_bulk({row["item_id"] for row in values})
    return [_reason(row, item_by_id[row["item_id"]]) for row in values]


def _reason(row: dict[str, Any], item: Item) -> RationaleRow:
    version = row["assignment__reading__run__judge__prompt__version"]
    slug = row["assignment__reading__run__judge__prompt__name"]
    is_answered = row["outcome"] == Response.Outcome.ANSWERED
    return RationaleRow(
        pk=row["pk"],
        item=item,
        step=row["step__key"],
        value=row["value"],
        answer=_label(item, row["value"]) if is_answered else str(Response.Outcome(row["outcome"]).label),
        is_answered=is_answered,
        rater=row["assignment__rater__code"],
        kind=row["assignment__rater_kind"],
        prompt=f"{slug} {version}" if slug else "",
        persona=row["assignment__reading__persona"] or "",
        text=row["rationale"],
        quotes=row["quotes"] or [],
    )


def _label(item: Item, value: Any) -> str:
    """The answer in the words of the item; words of ours, such as Yes, in the reader's language."""
    type_ = items.find_type(item.type)
    label = str(type_.label(item, value))
    return label if type_.is_worded(item) else _(label)


def position(rows: QuerySet[Response], response: int) -> int | None:
    """Where the reason stands among these, from 0; None if it is none of them. One query."""
    keys = list(in_order(rows).values_list("pk", flat=True))
    return keys.index(response) if response in keys else None
