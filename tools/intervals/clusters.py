"""Coverage of every kind of interval over clusters, and the level of the tests, in studies of 5 to 100 clusters."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from stats import contrasts, intervals, rates, variance_components
from stats.arrays import FloatArray
from stats.intervals import Interval
from stats.reasons import Incomputable
from tools.intervals import answers, coefficients, source_models
from tools.intervals.answers import CENTRE, N_RATERS, N_STORIES, Case, clusters_of, raw_ratings, truth, verdicts
from tools.measurement import progress

N_CLUSTERS = (5, 12, 36, 100)
LEAST = 0.90
MARGIN = 0.4  # of the test of equivalence: the true difference lies on it


@dataclass(frozen=True)
class Coverage:
    """held : share of the intervals that hold the truth; n : studies with an interval; says_so : share of the notes
    that warn of a coverage below the nominal one, or of intervals that are drawn broken"""

    held: float
    n: int
    says_so: float
    method: str

    @property
    def is_hidden(self) -> bool:
        """Whether it covers less than promised and does not say so."""
        return self.held < LEAST and self.says_so < 0.5


# ── one study of each kind ─────────────────────────────────────────────────────────────────────────────────────────


def mean(rng: np.random.Generator, n: int) -> tuple[Interval, float]:
    ratings = raw_ratings(rng, n)
    return intervals.mean_interval(ratings, clusters_of(n), rng=rng, n_resamples=answers.N_RESAMPLES), CENTRE


def ratio(rng: np.random.Generator, n: int) -> tuple[Interval, float]:
    """Clusters of one to six stories."""
    sizes = rng.integers(1, 7, n)
    ratings = CENTRE + np.repeat(rng.normal(0, 0.5, n), sizes) + rng.normal(0, 0.8, sizes.sum())
    clusters = np.repeat(np.arange(n), sizes)
    return intervals.mean_interval(ratings, clusters, rng=rng, n_resamples=answers.N_RESAMPLES), CENTRE


def _true_rate(rng: np.random.Generator, bar: float) -> float:
    return float(100 * verdicts(rng, answers.N_LARGE, bar=bar).mean())


TRUE_RATES = {bar: partial(_true_rate, bar=bar) for bar in (0.2, 2.4)}


def rate(rng: np.random.Generator, n: int, *, bar: float = 0.2) -> tuple[Interval, float]:
    ends = rates.pass_rate_interval(verdicts(rng, n, bar=bar), clusters_of(n), rng=rng, n_resamples=answers.N_RESAMPLES)
    return ends, truth(TRUE_RATES[bar])


def paired(rng: np.random.Generator, n: int) -> tuple[Interval, float]:
    first, second = two_sources(rng, n, apart=0.3)
    return contrasts.contrast(first, second, rng=rng, n_resamples=answers.N_RESAMPLES, test="means").interval, 0.3


def unpaired(rng: np.random.Generator, n: int) -> tuple[Interval, float]:
    first, second = two_sources(rng, n, apart=0.3, is_paired=False)
    return contrasts.contrast(first, second, rng=rng, test="means").interval, 0.3


def two_sources(
    rng: np.random.Generator, n: int, *, apart: float, is_paired: bool = True
) -> tuple[FloatArray, FloatArray]:
    """Cluster means of two sources, the second spread twice as widely; unpaired ones stand in clusters of their own."""
    if is_paired:
        shared = rng.normal(0, 0.5, n)
        return shared + apart + rng.normal(0, 0.4, n), shared + rng.normal(0, 0.8, n)
    first, second = np.full(2 * n, np.nan), np.full(2 * n, np.nan)
    first[:n], second[n:] = apart + rng.normal(0, 0.4, n), rng.normal(0, 0.8, n)
    return first, second


def crossed_mean(rng: np.random.Generator, n: int, *, n_raters: int) -> tuple[Interval, float]:
    ratings = CENTRE + rater_part(rng, n_raters) + rng.normal(0, 0.7, n) + rng.normal(0, 0.8, (n_raters, n))
    observed = np.where(readers(n_raters, n), ratings, np.nan)
    return variance_components.mean_interval(observed, float(np.nanmean(observed, axis=0).mean())), CENTRE


def crossed_difference(rng: np.random.Generator, n: int, *, n_raters: int, is_paired: bool) -> tuple[Interval, float]:
    """Raters differ in severity and in what they think of each source."""
    severity, sides = rater_part(rng, n_raters), []
    for apart in (0.3, 0.0):
        own = rater_part(rng, n_raters, 0.3)
        sides.append(apart + severity + own + rng.normal(0, 0.7, n) + rng.normal(0, 0.8, (n_raters, n)))
    first, second = (np.where(readers(n_raters, n), side, np.nan) for side in sides)
    difference = float(np.nanmean(first, axis=0).mean() - np.nanmean(second, axis=0).mean())
    if not is_paired:
        nobody = np.full((n_raters, n), np.nan)
        first, second = np.hstack([first, nobody]), np.hstack([nobody, second])
    return variance_components.difference_interval(first, second, difference, is_paired=is_paired), 0.3


def rater_part(rng: np.random.Generator, n_raters: int, spread: float = 0.5) -> FloatArray:
    return rng.normal(0, spread, (n_raters, 1))


def readers(n_raters: int, n: int) -> FloatArray:
    """Three raters read each cluster, by turns."""
    return np.array([[(rater - 3 * cluster) % n_raters < 3 for cluster in range(n)] for rater in range(n_raters)])


KINDS: dict[str, Case] = {
    "Mean of ratings": mean,
    "Mean, clusters of 1 to 6 stories (linearised ratio)": ratio,
    "Pass rate, about 43 %": rate,
    "Pass rate, about 1 % (Wilson with clusters)": partial(rate, bar=2.4),
    **coefficients.KINDS,
    "Difference, paired": paired,
    "Difference, unpaired (Welch)": unpaired,
    "Other raters: mean, 3 raters": partial(crossed_mean, n_raters=3),
    "Other raters: mean, 12 raters": partial(crossed_mean, n_raters=12),
    "Other raters: paired difference, 3 raters": partial(crossed_difference, n_raters=3, is_paired=True),
    "Other raters: paired difference, 12 raters": partial(crossed_difference, n_raters=12, is_paired=True),
    "Other raters: unpaired difference, 3 raters": partial(crossed_difference, n_raters=3, is_paired=False),
    "Other raters: unpaired difference, 12 raters": partial(crossed_difference, n_raters=12, is_paired=False),
    **source_models.KINDS,
}


def simulate(kind: str, n_clusters: int, *, n_studies: int) -> Coverage:
    """How many of the studies that give an interval hold the truth in it."""
    rng = np.random.default_rng([n_clusters, *kind.encode()])
    holds, warned, methods = [], [], []
    for _ in range(n_studies):
        try:
            ends, true = (KINDS | coefficients.RARE)[kind](rng, n_clusters)
        except Incomputable:
            continue
        holds.append(ends.low <= true <= ends.high)
        warned.append("real coverage" in ends.note or ends.method == "wilson")
        methods.append(ends.method)
    method = max(set(methods), key=methods.count) if methods else "none"
    return Coverage(float(np.mean(holds or [0.0])), len(holds), float(np.mean(warned or [1.0])), method)


# ── tests under the null ───────────────────────────────────────────────────────────────────────────────────────────

TESTS = {
    "Paired t-test": ("means", True),
    "Wilcoxon signed-rank test": ("default", True),
    "Welch's t-test": ("default", False),
    "Mann-Whitney test": ("ranks", False),
    "Equivalence within a margin, paired": ("equivalence", True),
    "Equivalence within a margin, unpaired": ("equivalence", False),
}


def rejections(name: str, n_clusters: int, *, n_studies: int) -> float:
    """How often a test at 5 % says what is not so: a difference where there is none, equivalence on the margin."""
    test, is_paired = TESTS[name]
    rng = np.random.default_rng([n_clusters, *name.encode()])
    n_wrong = 0
    for _ in range(n_studies):
        apart = MARGIN if test == "equivalence" else 0.0
        first, second = two_sources(rng, n_clusters, apart=apart, is_paired=is_paired)
        if test == "ranks":  # which is of equal distributions
            second = np.where(np.isfinite(second), rng.normal(0, 0.4, second.size), np.nan)
        test_name = "means" if test == "equivalence" else test
        row = contrasts.contrast(first, second, rng=rng, n_resamples=2, test=test_name)
        n_wrong += (row.estimate.p_within(MARGIN) if test == "equivalence" else row.p) < 0.05
    return n_wrong / n_studies


# ── the sections ───────────────────────────────────────────────────────────────────────────────────────────────────


def describe(n_studies: int) -> Iterator[str]:
    """The section of the page about coverage, line by line."""
    yield "## Over clusters"
    yield ""
    yield (
        f"How many of 100 intervals of 95 % hold the truth, {n_studies:,} studies a cell. Clusters hold {N_STORIES} "
        f"stories that go together, read by {N_RATERS} raters; the second source of a difference spreads twice as "
        "widely as the first. For *Other raters*, three of 3 or of 12 read each cluster, and differ in severity "
        "(.5) and in what they think of a source (.3), beside stories (.7) and the rest (.8). Coefficients and "
        f"rates have their truth from one study of {answers.N_LARGE:,} clusters. Resampled are "
        f"{answers.N_RESAMPLES} draws instead of a report's 1,000, which costs a few tenths. Two standard errors "
        "are 1.4 points. Studies without an interval, where nothing varies, do not count. † the interval says "
        "itself that it covers less, or is drawn broken."
    )
    yield ""
    yield "| interval | " + " | ".join(f"{n} clusters" for n in N_CLUSTERS) + " |"
    yield "|---" * (1 + len(N_CLUSTERS)) + "|"
    hidden = []
    for kind in KINDS:
        cells = []
        for n in N_CLUSTERS:
            coverage = simulate(kind, n, n_studies=n_studies)
            cells.append(_cell(coverage))
            if coverage.is_hidden:
                hidden.append(f"{kind} at {n}")
            progress(f"{kind}, {n} clusters: {100 * coverage.held:.1f} % ({coverage.method}, {coverage.n} studies)")
        yield f"| {kind} | " + " | ".join(cells) + " |"
    yield ""
    yield (
        "Below 90 % without a warning: " + ("; ".join(hidden) or "none") + ". A report's note about few clusters gives "
        "the coverage that was simulated for as many of them (`stats.intervals.COVERAGE_FROM`)."
    )


def describe_rare(n_studies: int) -> Iterator[str]:
    """The section of the page about agreement on rare answers, line by line."""
    yield "## Agreement on rare answers"
    yield ""
    yield (
        f"How many of 100 intervals of 95 % hold the truth, {n_studies:,} studies a cell as above. Where no story has "
        "the rarer answer from two raters, the upper end is kappa with one more story on which all agree on it: "
        "without that, 60 % hold the truth at 12 clusters and 7 % Yes. Where a few stories have, the upper "
        "end is still too low now and then. The lower end, which decides whether raters agree beyond chance, is too "
        "high in fewer than 2 of 100. What a report says of coverage does not count these."
    )
    yield ""
    yield "| interval | " + " | ".join(f"{n} clusters" for n in N_CLUSTERS) + " |"
    yield "|---" * (1 + len(N_CLUSTERS)) + "|"
    for kind in coefficients.RARE:
        cells = [_cell(simulate(kind, n, n_studies=n_studies)) for n in N_CLUSTERS]
        yield f"| {kind} | " + " | ".join(cells) + " |"


def _cell(coverage: Coverage) -> str:
    if not coverage.n:
        return "–"
    mark = "†" if coverage.says_so >= 0.5 else ""
    return f"{100 * coverage.held:.1f}{mark} {coverage.method}"


def describe_tests(n_studies: int) -> Iterator[str]:
    """The section of the page about tests, line by line."""
    yield "## Tests where there is nothing to find"
    yield ""
    yield (
        f"How many of 100 studies without a difference have p below .05, and how many whose true difference is the "
        f"margin are called equivalent, {n_studies:,} studies a cell. None may be much above 5. Wilcoxon's test of "
        "five clusters cannot come below .06."
    )
    yield ""
    yield "| test | " + " | ".join(f"{n} clusters" for n in N_CLUSTERS) + " |"
    yield "|---" * (1 + len(N_CLUSTERS)) + "|"
    for name in TESTS:
        shares = [100 * rejections(name, n, n_studies=n_studies) for n in N_CLUSTERS]
        yield f"| {name} | " + " | ".join(f"{share:.1f}" for share in shares) + " |"
        progress(f"{name}: " + ", ".join(f"{share:.1f} %" for share in shares))
