"""Responses as a table: one row an answer, with everything that a result may depend on.

Only here are answers and sources joined, and only if the caller says that they may be (`results.is_sealed`).
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
from django.db.models import QuerySet, Sum

from annotation.models import Assignment, Rater, Recognition, Response, Timing, Withdrawal
from stats.arrays import FloatArray, IntArray
from studies import items, protocol
from studies.models import Item, Provenance, Step, StoryGroup, Study

# The long file begins with these, in this order; the codebook is written from them.
COLUMNS = {
    "study": "Slug of the study.",
    "protocol_version": "Number of the protocol version under which the assignment began.",
    "protocol_sha256": "SHA-256 of that version's document.",
    "rater": "Code of the rater.",
    "rater_kind": "person, model or metric.",
    "group": "Code of the group of stories.",
    "story": "Code of the story; empty if the item is about the group or about the rater.",
    "story_position": "Place of the story in the order of this seat, from 1; of imported answers, by code.",
    "instrument": "Slug of the instrument.",
    "instrument_version": "Version of the instrument.",
    "item": "Key of the item.",
    "value": "The answer as stored; lists as JSON, with stories named by code. Empty unless the outcome is answered.",
    "value_label": "The answer in the words of the item.",
    "outcome": "answered; declined (refused or blocked); unreadable; open (cleared, or only a rationale so far).",
    "rationale": "The reasons given.",
    "first_answered_at": "When the first answer was saved, ISO 8601, UTC.",
    "last_edited_at": "When the latest version was saved, ISO 8601, UTC.",
    "n_edits": "How often the answer was changed after it was first saved.",
    "active_seconds": "Seconds with the page visible and active, all items of this step and story together.",
    "read_before": "yes if the rater said that they had read the story (on rows without one: a story of the group) "
    "before, at the beginning or later; no if they were asked and said no; empty if they were not asked.",
    "status": "submitted; open; given_up; withdrawn; simulated (a simulated rater in a study that also has real ones).",
    "step": "Key of the step of the protocol.",
    "analysed": "The value in the direction in which it is analysed: yes is 1, no is 0. Empty if it is not one number.",
    "seat": "Number of the seat within its group and kind of rater.",
}
SOURCE_COLUMNS = {
    "source": "Who wrote the story.",
    "source_kind": "expert_writer, amateur_writer, language_model or other.",
}


@dataclass(frozen=True)
class Cube:
    """Numbers of several items by the same raters about the same units.

    items : (step key, item key) of each item
    units : (group code, story code) of each unit; no story code if an item is about the group
    values : shape (I items, R raters, U units), nan where there is no answer
    """

    items: tuple[tuple[str, str], ...]
    raters: tuple[str, ...]
    units: tuple[tuple[str, str], ...]
    values: FloatArray

    @property
    def groups(self) -> list[str]:
        return [group for group, _ in self.units]

    @property
    def stories(self) -> list[str]:
        return [story for _, story in self.units]

    def only(self, keep: list[bool]) -> "Cube":
        """The same for some of the units."""
        units = tuple(unit for unit, kept in zip(self.units, keep, strict=True) if kept)
        return Cube(self.items, self.raters, units, self.values[:, :, np.array(keep, dtype=np.bool_)])


def asked(study: Study) -> list[tuple[Step, Item]]:
    """Every item of the study with its step, in order, in its current version (the draft if none is frozen). What is
    only practised is none of them."""
    version = study.versions.exclude(frozen_at=None).order_by("-number").first() or study.versions.first()
    steps = protocol.read(version).steps if version else ()
    counted = [step for step in steps if step.kind != Step.Kind.PRACTICE]
    return [(step, item) for step in counted for item in protocol.items_of(step)]


def number(item: Item, value: Any) -> float | None:
    """The value as one number, or None if it is not one."""
    analysed = items.named(item.type).analysed(item, value)
    if isinstance(analysed, int | float):
        return float(analysed)
    return {"yes": 1.0, "no": 0.0}.get(analysed) if is_verdict(item) else None


def is_verdict(item: Item) -> bool:
    """Whether the item is answered Yes or No, so that a pass rate can be taken."""
    return item.type == "binary"


def factors(study: Study) -> list[str]:
    """The names of the factors that its stories have, in alphabetical order."""
    found = Provenance.objects.filter(story__study=study).values_list("factors", flat=True)
    return sorted({name for each in found for name in each})


def source_by_story(study: Study) -> dict[str, dict[str, Any]]:
    """Source, kind and factors of each story by its code. The one place where results meet provenance."""
    found = Provenance.objects.filter(story__study=study).select_related("source", "story").order_by("story__code")
    return {p.story.code: {"source": p.source.name, "source_kind": p.source.kind, **_named(p.factors)} for p in found}


def _named(factor_by_name: dict[str, Any]) -> dict[str, Any]:
    return {f"factor_{name}": value for name, value in factor_by_name.items()}


def columns(study: Study, *, with_sources: bool) -> dict[str, str]:
    """The columns of the long file with their meaning; factors of stories only with their sources."""
    if not with_sources:
        return dict(COLUMNS)
    return COLUMNS | SOURCE_COLUMNS | {f"factor_{name}": f"Factor “{name}” of the story." for name in factors(study)}


def responses(study: Study) -> QuerySet[Response]:
    """Every response of the study but those of a practice, by rater, group, story, step and item."""
    found = Response.objects.filter(assignment__study=study).exclude(step__kind=Step.Kind.PRACTICE)
    return found.order_by("assignment__rater__code", "assignment_id", "story__code", "step__position", "item__position")


def rows(study: Study, *, with_sources: bool, found: QuerySet[Response] | None = None) -> Iterator[dict[str, Any]]:
    """The responses, all or those found, each with everything about it. Read from the database as it goes."""
    facts = _Facts(study, with_sources=with_sources)
    for response in (responses(study) if found is None else found).values(*_FIELDS).iterator(chunk_size=2000):
        yield facts.row(response)


def frame(study: Study, *, with_sources: bool) -> pd.DataFrame:
    """The rows as a table."""
    return pd.DataFrame(
        list(rows(study, with_sources=with_sources)), columns=list(columns(study, with_sources=with_sources))
    )


def counted(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that results are made of: submitted by people; of judges also what they have answered so far.

    Of a judge that read a group several times the reading in its first seat counts; repeats are another question.
    """
    is_person = table["rater_kind"] == Rater.Kind.PERSON
    kept = table[(table["status"] == "submitted") | (~is_person & (table["status"] == "open"))]
    once = ["rater", "group", "story", "step", "item"]
    return kept.sort_values("seat", kind="stable").drop_duplicates(once).sort_index()


