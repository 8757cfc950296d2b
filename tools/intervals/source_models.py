"""Coverage of what the mixed model says of sources: of each kind one study around a known truth.

A cluster is a premise that both sources wrote a story to, or a story where all are on one premise.
"""

from functools import partial
from typing import Literal, get_args

import numpy as np

from stats.intervals import Interval
from stats.reasons import Incomputable
from stats.source_contrasts import BY_MODEL, ComparedSources, OutcomeAnswers
from tools.intervals.answers import CENTRE, Case

APART = 0.3
RATER, RATER_SOURCE, PREMISE, STORY, REST = 0.5, 0.3, 0.4, 0.7, 0.8
N_READERS = 3

Said = Literal["difference", "difference, these raters", "mean"]


def study(rng: np.random.Generator, n: int, *, said: Said, n_raters: int, one_premise: bool) -> tuple[Interval, float]:
    """Two sources of n stories each; three raters of all read each premise, by turns, or each story of the only one."""
    source = np.repeat([0, 1], n)
    block = np.zeros(2 * n, dtype=np.int64) if one_premise else np.tile(np.arange(n), 2)
    severity, own = rng.normal(0, RATER, n_raters), rng.normal(0, RATER_SOURCE, (n_raters, 2))
    premises = np.zeros(1) if one_premise else rng.normal(0, PREMISE, n)
    worth = APART * (source == 0) + premises[block] + rng.normal(0, STORY, 2 * n)
    ratings = CENTRE + worth + severity[:, np.newaxis] + own[:, source]
    ratings += rng.normal(0, REST, ratings.shape)
    turn = np.arange(2 * n) if one_premise else block
    is_read = (np.arange(n_raters)[:, np.newaxis] - N_READERS * turn) % n_raters < N_READERS
    ratings = np.where(is_read, ratings, np.nan)
    compared = ComparedSources(
        OutcomeAnswers(
            values=np.nanmean(ratings, axis=0),
            ratings=ratings,
            source=source,
            block=block,
            story=np.arange(2 * n),
            cluster=np.arange(2 * n) if one_premise else block,
            most=np.inf,
        ),
        test=BY_MODEL,
        resampling=partial(np.random.default_rng, 1),
        n_resamples=1,
    )
    if said == "mean":
        if (mean := compared.mean(0)) is None:
            raise Incomputable("no_shared_premise")
        return mean[1], CENTRE + APART + float(premises.mean())  # on these premises
    pair = compared.between(0, 1)
    if said == "difference":
        if isinstance(pair.wide, Incomputable):
            raise pair.wide
        return pair.wide, APART
    return pair.interval, APART + float((own[:, 0] - own[:, 1]).mean())


KINDS: dict[str, Case] = {
    f"Mixed model: {said}, {n_raters} raters, {'one prompt' if one_premise else 'prompts shared'}": partial(
        study, said=said, n_raters=n_raters, one_premise=one_premise
    )
    for one_premise in (False, True)
    for n_raters in (3, 12)
    for said in get_args(Said)
}
