"""Chance floors where raters are many and each saw few units: held as ratings alone, they are those of the loop."""

import tracemalloc

import krippendorff
import numpy as np
import pytest

from stats import agreement, intervals, shuffles
from stats.arrays import FloatArray


def sparse(n_raters: int, n_units: int) -> FloatArray:
    """Three ratings a unit, by raters drawn anew for each."""
    rng = np.random.default_rng(3)
    ratings = np.full((n_raters, n_units), np.nan)
    for unit in range(n_units):
        ratings[rng.choice(n_raters, 3, replace=False), unit] = rng.integers(0, 2, 3)
    return ratings


def test_the_floor_is_that_of_the_loop_though_nearly_all_are_gaps() -> None:
    ratings = sparse(40, 30)

    fast = agreement.fleiss_chance_floor(ratings, rng=np.random.default_rng(5), n_shuffles=150)
    loop = agreement.chance_floor(ratings, agreement.fleiss_kappa, rng=np.random.default_rng(5), n_shuffles=150)

    assert (fast.mean, fast.upper) == pytest.approx((loop.mean, loop.upper), abs=1e-12)


def test_the_floor_of_raters_who_leave_is_that_of_the_loop() -> None:
    ratings = sparse(40, 30)
    ratings[np.random.default_rng(4).random(ratings.shape) < 0.3] = np.nan

    fast = agreement.fleiss_chance_floor(ratings, rng=np.random.default_rng(5), n_shuffles=150)
    loop = agreement.chance_floor(ratings, agreement.fleiss_kappa, rng=np.random.default_rng(5), n_shuffles=150)

    assert set(np.isfinite(ratings).sum(axis=0)) == {1, 2, 3}
    assert (fast.mean, fast.upper) == pytest.approx((loop.mean, loop.upper), abs=1e-12)


def test_memory_goes_with_the_ratings_not_with_raters_times_units() -> None:
    ratings = sparse(600, 900)  # a hundred dense shuffles of it are 432 MB

    tracemalloc.start()
    agreement.fleiss_chance_floor(ratings, rng=np.random.default_rng(5), n_shuffles=100)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 60e6


@pytest.mark.parametrize("most_kept", [1_000_000, 1])
def test_shuffles_are_the_same_kept_or_drawn_anew_and_the_generator_goes_on(
    most_kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shuffles, "MOST_KEPT", most_kept)
    ratings, rngs = sparse(12, 40), [np.random.default_rng(5) for _time in range(2)]

    floors = [agreement.fleiss_chance_floor(ratings, rng=rng, n_shuffles=250) for rng in rngs]
    floors += [agreement.fleiss_chance_floor(ratings, rng=rngs[0], n_shuffles=250)]

    loop = np.random.default_rng(5)
    of_loop = agreement.chance_floor(ratings, agreement.fleiss_kappa, rng=loop, n_shuffles=250)
    assert floors[0] == floors[1] != floors[2]
    assert (floors[0].mean, floors[0].upper) == pytest.approx((of_loop.mean, of_loop.upper), abs=1e-12)
    assert rngs[1].integers(2**60) == loop.integers(2**60)