def people(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["rater_kind"] == Rater.Kind.PERSON]


def judges(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["rater_kind"] != Rater.Kind.PERSON]


def units(study: Study) -> list[tuple[str, str]]:
    """Every (group, story) of the study, in alphabetical order."""
    found = StoryGroup.objects.filter(study=study).values_list("code", "stories__code")
    return sorted((group, story) for group, story in found if story)


def cube(
    table: pd.DataFrame,
    keys: list[tuple[str, str]],
    *,
    column: str = "analysed",
    raters: list[str] | None = None,
    among: list[tuple[str, str]] | None = None,
) -> Cube:
    """The answers to these items as an array; raters and units are those in the table unless named."""
    who = sorted(table["rater"].unique()) if raters is None else raters
    where = sorted(set(zip(table["group"], table["story"], strict=True))) if among is None else among
    values = np.full((len(keys), len(who), len(where)), np.nan)
    places = (
        _places(table[["step", "item"]], keys),
        pd.Index(who, dtype=object).get_indexer(pd.Index(table["rater"], dtype=object)),
        _places(table[["group", "story"]], where),
    )
    given = table[column].to_numpy(dtype=np.float64, na_value=np.nan)
    is_here = np.logical_and.reduce([place >= 0 for place in places])
    values[tuple(place[is_here] for place in places)] = given[is_here]
    return Cube(tuple(keys), tuple(who), tuple(where), values)


def _places(pairs: pd.DataFrame, names: list[tuple[str, str]]) -> IntArray:
    """Where each pair stands among the names; -1 where it does not."""
    if not names:
        return np.full(len(pairs), -1)
    return np.asarray(pd.MultiIndex.from_tuples(names).get_indexer(pd.MultiIndex.from_frame(pairs)), dtype=np.int64)


_FIELDS = (
    "assignment_id",
    "assignment__rater__code",
    "assignment__rater__kind",
    "assignment__group__code",
    "step_id",
    "step__key",
    "item_id",
    "story_id",
    "story__code",
    "value",
    "outcome",
    "rationale",
    "first_answered_at",
    "last_edited_at",
    "revision",
)


