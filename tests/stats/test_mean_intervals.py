"""Both intervals of a mean: what each rests on, and that the one for other raters is never narrower."""

import numpy as np
import pytest

from stats import intervals, rates
from stats.mean_intervals import MeanIntervals
from stats.reasons import Incomputable

RATINGS = np.array([[1.0, 3, 2, 5, 4, 4], [2, 5, 3, 5, 3, 5], [1, 4, 4, 4, 5, 3]])
CLUSTERS = np.array([0, 0, 1, 1, 2, 2])


def of(ratings: np.ndarray, *, is_percent: bool = False, clusters: np.ndarray = CLUSTERS) -> MeanIntervals:
    bounds = (0.0, 100.0) if is_percent else (1.0, 5.0)
    return MeanIntervals(ratings, ratings, clusters, bounds, is_percent, lambda: np.random.default_rng(3), 200)


def test_for_the_same_raters_a_mean_has_the_interval_over_clusters_within_its_bounds() -> None:
    alone = intervals.mean_interval(RATINGS, CLUSTERS, rng=np.random.default_rng(3), n_resamples=200)

    assert of(RATINGS).for_same_raters() == alone.clipped(1, 5)


def test_a_share_has_the_interval_of_a_pass_rate() -> None:
    shares = 100.0 * (RATINGS > 3)
    alone = rates.percent_interval(shares, CLUSTERS, rng=np.random.default_rng(3), n_resamples=200)

    assert of(shares, is_percent=True).for_same_raters() == alone


def test_for_other_raters_it_is_no_narrower_and_stays_within_the_bounds() -> None:
    ends = of(RATINGS)

    same, others = ends.for_same_raters(), ends.for_other_raters()

    assert 1 <= others.low <= same.low < same.high <= others.high <= 5


def test_one_cluster_has_neither() -> None:
    ends = of(RATINGS, clusters=np.zeros(6, dtype=np.int64))

    for compute in (ends.for_same_raters, ends.for_other_raters):
        with pytest.raises(Incomputable):
            compute()
