"""Variance components: the balanced table by hand, unbalanced ones by whole matrices, known ones found again."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from stats import contrasts, intervals, variance_components
from stats.arrays import FloatArray
from stats.intervals import Interval
from stats.reasons import Incomputable

NAN = np.nan
# Three raters, four stories. Mean 5; raters 4, 5, 6; stories 3, 5, 5, 7.
BALANCED = np.array([[2.0, 4, 3, 7], [3, 5, 6, 6], [4, 6, 6, 8]])


def crossed(seed: int, n_raters: int, n_clusters: int, spreads: tuple[float, float, float]) -> FloatArray:
    """Ratings about 0 with these standard deviations of raters, clusters and the rest."""
    rng = np.random.default_rng(seed)
    rater, story, rest = spreads
    return np.asarray(
        rng.normal(0, rater, (n_raters, 1))
        + rng.normal(0, story, n_clusters)
        + rng.normal(0, rest, (n_raters, n_clusters))
    )


def test_complete_ratings_have_the_components_of_the_table_by_hand() -> None:
    found = variance_components.components(BALANCED)

    # Sums of squares: raters 4 (1 + 0 + 1) = 8, stories 3 (4 + 0 + 0 + 4) = 24, in all 36, so the rest 4.
    # Mean squares 8 / 2 = 4, 24 / 3 = 8, 4 / 6 = 2/3. Raters (4 - 2/3) / 4, stories (8 - 2/3) / 3.
    assert (found.rater, found.story, found.residual) == pytest.approx((5 / 6, 22 / 9, 2 / 3))
    assert (found.n_raters, found.n_clusters, found.n_ratings, found.at_zero) == (3, 4, 12, ())


def test_the_interval_of_complete_ratings_by_hand() -> None:
    ends = variance_components.mean_interval(BALANCED, 5.0)

    variance = (4 + 8 - 2 / 3) / 12
    degrees = (4 + 8 - 2 / 3) ** 2 / (4**2 / 2 + 8**2 / 3 + (2 / 3) ** 2 / 6)
    margin = scipy_stats.t.ppf(0.975, degrees) * variance**0.5
    assert (ends.low, ends.high) == pytest.approx((5 - margin, 5 + margin))
    assert (ends.method, ends.n_units) == ("crossed", 4)
    assert ends.note == f"t interval over 3 raters and 4 clusters, with {degrees:.1f} degrees of freedom"


def test_whoever_is_turned_round_raters_or_stories_the_interval_is_the_same() -> None:
    ratings = crossed(3, 4, 9, (0.5, 0.7, 0.8))

    one, other = (variance_components.mean_interval(r, 0.0) for r in (ratings, ratings.T))

    assert (one.low, one.high) == pytest.approx((other.low, other.high))


@pytest.mark.parametrize("seed", [2, 3, 5])
def test_incomplete_ratings_have_variance_and_degrees_of_the_whole_matrices(seed: int) -> None:
    ratings = crossed(seed, 5, 9, (1.0, 1.0, 1.0))
    ratings[np.random.default_rng(seed).random(ratings.shape) < 0.3] = NAN
    is_rated = np.isfinite(ratings)
    y, raters, clusters = ratings[is_rated], *np.nonzero(is_rated)
    of_raters, of_clusters = (
        np.equal.outer(codes, np.arange(n)).astype(float) for codes, n in ((raters, 5), (clusters, 9))
    )
    n = len(y)
    means = [z @ np.diag(1 / z.sum(axis=0)) @ z.T for z in (of_raters, of_clusters, np.ones((n, 1)))]
    forms = [means[0] - means[2], means[1] - means[2], np.eye(n) - means[0] - means[1] + means[2]]
    parts = [of_raters @ of_raters.T, of_clusters @ of_clusters.T, np.eye(n)]
    expected = np.array([[np.trace(form @ part) for part in parts] for form in forms])
    variances = np.linalg.solve(expected, [y @ form @ y for form in forms])
    weights = 1 / is_rated.sum(axis=0)[clusters] / 9
    covariance = sum(v * part for v, part in zip(variances, parts, strict=True))
    variance = weights @ covariance @ weights
    shares = np.linalg.solve(expected.T, [weights @ part @ weights for part in parts])
    form = sum(share * form for share, form in zip(shares, forms, strict=True)) @ covariance
    degrees = variance**2 / np.trace(form @ form)

    found = variance_components.components(ratings)
    ends = variance_components.mean_interval(ratings, 0.0)

    assert min(variances) > 0
    assert (found.rater, found.story, found.residual) == pytest.approx(tuple(variances))
    assert ends.high == pytest.approx(scipy_stats.t.ppf(0.975, max(degrees, 1)) * variance**0.5)


def test_known_components_of_incomplete_ratings_are_found_again() -> None:
    spreads, found = (0.5, 0.7, 0.8), []
    for seed in range(60):
        ratings = crossed(seed, 12, 40, spreads)
        ratings[np.random.default_rng([seed, 1]).random(ratings.shape) < 0.6] = NAN
        row = variance_components.components(ratings)
        found.append((row.rater, row.story, row.residual))

    errors = (np.mean(found, axis=0) - np.square(spreads)) / (np.std(found, axis=0) / 60**0.5)
    assert np.abs(errors).max() < 3


def test_a_component_below_zero_is_set_to_zero_and_said_and_the_others_do_without_it() -> None:
    # Two raters who differ in sign only: both have the mean 0, so raters vary less than the rest would let them.
    ratings = np.array([[1.0, -1, 2, -2], [-1, 1, 3, -3]])

    found = variance_components.components(ratings)

    assert (found.rater, found.at_zero) == (0.0, ("rater",))
    # One way: between stories 2 (0 + 0 + 6.25 + 6.25) / 3, within (1 + 1) 2 + .5 + .5 over 4.
    between, within = 25 / 3, 5 / 4
    assert (found.story, found.residual) == pytest.approx(((between - within) / 2, within))


@pytest.mark.parametrize("noise", [-1e-12, 0.0, 1e-12])
def test_a_component_of_zero_is_taken_out_on_whichever_side_of_it_rounding_lets_it_come_out(noise: float) -> None:
    # Differences 2, 2, -1 of two raters: mean square of raters 3 / 2, of the rest (1 + 1 + 4) / 4, so raters add 0.
    ratings = np.array([[2.0 + noise, 5, 0], [0, 3, 1]])

    components = variance_components.components(ratings)
    ends = variance_components.mean_interval(ratings, 0.0)

    # One way: the variance of the mean is that between stories over all six ratings, with two degrees of freedom.
    between = 2 * np.square(ratings.mean(axis=0) - ratings.mean()).sum() / 2
    assert (components.rater, components.at_zero) == (0.0, ("rater",))
    margin = scipy_stats.t.ppf(0.975, 2) * (between / 6) ** 0.5
    assert ends.high == pytest.approx(margin)


def test_a_difference_within_raters_forgets_their_severity() -> None:
    first, second = crossed(4, 5, 8, (0.0, 0.7, 0.8)), crossed(5, 5, 8, (0.0, 0.7, 0.8))
    severity = np.array([[-9.0], [0], [4], [5], [30]])
    difference = float((first - second).mean())

    plain = variance_components.difference_interval(first, second, difference, is_paired=True)
    severe = variance_components.difference_interval(first + severity, second + severity, difference, is_paired=True)

    assert (severe.low, severe.high) == pytest.approx((plain.low, plain.high))


def test_unpaired_sources_of_the_same_raters_share_severity_and_of_others_do_not() -> None:
    severity = np.array([[-2.0], [-1], [0], [1], [2]])
    first, second = (crossed(seed, 5, 12, (0.0, 0.5, 0.5)) + severity for seed in (6, 7))
    nobody = np.full((5, 12), NAN)

    same = variance_components.difference_interval(
        np.hstack([first, nobody]), np.hstack([nobody, second]), 0.0, is_paired=False
    )
    other = variance_components.difference_interval(
        np.vstack([first, nobody]), np.vstack([nobody, second]), 0.0, is_paired=False
    )

    welch = contrasts.contrast(
        np.hstack([first.mean(axis=0), nobody[0]]),
        np.hstack([nobody[0], second.mean(axis=0)]),
        rng=np.random.default_rng(1),
    ).interval
    assert same.high - same.low < 0.4 * (other.high - other.low)
    assert same.high - same.low > 0.8 * (welch.high - welch.low)


def test_raters_who_differ_make_the_interval_wider_than_the_one_for_these_raters() -> None:
    ratings = crossed(8, 4, 12, (0.8, 0.5, 0.5))
    centre = float(ratings.mean())

    wide = variance_components.mean_interval(ratings, centre)

    narrow = intervals.mean_interval(ratings, np.arange(12), rng=np.random.default_rng(1))
    assert wide.low < narrow.low < centre < narrow.high < wide.high


@pytest.mark.parametrize(
    ("ratings", "code"),
    [
        ([[1.0, 2, 4]], "raters_not_crossed"),
        ([[1.0, NAN, NAN], [NAN, 2, NAN], [NAN, NAN, 4]], "raters_not_crossed"),
        ([[1.0], [2.0]], "fewer_than_two_clusters"),
        ([[3.0, 3], [3, 3]], "clusters_alike"),
        ([[NAN, NAN], [NAN, NAN]], "fewer_than_two_clusters"),
    ],
)
def test_what_cannot_be_taken_apart_says_why(ratings: list[list[float]], code: str) -> None:
    with pytest.raises(Incomputable) as refusal:
        variance_components.mean_interval(np.array(ratings), 0.0)
    assert refusal.value.code == code


def test_cell_means_by_hand() -> None:
    ratings = [[1.0, 3, NAN, 5], [NAN, 2, 4, 9]]

    cells = variance_components.cell_means(ratings, ["b", "b", "a", "a"], np.array([True, True, True, False]))

    assert cells.tolist() == [pytest.approx([NAN, 2.0], nan_ok=True), pytest.approx([4.0, 2.0])]


def test_the_wider_interval_holds_the_other_one() -> None:
    wide, narrow = Interval(2.0, 4.0, 5, method="crossed"), Interval(1.5, 3.9, 5, method="t")

    drawn_out = variance_components.widened(wide, narrow)

    assert drawn_out == Interval(1.5, 4.0, 5, method="crossed", note=drawn_out.note)
    assert drawn_out.note.startswith("drawn out to the interval for these raters")
    assert variance_components.widened(wide, Interval(2.5, 3.9, 5, method="t")) == wide


def test_a_difference_is_no_surer_than_what_three_raters_add_to_it() -> None:
    rng = np.random.default_rng(4)
    first, second = rng.normal(0, 1, (2, 3, 100))
    of_raters = np.nanmean(first - second, axis=1)

    _by_variances, by_raters = variance_components.difference_estimates(
        first, second, float(of_raters.mean()), is_paired=True
    )

    assert by_raters.error == pytest.approx(of_raters.std(ddof=1) / 3**0.5)
    assert by_raters.degrees == pytest.approx(2)
    unpaired = variance_components.difference_estimates(first, second, float(of_raters.mean()), is_paired=False)
    assert unpaired[1].error == pytest.approx(by_raters.error)
