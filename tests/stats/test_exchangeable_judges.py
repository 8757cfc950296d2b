"""How often would a judge pass that answers as these people do? About as often as one more person who is like them."""

import time

import numpy as np
import pytest

from stats.alternative_annotator import alt_test
from stats.arrays import FloatArray
from stats.exchangeable_judges import alt_tests, draw_places
from stats.reasons import Incomputable
from tests.stats.examples import NAN


def panel(rng: np.random.Generator, n_people: int, n_stories: int) -> FloatArray:
    """Ratings from 1 to 5 by people of different severity."""
    worth = rng.normal(0, 0.7, n_stories) + rng.normal(0, 0.4, (n_people, 1))
    return np.asarray(np.clip(np.round(3 + worth + rng.normal(0, 0.8, (n_people, n_stories))), 1, 5))


@pytest.mark.parametrize(("n_people", "n_stories"), [(3, 97), (5, 97), (3, 48), (5, 48)])
def test_drawn_judges_pass_about_as_often_as_one_more_person(n_people: int, n_stories: int) -> None:
    rng = np.random.default_rng(5)
    passed, drawn = [], []
    for _study in range(60):
        everybody = panel(rng, n_people + 1, n_stories)
        people = everybody[:-1]
        passed.append(alt_test(people, everybody[-1], epsilon=0.2, score="neg_rmse").winning_rate >= 0.5)
        places = draw_places(people, rng=rng, n_judges=50)
        drawn.append((alt_tests(people, places, epsilon=0.2, score="neg_rmse").winning_rate >= 0.5).mean())

    # Of one more person in 60 studies .3 to .65, with a standard error of .065.
    assert np.mean(drawn) == pytest.approx(np.mean(passed), abs=0.15)
    assert 0.15 < np.mean(drawn) < 0.7


def test_who_makes_room_is_one_of_those_who_answered() -> None:
    people = np.array([[1, NAN, 1, NAN], [NAN, 2, 2, NAN], [3, 3, 3, NAN]])

    places = draw_places(people, rng=np.random.default_rng(1), n_judges=500)

    assert places.max(axis=0).tolist() == [1, 1, 2, 0]
    assert places.min(axis=0).tolist() == [0, 0, 0, 0]


def test_whoever_remains_is_compared_by_hand() -> None:
    # On every unit the third makes room and the judge says 2. The first (1) and the second (2) are scored against each
    # other: the first is 1 from the second, the judge 0; the second is 1 from the first, the judge as much.
    people = np.repeat([[1.0], [2.0], [2.0]], 40, axis=1)
    places = np.full((1, 40), 2)

    found = alt_tests(people, places, epsilon=0.2, score="neg_rmse")

    # The first is worse everywhere, the second equal; the third is never compared, which beats nobody.
    assert found.advantage.tolist() == [pytest.approx(2 / 3)]
    assert found.winning_rate.tolist() == [pytest.approx(2 / 3)]


@pytest.mark.parametrize("score", ["accuracy", "neg_rmse"])
def test_people_who_agree_on_everything_let_every_judge_pass(score: str) -> None:
    people = np.tile(np.arange(40) % 2, (4, 1)).astype(float)
    places = draw_places(people, rng=np.random.default_rng(2), n_judges=20)

    found = alt_tests(people, places, epsilon=0.2, score=score, clusters=np.arange(40) // 4)  # type: ignore[arg-type]

    assert (found.winning_rate.tolist(), found.advantage.tolist()) == ([1.0] * 20, [1.0] * 20)


def test_units_of_two_people_leave_nobody_to_agree_with() -> None:
    people = np.zeros((2, 40))
    with pytest.raises(Incomputable) as refusal:
        alt_tests(people, draw_places(people, rng=np.random.default_rng(3)), epsilon=0.2, score="accuracy")

    assert refusal.value.code == "nobody_to_leave_out"


def test_a_score_has_a_name() -> None:
    people = np.zeros((3, 40))
    with pytest.raises(ValueError, match="accuracy or neg_rmse"):
        alt_tests(people, np.zeros((1, 40), dtype=np.int64), epsilon=0.2, score="other")  # type: ignore[arg-type]


def test_eleven_people_and_672_verdicts_take_a_tenth_of_a_second() -> None:
    rng = np.random.default_rng(4)
    people = rng.integers(0, 2, (11, 672)).astype(float)
    people[rng.random(people.shape).argsort(axis=0) >= 3] = NAN
    began = time.process_time()

    places = draw_places(people, rng=rng)
    alt_tests(people, places, epsilon=0.2, score="accuracy", clusters=np.arange(672) // 14)

    assert time.process_time() - began < 1  # of which most is the import of scipy on a busy machine
