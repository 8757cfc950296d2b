"""Both intervals of a mean, as the figures with means share them: for the same raters, and for other raters, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.document.values import Interval
from reports.figures.base import N_RESAMPLES, interval
from reports.lazy import mean_intervals as statistics

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable
    from stats.arrays import BoolArray, FloatArray, IntArray


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
    ends = statistics.MeanIntervals(
        *(values, ratings, clusters, bounds, is_percent), resampling=dataset.resampling, n_resamples=N_RESAMPLES
    )
    return interval(ends.for_same_raters), interval(ends.for_other_raters)
