"""What simulated raters think of stories, and how an answer is drawn from that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, hypot
from statistics import fmean
from typing import TYPE_CHECKING

from annotation import responses
from studies.items.chance import Chance
from studies.models import Item, Story, Study

if TYPE_CHECKING:
    import numpy as np

LABEL = "[simulated]"
TEXT = f"{LABEL} No person wrote this; it stands where a rater's words would."
SEVERITY = 0.45  # standard deviations, in log-odds: of raters
SPREAD = 0.8  # of an item, or of a story on an item, about the story's quality
JITTER = 0.5  # of each answer on a scale
PERCEPTION = 0.7  # of a story beside others, each time that it is compared
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
    """How a rater answers.

    severity : taken from every log-odds; pace : 2 is twice as fast; second_thoughts : a share of the answers
    reads : the share of a story that is read; noise : standard deviation that each answer's log-odds have more
    straight_at : where every answer lies between the lowest and the highest, from 0 to 1; None for who does not
        straight-line
    taste : whose own taste decides what stories are worth; "" for that of all
    """

    severity: float
    pace: float
    second_thoughts: float
    n_groups: int
    reads: float = 1.0
    noise: float = 0.0
    straight_at: float | None = None
    taste: str = ""


@dataclass
class Simulation:
    """One simulation: what is drawn once and shared by all of its raters."""

    study: Study
    tendency_by_story: Mapping[str, Tendency]
    rng: np.random.Generator
    drawn: dict[tuple[str, ...], float] = field(default_factory=dict)

    def shared(self, *names: str) -> float:
        """The same departure for every rater: without it, raters would agree on nothing but the story's quality."""
        if names not in self.drawn:
            self.drawn[names] = float(self.rng.normal(0, SPREAD))
        return self.drawn[names]

    def quality(self, profile: Profile, code: str) -> float:
        """What the story is worth to that rater."""
        return self.shared("taste", profile.taste, code) if profile.taste else self.tendency_by_story[code].quality

    def leaning(self, profile: Profile, item: Item, code: str) -> float:
        """The log-odds of Yes from that rater on that item about that story."""
        about_story = (item.key, code, profile.taste) if profile.taste else (item.key, code)
        quality = self.quality(profile, code) + self.shared(item.key) + self.shared(*about_story) - profile.severity
        return quality + float(self.rng.normal(0, profile.noise)) if profile.noise else quality

    def perceived(self, profile: Profile, code: str) -> float:
        """How good the story seems to that rater beside others, this once."""
        return float(self.quality(profile, code) + self.rng.normal(0, hypot(PERCEPTION, profile.noise)))


class Opinion(Chance):
    """How a rater draws one answer: by what the story deserves and how they judge, where the schema leaves a choice."""

    def __init__(
        self, simulation: Simulation, profile: Profile, item: Item, story: Story | None, *, codes: Sequence[str]
    ) -> None:
        """codes : of the stories of the group, in the order in which the rater reads them"""
        super().__init__(simulation.rng, text=TEXT)
        self.simulation, self.profile, self.item, self.story, self.codes = simulation, profile, item, story, codes
        self.code_by_letter = responses.letters(codes)

    def leaning(self) -> float:
        codes = [self.story.code] if self.story else self.codes
        leanings = [self.simulation.leaning(self.profile, self.item, code) for code in codes]
        return fmean(leanings) if leanings else 0.0

    def number(self, low: int, high: int) -> int:
        share = probability(self.leaning() + float(self.rng.normal(0, JITTER)))
        return round(low + share * (high - low))

    def option(self, options: Sequence[str]) -> str:
        if set(options) == {"yes", "no"}:
            return "yes" if self.rng.random() < probability(self.leaning()) else "no"
        if stories := [letter for letter in options if letter in self.code_by_letter]:
            return max(stories, key=self._perceived)
        guesses = self.simulation.tendency_by_story[self.story.code].guesses if self.story else {}
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
        return self.simulation.perceived(self.profile, self.code_by_letter[letter])

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


def probability(log_odds: float) -> float:
    """The probability of these log-odds, which may be as large as they like."""
    return 1 / (1 + exp(-log_odds)) if log_odds > 0 else 1 - 1 / (1 + exp(log_odds))


class StraightAnswer(Opinion):
    """How a straight-lining rater draws one answer: at the same place of whatever is offered."""

    def __init__(
        self,
        simulation: Simulation,
        profile: Profile,
        item: Item,
        story: Story | None,
        *,
        codes: Sequence[str],
        at: float,
    ) -> None:
        """at : where, from 0 to 1"""
        super().__init__(simulation, profile, item, story, codes=codes)
        self.at = at

    def number(self, low: int, high: int) -> int:
        return round(low + self.at * (high - low))

    def option(self, options: Sequence[str]) -> str:
        if set(options) == {"yes", "no"}:
            return "yes" if self.at >= 0.5 else "no"
        return options[min(int(self.at * len(options)), len(options) - 1)]

    def order(self, names: Sequence[str]) -> list[str]:
        return list(names)