def together(ratings: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Two items' ratings, shape (2, R, U), shuffled within each rater by hand, both by the same permutation."""
    shuffled = ratings.copy()
    for rater in range(ratings.shape[1]):
        judged = np.flatnonzero(~np.isnan(ratings[0, rater]))
        shuffled[:, rater, judged] = ratings[:, rater, rng.permutation(judged)]
    return shuffled


def test_the_floor_of_a_mean_shuffles_all_that_a_rater_said_of_a_unit_as_one() -> None:
    one = sparse(12, 40)
    alike = np.stack([one, one])  # items that go together perfectly: their mean is as unsteady as one of them

    both = agreement.mean_fleiss_chance_floor(alike, rng=np.random.default_rng(5))

    alone = agreement.fleiss_chance_floor(one, rng=np.random.default_rng(5))
    assert (both.mean, both.upper) == pytest.approx((alone.mean, alone.upper), abs=1e-12)


def test_the_floor_of_a_mean_is_that_of_shuffles_by_hand() -> None:
    one, rng = sparse(8, 40), np.random.default_rng(6)
    items = np.stack([one, np.where(rng.random(one.shape) < 0.3, 1 - one, one)])

    floor = agreement.mean_fleiss_chance_floor(items, rng=np.random.default_rng(5))

    by_hand = [np.mean([float(agreement.fleiss_kappa(i)) for i in together(items, rng)]) for _ in range(1000)]
    assert (floor.mean, floor.upper) == pytest.approx((np.mean(by_hand), np.quantile(by_hand, 0.975)), abs=0.02)
    own = np.mean([agreement.fleiss_chance_floor(i, rng=np.random.default_rng(5)).upper for i in items])
    assert floor.upper < own - 0.02  # the mean of the items' own is no floor of the mean


def test_gaps_that_differ_by_item_stay_where_they_are() -> None:
    one = sparse(12, 40)
    other = one.copy()
    other[:, ::4] = np.nan

    floor = agreement.mean_fleiss_chance_floor(np.stack([other, one]), rng=np.random.default_rng(5))

    # The second item is complete on all 40 units and the first on 30, in every shuffle: no shuffle is left without.
    assert floor.n_shuffles == 1000
    assert floor.mean == pytest.approx(0, abs=0.03)


def test_numbers_typed_freely_need_no_matrix_of_their_values() -> None:
    ratings = np.random.default_rng(3).normal(size=(3, 700))  # 2,100 values: a thousand matrices of them are 35 GB

    tracemalloc.start()
    alpha = agreement.krippendorff_alpha(ratings, "interval").value
    ends = intervals.alpha_interval(ratings, "interval", range(700), rng=np.random.default_rng(5))
    floor = agreement.alpha_chance_floor(ratings, "interval", rng=np.random.default_rng(5))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 100e6
    assert ends.low < alpha < ends.high
    assert floor.mean < floor.upper


@pytest.mark.parametrize("offset", [0, 1e12])
def test_alpha_at_the_interval_level_is_that_of_the_package(offset: float) -> None:
    ratings = np.random.default_rng(3).choice([1.0, 2.0, 2.5, 9.0, np.nan], size=(4, 60)) + offset

    alpha = agreement.krippendorff_alpha(ratings, "interval").value

    expected = krippendorff.alpha(ratings - offset, level_of_measurement="interval")
    assert alpha == pytest.approx(expected, abs=1e-12)


def test_resamples_whose_numbers_are_all_the_same_have_no_alpha() -> None:
    ratings = np.array([[0.1, 0.1, 0.1, 7.3], [0.1, 0.1, 0.1, 7.3]])

    found = intervals.alpha_resamples(ratings, "interval", np.array([[1, 2, 1, 0], [0, 0, 0, 4], [1, 1, 1, 1]]))

    assert np.isnan(found).tolist() == [True, True, False]
    assert found[2] == pytest.approx(1)


def test_without_ratings_there_is_no_floor() -> None:
    with pytest.raises(agreement.Incomputable):
        agreement.alpha_chance_floor(np.full((2, 3), np.nan), "nominal", rng=np.random.default_rng(1))


def test_floors_of_items_that_are_shuffled_together_are_each_that_of_the_item_alone() -> None:
    first, second = sparse(20, 60), 1 - sparse(20, 60)
    items = np.stack([first, second, np.where(np.arange(60) < 30, first, np.nan)])

    floors, of_mean = agreement.fleiss_chance_floors(items, rng=np.random.default_rng(5))

    alone = agreement.fleiss_chance_floor(first, rng=np.random.default_rng(5))
    assert (floors[0]().mean, floors[0]().upper) == pytest.approx((alone.mean, alone.upper), abs=1e-12)
    half = agreement.fleiss_chance_floor(first[:, :30], rng=np.random.default_rng(6))
    assert (floors[2]().mean, floors[2]().upper) == pytest.approx((half.mean, half.upper), abs=0.02)
    assert of_mean() == agreement.mean_fleiss_chance_floor(items, rng=np.random.default_rng(5))
