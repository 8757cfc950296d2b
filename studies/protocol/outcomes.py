"""What the sources of a study can be compared on: one key for an outcome, in plans, reports and files alike."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from studies import items
from studies.models import Item, Step
from studies.protocol.steps import items_of

OutcomeKind = Literal["verdicts", "dimension", "verdict", "rating", "preference", "rank"]
VERDICTS = "verdicts"


@dataclass(frozen=True)
class Outcome:
    """One number for each story, in which sources may differ.

    kind : "verdicts" the percentage of Yes over all items, each weighing the same; "dimension" over those of one;
        "verdict" of one item; "rating" the mean on one scale; "preference" how often the story was chosen, in percent;
        "rank" its mean place
    items : (step key, item key) of each
    is_part : whether it is a part of another outcome
    """

    key: str
    kind: OutcomeKind
    title: str
    items: tuple[tuple[str, str], ...]
    is_part: bool = False

    @property
    def is_percent(self) -> bool:
        return self.kind not in ("rating", "rank")

    @property
    def is_lower_better(self) -> bool:
        return self.kind == "rank"


def list_outcomes(steps: Iterable[Step]) -> list[Outcome]:
    """Every outcome of a protocol, in the order of its steps; whole before its parts."""
    asked = [(step, item) for step in steps if step.kind == Step.Kind.RATING for item in items_of(step)]
    about_stories = [pair for pair in asked if pair[0].scope in (Step.Scope.STORY, Step.Scope.STORIES)]
    about_groups = [pair for pair in asked if pair[0].scope == Step.Scope.GROUP]
    verdicts = [pair for pair in about_stories if items.find_type(pair[1].type).is_verdict]
    scales = [pair for pair in about_stories if items.find_type(pair[1].type).level in ("ordinal", "interval")]
    chosen = [pair for pair in about_groups if items.find_type(pair[1].type).chooses_story]
    ordered = [pair for pair in about_groups if items.find_type(pair[1].type).gives_order]
    return [
        *_of_verdicts(verdicts),
        *(_of_item("rating", pair) for pair in scales),
        *(_of_item("preference", pair) for pair in chosen),
        *(_of_item("rank", pair) for pair in ordered),
    ]


def _of_verdicts(verdicts: Sequence[tuple[Step, Item]]) -> list[Outcome]:
    """All together if there are several, each dimension of several, and each alone."""
    outcomes = []
    if len(verdicts) > 1:
        outcomes.append(Outcome(VERDICTS, "verdicts", "", _keys(verdicts)))
    dimensions = dict.fromkeys(item.dimension for _step, item in verdicts if item.dimension)
    for dimension in dimensions if len(dimensions) > 1 else ():
        of_dimension = [pair for pair in verdicts if pair[1].dimension == dimension]
        outcomes.append(Outcome(f"{VERDICTS}/{dimension}", "dimension", dimension, _keys(of_dimension), is_part=True))
    return [*outcomes, *(_of_item("verdict", pair, is_part=len(verdicts) > 1) for pair in verdicts)]


def _of_item(kind: OutcomeKind, pair: tuple[Step, Item], *, is_part: bool = False) -> Outcome:
    step, item = pair
    return Outcome(f"{step.key}/{item.key}", kind, item.title or item.key, _keys([pair]), is_part=is_part)


def _keys(pairs: Sequence[tuple[Step, Item]]) -> tuple[tuple[str, str], ...]:
    return tuple((step.key, item.key) for step, item in pairs)
