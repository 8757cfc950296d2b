"""Intervals of means for the same raters, and for other raters, too."""

from recompute.values import N_RESAMPLES, interval

from stats.mean_intervals import MeanIntervals


def outcome_interval(package, table, units):
    """The interval of an outcome's mean over these units, shape (U,)."""
    return interval(ends_of_outcome(package, table, units).for_same_raters)


def outcome_intervals(package, table, units):
    """The same, and that for other raters."""
    ends = ends_of_outcome(package, table, units)
    return interval(ends.for_same_raters), interval(ends.for_other_raters)


def ends_of_outcome(package, table, units):
    arrays = table.values[units], table.ratings[:, units], table.clusters[units]
    return MeanIntervals(*arrays, table.bounds, table.is_percent, package.resampling, N_RESAMPLES)


def mean_intervals(package, ratings, clusters, bounds):
    """Of the mean of all ratings, shape (R, U)."""
    ends = MeanIntervals(ratings, ratings, clusters, bounds, False, package.resampling, N_RESAMPLES)
    return interval(ends.for_same_raters), interval(ends.for_other_raters)
