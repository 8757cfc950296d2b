"""How much raters, stories and the rest vary, and the intervals that follow for other raters and other stories.

A rating is the mean + what its rater adds + what its story or cluster adds + the rest, all drawn at random. Ratings
have shape (R, G), one of each rater for each cluster, nan where there is none; for a difference of two sources they are
the differences of each rater within each cluster, so that what raters add is their rater × source part.

The estimates are those of the analysis of variance: Henderson's first method, which for complete ratings is the
classical table. Source: Searle, Casella & McCulloch 1992, Variance Components, chapters 4 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from stats import rater_spreads
from stats.arrays import BoolArray, FloatArray, as_ratings
from stats.intervals import Interval, t_quantile
from stats.model_estimates import ModelEstimate
from stats.reasons import Incomputable

PARTS = ("rater", "story", "residual")
ALIKE = 1e-12
SINGULAR = 1e-9
# Of the ratings' mean square, below which a variance is 0: one that is 0 comes out a little above or below by chance,
# and would be estimated with or without its degrees of freedom.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Components:
    """Variances, in squared units of the ratings.

    at_zero : which of them did not come out above 0 by more than rounding, or cannot be told from the rest since each
        story has one rater, and are set to 0; the others are estimated without them
    n_raters, n_clusters, n_ratings : what they rest on
    """

    rater: float
    story: float
    residual: float
    at_zero: tuple[str, ...]
    n_raters: int
    n_clusters: int
    n_ratings: int

    @property
    def total(self) -> float:
        return self.rater + self.story + self.residual


@dataclass(frozen=True)
class _Fit:
    """Components with what is needed to tell how sure a sum of them is.

    is_rated : shape (R, G); solution : of the expected sums of squares that are kept, shape (3, K), by their names
    """

    components: Components
    is_rated: BoolArray
    variances: FloatArray
    kept: tuple[str, ...]
    solution: FloatArray


def cell_means(ratings: npt.ArrayLike, clusters: npt.ArrayLike, units: BoolArray) -> FloatArray:
    """The mean of each rater's ratings of some units in every cluster, (R, U) to (R, G), by the clusters' labels."""
    array = as_ratings(ratings)
    labels, places = np.unique(np.asarray(clusters), return_inverse=True)
    raters, rated = np.nonzero(np.isfinite(array) & units)
    cells, n_cells = raters * len(labels) + places[rated], array.shape[0] * len(labels)
    counts = np.bincount(cells, minlength=n_cells)
    sums = np.bincount(cells, array[raters, rated], minlength=n_cells)
    means = sums / np.where(counts > 0, counts, np.nan)
    return np.asarray(means.reshape(array.shape[0], len(labels)), dtype=np.float64)


def components(ratings: npt.ArrayLike) -> Components:
    """The variances of raters, stories and the rest.

    ratings : shape (R, G), nan where there is none
    Raises Incomputable below two raters or two clusters, if no ratings cross the two, or if nothing varies.
    """
    return _fit(as_ratings(ratings)).components


def mean_interval(ratings: npt.ArrayLike, centre: float, *, sizes: npt.ArrayLike | None = None) -> Interval:
    """The 95 % interval of a mean over clusters for other raters and other stories: t with Satterthwaite's degrees.

    ratings : shape (R, G), nan where there is none
    centre : the mean; sizes : how many stories each cluster counts for, shape (G,), one unless said
    Raises Incomputable as `components` does.
    Source: Satterthwaite 1946, Biometrics Bulletin 2(6), pp. 110-114.
    """
    array = as_ratings(ratings)
    variance, degrees, n_raters, n_clusters = _variance_of_mean(array, sizes)
    return _interval(centre, variance, degrees, n_raters, n_clusters)


def difference_estimates(
    first: FloatArray, second: FloatArray, centre: float, *, is_paired: bool
) -> list[ModelEstimate]:
    """The mean of one source less that of another, with its error for other raters and other stories: by the variances,
    and by what each rater adds where raters differ in it.

    Paired: of the differences of each rater within each cluster. Unpaired: of both means, less twice what they share by
    the raters who rated both.

    first, second : shape (R, G), of the same raters and clusters; centre : the difference
    Raises Incomputable as `components` does, and where nothing varies.
    """
    if is_paired:
        variance, degrees, *_counts = _variance_of_mean(first - second, None)
    else:
        one, other = _variance_of_mean(first, None), _variance_of_mean(second, None)
        variance = max(
            one[0] + other[0] - 2 * _shared_variance(first, second), _story_part(first) + _story_part(second)
        )
        degrees = (one[0] + other[0]) ** 2 / (one[0] ** 2 / one[1] + other[0] ** 2 / other[1])
    if variance < ALIKE:
        raise Incomputable("clusters_alike")
    by_raters = rater_spreads.estimate_of_means(centre, *([first - second] if is_paired else [first, second]))
    return [ModelEstimate(centre, variance**0.5, max(degrees, 1.0)), *([by_raters] if by_raters else [])]


def difference_interval(first: FloatArray, second: FloatArray, centre: float, *, is_paired: bool) -> Interval:
    """The widest 95 % interval of `difference_estimates`, over the clusters that they rest on."""
    estimates = difference_estimates(first, second, centre, is_paired=is_paired)
    if is_paired:
        counted = np.isfinite(first - second)
        n_raters, n_clusters = int(counted.any(axis=1).sum()), int(counted.any(axis=0).sum())
    else:
        sides = np.isfinite(first), np.isfinite(second)
        n_raters = int((sides[0].any(axis=1) | sides[1].any(axis=1)).sum())
        n_clusters = int(sides[0].any(axis=0).sum() + sides[1].any(axis=0).sum())
    ends = [_interval(centre, estimate.error**2, estimate.degrees, n_raters, n_clusters) for estimate in estimates]
    return max(ends, key=lambda interval: interval.high - interval.low)


def widened(wide: Interval, narrow: Interval) -> Interval:
    """The interval for other raters, at least as far as the one for these raters on either side.

    Where few clusters leave few degrees of freedom, raters are estimated not to vary, or the other is Wilson's, it
    could come out shorter, as if not knowing the raters made a mean surer. Where it would, its note says so.
    """
    if wide.low <= narrow.low and wide.high >= narrow.high:
        return wide
    note = "; ".join(filter(None, [wide.note, "drawn out to the interval for these raters, which reaches further"]))
    return replace(wide, low=min(wide.low, narrow.low), high=max(wide.high, narrow.high), note=note)


def _interval(centre: float, variance: float, degrees: float, n_raters: int, n_clusters: int) -> Interval:
    if variance < ALIKE:
        raise Incomputable("clusters_alike")
    margin = t_quantile(0.975, max(degrees, 1.0)) * variance**0.5
    note = f"t interval over {n_raters} raters and {n_clusters} clusters, with {degrees:.1f} degrees of freedom"
    return Interval(centre - margin, centre + margin, n_clusters, note=note, method="crossed")


# ── estimation ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _fit(ratings: FloatArray) -> _Fit:
    array = ratings[np.isfinite(ratings).any(axis=1)][:, np.isfinite(ratings).any(axis=0)]
    is_rated = np.isfinite(array)
    (n_raters, n_clusters), n = array.shape, int(is_rated.sum())
    if n_clusters < 2:
        raise Incomputable("fewer_than_two_clusters")
    if n_raters < 2 or n == n_raters:
        raise Incomputable("raters_not_crossed")
    y = np.where(is_rated, array - array[is_rated].mean(), 0.0)
    by_rater, by_cluster = is_rated.sum(axis=1), is_rated.sum(axis=0)
    of_raters, of_clusters = (y.sum(axis=1) ** 2 / by_rater).sum(), (y.sum(axis=0) ** 2 / by_cluster).sum()
    whole = float((y**2).sum())
    if whole < ALIKE:
        raise Incomputable("clusters_alike")
    # Sums of squares about the mean, y'Qy; of what is expected of each the share of every variance, by its name.
    squares = {"rater": of_raters, "story": of_clusters, "residual": whole - of_raters - of_clusters}
    centred = {"rater": (by_rater**2).sum() / n, "story": (by_cluster**2).sum() / n, "residual": 1.0}
    expected = {
        "rater": {"rater": n, "story": n_raters, "residual": n_raters},
        "story": {"rater": n_clusters, "story": n, "residual": n_clusters},
        "all": {"rater": n, "story": n, "residual": n},
    }
    kept: tuple[str, ...] = PARTS if n > n_clusters else ("rater", "residual")
    least = ROUNDING * whole / n
    while True:
        shares, sums = _equations(kept, squares, centred, expected, whole)
        if abs(np.linalg.det(shares / n)) < SINGULAR:
            raise Incomputable("raters_not_crossed")
        solution = np.linalg.inv(shares)
        values = dict(zip(kept, solution @ sums, strict=True))
        lowest = min(kept, key=lambda part: values[part])
        if lowest == "residual" or values[lowest] >= least:
            break
        kept = tuple(part for part in kept if part != lowest)
    at_zero = tuple(part for part in PARTS if values.get(part, 0.0) < least)
    rater, story, residual = (0.0 if part in at_zero else float(values[part]) for part in PARTS)
    components = Components(rater, story, residual, at_zero, n_raters, n_clusters, n)
    return _Fit(components, is_rated, np.array([rater, story, residual]), kept, np.asarray(solution, dtype=np.float64))


def _equations(
    kept: tuple[str, ...],
    squares: dict[str, float],
    centred: dict[str, float],
    expected: dict[str, dict[str, float]],
    whole: float,
) -> tuple[FloatArray, FloatArray]:
    """What is expected of each sum of squares, shape (K, K), and the sums, shape (K,), in the order of the parts kept.

    The last is what the others leave of the whole.
    """
    factors = kept[:-1]
    rows = [[expected[factor][part] - centred[part] for part in kept] for factor in factors]
    rest = [expected["all"][part] - centred[part] - sum(row[n] for row in rows) for n, part in enumerate(kept)]
    sums = [squares[factor] for factor in factors]
    return np.array([*rows, rest], dtype=np.float64), np.array([*sums, whole - sum(sums)])


# ── how sure a mean is ─────────────────────────────────────────────────────────────────────────────────────────────


def _weights(is_rated: BoolArray, sizes: FloatArray) -> FloatArray:
    """How much each rating weighs in the mean of the clusters' means, shape (R, G)."""
    return np.asarray(is_rated / is_rated.sum(axis=0) * sizes / sizes.sum(), dtype=np.float64)


