"""Simulated raters: they claim seats and answer through the same functions as people, and say everywhere what they are.

The caller gives what each story deserves; nothing here knows where a story comes from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import exp
from statistics import fmean
from typing import TYPE_CHECKING

from django.db import transaction

from annotation import responses
from annotation.models import Assignment, Rater, Response, Timing
from annotation.participation import claims
from annotation.responses import Answer, submission
from studies import items, protocol
from studies.items import StoryLabel
from studies.items.chance import Chance, draw_value
from studies.models import Item, Step, Story, Study
from studies.protocol import Protocol

if TYPE_CHECKING:
    import numpy as np

LABEL = "[simulated]"
TEXT = f"{LABEL} No person wrote this; it stands where a rater's words would."
WORDS_PER_MINUTE = 220
FOR = (
    "I lean to {label}",
    "{label}, on the whole",
    "After some hesitation, {label}",
    "{label}, and I would say so again",
)
WHY_YES = (
    "the pages where it matters most bear it out.",
    "it held when I looked a second time.",
    "I could point to more than one place.",
    "the weaker stretches do not undo it.",
)
WHY_NO = (
    "I looked for a place that would show it and found none.",
    "it is announced more than it is done.",
    "the first half promises what the second does not keep.",
    "one good paragraph does not carry the rest.",
)


@dataclass(frozen=True)
class Tendency:
    """What a story tends to be given.

    quality : log-odds of Yes, on an item of middling difficulty and from a middling rater
    guesses : for a choice, how often each of its options is taken in relation to the others; others by chance
    """

    quality: float
    guesses: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Profile:
    """How a rater answers. severity: taken from every log-odds; pace: 2 is twice as fast; second_thoughts: a share."""

    severity: float
    pace: float
    second_thoughts: float
    n_groups: int


@dataclass
class Simulation:
    """One simulation: what is drawn once and shared by all of its raters."""

    study: Study
    tendency_by_story: Mapping[str, Tendency]
    rng: np.random.Generator
    spread: float = 0.8  # how far an item, or a story on an item, departs from the story's quality
    drawn: dict[tuple[str, ...], float] = field(default_factory=dict)

    def shared(self, *names: str) -> float:
        """The same departure for every rater: without it, raters would agree on nothing but the story's quality."""
        if names not in self.drawn:
            self.drawn[names] = float(self.rng.normal(0, self.spread))
        return self.drawn[names]

    def leaning(self, profile: Profile, item: Item, code: str) -> float:
        """The log-odds of Yes from that rater on that item about that story."""
        quality = self.tendency_by_story[code].quality
        return quality + self.shared(item.key) + self.shared(item.key, code) - profile.severity

    def perceived(self, code: str) -> float:
        """How good the story seems beside others, this once."""
        return float(self.tendency_by_story[code].quality + self.rng.normal(0, 0.7))


@transaction.atomic
def simulate(study: Study, tendency_by_story: Mapping[str, Tendency], *, seed: int, begins: datetime) -> list[Rater]:
    """Simulated raters who fill every free seat of a live study, one after the other from that time on.

    Same seed, same study, same answers. One transaction, since a study that is half simulated is of no use.
    """
    import numpy as np  # when something is simulated: web processes have no use for it

    simulation = Simulation(study, tendency_by_story, np.random.default_rng(seed))
    raters: list[Rater] = []
    at = begins
    while study.seats.filter(rater_kind=Rater.Kind.PERSON, is_taken=False).exists():
        rater = Rater.objects.create(study=study, code=f"S{len(raters) + 1:02}", is_simulated=True)
        Rater.objects.filter(pk=rater.pk).update(arrived_at=at)
        profile = draw_profile(simulation.rng)
        now = at
        for _ in range(profile.n_groups):
            try:
                now = _answer_and_submit(simulation, claims.claim(rater), profile, at=now)
            except claims.NoSeat:
                break
        raters.append(rater)
        at += timedelta(hours=float(simulation.rng.uniform(7, 30)))
    return raters


