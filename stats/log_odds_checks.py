"""Contrasts of the linear model looked at again by log odds: a check, never a finding of its own.

Of two answers the model is logistic, of more it is the cumulative-link one. It has no part for what each rater makes of
a source, so its p is, if anything, too small: a difference that it does not show either is not shown by it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stats.cumulative_link import CumulativeLinkModel, LogOdds
from stats.reasons import Incomputable
from stats.source_model import CrossedAnswers

MOST_ANSWERS = 3000  # to all outcomes that are checked: half a second to a second
MOST_STEPS = 11  # different answers to one outcome

Pair = tuple[int, int]


def check_contrasts(
    outcomes: Sequence[tuple[CrossedAnswers, Sequence[Pair]]],
) -> list[list[LogOdds | Incomputable]]:
    """The difference in log odds of a higher answer of each of the pairs of sources, or why there is none.

    outcomes : the answers to each, with the pairs to check; without pairs no model is fitted
    """
    n = sum(len(answers.values) for answers, pairs in outcomes if pairs)
    if n > MOST_ANSWERS:
        too_many = Incomputable("too_many_to_check", n=n, most=MOST_ANSWERS)
        return [[too_many for _pair in pairs] for _answers, pairs in outcomes]
    return [_check(answers, pairs) for answers, pairs in outcomes]


def _check(answers: CrossedAnswers, pairs: Sequence[Pair]) -> list[LogOdds | Incomputable]:
    if not pairs:
        return []
    try:
        n_steps = len(np.unique(answers.values))
        if n_steps > MOST_STEPS:
            raise Incomputable("too_many_steps", n=n_steps, most=MOST_STEPS)
        model = CumulativeLinkModel(answers)
    except Incomputable as error:
        return [error for _pair in pairs]
    return [_contrast(model, pair) for pair in pairs]


def _contrast(model: CumulativeLinkModel, pair: Pair) -> LogOdds | Incomputable:
    try:
        return model.contrast(*pair)
    except Incomputable as error:
        return error