def _variance_of_mean(ratings: FloatArray, sizes: npt.ArrayLike | None) -> tuple[float, float, int, int]:
    """The variance of the mean over clusters, its degrees of freedom, and how many raters and clusters there are."""
    fit = _fit(ratings)
    has_rating = np.isfinite(ratings).any(axis=0)
    counts = np.ones(ratings.shape[1]) if sizes is None else np.asarray(sizes, dtype=np.float64)
    weights = _weights(fit.is_rated, counts[has_rating])
    of_parts = np.array([(weights.sum(axis=1) ** 2).sum(), (weights.sum(axis=0) ** 2).sum(), (weights**2).sum()])
    variance = float(of_parts @ fit.variances)
    of_kept = of_parts[[PARTS.index(part) for part in fit.kept]]
    scale = _spread(fit, dict(zip(fit.kept, of_kept @ fit.solution, strict=True)))
    degrees = variance**2 / scale if scale > 0 else 1.0
    return variance, degrees, fit.components.n_raters, fit.components.n_clusters


def _spread(fit: _Fit, shares: dict[str, float]) -> float:
    """Half the variance of a sum of the sums of squares, which is tr(QΣQΣ) of normal ratings.

    Q and Σ are sums of a matrix of raters, one of clusters and the identity: no matrix over all ratings is made.

    shares : how much of each sum of squares enters
    """
    incidence = fit.is_rated.astype(np.float64)
    rest = shares["residual"]
    of_raters, of_clusters = shares.get("rater", rest) - rest, shares.get("story", rest) - rest
    of_raters *= "rater" in shares
    of_clusters *= "story" in shares
    s_raters, s_clusters, s = fit.variances
    if incidence.shape[0] > incidence.shape[1]:
        incidence = incidence.T
        of_raters, of_clusters, s_raters, s_clusters = of_clusters, of_raters, s_clusters, s_raters
    n = incidence.sum()
    rows, columns = incidence.sum(axis=1), incidence.sum(axis=0)
    # Q = Z K Z' + rest I, over the rows (dense) and the columns (a diagonal); the mean has its part in the rows.
    of_mean = -(of_raters + of_clusters + rest) / n
    k_rows = np.diag(of_raters / rows) + of_mean
    k_columns = of_clusters / columns
    # QΣ = Z H Z' + rest s I, with H in four blocks.
    h_rows = k_rows * rows * s_raters + s * k_rows + rest * s_raters * np.eye(len(rows))
    h_across = k_rows @ incidence * s_clusters
    h_back = k_columns[:, np.newaxis] * incidence.T * s_raters
    h_columns = k_columns * columns * s_clusters + s * k_columns + rest * s_clusters
    # Z H Z' has the traces of X = H Z'Z.
    x_rows = h_rows * rows + h_across @ incidence.T
    x_across = h_rows @ incidence + h_across * columns
    x_back = h_back * rows + h_columns[:, np.newaxis] * incidence.T
    x_columns = h_columns * columns
    diagonal = np.einsum("gr,rg->g", h_back, incidence)
    turned = incidence @ h_back
    trace = np.trace(x_rows) + diagonal.sum() + x_columns.sum()
    squared = np.einsum("ij,ji->", x_rows, x_rows) + 2 * np.einsum("ij,ji->", x_across, x_back)
    squared += np.einsum("ij,ji->", turned, turned) + 2 * (x_columns * diagonal).sum() + (x_columns**2).sum()
    return float(squared + 2 * rest * s * trace + n * (rest * s) ** 2)


