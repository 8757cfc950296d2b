"""The columns of the long file. A new one is a line of `COLUMNS`: its name, what the codebook says of it, its value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from annotation.models import Assignment, Rater, Response
from judges.models import Reading
from judges.planning.readings import is_primary
from reports.dataset.sources import StorySource
from reports.dataset.step_items import number
from reports.dataset.versions import AnsweredVersions
from studies import items
from studies.models import Item, ProtocolVersion


class LongRow(NamedTuple):
    """One response with everything that a column may say of it.

    response : its fields by name, as the database gives them
    n_stories_before : how many stories the rater had read in earlier groups; None if nobody knows
    source : who wrote the story; None if nothing says so, or it may not be shown
    versions : of the protocol, as the rater had them one after another
    """

    study: str
    response: dict[str, Any]
    assignment: Assignment
    item: Item
    status: str
    read_before: str
    active_seconds: int | None
    n_stories_before: int | None
    source: StorySource | None
    versions: AnsweredVersions

    @property
    def version(self) -> ProtocolVersion:
        """That which the rater had when the answer was first given."""
        return self.versions.find(self.assignment, self.response["first_answered_at"])

    @property
    def story(self) -> str:
        return self.response["story__code"] or ""

    @property
    def is_answered(self) -> bool:
        return bool(self.response["outcome"] == Response.Outcome.ANSWERED)

    @property
    def position_in_group(self) -> int | None:
        order = self.assignment.seat.order if self.assignment.seat else []
        return order.index(self.story) + 1 if self.story in order else None

    @property
    def story_position(self) -> int | None:
        if self.position_in_group is None or self.n_stories_before is None:
            return None
        return self.n_stories_before + self.position_in_group

    @property
    def reading(self) -> Reading | None:
        """How a judge read; None for people and imported answers."""
        return getattr(self.assignment, "reading", None)

    @property
    def counts_alone(self) -> str:
        """Whether this reading of a judge is the one that is taken where one value is; "" of people."""
        if self.assignment.rater_kind == Rater.Kind.PERSON:
            return ""
        return "yes" if self.reading is None or is_primary(self.reading, self.reading.run) else "no"

    @property
    def value_label(self) -> str:
        return items.find_type(self.item.type).label(self.item, self.response["value"]) if self.is_answered else ""

    @property
    def analysed(self) -> float | None:
        return number(self.item, self.response["value"]) if self.is_answered else None


@dataclass(frozen=True)
class Column:
    """is_of_assignment : whether all answers of an assignment have the same, so that it is found once"""

    name: str
    meaning: str
    value: Callable[[LongRow], Any]
    is_of_source: bool = False
    is_of_assignment: bool = False
    type: str = "string"  # as the Data Package names it


def iso(at: datetime | None) -> str:
    """The time as ISO 8601; nothing without one."""
    return at.isoformat() if at else ""


STORY = "Code of the story; empty if the item is about the group or about the rater."
POSITION = (
    "Which story this was of all that the rater read, from 1, in the order in which they were given; groups that the "
    "rater knew and gave back unread are not counted. A judge reads each group afresh: its place in the group. "
    "Empty for imported answers, since nobody knows."
)
GROUP_POSITION = (
    "Which group this was of all that the rater read, from 1, counted in the same way. "
    "Empty for judges and imported answers."
)
POSITION_IN_GROUP = "Place of the story in its group as the rater saw it, from 1; of imported answers, by code."
VALUE = "The answer as stored; lists as JSON, with stories named by code. Empty unless the outcome is answered."
OUTCOME = "answered; declined (refused or blocked); unreadable; open (cleared, or only a rationale so far)."
SECONDS = "Seconds with the page visible and active, all items of this step and story together."
READ_BEFORE = (
    "yes if the rater said that they had read the story (on rows without one: a story of the group) "
    "before, at the beginning or later; no if they were asked and said no; empty if they were not asked."
)
STATUS = (
    "submitted; repeat (submitted, of a group that the rater had read before: only how far raters agree with "
    "themselves rests on it); open; given_up; withdrawn; simulated (a simulated rater in a study that also has real "
    "ones); trial (a judge that only tried a prompt); altered (a judge’s reading of "
    "changed stories, which only the table of interventions rests on)."
)
ANALYSED = "The value in the direction in which it is analysed: yes is 1, no is 0. Empty if it is not one number."
ORDER = (
    "Of a judge's repeats: planned, or reversed if it got the stories of the group the other way round. "
    "Empty for people and imported answers."
)
PERSONA = "As whom a judge read, if its run asked for personas."
COUNTS_ALONE = (
    "Of a judge's repeats yes for the one that counts where one value of each judge is taken, no for others; of "
    "several such, that in the first place. On scales read as several personas it is their mean. Empty for people."
)
INTERVENTION = (
    "With which change a judge read the story, slug and version; empty of stories as they are, and of people."
)
REPEAT = "Which time a run asked a judge the same, from 1. Empty for people and imported answers."

COLUMNS = (
    Column("study", "Slug of the study.", lambda row: row.study, is_of_assignment=True),
    Column(
        "protocol_version",
        "Number of the protocol version that the rater had when the answer was first given.",
        lambda row: row.version.number,
        type="integer",
    ),
    Column("protocol_sha256", "SHA-256 of that version's document.", lambda row: row.version.sha256),
    Column("rater", "Code of the rater.", lambda row: row.assignment.rater.code, is_of_assignment=True),
    Column("rater_kind", "person, model or metric.", lambda row: row.assignment.rater.kind, is_of_assignment=True),
    Column(
        "group",
        "Code of the group of stories.",
        lambda row: row.response["assignment__group__code"] or "",
        is_of_assignment=True,
    ),
    Column("story", STORY, lambda row: row.story),
    Column("story_position", POSITION, lambda row: row.story_position, type="integer"),
    Column("instrument", "Slug of the instrument.", lambda row: row.item.instrument.slug),
    Column("instrument_version", "Version of the instrument.", lambda row: row.item.instrument.version),
    Column("item", "Key of the item.", lambda row: row.item.key),
    Column("value", VALUE, lambda row: row.response["value"]),
    Column("value_label", "The answer in the words of the item.", lambda row: row.value_label),
    Column("outcome", OUTCOME, lambda row: row.response["outcome"]),
    Column("rationale", "The reasons given.", lambda row: row.response["rationale"]),
    Column(
        "first_answered_at",
        "When the first answer was saved, ISO 8601, UTC.",
        lambda row: iso(row.response["first_answered_at"]),
        type="datetime",
    ),
    Column(
        "last_edited_at",
        "When the latest version was saved, ISO 8601, UTC.",
        lambda row: iso(row.response["last_edited_at"]),
        type="datetime",
    ),
    Column(
        "n_edits",
        "How often the answer was changed after it was first saved.",
        lambda row: max(row.response["n_events"] - 1, 0),
        type="integer",
    ),
    Column("active_seconds", SECONDS, lambda row: row.active_seconds, type="integer"),
    Column("read_before", READ_BEFORE, lambda row: row.read_before),
    Column("status", STATUS, lambda row: row.status, is_of_assignment=True),
    Column("step", "Key of the step of the protocol.", lambda row: row.response["step__key"]),
    Column("analysed", ANALYSED, lambda row: row.analysed, type="number"),
    Column(
        "seat",
        "Number of the place within its group and kind of rater.",
        lambda row: row.assignment.seat.number if row.assignment.seat else 0,
        type="integer",
        is_of_assignment=True,
    ),
    Column("order", ORDER, lambda row: row.reading.order if row.reading else "", is_of_assignment=True),
    Column("persona", PERSONA, lambda row: row.reading.persona if row.reading else "", is_of_assignment=True),
    Column(
        "repeat", REPEAT, lambda row: row.reading.repeat if row.reading else None, type="integer", is_of_assignment=True
    ),
    Column(
        "intervention",
        INTERVENTION,
        lambda row: row.reading.intervention if row.reading else "",
        is_of_assignment=True,
    ),
    Column("counts_alone", COUNTS_ALONE, lambda row: row.counts_alone, is_of_assignment=True),
    Column(
        "group_position", GROUP_POSITION, lambda row: row.assignment.position, type="integer", is_of_assignment=True
    ),
    Column("position_in_group", POSITION_IN_GROUP, lambda row: row.position_in_group, type="integer"),
    Column(
        "n_passages",
        "How many passages of the story are marked beside the reasons.",
        lambda row: len(row.response["quotes"]),
        type="integer",
    ),
    Column("source", "Who wrote the story.", lambda row: row.source and row.source.name, is_of_source=True),
    Column(
        "source_kind",
        "expert_writer, amateur_writer, language_model or other.",
        lambda row: row.source and row.source.kind,
        is_of_source=True,
    ),
)
