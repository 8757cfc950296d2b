"""Designs that studies of creative writing have, and answers drawn for one of them around a known truth."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

# Standard deviations, in points of a scale from 1 to 5.
RATER, STORY, REST = 0.4, 0.5, 0.8
LOW, HIGH, MIDDLE = 1, 5, 3.0
N_PANEL = 3


@dataclass(frozen=True)
class Design:
    """Who wrote what, who reads what, and what goes wrong.

    n_stories : by a source on a premise
    n_readers : of a group, of all raters; 0 if all read all of it
    n_batches : groups that the stories of one premise are dealt out to; a group for each premise unless said
    drop_out : the share of readings that nobody ended
    is_graded : groups are read by panels of three, one of them severe and the next lenient
    has_outlier : one rater answers as if tossing dice
    is_unequal : the first source has three times as many stories as the others
    spread : how many times as far stories of all but the first source spread
    n_tests : Yes and No beside the scales; has_judge : a model that answers the scales with noise
    """

    name: str
    n_sources: int = 4
    n_premises: int = 12
    n_stories: int = 1
    n_raters: int = 10
    n_readers: int = 3
    n_batches: int = 0
    n_outcomes: int = 6
    n_tests: int = 0
    drop_out: float = 0.0
    is_graded: bool = False
    has_outlier: bool = False
    is_unequal: bool = False
    spread: float = 1.0
    has_judge: bool = False


DESIGNS = (
    Design("12 prompts, 4 sources, 3 of 10 raters each", n_tests=4, has_judge=True),
    Design(
        "1 prompt, 13 sources, 5 batches, 10 raters", 13, 1, 5, n_raters=10, n_readers=10, n_batches=5, n_outcomes=10
    ),
    Design("1 prompt, 97 stories, 5 raters read all", 4, 1, 24, n_raters=5, n_readers=0, n_outcomes=5),
    Design("2 prompts, 8 sources", 8, 2, 4, n_raters=6, n_readers=0),
    Design("5 prompts, 2 sources", 2, 5, 4, n_raters=8),
    Design("15 prompts, 2 sources, one scale", 2, 15, n_raters=8, n_outcomes=1),
    Design("10 raters read all of 30", 2, 15, n_raters=10, n_readers=0),
    Design("a fifth of places not ended", drop_out=0.2),
    Design("severe and lenient panels by group", n_premises=15, n_raters=15, is_graded=True),
    Design("one rater who tosses dice", 3, 10, n_raters=5, n_readers=0, has_outlier=True),
    Design("unequal shares", 3, 1, 6, n_raters=6, n_readers=4, n_batches=4, is_unequal=True),
    Design("many stories alike, few that differ", 3, 1, 6, n_raters=6, n_readers=0, is_unequal=True, spread=2.5),
    Design("tests alone", 4, 12, n_outcomes=0, n_tests=14),
)


@dataclass(frozen=True)
class Answer:
    """value : on the scale, or 1 for Yes and 0 for No"""

    group: str
    story: str
    rater: str
    outcome: str
    value: int


@dataclass(frozen=True)
class Drawn:
    """A study's stories, by code with group, premise and source, and the answers to them."""

    design: Design
    stories: dict[str, tuple[str, str, str]]
    answers: tuple[Answer, ...]


def draw(design: Design, *, effect: float, by_source: float, has_stories: bool, rng: np.random.Generator) -> Drawn:
    """Answers in which each source is better than the next by `effect` points, and what a rater makes of it varies.

    by_source : standard deviation of rater × source
    has_stories : whether stories differ; else raters agree on nothing
    """
    stories = dict(_stories(design, rng))
    outcomes = [f"scale-{n + 1}" for n in range(design.n_outcomes)] + [f"test-{n + 1}" for n in range(design.n_tests)]
    raters = [f"E{n + 1:02}" for n in range(design.n_raters)]
    sources = sorted({source for _group, _premise, source in stories.values()})
    readers = _readers(design, sorted({group for group, _premise, _source in stories.values()}), raters, rng)
    answers: list[Answer] = []
    # Raters differ by outcome as well as over all: half of each part's variance is shared by the outcomes.
    deviation_by_source = {
        source: STORY * has_stories * (design.spread if n else 1) for n, source in enumerate(sources)
    }
    shared = _Parts(raters, stories, by_source, deviation_by_source, rng)
    for outcome in outcomes:
        own = _Parts(raters, stories, by_source, deviation_by_source, rng)
        for code, (group, _premise, source) in stories.items():
            for rater in readers[group]:
                worth = (shared.of(rater, source, code) + own.of(rater, source, code)) / 2**0.5
                worth += MIDDLE - effect * sources.index(source) + rng.normal(0, REST)
                if design.is_graded:
                    worth += RATER * (1 if raters.index(rater) // N_PANEL % 2 else -1)
                if design.has_outlier and rater == raters[0]:
                    worth = rng.uniform(LOW - 0.5, HIGH + 0.5)
                is_test = outcome.startswith("test")
                value = int(worth > MIDDLE) if is_test else int(np.clip(round(worth), LOW, HIGH))
                answers.append(Answer(group, code, rater, outcome, value))
    if design.has_judge:
        answers += [
            Answer(group, code, "judge", outcome, int(rng.integers(LOW, HIGH + 1)))
            for code, (group, _premise, _source) in stories.items()
            for outcome in outcomes
            if outcome.startswith("scale")
        ]
    return Drawn(design, stories, tuple(answers))


class _Parts:
    """What raters, raters of a source, and stories add to an answer."""

    def __init__(
        self,
        raters: list[str],
        stories: dict[str, tuple[str, str, str]],
        by_source: float,
        deviation_by_source: dict[str, float],
        rng: np.random.Generator,
    ) -> None:
        self.rater = dict(zip(raters, rng.normal(0, RATER, len(raters)), strict=True))
        self.pair = {(r, s): rng.normal(0, by_source) for r in raters for s in deviation_by_source}
        deviations = [deviation_by_source[source] for _group, _premise, source in stories.values()]
        self.story = dict(zip(stories, rng.normal(0, 1, len(stories)) * deviations, strict=True))

    def of(self, rater: str, source: str, story: str) -> float:
        return float(self.rater[rater] + self.pair[rater, source] + self.story[story])


def _stories(design: Design, rng: np.random.Generator) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Each story's code, with its group, premise and source."""
    n = 0
    for premise in range(design.n_premises):
        sources = [
            f"Source {chr(65 + s)}"
            for s in range(design.n_sources)
            for _story in range(design.n_stories * (3 if design.is_unequal and s == 0 else 1))
        ]
        batches = np.arange(len(sources)) % (design.n_batches or 1)
        rng.shuffle(batches)
        for source, batch in zip(sources, batches, strict=True):
            n += 1
            yield f"s{n:03}", (f"g{premise:02}-{batch}", f"Premise {premise}", source)


def _readers(design: Design, groups: list[str], raters: list[str], rng: np.random.Generator) -> dict[str, list[str]]:
    """Who reads which group and ends it."""
    readers: dict[str, list[str]] = {}
    for n, group in enumerate(groups):
        if design.is_graded:
            first = N_PANEL * n % len(raters)
            chosen = raters[first : first + N_PANEL]
        else:
            n_readers = min(design.n_readers or len(raters), len(raters))
            chosen = [str(rater) for rater in rng.choice(raters, n_readers, replace=False)]
        readers[group] = [rater for rater in chosen if rng.random() >= design.drop_out] or chosen[:1]
    return readers
