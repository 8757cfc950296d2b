"""What the sources of a study can be compared on: one key for an outcome, in plans, reports and files alike."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from studies import items
from studies.documents.scores import MEAN, ScoreDocument
from studies.models import Item, Step
from studies.protocol.steps import items_of, name_of

OutcomeKind = Literal["verdicts", "dimension", "verdict", "score", "scale_mean", "rating", "preference", "rank"]
VERDICTS = "verdicts"
# In keys, after that of the step.
DECLARED, UNDECLARED = "/scores/", "/scales/"
ABOUT_STORIES = (Step.Scope.STORY, Step.Scope.STORIES)
PERCENTAGES = ("verdicts", "dimension", "verdict", "preference")


@dataclass(frozen=True)
class Outcome:
    """One number for each story, in which sources may differ.

    kind : "verdicts" the percentage of Yes over all items, each weighing the same; "dimension" over those of one;
        "verdict" of one item; "score" the mean over raters of a score that an instrument declares; "scale_mean" that
        of the mean of its scales with the same ends, where it declares none; "rating" the mean on one scale;
        "preference" how often the story was chosen, in percent; "rank" its mean place
    items : (step key, item key) of each
    is_part : whether it is a part of another outcome
    score : of a score how it is made; None of other kinds
    """

    key: str
    kind: OutcomeKind
    title: str
    items: tuple[tuple[str, str], ...]
    is_part: bool = False
    score: ScoreDocument | None = None

    @property
    def is_percent(self) -> bool:
        return self.kind in PERCENTAGES

    @property
    def is_lower_better(self) -> bool:
        return self.kind == "rank"


def is_undeclared(key: str) -> bool:
    """Whether this is the key of a mean of an instrument's scales that the instrument does not declare as a score."""
    return UNDECLARED in key


def list_outcomes(steps: Iterable[Step]) -> list[Outcome]:
    """Every outcome of a protocol, in the order of its steps; whole before its parts."""
    ratings = [step for step in steps if step.kind == Step.Kind.RATING]
    asked = [(step, item) for step in ratings for item in items_of(step)]
    about_stories = [pair for pair in asked if pair[0].scope in ABOUT_STORIES]
    about_groups = [pair for pair in asked if pair[0].scope == Step.Scope.GROUP]
    verdicts = [pair for pair in about_stories if items.find_type(pair[1].type).is_verdict]
    scales = [pair for pair in about_stories if items.find_type(pair[1].type).level in ("ordinal", "interval")]
    chosen = [pair for pair in about_groups if items.find_type(pair[1].type).chooses_story]
    ordered = [pair for pair in about_groups if items.find_type(pair[1].type).gives_order]
    of_stories = [step for step in ratings if step.scope in ABOUT_STORIES]
    declared = [outcome for step in of_stories for outcome in _declared_scores(step)]
    outcomes = [
        *declared,
        *_of_verdicts(verdicts),
        *(_of_item("rating", pair) for pair in scales),
        *(outcome for step in of_stories for outcome in _scale_means(step)),
        *(_of_item("preference", pair) for pair in chosen),
        *(_of_item("rank", pair) for pair in ordered),
    ]
    counted = {key for outcome in declared for key in outcome.items}
    return [_as_part(outcome) if _is_item_of(counted, outcome) else outcome for outcome in outcomes]


def _declared_scores(step: Step) -> Iterator[Outcome]:
    """The scores of what the step asks; one of some of the items of another is a part of that."""
    scores = step.instrument.score_documents if step.instrument else []
    for score in scores:
        is_part = any(set(score.items) < set(other.items) for other in scores)
        yield _of_score("score", step, score, is_part=is_part)


def _scale_means(step: Step) -> Iterator[Outcome]:
    """Of a step that asks an instrument without scores the mean of its scales with the same ends, if there are two."""
    if step.instrument is None or step.instrument.scores:
        return
    by_ends: dict[tuple[int, int], list[str]] = defaultdict(list)
    for item in items_of(step):
        if items.find_type(item.type).level == "ordinal":
            by_ends[item.settings["low"], item.settings["high"]].append(item.key)
    alike = {ends: keys for ends, keys in by_ends.items() if len(keys) > 1}
    for (low, high), keys in alike.items():
        title = name_of(step) if len(alike) == 1 else f"{name_of(step)} ({low}–{high})"
        score = ScoreDocument(f"{low}-{high}", title, MEAN, tuple(keys))
        yield _of_score("scale_mean", step, score)


def _of_score(
    kind: Literal["score", "scale_mean"], step: Step, score: ScoreDocument, *, is_part: bool = False
) -> Outcome:
    pairs = tuple((step.key, key) for key in score.items)
    key = f"{step.key}{DECLARED if kind == 'score' else UNDECLARED}{score.key}"
    return Outcome(key, kind, score.title, pairs, is_part=is_part, score=score)


def _is_item_of(counted: set[tuple[str, str]], outcome: Outcome) -> bool:
    """Whether the outcome is that of one item alone, which counts in a score."""
    return outcome.kind in ("rating", "verdict") and set(outcome.items) <= counted


def _as_part(outcome: Outcome) -> Outcome:
    return replace(outcome, is_part=True)


def describe_score(outcome: Outcome) -> str:
    """What a score is made of, in English; "" of what is none."""
    score = outcome.score
    if score is None:
        return ""
    weights = {key: f"{weight:g} × " for key, weight in score.weights.items()}
    parts = [f"{weights.get(key, '')}{key}{' (reversed)' if key in score.reversed else ''}" for key in score.items]
    return f"the {score.how} of {', '.join(parts)}"


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
