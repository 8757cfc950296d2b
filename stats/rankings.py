"""What rankings amount to. Ranks have shape (R raters, S stories or sources), 1 is best; equal ranks are ties."""

import numpy as np
import numpy.typing as npt

from stats.agreement import Coefficient
from stats.arrays import FloatArray, as_ratings, mean_present
from stats.reasons import Incomputable, TooFewRaters


def kendall_w(ranks: npt.ArrayLike) -> Coefficient:
    """Kendall's coefficient of concordance, corrected for ties: 1 if all rank alike, 0 if the mean ranks are all equal.

    A rater with a gap is left out, and the note says so. Scores do as well as ranks; only their order counts.

    Raises TooFewRaters below two raters, Incomputable if nobody tells any two stories apart.
    Source: Siegel 1956, Nonparametric Statistics, pp. 229-238; reproduces both worked examples (.16; with ties .828).
    """
    array = as_ratings(ranks)
    complete = array[~np.isnan(array).any(axis=1)]
    n_raters, n_stories = complete.shape
    if n_raters < 2:
        raise TooFewRaters("fewer_than_two_raters")
    # Mid-ranks by comparing each with each, since scipy's take ten times as long where there are few stories.
    own, others = complete[:, :, np.newaxis], complete[:, np.newaxis, :]
    n_equal = (own == others).sum(axis=2)
    rank_sums = ((own > others).sum(axis=2) + (n_equal + 1) / 2).sum(axis=0)
    spread = float(((rank_sums - rank_sums.mean()) ** 2).sum())
    ties = float((n_equal**2 - 1).sum())
    widest = (n_raters**2 * (n_stories**3 - n_stories) - n_raters * ties) / 12
    if widest == 0:
        raise Incomputable("all_rank_alike")
    n_left_out = len(array) - n_raters
    note = f"{n_left_out} of {len(array)} raters left out, who did not rank every story" if n_left_out else ""
    return Coefficient(spread / widest, "Kendall's W, corrected for ties", n_stories, n_raters, note)


def mean_spearman(w: float, n_raters: int) -> float:
    """The mean of Spearman's correlations of all pairs of raters, from Kendall's W of so many; 0 by chance.

    Source: Kendall & Gibbons 1990, Rank Correlation Methods, section 6.4; exact without ties.
    """
    return (n_raters * w - 1) / (n_raters - 1)


def mean_ranks(ranks: npt.ArrayLike) -> FloatArray:
    """The mean rank of each story over the raters who ranked it, shape (S,); nan without any."""
    return mean_present(as_ratings(ranks), axis=0)


def first_places(ranks: npt.ArrayLike) -> FloatArray:
    """The share of rankings that each story leads, shape (S,); a shared lead is divided, so the shares add up to 1.

    Raises Incomputable if there are no rankings.
    """
    array = as_ratings(ranks)
    ranked = array[~np.isnan(array).all(axis=1)]
    if not len(ranked):
        raise Incomputable("no_rankings")
    leads = ranked == np.nanmin(ranked, axis=1, keepdims=True)
    return np.asarray((leads / leads.sum(axis=1, keepdims=True)).mean(axis=0), dtype=np.float64)
