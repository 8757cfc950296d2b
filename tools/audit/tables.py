"""`python -m tools.audit.tables`: how often agreement is claimed of answers that agree on nothing, or no more among all
stories than among models'; by the rules of findings, on arrays alone, so that a thousand tables take minutes.

--n 500       tables of each design
--only TEXT   designs with that in their name
"""

import argparse
from collections import Counter
from typing import Any

import numpy as np

from stats import agreement, agreement_claims, contrasts, intervals
from stats.arrays import BoolArray, FloatArray, IntArray
from stats.reasons import Incomputable
from tools.audit.designs import DESIGNS, Design, Drawn, draw

NAMES = (
    "12 prompts, 4 sources, 3 of 10 raters each",
    "10 raters read all of 30",
    "a fifth of places not ended",
    "severe and lenient panels by group",
    "tests alone",
)
ALPHA = 0.05


def tables_of(drawn: Drawn) -> tuple[FloatArray, FloatArray, IntArray, BoolArray]:
    """Ratings on scales and on tests, each of shape (I, R, U), the cluster of each unit, and whether it is by a model.

    Clusters are groups where raters differ by group, else stories; the first source is a person.
    """
    codes = list(drawn.stories)
    raters = sorted({answer.rater for answer in drawn.answers} - {"judge"})
    outcomes = sorted({answer.outcome for answer in drawn.answers})
    cube = np.full((len(outcomes), len(raters), len(codes)), np.nan)
    places = [{name: n for n, name in enumerate(names)} for names in (outcomes, raters, codes)]
    for answer in drawn.answers:
        if answer.rater != "judge":
            cube[places[0][answer.outcome], places[1][answer.rater], places[2][answer.story]] = answer.value
    is_test = np.array([name.startswith("test") for name in outcomes], dtype=np.bool_)
    names = [group if drawn.design.n_readers else code for code, (group, _p, _s) in drawn.stories.items()]
    clusters = np.unique(names, return_inverse=True)[1]
    first = min(source for _group, _premise, source in drawn.stories.values())
    is_by_model = np.array([source != first for _group, _premise, source in drawn.stories.values()], dtype=np.bool_)
    return cube[~is_test], cube[is_test], clusters, is_by_model


def scales_claimed(scales: FloatArray, clusters: IntArray, seed: int) -> int:
    """On how many scales agreement is called beyond chance."""
    is_above, ps = [], []
    for ratings in scales:
        try:
            ends = intervals.alpha_interval(ratings, "ordinal", clusters, rng=np.random.default_rng(seed))
            floor = agreement.alpha_chance_floor(ratings, "ordinal", rng=np.random.default_rng([seed, 1]))
            bound, rng = max(floor.upper, 0.0), np.random.default_rng(seed)
            p = agreement_claims.p_of_alpha_above(ratings, "ordinal", clusters, bound, rng=rng)
        except Incomputable:
            continue
        is_above.append(ends.low > bound)
        ps.append(p)
    adjusted = contrasts.adjust(ps, "holm")
    return sum(above and p is not None and p < ALPHA for above, p in zip(is_above, adjusted, strict=True))


def tests_claimed(tests: FloatArray, clusters: IntArray, is_by_model: BoolArray, seed: int) -> set[str]:
    """Whether the mean kappa is called beyond chance, and a part of it on which stories people wrote."""
    try:
        ends = intervals.mean_fleiss_kappa_interval(tests, clusters, rng=np.random.default_rng(seed))
        floor = agreement.mean_fleiss_chance_floor(tests, rng=np.random.default_rng([seed, 1]))
        rng = np.random.default_rng(seed)
        above = agreement_claims.interval_above_part(tests, is_by_model, clusters, rng=rng)
    except Incomputable:
        return set()
    if ends.low <= max(floor.upper, 0.0):
        return set()
    return {"tests"} | ({"people"} if above.low > 0 else set())


def claimed(design: Design, *, has_stories: bool, seed: int) -> set[str]:
    """What is claimed of one table without any difference between sources: "scales", "tests", "people"."""
    rng = np.random.default_rng(seed)
    drawn = draw(design, effect=0.0, by_source=0.0, has_stories=has_stories, rng=rng)
    scales, tests, clusters, is_by_model = tables_of(drawn)
    claims = tests_claimed(tests, clusters, is_by_model, seed) if len(tests) > 1 else set()
    return claims | ({"scales"} if len(scales) and scales_claimed(scales, clusters, seed) else set())


def main(arguments: Any = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=500)
    parser.add_argument("--only", default="")
    options = parser.parse_args(arguments)
    for design in DESIGNS:
        if design.name not in NAMES or options.only not in design.name:
            continue
        for has_stories in (False, True):
            found = [claimed(design, has_stories=has_stories, seed=seed) for seed in range(options.n)]
            counts = Counter(claim for claims in found for claim in claims)
            print(f"{design.name}; stories {'differ' if has_stories else 'alike'}: {dict(counts)} of {options.n}")


if __name__ == "__main__":
    main()
