"""How often a judge is said to go by length or by its own family, and how much, of judges made to do so or not to.

Twelve groups of four stories, half of them by models of the judge's family, five questions. Raters differ in severity,
in what they think of a source, in what they think of a story and by chance; the judge errs as one of them does.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from stats import trait_effects
from stats.arrays import FloatArray
from stats.reasons import Incomputable
from stats.trait_effects import EffectPart, TraitEffect

N_GROUPS, N_STORIES, N_ITEMS = 12, 4, 5
CLUSTERS = np.repeat(np.arange(N_GROUPS), N_STORIES)
BAR = 0.4  # above which a story passes
PREFERENCE = 0.7  # of people, for the trait: more than half a standard deviation
SIZES = {"scales": 0.5, "verdicts": 0.2}  # of the planted bias
ALPHA = 0.05
Judge = Callable[[np.random.Generator, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class Panel:
    """n_raters : of each group; is_own : whether each group has its own"""

    name: str
    n_raters: int
    is_own: bool


PANELS = (
    Panel("3 raters of each group's own", 3, True),
    Panel("6 raters read all", 6, False),
)


@dataclass(frozen=True)
class PlantedStudy:
    """trait : (U,); worth : (I, U); people : (I, R, U)"""

    trait: FloatArray
    worth: FloatArray
    people: FloatArray


@dataclass(frozen=True)
class Tally:
    """Of n studies.

    claimed, at_equal_ratings : the share in which it differs from 0, by both numbers, or by that alone
    size : the median effect; told : the share that has an interval; covered : of these, that holds the planted size
    """

    n: int
    claimed: float
    at_equal_ratings: float
    size: float
    told: float
    covered: float


def draw_study(rng: np.random.Generator, panel: Panel, kind: str, trait: str, preference: float) -> PlantedStudy:
    n = CLUSTERS.size
    values = np.tile([1.0, 1.0, 0.0, 0.0], N_GROUPS) if trait == "family" else rng.normal(0, 0.7, n)
    worth = rng.normal(0, 0.5, n) + rng.normal(0, 0.4, N_GROUPS)[CLUSTERS] + rng.normal(0, 0.4, (N_ITEMS, n))
    worth = worth + preference * values
    n_raters = panel.n_raters * (N_GROUPS if panel.is_own else 1)
    severity, taste = rng.normal(0, 0.5, (n_raters, 1)), rng.normal(0, 0.3, (n_raters, 1))
    of_story, error = rng.normal(0, 0.4, (n_raters, n)), rng.normal(0, 0.8, (N_ITEMS, n_raters, n))
    opinions = worth[:, np.newaxis] + severity + taste * values + of_story + error
    people = np.clip(np.round(3 + opinions), 1, 5) if kind == "scales" else (opinions > BAR).astype(np.float64)
    if panel.is_own:
        people = np.where(np.arange(n_raters)[:, np.newaxis] // panel.n_raters == CLUSTERS, people, np.nan)
    return PlantedStudy(values, worth, people)


def _opinion(rng: np.random.Generator, worth: FloatArray) -> FloatArray:
    return worth + rng.normal(0, 0.4, worth.shape[1]) + rng.normal(0, 0.6, worth.shape)


def _always(value: float, _rng: np.random.Generator, worth: FloatArray, _trait: FloatArray) -> FloatArray:
    return np.full(worth.shape, value)


def _coin(n: int, rng: np.random.Generator, worth: FloatArray, _trait: FloatArray) -> FloatArray:
    return rng.integers(0, n, worth.shape).astype(np.float64)


def _rates(rng: np.random.Generator, worth: FloatArray, trait: FloatArray, *, bias: float = 0.0) -> FloatArray:
    return np.clip(np.round(3 + _opinion(rng, worth)), 1, 5) + bias * trait


def _rates_narrowly(rng: np.random.Generator, worth: FloatArray, _trait: FloatArray) -> FloatArray:
    return 3 + 0.3 * _opinion(rng, worth)


def _passes(bar: float, rng: np.random.Generator, worth: FloatArray, _trait: FloatArray) -> FloatArray:
    return (_opinion(rng, worth) > bar).astype(np.float64)


def _passes_narrowly(rng: np.random.Generator, worth: FloatArray, _trait: FloatArray) -> FloatArray:
    """Follows its opinion three times in ten more than not."""
    return (rng.random(worth.shape) < 0.5 + 0.3 * ((_opinion(rng, worth) > BAR) - 0.5)).astype(np.float64)


def _passes_own(rng: np.random.Generator, worth: FloatArray, trait: FloatArray) -> FloatArray:
    """Says Yes 20 points more often for the trait, whatever the story is worth."""
    share = 0.1 + 0.6 * (_opinion(rng, worth) > BAR) + SIZES["verdicts"] * trait
    return (rng.random(worth.shape) < share).astype(np.float64)


JUDGES: dict[str, dict[str, Judge]] = {
    "scales": {
        "always 5": partial(_always, 5.0),
        "at random": partial(_coin, 5),
        "fair": _rates,
        "narrow: 3 + .3 × (x − 3)": _rates_narrowly,
        "planted, .5": partial(_rates, bias=SIZES["scales"]),
    },
    "verdicts": {
        "always Yes": partial(_always, 1.0),
        "always No": partial(_always, 0.0),
        "coin": partial(_coin, 2),
        "fair": partial(_passes, BAR),
        "lenient": partial(_passes, BAR - 1),
        "strict": partial(_passes, BAR + 1),
        "narrow: .35 or .65": _passes_narrowly,
        "planted, 20 points": _passes_own,
    },
}


def tally(
    name: str, *, kind: str, trait: str, panel: Panel, preference: float, n_studies: int, first_seed: int = 0
) -> Tally:
    """What is said of one judge over studies; the seeds are those of the studies, the same for every judge."""
    size = SIZES[kind] if name.startswith("planted") else 0.0
    effects = []
    for seed in range(first_seed, first_seed + n_studies):
        rng = np.random.default_rng([seed, panel.n_raters, panel.is_own])
        study = draw_study(rng, panel, kind, trait, preference)
        judge = JUDGES[kind][name](rng, study.worth, study.trait)
        options = {"are_verdicts": kind == "verdicts"}
        effects.append(trait_effects.trait_effect(judge, study.people, study.trait, CLUSTERS, **options))
    return _tally(effects, size)


def _tally(effects: list[TraitEffect], size: float) -> Tally:
    ends = [
        part.interval
        for effect in effects
        if isinstance(part := effect.effect, EffectPart) and not isinstance(part.interval, Incomputable)
    ]
    values = [effect.effect.value for effect in effects if isinstance(effect.effect, EffectPart)]
    held = [part.p for effect in effects if isinstance(part := effect.at_equal_ratings, EffectPart)]
    return Tally(
        n=len(effects),
        claimed=float(np.mean([effect.p is not None and effect.p < ALPHA for effect in effects])),
        at_equal_ratings=sum(p is not None and p < ALPHA for p in held) / len(effects),
        size=float(np.median(values)) if values else np.nan,
        told=len(ends) / len(effects),
        covered=float(np.mean([row.low <= size <= row.high for row in ends])) if ends else np.nan,
    )


def describe(n_studies: int) -> Iterator[str]:
    yield "## Judges with and without a bias"
    yield ""
    yield (
        f"How many of 100 studies say that a judge goes by its own family or by length, {n_studies:,} studies a row, "
        "each claim at 5 % before the correction over several judges. *Preferred*: the trait is worth .7 more to "
        "people (on verdicts about 20 points), so that a fair judge gives it more, too. *At equal ratings* is what "
        "holding observed ratings equal would say alone, without the error of raters; reports claim only what both "
        "numbers show. *Told*: how many have an interval; of the others it is said that people agree too little. "
        "*Covered*: how many of these intervals hold the planted size, averaged over what stories of both kinds are "
        "worth. Of length the size is that of a doubling. Two standard errors of 5 % are "
        f"{200 * (0.05 * 0.95 / n_studies) ** 0.5:.1f} points."
    )
    for trait in ("family", "length"):
        for kind, judges in JUDGES.items():
            yield ""
            titles = ("panel", "preferred", "claimed", "at equal ratings", "size", "told", "covered")
            yield f"| {trait}, {kind} | {' | '.join(titles)} |"
            yield "|---|---|---|---|---|---|---|---|"
            for name in judges:
                if (trait, kind) != ("length", "verdicts") or not name.startswith("planted"):
                    yield from _rows(name, kind, trait, n_studies)


def _rows(name: str, kind: str, trait: str, n_studies: int) -> Iterator[str]:
    for panel in PANELS:
        for preference in (0.0, PREFERENCE):
            row = tally(name, kind=kind, trait=trait, panel=panel, preference=preference, n_studies=n_studies)
            cells = [f"{100 * share:.1f}" for share in (row.claimed, row.at_equal_ratings)]
            cells += [f"{row.size:+.3f}" if row.size else "0"]
            cells += [f"{100 * row.told:.1f}", "–" if np.isnan(row.covered) else f"{100 * row.covered:.1f}"]
            yield f"| {name} | {panel.name} | {'yes' if preference else 'no'} | {' | '.join(cells)} |"
