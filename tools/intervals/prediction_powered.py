"""Coverage of the means of people and judge together."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from stats import prediction_powered
from tools.measurement import progress

N_READ = (12, 36, 100)
N_JUDGED = 60
TRUE_MEANS = (2.0, 2.5, 3.0, 4.0)
# How much of a story's worth a judge follows, and by how much it is off.
JUDGES = {"good": (0.9, 0.0), "useless": (0.0, 0.0), "biased": (0.7, 1.5)}


@dataclass(frozen=True)
class Coverage:
    """Of one kind of judge, over the sources of all studies.

    together, alone : share of the intervals of people and judge, and of people alone, that hold the true mean
    width_gained, weight : means
    """

    together: float
    alone: float
    width_gained: float
    weight: float


def simulate(n: int, judge: str, *, n_studies: int) -> Coverage:
    """Studies of four sources, each with n stories that people read and 60 that the judge reads alone."""
    rng = np.random.default_rng([n, *judge.encode()])
    means = np.array(TRUE_MEANS)
    follows, off = JUDGES[judge]
    rows = []
    for _ in range(n_studies):
        truth = means[:, None] + rng.normal(0, 0.7, (len(means), n + N_JUDGED))
        ratings = follows * truth + rng.normal(0, 0.4, truth.shape) + off
        sources = [
            prediction_powered.as_source(people[:n], of_judge[:n], of_judge[n:])
            for people, of_judge in zip(truth, ratings, strict=True)
        ]
        for true, mean in zip(means, prediction_powered.estimate_means(sources), strict=True):
            holds = (side.low <= true <= side.high for side in (mean.together, mean.people))
            rows.append((*holds, mean.width_gained, mean.weight))
    return Coverage(*(float(column) for column in np.mean(rows, axis=0)))


def describe(n_studies: int) -> Iterator[str]:
    """The section of the page, line by line."""
    yield "## Prediction-powered means"
    yield ""
    yield (
        f"`stats.prediction_powered.estimate_means`, {n_studies:,} studies a row: four sources with true means "
        f"{', '.join(f'{mean:g}' for mean in TRUE_MEANS)} and stories that vary by .7 about them; n of each are read "
        f"by people, {N_JUDGED} more by the judge alone. What the judge says has a noise of .4; the good one follows "
        ".9 of a story's worth, the useless one nothing of it, the biased one .7, and is 1.5 too high. 93 to 97 % must "
        "hold the true mean: `tests/stats/test_prediction_powered.py`."
    )
    yield ""
    yield "| n | judge | people and judge hold it, % | people alone, % | width gained, % | judge's weight |"
    yield "|---|---|---|---|---|---|"
    for n in N_READ:
        for judge in JUDGES:
            found = simulate(n, judge, n_studies=n_studies)
            numbers = f"{100 * found.together:.1f} | {100 * found.alone:.1f} | {100 * found.width_gained:.1f}"
            yield f"| {n} | {judge} | {numbers} | {found.weight:.2f} |"
            progress(f"people and judge, {n} stories, a {judge} judge: {100 * found.together:.1f} %")
    yield ""
    yield (
        "Below 30 stories the weight comes from all sources together and the interval from t; from 30 on each source "
        "has its own and the normal quantile. A judge that tells nothing gains next to nothing; one that is only off "
        "gains as much as it follows people, since what it is off by is measured and taken away."
    )
