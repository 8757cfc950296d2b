"""Whether people tell stories of persons from those of models, for other stories and other people who guess."""

from dataclasses import dataclass

import numpy as np

from stats import variance_components
from stats.arrays import BoolArray, IntArray
from stats.intervals import Interval
from stats.reasons import Incomputable
from stats.source_model import CrossedAnswers, SourceModel

CHANCE = 0.5  # balanced accuracy of always giving the same answer
MIN_RATERS = 2


@dataclass(frozen=True)
class ToldKinds:
    """interval : of the balanced accuracy, for other raters; p : of that it is what chance gives"""

    interval: Interval
    p: float


def told_kinds(
    is_model: BoolArray, says_model: BoolArray, *, block: IntArray, rater: IntArray, story: IntArray, narrow: Interval
) -> ToldKinds:
    """The balanced accuracy less chance is half of how much oftener a model is guessed of models' stories than of
    people's: a contrast of two kinds, to which raters who would always say the same add nothing.

    is_model, says_model : of each guess, shape (N,)
    block, rater, story : of each guess its number, shape (N,); blocks as in `CrossedAnswers`, or each a single story
    narrow : for the same raters; the interval for others is never shorter on either side

    Raises Incomputable below two raters, if nobody guessed of both kinds, or if nothing varies.
    """
    if len(np.unique(rater)) < MIN_RATERS:
        raise Incomputable("raters_not_crossed")
    values, kinds = says_model.astype(np.float64), is_model.astype(np.int64)
    contrast = SourceModel(CrossedAnswers(values, kinds, block, rater, story)).contrast(1, 0, other_raters=True)
    ends = contrast.interval(narrow.n_units)
    wide = Interval(CHANCE + ends.low / 2, CHANCE + ends.high / 2, narrow.n_units, note=ends.note, method=ends.method)
    return ToldKinds(variance_components.widened(wide, narrow).clipped(0, 1), contrast.p)
