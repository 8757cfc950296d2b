"""Both intervals of a mean, as the figures with means share them: for the same raters, and for other raters, too."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from reports.document.values import Interval
from reports.figures.base import N_RESAMPLES, interval
from reports.lazy import intervals, np, rates, variance_components

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable
    from stats.arrays import BoolArray, FloatArray, IntArray
    from stats.intervals import Interval as StatisticInterval


def outcome_intervals(dataset: Dataset, table: OutcomeTable, units: BoolArray) -> tuple[Interval, Interval]:
    """Of the mean of an outcome over these units, shape (U,), which have a value."""
    return mean_intervals(
        *(dataset, table.values[units], table.ratings[:, units], table.clusters[units]),
        bounds=table.bounds,
        is_percent=table.outcome.is_percent,
    )


def mean_intervals(
    dataset: Dataset,
    values: FloatArray,
    ratings: FloatArray,
    clusters: IntArray,
    *,
    bounds: tuple[float, float],
    is_percent: bool = False,
) -> tuple[Interval, Interval]:
    """Of the mean of all values over clusters: for the same raters, and for others, too.

    values : shape (U,) or (R, U), nan where there is none
    ratings : of each rater, shape (R, U)
    clusters : shape (U,)
    bounds : between which the mean lies
    is_percent : whether values are shares, whose mean has the interval of a pass rate
    """
    is_present = np.isfinite(values)
    n_values = is_present if values.ndim == 1 else is_present.sum(axis=0)

    @cache
    def for_same_raters() -> StatisticInterval:
        rng = dataset.resampling()
        if is_percent:
            return rates.percent_interval(values, clusters, rng=rng, n_resamples=N_RESAMPLES)
        return intervals.mean_interval(values, clusters, rng=rng, n_resamples=N_RESAMPLES).clipped(*bounds)

    def for_other_raters() -> StatisticInterval:
        cells = variance_components.cell_means(ratings, clusters, np.ones(clusters.size, dtype=np.bool_))
        places = np.unique(clusters, return_inverse=True)[1]
        sizes = np.bincount(places, n_values.astype(np.float64))
        ends = variance_components.mean_interval(cells, float(values[is_present].mean()), sizes=sizes)
        return variance_components.widened(ends, for_same_raters()).clipped(*bounds)

    return interval(for_same_raters), interval(for_other_raters)
