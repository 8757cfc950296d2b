"""How often a change of the stories is said to move a judge, and by how much, of judges that it moves and does not.

Groups of four stories, five questions, seven changes of which each judge reads all. Every judge but the constant ones
and the coin has an opinion of each text, which is drawn anew when the text changes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from stats import contrasts, intervals, paired_shifts
from stats.arrays import FloatArray
from stats.reasons import Incomputable, value_or_reason

N_STORIES, N_ITEMS, N_CHANGES = 4, 5, 7
N_GROUPS = (8, 12, 40)
ALPHA = 0.05
BAR = 0.4  # above which a story passes
# Of the planted effect of the first change; the six others have none.
SIZE = 0.2
Judge = Callable[[np.random.Generator, FloatArray, float], FloatArray]


@dataclass(frozen=True)
class Tally:
    """Of n studies.

    claimed : the share of changes without an effect that p finds at 5 %, before Holm
    any_claimed : the share of studies in which a sentence stands that is false, after Holm over all changes
    found : the share in which a sentence stands on the planted effect
    size : the mean effect of the first change; covered : how many of its intervals hold the true one
    """

    n: int
    claimed: float
    any_claimed: float
    found: float
    size: float
    covered: float


def _always(_rng: np.random.Generator, worth: FloatArray, _effect: float) -> FloatArray:
    return np.ones_like(worth)


def _coin(rng: np.random.Generator, worth: FloatArray, effect: float) -> FloatArray:
    return (rng.random(worth.shape) < 0.4 + effect).astype(np.float64)


def _opinion(rng: np.random.Generator, worth: FloatArray) -> FloatArray:
    return np.asarray(worth + rng.normal(0, 0.4, worth.shape[1]) + rng.normal(0, 0.6, worth.shape))


def _passes(rng: np.random.Generator, worth: FloatArray, effect: float) -> FloatArray:
    """Says Yes above the bar; to what it would refuse, by chance where a change has an effect."""
    verdicts = (_opinion(rng, worth) > BAR).astype(np.float64)
    if not effect:
        return verdicts
    turned = rng.random(worth.shape) < effect / max(1 - verdicts.mean(), effect)
    return np.where(turned, 1.0, verdicts)


def _passes_narrowly(rng: np.random.Generator, worth: FloatArray, effect: float) -> FloatArray:
    return (rng.random(worth.shape) < 0.35 + 0.3 * (_opinion(rng, worth) > BAR) + effect).astype(np.float64)


def _rates(rng: np.random.Generator, worth: FloatArray, effect: float) -> FloatArray:
    return np.asarray(np.clip(np.round(3 + _opinion(rng, worth)), 1, 5) + effect)


def _rates_narrowly(rng: np.random.Generator, worth: FloatArray, effect: float) -> FloatArray:
    return np.asarray(3 + 0.3 * _opinion(rng, worth) + effect)


JUDGES: dict[str, Judge] = {
    "always Yes": _always,
    "coin": _coin,
    "fair verdicts": _passes,
    "narrow verdicts: .35 or .65": _passes_narrowly,
    "fair ratings": _rates,
    "narrow ratings: 3 + .3 × (x − 3)": _rates_narrowly,
}


def tally(name: str, *, n_groups: int, effect: float, n_studies: int) -> Tally:
    """What is said of one judge over studies, the first of whose changes has that effect."""
    clusters = np.repeat(np.arange(n_groups), N_STORIES)
    claimed, any_claimed, found, sizes, covered = [], [], [], [], []
    for seed in range(n_studies):
        rng = np.random.default_rng([seed, n_groups])
        worth = rng.normal(0, 0.5, clusters.size) + rng.normal(0, 0.4, n_groups)[clusters]
        worth = worth + rng.normal(0, 0.4, (N_ITEMS, clusters.size))
        plain = JUDGES[name](rng, worth, 0.0)
        altered = [JUDGES[name](rng, worth, 0.0 if n else effect) for n in range(N_CHANGES)]
        shifts = [paired_shifts.paired_shift(plain, own, clusters, rng=rng) for own in altered]
        between = [value_or_reason(partial(intervals.mean_interval, own - plain, clusters, rng=rng)) for own in altered]
        adjusted = contrasts.adjust([shift.p for shift in shifts], "holm")
        is_clear = [
            p is not None and p < ALPHA and not isinstance(ends, Incomputable) and not ends.low <= 0 <= ends.high
            for p, ends in zip(adjusted, between, strict=True)
        ]
        is_null = [n > 0 or not effect for n in range(N_CHANGES)]
        claimed += [(shift.p or 1.0) < ALPHA for shift, null in zip(shifts, is_null, strict=True) if null]
        any_claimed.append(any(clear for clear, null in zip(is_clear, is_null, strict=True) if null))
        found.append(is_clear[0])
        sizes.append(shifts[0].value)
        if not isinstance(ends := between[0], Incomputable):
            covered.append(ends.low <= effect <= ends.high)
    return Tally(
        n=n_studies,
        claimed=float(np.mean(claimed)),
        any_claimed=float(np.mean(any_claimed)),
        found=float(np.mean(found)),
        size=float(np.mean(sizes)),
        covered=float(np.mean(covered)) if covered else np.nan,
    )


def describe(n_studies: int) -> Iterator[str]:
    yield "## Judges that read changed stories"
    yield ""
    yield (
        f"How many of 100 studies say that a change of the stories moves a judge, {n_studies:,} studies a row, of "
        "seven changes each. *By p alone*: of changes without an effect, how many have p below 5 %. *False sentence*: "
        "studies in which one stands, after Holm over the seven. *Planted*: the first change has an effect of .2 (20 "
        "points of Yes), the six others none. *Found*: studies with a sentence on it. *Size*: its mean. *Covered*: how "
        "many of its intervals hold the true one. A judge that always says the same has no test. Two standard errors "
        f"of 5 % are {200 * (0.05 * 0.95 / n_studies) ** 0.5:.1f} points for sentences, less for p, of which there are "
        "seven a study."
    )
    yield ""
    yield "| judge | groups | planted | by p alone | false sentence | found | size | covered |"
    yield "|---|---|---|---|---|---|---|---|"
    for name in JUDGES:
        for n_groups in N_GROUPS:
            for effect in (0.0,) if name == "always Yes" else (0.0, SIZE):
                row = tally(name, n_groups=n_groups, effect=effect, n_studies=n_studies)
                cells = [f"{100 * share:.1f}" for share in (row.claimed, row.any_claimed)]
                cells += [f"{100 * row.found:.1f}" if effect else "–", f"{row.size:+.3f}" if row.size else "0"]
                cells += ["–" if np.isnan(row.covered) else f"{100 * row.covered:.1f}"]
                yield f"| {name} | {n_groups} | {'yes' if effect else 'no'} | {' | '.join(cells)} |"
