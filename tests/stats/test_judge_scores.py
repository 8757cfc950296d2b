"""How near a judge is to people: the same values as the libraries, also of resamples, and shuffles that keep gaps."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats as scipy_stats
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, confusion_matrix

from stats import intervals, judge_scores, table_scores
from stats.arrays import FloatArray
from stats.judge_scores import Statistic, shuffled
from stats.reasons import Incomputable
from stats.table_scores import TableStatistic

U = 40
CLUSTERS = [f"g{n // 4}" for n in range(U)]


def ratings(*, seed: int = 1, n_values: int = 5, noise: float = 1.0) -> tuple[FloatArray, FloatArray]:
    """A judge that follows people with an error, on two items."""
    rng = np.random.default_rng(seed)
    people = rng.integers(1, n_values + 1, (2, U)).astype(float)
    judge = np.clip(np.round(people + rng.normal(0, noise, people.shape)), 1, n_values)
    return judge, people


def score(statistic: Statistic | TableStatistic, judge: FloatArray, people: FloatArray) -> float:
    if isinstance(statistic, TableStatistic):
        return table_scores.score(statistic, table_scores.tables_by_cluster(judge, people, CLUSTERS))
    return judge_scores.score(statistic, judge, people)


ORACLES: dict[str, Callable[[FloatArray, FloatArray], float]] = {
    "spearman": lambda a, b: scipy_stats.spearmanr(a, b).statistic,
    "kendall_tau": lambda a, b: scipy_stats.kendalltau(a, b).statistic,
    "mean_absolute_error": lambda a, b: float(np.abs(a - b).mean()),
    "mean_difference": lambda a, b: float((a - b).mean()),
    "modal_share": lambda a, b: float(100 * max((a == v).mean() for v in a)),
    "mean_kappa": lambda a, b: cohen_kappa_score(a.astype(int), b.astype(int)),
}


@pytest.mark.parametrize(
    "statistic", [*judge_scores.ON_SCALES, table_scores.MEAN_KAPPA], ids=lambda statistic: statistic.key
)
def test_a_mean_over_items_is_that_of_the_libraries_values(statistic: Statistic | TableStatistic) -> None:
    judge, people = ratings()

    value = score(statistic, judge, people)

    assert value == pytest.approx(np.mean([ORACLES[statistic.key](a, b) for a, b in zip(judge, people, strict=True)]))


def test_pooled_coefficients_are_those_of_all_answers_together() -> None:
    judge, people = ratings(n_values=2, noise=0.6)
    flat = judge.ravel().astype(int), people.ravel().astype(int)

    kappa = score(table_scores.KAPPA, judge, people)
    accuracy = score(table_scores.BALANCED_ACCURACY, judge, people)
    percent = score(table_scores.PERCENT_AGREEMENT, judge, people)

    assert kappa == pytest.approx(cohen_kappa_score(*flat))
    assert accuracy == pytest.approx(balanced_accuracy_score(flat[1], flat[0]))
    assert percent == pytest.approx(100 * (judge == people).mean())


@pytest.mark.parametrize("key", ["spearman", "kendall_tau"])
def test_a_resample_is_the_statistic_of_the_units_drawn(key: str) -> None:
    judge, people = (array[0] for array in ratings())
    statistic = next(s for s in judge_scores.ON_SCALES if s.key == key)
    weights = np.random.default_rng(3).integers(0, 4, (20, U))

    values = statistic.compute(judge[np.newaxis], people, weights.astype(float))

    drawn = [np.repeat(np.arange(U), row) for row in weights]
    assert values == pytest.approx([ORACLES[key](judge[units], people[units]) for units in drawn])


@pytest.mark.parametrize("n_values", [5, 60])
def test_shuffles_are_scored_as_the_libraries_do(n_values: int) -> None:
    rng = np.random.default_rng(4)
    people, judges = rng.integers(1, 6, U).astype(float), rng.integers(1, n_values + 1, (6, U)).astype(float)

    for statistic in (judge_scores.SPEARMAN, judge_scores.KENDALL_TAU):
        values = statistic.compute(judges, people, np.ones((1, U)))
        assert values == pytest.approx([ORACLES[statistic.key](row, people) for row in judges])


def test_shuffled_tables_hold_the_answers_of_each_shuffle() -> None:
    judge, people = ratings(n_values=3)
    judge[1, 5], people[0, 7] = np.nan, np.nan
    strata = ["a", "b", "b", "b"] * (U // 4)

    tables = table_scores.shuffled_tables(judge, people, rng=np.random.default_rng(6), strata=strata, n_shuffles=20)

    (batch,) = shuffled(judge, strata=strata, rng=np.random.default_rng(6), n_shuffles=20)
    for item, reference in enumerate(people):
        for shuffle, answers in enumerate(batch[:, item]):
            both = np.isfinite(answers) & np.isfinite(reference)
            expected = confusion_matrix(answers[both], reference[both], labels=[1, 2, 3])
            assert (tables[item, shuffle] == expected).all()


def test_all_answers_about_a_unit_move_together_and_gaps_stay() -> None:
    judge = np.array([[1.0, 2, 3, 4, np.nan, 6], [10, 20, 30, np.nan, np.nan, 60]])

    (batch,) = shuffled(judge, strata=None, rng=np.random.default_rng(1), n_shuffles=50)

    assert (np.isnan(batch) == np.isnan(judge)).all()
    assert all(sorted([*row[:4].tolist(), row[5]]) == [1, 2, 3, 4, 6] for row in batch[:, 0])
    assert len(np.unique(batch[:, 0], axis=0)) > 10
    whole = np.array([[1.0, 2, 3], [10, 20, 30]])
    (together,) = shuffled(whole, strata=None, rng=np.random.default_rng(1), n_shuffles=50)
    assert (together[:, 1] == 10 * together[:, 0]).all()


def test_a_shuffle_within_strata_keeps_each_stratum() -> None:
    judge = np.array([[1.0, 2, 3, 4, 5, 6]])

    (batch,) = shuffled(judge, strata=list("ababab"), rng=np.random.default_rng(1), n_shuffles=50)

    assert all({*row[0, ::2]} == {1, 3, 5} for row in batch)
    assert len(np.unique(batch[:, 0], axis=0)) > 10


def test_a_judge_that_only_knows_the_source_is_at_the_floor_within_sources() -> None:
    rng = np.random.default_rng(5)
    sources = ["person" if n % 2 else "model" for n in range(200)]
    is_person = np.array([name == "person" for name in sources], dtype=float)
    people = (rng.random((1, 200)) < 0.1 + 0.8 * is_person).astype(float)
    judge = is_person[np.newaxis]

    tables = table_scores.tables_by_cluster(judge, people, np.arange(200))
    value = table_scores.score(table_scores.KAPPA, tables)
    floor, within = (
        table_scores.score_floor(
            table_scores.KAPPA, table_scores.shuffled_tables(judge, people, rng=rng, strata=strata), tables
        )
        for strata in (None, sources)
    )

    assert value > floor.upper
    assert value == pytest.approx(within.mean)


def test_less_is_better_of_an_error_so_its_floor_is_the_lower_end() -> None:
    judge, people = ratings()
    rng = np.random.default_rng(2)

    floor = judge_scores.score_floor(judge_scores.MEAN_ABSOLUTE_ERROR, judge, people, rng=rng)

    assert judge_scores.score(judge_scores.MEAN_ABSOLUTE_ERROR, judge, people) < floor.upper < floor.mean


@pytest.mark.parametrize("statistic", [judge_scores.MEAN_DIFFERENCE, judge_scores.MODAL_SHARE], ids=lambda s: s.key)
def test_what_does_not_depend_on_the_order_has_no_floor(statistic: Statistic) -> None:
    judge, people = ratings()

    with pytest.raises(Incomputable, match="does not depend on which story"):
        judge_scores.score_floor(statistic, judge, people, rng=np.random.default_rng(1))


def test_no_common_unit_and_no_variation_are_reasons() -> None:
    nothing = np.full((1, 4), np.nan)
    people = np.array([[1.0, 2, 3, 4]])

    with pytest.raises(Incomputable) as none:
        judge_scores.score(judge_scores.SPEARMAN, nothing, people)
    with pytest.raises(Incomputable) as constant:
        judge_scores.score(judge_scores.SPEARMAN, np.ones((1, 4)), people)

    assert (none.value.code, constant.value.code) == ("no_unit_with_judge_and_people", "judge_or_people_constant")


@pytest.mark.parametrize(
    "statistic", [*judge_scores.ON_SCALES, *table_scores.NOMINAL], ids=lambda statistic: statistic.key
)
def test_the_interval_lies_around_the_value_and_within_bounds(statistic: Statistic | TableStatistic) -> None:
    judge, people = ratings(n_values=3)
    judge[0, 3] = np.nan

    rng = np.random.default_rng(1)
    if isinstance(statistic, TableStatistic):
        tables = table_scores.tables_by_cluster(judge, people, CLUSTERS)
        ends = table_scores.score_interval(statistic, tables, rng=rng)
    else:
        ends = judge_scores.score_interval(statistic, judge, people, CLUSTERS, rng=rng)

    assert statistic.bounds[0] <= ends.low < score(statistic, judge, people) < ends.high
    assert ends.high <= statistic.bounds[1]
    assert ends.n_units == 10


def test_the_interval_of_a_percentage_is_that_of_the_mean_of_equal_answers() -> None:
    judge, people = ratings(n_values=3)
    judge[0, 3] = np.nan

    tables = table_scores.tables_by_cluster(judge, people, CLUSTERS)
    ends = table_scores.score_interval(table_scores.PERCENT_AGREEMENT, tables, rng=np.random.default_rng(1))

    is_equal = np.where(np.isfinite(judge), 100.0 * (judge == people), np.nan)
    of_mean = intervals.mean_interval(is_equal, CLUSTERS, rng=np.random.default_rng(1))
    assert (ends.low, ends.high) == pytest.approx((of_mean.low, of_mean.high))


def test_clusters_and_items_in_which_nothing_is_compared_do_not_count() -> None:
    judge, people = ratings(n_values=3)
    people[:, :4], people[1] = np.nan, np.nan

    tables = table_scores.tables_by_cluster(judge, people, CLUSTERS)
    alone = table_scores.tables_by_cluster(judge[:1, 4:], people[:1, 4:], CLUSTERS[4:])

    for statistic in table_scores.NOMINAL:
        of_all = table_scores.score_interval(statistic, tables, rng=np.random.default_rng(1))
        assert of_all == table_scores.score_interval(statistic, alone, rng=np.random.default_rng(1))
        assert table_scores.score(statistic, tables) == table_scores.score(statistic, alone)


@pytest.mark.parametrize("statistic", [judge_scores.KENDALL_TAU, judge_scores.SPEARMAN])
def test_shuffles_and_resamples_have_the_value_of_each_one_alone(statistic: Statistic) -> None:
    rng = np.random.default_rng(4)
    judge, people = rng.integers(1, 6, 30).astype(float), rng.integers(3, 16, 30) / 3
    shuffles = rng.permuted(np.tile(judge, (5, 1)), axis=1)
    counts = rng.integers(0, 3, (5, 30)).astype(float)

    of_shuffles = statistic.compute(shuffles, people, np.ones((1, 30)))
    of_resamples = statistic.compute(judge[np.newaxis], people, counts)

    correlate = scipy_stats.kendalltau if statistic is judge_scores.KENDALL_TAU else scipy_stats.spearmanr
    units = [np.repeat(np.arange(30), row.astype(int)) for row in counts]
    assert of_shuffles == pytest.approx([correlate(row, people).statistic for row in shuffles])
    assert of_resamples == pytest.approx([correlate(judge[at], people[at]).statistic for at in units])
