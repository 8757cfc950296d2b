"""How long a study takes somebody who reads it, guessed from its words and from what is asked; no query of its own.

A guess for planning: reports have the time that people really took.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from django.utils.translation import gettext as _

from studies import items
from studies.models import Item, Step
from studies.protocol.steps import Protocol, items_of, name_of

WORDS_A_MINUTE = 220
SECONDS_OF_REASONS = {Item.Rationale.REQUIRED: 70, Item.Rationale.OPTIONAL: 20, Item.Rationale.NONE: 0}
SECONDS_OF_RECOGNITION = 30  # for each story of a group, of which the opening is shown


@dataclass(frozen=True)
class PathSegment:
    """One part of a rater's way.

    minutes : in all
    n_stories : over how many stories they are spread, or 0
    step : its key; "" for what is asked before a group
    """

    title: str
    minutes: float
    is_once: bool
    n_stories: int = 0
    step: str = ""

    @property
    def minutes_a_story(self) -> float:
        return self.minutes / self.n_stories if self.n_stories else self.minutes


def estimate_path(protocol: Protocol, words_of_stories: Sequence[int]) -> list[PathSegment]:
    """What somebody goes through up to the end of a first group, in order, each with its minutes.

    words_of_stories : of the stories of one group
    """
    segments = [
        _segment(step, words_of_stories, is_first=step is next(iter(protocol.ratings), None)) for step in protocol.steps
    ]
    if protocol.version.study.asks_recognition and protocol.ratings and not protocol.fills_text:
        minutes = SECONDS_OF_RECOGNITION * len(words_of_stories) / 60
        at = next(n for n, step in enumerate(protocol.steps) if step in protocol.ratings)
        segments.insert(at, PathSegment(_("Do you know one of these?"), minutes, is_once=False))
    return segments


def estimate_groups(protocol: Protocol, words_of_groups: Sequence[Sequence[int]]) -> list[float]:
    """What each of these groups takes on its own, in minutes. words_of_groups : of each group's stories"""
    without = minutes_of_group(estimate_path(protocol, ()))
    each = minutes_of_group(estimate_path(protocol, (0,))) - without
    words_a_minute = WORDS_A_MINUTE if protocol.ratings else float("inf")
    return [without + each * len(words) + sum(words) / words_a_minute for words in words_of_groups]


def minutes_of_group(segments: Sequence[PathSegment]) -> float:
    """What every further group takes."""
    return sum(segment.minutes for segment in segments if not segment.is_once)


def minutes_in_all(segments: Sequence[PathSegment]) -> float:
    """What the first group takes, with all that is asked once."""
    return sum(segment.minutes for segment in segments)


def _segment(step: Step, words_of_stories: Sequence[int], *, is_first: bool) -> PathSegment:
    seconds_to_answer = sum(map(_seconds_of, items_of(step)), Fraction(0))
    n_words = len(step.text.split()) + len(step.story.split())
    is_once = step.kind != Step.Kind.RATING or step.scope == Step.Scope.ONCE
    n_stories = 0
    if not is_once:
        if step.scope in (Step.Scope.STORY, Step.Scope.STORIES):
            n_stories = len(words_of_stories)
            seconds_to_answer *= n_stories
        # A rater who ranks or guesses later has read the stories in an earlier step.
        n_words += sum(words_of_stories) if is_first else 0
    minutes = float(seconds_to_answer / 60 + Fraction(n_words, WORDS_A_MINUTE))
    return PathSegment(name_of(step), minutes, is_once, n_stories, step.key)


def _seconds_of(item: Item) -> Fraction:
    return Fraction(items.find_type(item.type).seconds + SECONDS_OF_REASONS[Item.Rationale(item.rationale)])