def answer_steps(assignment: Assignment, steps: Iterable[Step], *, seed: int, at: datetime) -> None:
    """Answer the open items of these steps at that time, as a rater without preferences among stories."""
    import numpy as np  # as above

    stories = {story.code: story for story in assignment.group.stories.all()} if assignment.group else {}
    even = dict.fromkeys(stories, Tendency(0))
    at_once = Profile(severity=0, pace=1e9, second_thoughts=0, n_groups=1)
    simulation = Simulation(assignment.study, even, np.random.default_rng(seed))
    complete = {
        (response.step_id, response.item_id, response.story_id)
        for response in assignment.responses.select_related("item")
        if not responses.find_shortfall(response, response.item)
    }
    reading = _Reading(simulation, assignment, at_once, stories, at, complete=complete)
    for step in steps:
        reading.answer(step)


def draw_profile(rng: np.random.Generator) -> Profile:
    """How one more rater answers."""
    return Profile(
        severity=float(rng.normal(0, 0.45)),
        pace=float(rng.uniform(0.8, 1.5)),
        second_thoughts=float(rng.uniform(0.01, 0.06)),
        n_groups=int(rng.integers(1, 4)),
    )


def _answer_and_submit(simulation: Simulation, assignment: Assignment, profile: Profile, *, at: datetime) -> datetime:
    """When the assignment was submitted, every item of every step answered in order."""
    Assignment.objects.filter(pk=assignment.pk).update(started_at=at)
    frozen_protocol = protocol.load_protocol(assignment.version)
    stories = {story.code: story for story in assignment.group.stories.all()} if assignment.group else {}
    reading = _Reading(simulation, assignment, profile, stories, at)
    for step in frozen_protocol.ratings:
        reading.answer(step)
    reading.revise_answers(frozen_protocol)
    Timing.objects.bulk_create(
        Timing(assignment=assignment, step=step, story=story, active_seconds=int(seconds))
        for (step, story), seconds in reading.seconds.items()
    )
    opened = max((step.position for step, _ in reading.seconds if step.locks), default=0)
    Assignment.objects.filter(pk=assignment.pk).update(last_active_at=reading.now, locked_before=opened)
    submission.submit(assignment, at=reading.now)
    return reading.now + timedelta(minutes=20)


@dataclass
class _Reading:
    """A rater at work in one seat: the clock, and the time spent."""

    simulation: Simulation
    assignment: Assignment
    profile: Profile
    stories: dict[str, Story]
    now: datetime
    seconds: dict[tuple[Step, Story | None], float] = field(default_factory=dict)
    complete: Collection[tuple[int, int, int | None]] = ()  # step, item and story of what is answered already

    @property
    def order(self) -> list[str]:
        return list(self.assignment.seat.order) if self.assignment.seat else []

    def answer(self, step: Step) -> None:
        if step.scope in (Step.Scope.GROUP, Step.Scope.ONCE):
            self._items(step, None)
            return
        for code in self.order:
            if step.scope == Step.Scope.STORY:
                self.spend(step, self.stories[code], 60 * self.stories[code].n_words / WORDS_PER_MINUTE)
            self._items(step, self.stories[code])

    def _items(self, step: Step, story: Story | None) -> None:
        for item in protocol.items_of(step):
            if (step.pk, item.pk, story.pk if story else None) in self.complete:
                continue
            self.spend(step, story, float(self.simulation.rng.lognormal(3.6, 0.4)))
            self.record(step, item, story, self.draw_answer(item, story))

    def revise_answers(self, frozen_protocol: Protocol) -> None:
        """Change a few answers before submitting, of those that no later step has locked."""
        answers = list(self.assignment.responses.select_related("step", "item", "story").order_by("pk"))
        for response in answers:
            is_final = frozen_protocol.locked_by(response.step) is not None
            if not is_final and self.simulation.rng.random() < self.profile.second_thoughts:
                self.spend(response.step, response.story, 30)
                self.record(
                    response.step, response.item, response.story, self.draw_answer(response.item, response.story)
                )

    def spend(self, step: Step, story: Story | None, seconds: float) -> None:
        seconds /= self.profile.pace
        self.seconds[step, story] = self.seconds.get((step, story), 0) + seconds
        self.now += timedelta(seconds=seconds)

    def record(self, step: Step, item: Item, story: Story | None, answer: Answer) -> Response:
        return responses.record(self.assignment, step=step, item=item, story=story, answer=answer, at=self.now)

    def draw_answer(self, item: Item, story: Story | None) -> Answer:
        kind, stories = items.find_type(item.type), [StoryLabel(letter) for letter in responses.letters(self.order)]
        draw = _Opinion(self, item, story)
        value = draw_value(kind.schema(item, stories=stories), draw)
        if item.rationale == Item.Rationale.NONE:
            return Answer(value)
        return Answer(value, rationale=draw.rationale(kind.label(item, value), least=item.rationale_least))


