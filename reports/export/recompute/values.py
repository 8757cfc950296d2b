"""Values as the report has them: estimates, intervals and chance floors, each from a function of `stats`."""

import numpy as np

from stats import intervals, rates
from stats.agreement import Coefficient
from stats.reasons import Incomputable

N_RESAMPLES = 1000
NOT_TAKEN = "what rests on a file that was not taken along"
NO_TEXTS = "what rests on texts, on their vectors, or on a reference set, which are not in this package"
NO_LENGTHS = "what rests on how long stories are and which are the same, of which a blind package says nothing"


class Left:
    """Stands for a part of the report that cannot be computed from this package, and says why."""

    def __init__(self, reason):
        self.reason = reason


def why(error):
    """The part of a value that there is none of: what its reason names."""
    return {"values": dict(error.values)}


def estimate(statistic, *arguments, **options):
    """The value of a statistic with what it rests on, or none."""
    try:
        value = statistic(*arguments, **options)
    except Incomputable as error:
        return {"value": None, "why": why(error)}
    if isinstance(value, Coefficient):
        return {"value": float(value), "n_units": value.n_units, "n_raters": value.n_raters}
    return {"value": float(value)}


def ends_of(interval):
    """An interval of `stats`, or the reason why there is none."""
    if isinstance(interval, Incomputable):
        return {"low": None, "high": None, "why": why(interval)}
    return {"low": interval.low, "high": interval.high, "n_resampled": interval.n_units}


def interval(compute, *arguments, **options):
    try:
        return ends_of(compute(*arguments, **options))
    except Incomputable as error:
        return ends_of(error)


def floor_of(floor):
    return {"mean": floor.mean, "upper": floor.upper}


def chance_floor(compute, *arguments, **options):
    try:
        return floor_of(compute(*arguments, **options))
    except Incomputable as error:
        return {"mean": None, "upper": None, "why": why(error)}


def mean(estimates):
    """The mean of the estimates that have a value."""
    values = [part["value"] for part in estimates]
    present = [value for value in values if value is not None]
    if not present:
        return {"value": None}
    return {"value": np.mean(present), "n": len(present), "n_left_out": len(values) - len(present)}


def rate_interval(shares, clusters, rng):
    return interval(rates.pass_rate_interval, shares, clusters, rng=rng, n_resamples=N_RESAMPLES)


def mean_interval(values, clusters, rng, bounds=(-np.inf, np.inf)):
    """The interval of a mean within the bounds that it can have."""

    def ends():
        return intervals.mean_interval(values, clusters, rng=rng, n_resamples=N_RESAMPLES).clipped(*bounds)

    return interval(ends)


def share(is_so, clusters, rng):
    """A share in percent with its interval. is_so : 1, 0, or part of one; nan where nothing is"""
    shares = np.asarray(is_so, dtype=float)
    value = 100 * np.nanmean(shares) if np.isfinite(shares).any() else None
    return {"value": value, "interval": rate_interval(shares, clusters, rng)}


def share_of(n, n_of):
    """So many of so many in percent, with Wilson's interval."""
    return {"value": 100 * n / n_of if n_of else None, "interval": interval(rates.wilson, n, n_of)}


def or_none(number):
    """The number, or None of one that is not there."""
    return None if number is None or np.isnan(number) else float(number)
