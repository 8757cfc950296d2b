"""How far two sources are apart on story means: paired where groups pair them, else as two groups.

Values are one axis of clusters, shape (G,): of each the mean of a source's stories there, nan where it has none.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import stats as scipy_stats
from statsmodels.stats.multitest import multipletests

from stats import differences, intervals
from stats.arrays import BoolArray, FloatArray, without_noise
from stats.intervals import Interval
from stats.model_estimates import ModelEstimate
from stats.reasons import Incomputable

# With so few values or fewer, of which some are equal, every sign is tried.
N_ALL_SIGNS = 13
SIGNED_RANK, MANN_WHITNEY = "Wilcoxon signed-rank test", "Mann-Whitney test"
MOSTLY = 0.5  # of the clusters that hold either source must hold both, for them to be paired
# Or so many of however many: what a source got in clusters of its own says nothing of the other. With six the
# signed-rank test can reach 5 %, with fewer it cannot.
ENOUGH_BOTH = 6


@dataclass(frozen=True)
class Contrast:
    """The mean of the first source less that of the second.

    means : of the first and of the second, over the clusters that it rests on: it is the difference of these two
    interval : 95 %, of the difference; estimate : the same with the error of its t, whatever the test
    p : two-sided, of the test named
    effect : by its name; None where there is none
    n : clusters that it rests on, of both together where they are paired, else of the first and second
    n_left_out : clusters with one of the two only, which a paired comparison cannot use
    """

    difference: float
    means: tuple[float, float]
    interval: Interval
    estimate: ModelEstimate
    p: float
    test: str
    is_paired: bool
    n: tuple[int, ...]
    n_left_out: int = 0
    effect: float | None = None
    effect_name: str = ""


def cluster_means(values: npt.ArrayLike, clusters: npt.ArrayLike, units: BoolArray) -> FloatArray:
    """The mean of some units in every cluster, shape (G,), clusters in the order of their labels; nan without any.

    values, clusters, units : shape (U,); a unit without a value (nan) does not count
    """
    array = np.asarray(values, dtype=np.float64)
    labels, places = np.unique(np.asarray(clusters), return_inverse=True)
    is_counted = units & np.isfinite(array)
    counts = np.bincount(places[is_counted], minlength=len(labels))
    sums = np.bincount(places[is_counted], array[is_counted], minlength=len(labels))
    return np.asarray(sums / np.where(counts > 0, counts, np.nan), dtype=np.float64)


def are_paired(first: FloatArray, second: FloatArray) -> bool:
    """Whether six clusters hold both sources, or two and most of those that hold either."""
    n_both = int((np.isfinite(first) & np.isfinite(second)).sum())
    n_either = int((np.isfinite(first) | np.isfinite(second)).sum())
    return n_both >= ENOUGH_BOTH or (n_both >= 2 and n_both > MOSTLY * n_either)


def contrast(
    first: FloatArray,
    second: FloatArray,
    *,
    test: str = "default",
    most: float = np.inf,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> Contrast:
    """The first source less the second, paired if `are_paired`.

    most : how far apart two means can be, as 100 for percentages; the interval ends there
    test : "default" (Wilcoxon or Welch), "means" (t, paired or Welch) or "ranks" (Wilcoxon or Mann-Whitney)
    Raises Incomputable below two clusters of each, or where nothing varies.
    """
    if are_paired(first, second):
        whole = _paired(first, second, test=test, rng=rng, n_resamples=n_resamples)
    else:
        whole = _unpaired(first, second, test=test)
    return replace(whole, interval=whole.interval.clipped(-most, most))


def _paired(
    first: FloatArray, second: FloatArray, *, test: str, rng: np.random.Generator, n_resamples: int
) -> Contrast:
    changes = first - second
    n_either = int((np.isfinite(first) | np.isfinite(second)).sum())
    is_whole = np.isfinite(changes)
    changes = changes[is_whole]
    if np.ptp(without_noise(changes)) == 0:
        raise Incomputable("clusters_alike")
    interval = intervals.mean_interval(changes, np.arange(changes.size), rng=rng, n_resamples=n_resamples)
    # scipy's own test warns of lost precision where changes are nearly alike.
    error = float(changes.std(ddof=1)) / changes.size**0.5
    estimate = ModelEstimate(float(changes.mean()), error, float(changes.size - 1))
    if test == "means":
        p, name = estimate.p, "paired t-test"
    else:
        p, name = _signed_rank_p(changes), SIGNED_RANK
    return Contrast(
        difference=float(changes.mean()),
        means=(float(first[is_whole].mean()), float(second[is_whole].mean())),
        interval=interval,
        estimate=estimate,
        p=p,
        test=name,
        is_paired=True,
        n=(int(changes.size),),
        n_left_out=n_either - int(changes.size),
    )


def _signed_rank_p(changes: FloatArray) -> float:
    """Two-sided, of Wilcoxon's signed-rank test, as `scipy.stats.wilcoxon` gives it; finite values, shape (G,).

    Where some of few values are equal or 0, scipy ranks them again for each of the 2^G signs, which takes a second; the
    ranks are the same each time.
    """
    changes = without_noise(changes)
    is_moved = changes != 0
    sizes = np.abs(changes[is_moved])
    if changes.size > N_ALL_SIGNS or np.unique(sizes).size == changes.size:
        return float(scipy_stats.wilcoxon(changes).pvalue)
    signed_ranks = np.sign(changes)
    signed_ranks[is_moved] *= scipy_stats.rankdata(sizes)
    tried = scipy_stats.permutation_test(
        (signed_ranks,), np.sum, permutation_type="samples", n_resamples=2**N_ALL_SIGNS, vectorized=True
    )
    return float(tried.pvalue)


def _unpaired(first: FloatArray, second: FloatArray, *, test: str) -> Contrast:
    a, b = first[np.isfinite(first)], second[np.isfinite(second)]
    welch = differences.welch(a, b)
    n = (int(a.size), int(b.size))
    note = f"Welch's t interval over {n[0]} and {n[1]} clusters"
    p, name, effect, effect_name = welch.p, welch.name, differences.hedges_g(a, b), "Hedges' g"
    if test == "ranks":
        of_both = without_noise(np.concatenate([a, b]))
        by_rank = scipy_stats.mannwhitneyu(of_both[: a.size], of_both[a.size :])
        p, name = float(by_rank.pvalue), MANN_WHITNEY
        effect, effect_name = float(2 * by_rank.statistic / (a.size * b.size) - 1), "Cliff's delta"
    return Contrast(
        difference=float(a.mean() - b.mean()),
        means=(float(a.mean()), float(b.mean())),
        interval=Interval(*welch.ends(0.95), min(n), note=note, method="t"),
        estimate=ModelEstimate(float(a.mean() - b.mean()), welch.error, welch.df),
        p=p,
        test=name,
        is_paired=False,
        n=n,
        effect=effect,
        effect_name=effect_name,
    )


def least_p(test: str, n: Sequence[int]) -> float:
    """The least two-sided p that the test can reach with so many clusters, however far apart the two are.

    Of n changes that all point one way the signed-rank test gives 2 in 2^n; of n and m values of which one side lies
    above all of the other, Mann-Whitney's gives 2 in (n + m over n). t-tests have no least p: 0.

    n : clusters, as in `Contrast`

    >>> least_p("Wilcoxon signed-rank test", [5])
    0.0625
    >>> least_p("Mann-Whitney test", [3, 3])
    0.1
    """
    if test == SIGNED_RANK:
        return float(2.0 ** (1 - n[0]))
    if test == MANN_WHITNEY:
        return min(1.0, 2 / math.comb(sum(n), n[0]))
    return 0.0


def adjust(ps: Sequence[float | None], method: str) -> list[float | None]:
    """The p values for several comparisons, "holm" or "fdr_bh"; a comparison without one does not count."""
    present = [p for p in ps if p is not None]
    adjusted = iter(_holm(present) if method == "holm" else multipletests(present, method=method)[1] if present else ())
    return [None if p is None else float(next(adjusted)) for p in ps]


def _holm(ps: Sequence[float]) -> FloatArray:
    """What `multipletests` gives, which for Holm alone has all memory searched for garbage, at every call."""
    values = np.asarray(ps, dtype=np.float64)
    order = np.argsort(values)
    adjusted = np.empty(values.size)
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * np.arange(values.size, 0, -1)), 1.0)
    return adjusted
