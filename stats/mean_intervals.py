"""The interval of a mean over clusters, for the same raters and for other raters."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stats import intervals, rates, variance_components
from stats.arrays import FloatArray, IntArray
from stats.intervals import Interval


@dataclass(frozen=True, eq=False)
class MeanIntervals:
    """The 95 % intervals of the mean of all values over clusters. Both raise Incomputable where there is none.

    values : shape (U,) or (R, U), nan where there is none
    ratings : of each rater, shape (R, U)
    clusters : shape (U,)
    bounds : between which the mean lies
    is_percent : whether values are shares, whose mean has the interval of a pass rate
    resampling : gives the chance for resamples, each time from its beginning
    """

    values: FloatArray
    ratings: FloatArray
    clusters: IntArray
    bounds: tuple[float, float]
    is_percent: bool
    resampling: Callable[[], np.random.Generator]
    n_resamples: int

    def for_same_raters(self) -> Interval:
        """As it would be on other stories, with these raters."""
        return self._narrow

    def for_other_raters(self) -> Interval:
        """As it would be on other stories with other raters; never narrower than for the same."""
        is_present = np.isfinite(self.values)
        n_values = is_present if self.values.ndim == 1 else is_present.sum(axis=0)
        cells = variance_components.cell_means(self.ratings, self.clusters, np.ones(self.clusters.size, dtype=np.bool_))
        sizes = np.bincount(np.unique(self.clusters, return_inverse=True)[1], n_values.astype(np.float64))
        ends = variance_components.mean_interval(cells, float(self.values[is_present].mean()), sizes=sizes)
        return variance_components.widened(ends, self.for_same_raters()).clipped(*self.bounds)

    @cached_property
    def _narrow(self) -> Interval:
        compute = rates.percent_interval if self.is_percent else intervals.mean_interval
        ends = compute(self.values, self.clusters, rng=self.resampling(), n_resamples=self.n_resamples)
        return ends if self.is_percent else ends.clipped(*self.bounds)
