"""A judge and a person in the same place: by plain loops, and with a judge who is as good as a person."""

import numpy as np
import pytest
from scipy import stats as scipy_stats
from sklearn.metrics import cohen_kappa_score

from stats import human_line
from stats.arrays import FloatArray
from stats.intervals import Interval
from stats.reasons import Incomputable
from tests.stats.examples import NAN

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


# ── people among themselves ────────────────────────────────────────────────────────────────────────────────────────


def test_one_person_with_another_is_the_mean_of_kappas_and_with_those_who_agree_of_the_easier_units() -> None:
    people = panel()[:, :3]
    flat = people.transpose(1, 0, 2).reshape(3, -1).astype(int)
    pairs, with_agreeing, n_agreeing = [], [], []
    for row in range(3):
        others = np.delete(flat, row, axis=0)
        pairs += [cohen_kappa_score(flat[row], other) for other in others]
        agree = others[0] == others[1]
        with_agreeing.append(cohen_kappa_score(flat[row, agree], others[0, agree]))
        n_agreeing.append(agree.sum())

    pairwise = agree_among(people, "pairwise")
    majority = agree_among(people, "majority")

    assert pairwise.value == pytest.approx(np.mean(pairs))
    assert majority.value == pytest.approx(np.average(with_agreeing, weights=n_agreeing))
    assert (majority.n_people, majority.n_units) == (3, sum(n_agreeing))
    assert isinstance(pairwise.interval, Interval)
    assert pairwise.interval.low < pairwise.value < pairwise.interval.high


def test_one_person_with_the_mean_of_the_others_is_the_mean_of_the_items_correlations() -> None:
    people = panel(n_values=5)[:, :3]

    line = agree_among(people, "mean")

    values = [
        scipy_stats.spearmanr(people[item, row], np.delete(people[item], row, axis=0).mean(axis=0)).statistic
        for item in range(2)
        for row in range(3)
    ]
    assert line.value == pytest.approx(np.mean(values))


def test_one_person_prefers_what_most_of_the_others_do_where_they_prefer_anything() -> None:
    # All three agree on the first pair. Of the others only the first person's agree on the second, on neither in the
    # third, which is left out, and the third person's on the fourth.
    people = np.array([[[1, 1, 0, 0], [1, 0, -1, 0], [1, 0, -1, 1]]], dtype=float)

    line = agree_among(people, "preference", clusters=["a", "b", "c", "d"])

    assert (line.value, line.n_units) == (pytest.approx(3 / 5), 5)


def test_people_who_share_nothing_have_no_line() -> None:
    people = np.array([[[1, 0, NAN, NAN], [NAN, NAN, 1, 0]]], dtype=float)

    with pytest.raises(Incomputable) as refusal:
        agree_among(people, "pairwise", clusters=["a", "b", "c", "d"])

    assert refusal.value.code == "nobody_beside_the_rest"


def agree_among(
    people: FloatArray, against: human_line.AmongPeople, *, clusters: list[str] = CLUSTERS
) -> human_line.PeopleAgreement:
    return human_line.agree_among_people(people, clusters, against=against, rng=np.random.default_rng(1))


def test_the_interval_of_a_difference_reaches_below_minus_one() -> None:
    people = panel(noise=0.1)[:, :3]
    contrary = 3 - people[:, 0]  # says 1 for 2 and 2 for 1
    few = [f"g{n // 12}" for n in range(U)]

    line = human_line.compare(people, contrary, few, against="pairwise", rng=np.random.default_rng(1))

    assert isinstance(line.difference_interval, Interval)
    assert line.difference_interval.method == "jackknife"
    assert -2 <= line.difference_interval.low < line.difference < -1.3
    assert line.difference < line.difference_interval.high < 0