class _Opinion(Chance):
    """How a rater draws one answer: by what the story deserves and how they judge, where the schema leaves a choice."""

    def __init__(self, reading: _Reading, item: Item, story: Story | None) -> None:
        super().__init__(reading.simulation.rng, text=TEXT)
        self.reading, self.item, self.story = reading, item, story
        self.code_by_letter = responses.letters(reading.order)

    def leaning(self) -> float:
        codes = [self.story.code] if self.story else self.reading.order
        leanings = [self.reading.simulation.leaning(self.reading.profile, self.item, code) for code in codes]
        return fmean(leanings) if leanings else 0.0

    def number(self, low: int, high: int) -> int:
        share = _probability(self.leaning() + float(self.rng.normal(0, 0.5)))
        return round(low + share * (high - low))

    def option(self, options: Sequence[str]) -> str:
        if set(options) == {"yes", "no"}:
            return "yes" if self.rng.random() < _probability(self.leaning()) else "no"
        if stories := [letter for letter in options if letter in self.code_by_letter]:
            return max(stories, key=self._perceived)
        guesses = self.reading.simulation.tendency_by_story[self.story.code].guesses if self.story else {}
        weights = [guesses.get(option, 0.0) for option in options]
        chances = [weight / sum(weights) for weight in weights] if sum(weights) else None
        return str(options[int(self.rng.choice(len(options), p=chances))])

    def order(self, names: Sequence[str]) -> list[str]:
        """Stories in the order in which they are valued; anything else by chance."""
        if not all(name in self.code_by_letter for name in names):
            return super().order(names)
        perceived = {letter: self._perceived(letter) for letter in names}
        return sorted(names, key=lambda letter: -perceived[letter])

    def selection(self, names: Sequence[str], *, least: int, most: int) -> list[str]:
        """As few as are asked for: of all stories, an order of them all."""
        return self.order(names)[: max(least, 1)]

    def _perceived(self, letter: str) -> float:
        return self.reading.simulation.perceived(self.code_by_letter[letter])

    def rationale(self, label: str, *, least: int) -> str:
        """So many sentences, each labelled, since one may be quoted alone. An optional one is often left out."""
        if not least and self.rng.random() < 0.6:
            return ""
        reasons = WHY_NO if label.lower().startswith("no") else WHY_YES
        opinion = self._one_of(FOR).format(label=label)
        first = f"{LABEL} {self.item.title or self.item.key}: {opinion}; {self._one_of(reasons)}"
        return " ".join([first, *(f"{LABEL} {self._one_of(reasons).capitalize()}" for _ in range(max(least, 1) - 1))])

    def _one_of(self, words: Sequence[str]) -> str:
        return words[int(self.rng.integers(len(words)))]


def _probability(log_odds: float) -> float:
    """The probability of these log-odds, which may be as large as they like."""
    return 1 / (1 + exp(-log_odds)) if log_odds > 0 else 1 - 1 / (1 + exp(log_odds))