def _shared_variance(first: FloatArray, second: FloatArray) -> float:
    """What two means share by raters who rated for both: the covariance of what these add to either."""
    is_both = np.isfinite(first).any(axis=1) & np.isfinite(second).any(axis=1)
    if is_both.sum() < 2:
        return 0.0
    parts = []
    for ratings in (first, second):
        # What a rater adds to a cluster, so that raters of better stories are not taken for kinder ones.
        added = ratings - np.nanmean(np.where(np.isfinite(ratings).any(axis=0), ratings, 0.0), axis=0)
        parts.append(np.array([np.nanmean(row) for row in added[is_both]]))
    covariance = float(np.cov(parts[0], parts[1])[0, 1])
    largest = (_fit(first).components.rater * _fit(second).components.rater) ** 0.5
    weights = [
        np.nansum(np.where(np.isfinite(r), 1.0, 0.0) / np.maximum(np.isfinite(r).sum(axis=0), 1), axis=1)
        / np.isfinite(r).any(axis=0).sum()
        for r in (first, second)
    ]
    shared: float = min(max(covariance, 0.0), largest) * float((weights[0] * weights[1]).sum())
    return shared


def _story_part(ratings: FloatArray) -> float:
    """The variance of the mean of the clusters' means for the same raters."""
    has_rating = np.isfinite(ratings).any(axis=0)
    means = np.nanmean(ratings[:, has_rating], axis=0)
    return float(means.var(ddof=1) / means.size)
