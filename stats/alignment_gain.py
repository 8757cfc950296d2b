"""What another wording of a judge's prompt gains, on units on which nothing of it was chosen.

Where several wordings are tried and the best is named, their intervals hold together: of all of them at once, 95 of 100
sets hold every true gain, so that the best of wordings that gain nothing is called a gain in at most 1 of 40.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from stats.arrays import FloatArray, IntArray
from stats.intervals import ALIKE, Interval, cluster_sums, t_quantile
from stats.reasons import Incomputable, value_or_reason

LEVEL = 0.95
MIN_CLUSTERS = 3


@dataclass(frozen=True)
class WordingGain:
    """One wording beside the present one, over the units that both have.

    base, version : mean closeness to people, from 0 to 1; gain : the second less the first
    interval : of the gain, held with those of the other wordings; or the reason why there is none
    """

    base: float
    version: float
    gain: float
    interval: Interval | Incomputable
    n_units: int


def gains(
    bases: Sequence[npt.ArrayLike],
    versions: Sequence[npt.ArrayLike],
    clusters: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_draws: int = 10_000,
) -> list[WordingGain]:
    """The gain of each wording, with simultaneous 95 % intervals over clusters.

    bases : for each wording that is tried the closeness of the present one to people, shape (U,), nan without one
    versions : of each wording that is tried the same

    The gain is the mean difference over all units, with the variance of a ratio over clusters. An interval reaches as
    many standard errors to either side as the largest of the wordings' errors does in 95 of 100 draws: each cluster's
    part is multiplied by a standard normal number, the same for all wordings, and the whole divided by a chi as of
    Student's t. With one wording this is the t interval. Raises Incomputable if no unit is there to compare.
    Source: Chernozhukov, Chetverikov & Kato 2013, Gaussian approximations and multiplier bootstrap for maxima, section
    3; Cochran 1977, Sampling Techniques, equation 6.13.
    """
    pairs = [np.array(pair, dtype=np.float64) for pair in zip(bases, versions, strict=True)]
    labels = np.unique(np.asarray(clusters), return_inverse=True)[1]
    errors = [value_or_reason(partial(_errors, version - base, labels)) for base, version in pairs]
    known = [error for error in errors if isinstance(error, _Errors)]
    width = _width(known, rng, n_draws) if known else 0.0
    rows = []
    for pair, error in zip(pairs, errors, strict=True):
        is_compared = np.isfinite(pair).all(axis=0)
        if not is_compared.any():
            raise Incomputable("no_unit_with_judge_and_people")
        base, version = (float(mean) for mean in pair[:, is_compared].mean(axis=1))
        rows.append(
            WordingGain(
                base=base,
                version=version,
                gain=version - base,
                interval=_interval(version - base, error, width) if isinstance(error, _Errors) else error,
                n_units=int(is_compared.sum()),
            )
        )
    return rows


@dataclass(frozen=True)
class _Errors:
    """What each cluster adds to the error of a mean, shape (G,), 0 where it has no unit; n clusters have some."""

    by_cluster: FloatArray
    n: int

    @property
    def total(self) -> float:
        return float(np.sqrt((self.by_cluster**2).sum()))


def _errors(differences: FloatArray, labels: IntArray) -> _Errors:
    """Raises Incomputable if fewer than three clusters have a unit, or if all have the same mean."""
    sums, counts = cluster_sums(differences, labels)
    if sums.size == 0 or sums.shape[1] < MIN_CLUSTERS:
        raise Incomputable("fewer_than_three_clusters")
    n, total = sums.shape[1], counts.sum()
    by_cluster = np.zeros(int(labels.max()) + 1)
    has_value = np.bincount(labels[np.isfinite(differences)], minlength=len(by_cluster)) > 0
    by_cluster[has_value] = (sums[0] - sums.sum() / total * counts[0]) / total * (n / (n - 1)) ** 0.5
    errors = _Errors(by_cluster, n)
    if errors.total < ALIKE:
        raise Incomputable("clusters_alike")
    return errors


def _width(errors: Sequence[_Errors], rng: np.random.Generator, n_draws: int) -> float:
    """By how many standard errors an interval reaches to either side so that all hold together."""
    degrees = min(error.n for error in errors) - 1
    if len(errors) == 1:
        return t_quantile((1 + LEVEL) / 2, degrees)
    directions = np.array([error.by_cluster / error.total for error in errors])
    largest = np.abs(rng.standard_normal((n_draws, directions.shape[1])) @ directions.T).max(axis=1)
    return float(np.quantile(largest / np.sqrt(rng.chisquare(degrees, n_draws) / degrees), LEVEL))


def _interval(gain: float, errors: _Errors, width: float) -> Interval:
    note = f"t interval over {errors.n} clusters"
    margin = width * errors.total
    return Interval(gain - margin, gain + margin, errors.n, note=note, method="t").clipped(-1, 1)
