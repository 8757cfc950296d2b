"""A judge and a person in the same place: by plain loops, and with a judge who is as good as a person."""

import numpy as np
import pytest
from scipy import stats as scipy_stats
from sklearn.metrics import cohen_kappa_score

from stats import human_line
from stats.arrays import FloatArray
from stats.intervals import Interval
from stats.reasons import Incomputable

U = 48
CLUSTERS = [f"g{n // 4}" for n in range(U)]


def panel(*, seed: int = 1, n_values: int = 2, noise: float = 0.25) -> FloatArray:
    """Four raters of two items who see the same thing with errors; the last is the judge."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, n_values + 1, (2, 1, U))
    errors = rng.random((2, 4, U)) < noise
    return np.where(errors, rng.integers(1, n_values + 1, (2, 4, U)), truth).astype(float)


def test_verdicts_are_scored_by_the_mean_of_kappas_with_each_other_person() -> None:
    ratings = panel()
    people, judge = ratings[:, :3], ratings[:, 3]
    flat = people.transpose(1, 0, 2).reshape(3, -1).astype(int)
    others = [(row, other) for row in range(3) for other in range(3) if row != other]

    line = human_line.compare(people, judge, CLUSTERS, against="pairwise", rng=np.random.default_rng(1))

    assert line.person == pytest.approx(np.mean([cohen_kappa_score(flat[a], flat[b]) for a, b in others]))
    assert line.judge == pytest.approx(
        np.mean([cohen_kappa_score(judge.ravel().astype(int), flat[b]) for _a, b in others])
    )
    assert isinstance(line.difference_interval, Interval)
    assert line.difference_interval.low < line.difference == line.judge - line.person < line.difference_interval.high
    assert (line.n_people, line.n_units) == (3, 2 * U)


def test_scales_are_scored_by_spearman_with_the_mean_of_the_others() -> None:
    ratings = panel(n_values=5)
    people, judge = ratings[:, :3], ratings[:, 3]

    line = human_line.compare(people, judge, CLUSTERS, against="mean", rng=np.random.default_rng(1))

    persons, judges = [], []
    for item in range(2):
        for row in range(3):
            mean = np.delete(people[item], row, axis=0).mean(axis=0)
            persons.append(scipy_stats.spearmanr(people[item, row], mean).statistic)
            judges.append(scipy_stats.spearmanr(judge[item], mean).statistic)
    assert [line.person, line.judge] == pytest.approx([np.mean(persons), np.mean(judges)])


def test_both_are_scored_on_the_units_that_the_judge_answered() -> None:
    ratings = panel()
    people, judge = ratings[:, :3], ratings[:, 3].copy()
    judge[:, : U // 2] = np.nan

    half = human_line.compare(people, judge, CLUSTERS, against="pairwise", rng=np.random.default_rng(1))
    same = human_line.compare(
        people[:, :, U // 2 :], judge[:, U // 2 :], CLUSTERS[U // 2 :], against="pairwise", rng=np.random.default_rng(1)
    )

    assert (half.person, half.judge, half.n_units) == (same.person, same.judge, U)


def test_one_person_alone_is_a_reason() -> None:
    ratings = panel()

    with pytest.raises(Incomputable) as error:
        human_line.compare(ratings[:, :1], ratings[:, 3], CLUSTERS, against="mean", rng=np.random.default_rng(1))

    assert error.value.code == "nobody_beside_the_rest"


def test_a_judge_that_is_a_copy_of_a_person_lies_within_the_interval() -> None:
    ratings = panel(seed=3)

    line = human_line.compare(ratings[:, :3], ratings[:, 3], CLUSTERS, against="pairwise", rng=np.random.default_rng(1))

    assert isinstance(line.difference_interval, Interval)
    assert line.difference_interval.low < 0 < line.difference_interval.high