class _Facts:
    """What the rows of one study share, read once."""

    def __init__(self, study: Study, *, with_sources: bool) -> None:
        self.slug = study.slug
        self.item_by_id = {
            i.pk: i
            for i in Item.objects.filter(instrument__step__version__study=study).distinct().select_related("instrument")
        }
        self.assignment_by_id = {
            a.pk: a for a in study.assignments.select_related("rater", "seat", "version").defer("version__document")
        }
        self.seconds = {
            (assignment, step, story): seconds
            for assignment, step, story, seconds in Timing.objects.filter(assignment__study=study)
            .values_list("assignment_id", "step_id", "story_id")
            .annotate(seconds=Sum("active_seconds"))
        }
        self.recognised: dict[int, set[int]] = defaultdict(set)
        known = Recognition.objects.filter(assignment__study=study)
        for assignment_id, story_id in known.values_list("assignment_id", "story_id"):
            self.recognised[assignment_id].add(story_id)
        self.withdrawn = set(Withdrawal.objects.filter(rater__study=study).values_list("rater_id", flat=True))
        self.mixes = has_real_people(self.assignment_by_id.values())
        self.source_by_story = source_by_story(study) if with_sources else {}

    def read_before(self, assignment: Assignment, story: int | None) -> str:
        flagged = self.recognised.get(assignment.pk, set())
        if assignment.read_before or (flagged if story is None else story in flagged):
            return "yes"
        return "" if assignment.read_before is None else "no"

    def row(self, response: dict[str, Any]) -> dict[str, Any]:
        item = self.item_by_id[response["item_id"]]
        assignment = self.assignment_by_id[response["assignment_id"]]
        story = response["story__code"] or ""
        order = assignment.seat.order if assignment.seat else []
        value, is_answered = response["value"], response["outcome"] == Response.Outcome.ANSWERED
        kind = items.named(item.type)
        place = (response["assignment_id"], response["step_id"], response["story_id"])
        return {
            "study": self.slug,
            "protocol_version": assignment.version.number,
            "protocol_sha256": assignment.version.sha256,
            "rater": response["assignment__rater__code"],
            "rater_kind": response["assignment__rater__kind"],
            "group": response["assignment__group__code"] or "",
            "story": story,
            "story_position": order.index(story) + 1 if story in order else None,
            "instrument": item.instrument.slug,
            "instrument_version": item.instrument.version,
            "item": item.key,
            "value": value,
            "value_label": kind.label(item, value) if is_answered else "",
            "outcome": response["outcome"],
            "rationale": response["rationale"],
            "first_answered_at": _iso(response["first_answered_at"]),
            "last_edited_at": _iso(response["last_edited_at"]),
            "n_edits": max(response["revision"] - 1, 0),
            "active_seconds": self.seconds.get(place),
            "read_before": self.read_before(assignment, response["story_id"]),
            "status": status(assignment, withdrawn=self.withdrawn, mixes=self.mixes),
            "step": response["step__key"],
            "analysed": number(item, value) if is_answered else None,
            "seat": assignment.seat.number if assignment.seat else 0,
            **self.source_by_story.get(story, {}),
        }


def has_real_people(assignments: Any) -> bool:
    """Whether real people are among the raters: then simulated ones do not count."""
    return any(a.rater_kind == Rater.Kind.PERSON and not a.rater.is_simulated for a in assignments)


def status(assignment: Assignment, *, withdrawn: set[int], mixes: bool) -> str:
    """Where an assignment stands, as the long file says it."""
    if assignment.rater_id in withdrawn:
        return str(Assignment.Status.WITHDRAWN)
    if assignment.rater.is_simulated and mixes:
        return "simulated"
    return str(assignment.status)


def _iso(at: datetime | None) -> str:
    return at.isoformat() if at else ""


def codebook(study: Study, *, with_sources: bool) -> Iterator[dict[str, str]]:
    """What the columns of the long file mean, and what its items ask with which values."""
    for name, meaning in columns(study, with_sources=with_sources).items():
        yield {"what": "column", "name": name, "meaning": meaning, "values": ""}
    for step, item in asked(study):
        options = "; ".join(f"{option['value']} = {option['label']}" for option in item.options)
        values = options or "; ".join(f"{name} = {value}" for name, value in item.settings.items())
        name = f"{step.key}/{item.key}"
        yield {"what": f"item, {item.type}", "name": name, "meaning": item.question, "values": values}
