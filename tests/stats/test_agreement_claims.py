"""What may be said of agreement: against intervals at other levels, by hand, and on answers that agree on nothing."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from stats import agreement, agreement_claims, intervals
from stats.arrays import BoolArray, FloatArray, IntArray
from stats.reasons import Incomputable
from tools.audit.designs import DESIGNS
from tools.audit.tables import NAMES, claimed


def rated(n_units: int, *, spread: float, seed: int = 1) -> FloatArray:
    """Three raters on a scale of five points, of stories that differ by so much."""
    rng = np.random.default_rng(seed)
    worth = 3 + rng.normal(0, spread, n_units) + rng.normal(0, 1, (3, n_units))
    return np.clip(np.round(worth), 1, 5)


def test_p_is_the_error_at_which_the_percentile_interval_reaches_the_bound() -> None:
    ratings, clusters = rated(120, spread=0.6), np.arange(120)
    weights = intervals.resample_weights(clusters, rng=np.random.default_rng(7))
    resampled = intervals.alpha_resamples(ratings, "ordinal", weights)

    for error in (0.01, 0.05, 0.2):
        bound = float(np.quantile(resampled, error / 2))
        p = agreement_claims.p_of_alpha_above(ratings, "ordinal", clusters, bound, rng=np.random.default_rng(7))
        assert p == pytest.approx(error, abs=0.003)


def test_p_is_never_below_what_so_many_resamples_can_tell() -> None:
    ratings = np.tile(np.repeat(np.arange(1.0, 6.0), 20), (3, 1))
    ratings[0, :3] = 2

    p = agreement_claims.p_of_alpha_above(ratings, "ordinal", np.arange(100), 0.0, rng=np.random.default_rng(7))

    assert p == pytest.approx(2 / 1001)


def test_below_100_clusters_p_is_that_of_t_around_the_jackknife() -> None:
    ratings, clusters = rated(18, spread=0.8), np.repeat(np.arange(6), 3)
    whole = agreement.krippendorff_alpha(ratings, "ordinal").value
    without = [agreement.krippendorff_alpha(ratings[:, clusters != n], "ordinal").value for n in range(6)]
    error = (5 / 6 * ((np.array(without) - np.mean(without)) ** 2).sum()) ** 0.5

    p = agreement_claims.p_of_alpha_above(ratings, "ordinal", clusters, 0.1, rng=np.random.default_rng(7))

    assert p == pytest.approx(2 * scipy_stats.t.sf((whole - 0.1) / error, 5))


def test_of_one_cluster_there_is_no_p() -> None:
    with pytest.raises(Incomputable):
        agreement_claims.p_of_alpha_above(rated(8, spread=1), "ordinal", np.zeros(8), 0.0, rng=np.random.default_rng(7))


def two_items(n: int = 80) -> tuple[list[FloatArray], BoolArray]:
    """Verdicts of three raters on n stories, some missing, and which stories are a part."""
    rng = np.random.default_rng(3)
    items = [(rng.random((3, n)) < rng.random(n)).astype(float) for _item in range(2)]
    items[1][0, :9] = np.nan
    return items, np.arange(n) % 4 > 0


def difference(items: list[FloatArray], is_part: BoolArray, units: IntArray) -> float:
    """The mean kappa of these units, less that of those that are a part."""
    whole = [float(agreement.fleiss_kappa(item[:, units])) for item in items]
    part = [float(agreement.fleiss_kappa(item[:, units[is_part[units]]])) for item in items]
    return float(np.mean(whole) - np.mean(part))


def test_the_difference_of_two_kappas_is_that_of_joint_resamples() -> None:
    items, is_part = two_items(200)
    clusters = np.repeat(np.arange(100), 2)
    weights = intervals.resample_weights(clusters, rng=np.random.default_rng(7))

    ends = agreement_claims.interval_above_part(items, is_part, clusters, rng=np.random.default_rng(7))

    by_hand = [difference(items, is_part, np.repeat(np.arange(200), row)) for row in weights]
    assert (ends.low, ends.high) == pytest.approx(tuple(np.quantile(by_hand, [0.025, 0.975])), abs=1e-12)


def test_below_100_clusters_the_difference_of_two_kappas_has_the_jackknife_interval() -> None:
    items, is_part = two_items()
    clusters = np.repeat(np.arange(20), 4)

    ends = agreement_claims.interval_above_part(items, is_part, clusters, rng=np.random.default_rng(7))

    without = np.array([difference(items, is_part, np.flatnonzero(clusters != n)) for n in range(20)])
    margin = scipy_stats.t.ppf(0.975, 19) * (19 / 20 * ((without - without.mean()) ** 2).sum()) ** 0.5
    whole = difference(items, is_part, np.arange(80))
    assert (ends.low, ends.high, ends.method) == (
        pytest.approx(whole - margin),
        pytest.approx(whole + margin),
        "jackknife",
    )


def test_agreement_on_who_wrote_alone_is_told_from_agreement_on_all() -> None:
    rng = np.random.default_rng(3)
    is_by_model = np.arange(48) % 4 > 0
    chance = {"who wrote": np.where(is_by_model, 0.3, 0.9), "all": np.arange(48) % 5 / 4}

    ends = {
        name: agreement_claims.interval_above_part(
            [(rng.random((3, 48)) < own).astype(float) for _item in range(6)],
            is_by_model,
            np.repeat(np.arange(12), 4),
            rng=np.random.default_rng(7),
        )
        for name, own in chance.items()
    }

    assert ends["who wrote"].low > 0
    assert ends["all"].low < 0 < ends["all"].high


@pytest.mark.parametrize("name", [NAMES[0], NAMES[1], NAMES[3]])
def test_answers_that_agree_on_nothing_are_not_said_to_agree(name: str) -> None:
    """Twelve tables of each design; five hundred by `python -m tools.audit.tables`."""
    design = next(design for design in DESIGNS if design.name == name)

    assert [claimed(design, has_stories=False, seed=seed) for seed in range(12)] == [set()] * 12


def test_where_stories_differ_agreement_is_claimed() -> None:
    design = next(design for design in DESIGNS if design.name == "10 raters read all of 30")

    assert claimed(design, has_stories=True, seed=1) == {"scales"}
