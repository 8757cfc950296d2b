"""How items go together: against numpy's own correlations, and floors against drawn shuffles."""

import numpy as np
import pytest

from stats import item_analysis
from stats.arrays import FloatArray
from stats.reasons import Incomputable
from tests.stats.examples import NAN


def panel_of_items() -> FloatArray:
    """Four items, five raters, thirty units with gaps; items share a story and a rater."""
    rng = np.random.default_rng(11)
    shared = rng.normal(size=(1, 1, 30)) + rng.normal(size=(1, 5, 1))
    ratings = shared + rng.normal(size=(4, 5, 30))
    ratings[:, rng.random((5, 30)) < 0.3] = NAN
    ratings[2, 0, :3] = NAN
    return ratings


CLUSTERS = [f"c{n // 2}" for n in range(30)]


def complete_rows(ratings: FloatArray) -> FloatArray:
    rows = ratings.reshape(len(ratings), -1).T
    return rows[np.isfinite(rows).all(axis=1)]


def test_correlations_are_pearsons_over_the_complete_rows() -> None:
    ratings = panel_of_items()
    material = item_analysis.read_rows(ratings, CLUSTERS)
    rows = complete_rows(ratings)

    covariance = item_analysis.covariance_of(material)

    matrix = np.corrcoef(rows.T)
    assert item_analysis.correlations(covariance) == pytest.approx(matrix)
    with_rest = [np.corrcoef(rows[:, i], np.delete(rows, i, axis=1).sum(axis=1))[0, 1] for i in range(4)]
    assert item_analysis.item_rest(covariance) == pytest.approx(with_rest)
    means = [float(np.mean(np.delete(row, i))) for i, row in enumerate(matrix)]
    assert item_analysis.mean_correlations(covariance) == pytest.approx(means)
    assert material.n_left_out == int(np.isfinite(ratings).any(axis=0).sum()) - len(rows)


def test_resamples_are_the_correlations_of_the_clusters_drawn() -> None:
    ratings = panel_of_items()
    material = item_analysis.read_rows(ratings, CLUSTERS)
    n_clusters = int(material.clusters.max()) + 1
    weights = (
        np.random.default_rng(2).multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), size=4).astype(float)
    )

    covariances = item_analysis.covariance_resamples(material, weights)

    for covariance, drawn in zip(covariances, weights, strict=True):
        rows = np.repeat(material.answers, drawn[material.clusters].astype(int), axis=0)
        assert item_analysis.correlations(covariance) == pytest.approx(np.corrcoef(rows.T))


def test_intervals_hold_their_values() -> None:
    ratings = panel_of_items()
    covariance = item_analysis.covariance_of(item_analysis.read_rows(ratings, CLUSTERS))
    rng = np.random.default_rng(3)

    many = item_analysis.item_intervals(item_analysis.read_rows(ratings, CLUSTERS), rng=rng)
    few = item_analysis.item_intervals(item_analysis.read_rows(ratings, [f"c{n % 5}" for n in range(30)]), rng=rng)
    one = item_analysis.item_intervals(item_analysis.read_rows(ratings, ["c"] * 30), rng=rng)

    value = float(item_analysis.item_rest(covariance)[0])
    assert many.rest[0].low < value < many.rest[0].high  # type: ignore[union-attr]
    assert [(row.method, row.n_units) for row in (many.rest[0], few.rest[0])] == [("jackknife", 15), ("jackknife", 5)]  # type: ignore[union-attr]
    assert str(one.rest[0]) == "There are fewer than two clusters to resample."
    assert set(many.pairs) == {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}


def test_the_exact_floors_are_those_of_drawn_shuffles() -> None:
    material = item_analysis.read_rows(panel_of_items(), CLUSTERS)
    rest = material.answers[:, 1:].sum(axis=1)
    others = material.answers[:, 1:]
    rng = np.random.default_rng(4)
    drawn = []
    for _shuffle in range(1500):
        own = material.answers[:, 0].copy()
        for rater in range(5):
            is_own = material.raters == rater
            own[is_own] = rng.permutation(own[is_own])
        each = [np.corrcoef(own, other)[0, 1] for other in others.T]
        drawn.append((np.corrcoef(own, rest)[0, 1], each[0], np.mean(each)))

    with_rest, with_others = item_analysis.item_floors(material)
    pair = item_analysis.pair_floors(material)[0, 1]

    means, uppers = np.mean(drawn, axis=0), np.quantile(drawn, 0.975, axis=0)
    assert [with_rest[0].mean, pair.mean, with_others[0].mean] == pytest.approx(means, abs=0.01)
    assert [with_rest[0].upper, pair.upper, with_others[0].upper] == pytest.approx(uppers, abs=0.02)


def test_cronbachs_alpha_is_by_the_variances_of_items_and_of_their_sum() -> None:
    ratings = panel_of_items()
    covariance = item_analysis.covariance_of(item_analysis.read_rows(ratings, CLUSTERS))
    rows = complete_rows(ratings)

    by_hand = 4 / 3 * (1 - rows.var(axis=0, ddof=1).sum() / rows.sum(axis=1).var(ddof=1))

    assert item_analysis.cronbach_alpha(covariance) == pytest.approx(by_hand)
    constant = item_analysis.read_rows(np.ones((3, 2, 4)), ["a", "b", "c", "d"])
    assert np.isnan(item_analysis.cronbach_alpha(item_analysis.covariance_of(constant)))
    assert np.isnan(item_analysis.alpha_floor(constant).mean)
    alike = np.array([[1.0, 2.0, 4.0]] * 3).reshape(3, 1, 3)
    perfect = item_analysis.covariance_of(item_analysis.read_rows(alike, ["a", "b", "c"]))
    assert item_analysis.cronbach_alpha(perfect) == pytest.approx(1)


def test_the_floor_of_alpha_is_that_of_drawn_shuffles() -> None:
    material = item_analysis.read_rows(panel_of_items(), CLUSTERS)
    rng = np.random.default_rng(4)
    drawn = []
    for _shuffle in range(1500):
        answers = material.answers.copy()
        for rater in range(5):
            own = np.flatnonzero(material.raters == rater)
            for item in range(4):
                answers[own, item] = answers[rng.permutation(own), item]
        drawn.append(float(item_analysis.cronbach_alpha(answers.T @ answers)))

    floor = item_analysis.alpha_floor(material)

    assert floor.mean == pytest.approx(np.mean(drawn), abs=0.02)
    assert floor.upper == pytest.approx(np.quantile(drawn, 0.975), abs=0.03)


def test_an_item_that_never_varies_has_no_correlation_and_spoils_no_other() -> None:
    ratings = panel_of_items()
    ratings[3] = np.where(np.isfinite(ratings[3]), 1.0, NAN)

    covariance = item_analysis.covariance_of(item_analysis.read_rows(ratings, CLUSTERS))

    assert np.isnan(item_analysis.item_rest(covariance)).tolist() == [False, False, False, True]
    assert np.isnan(item_analysis.mean_correlations(covariance)).tolist() == [False, False, False, True]


def test_too_few_complete_rows_are_a_reason() -> None:
    with pytest.raises(Incomputable, match="Fewer than three"):
        item_analysis.read_rows([[[1.0, NAN]], [[1.0, 2.0]]], ["a", "b"])
