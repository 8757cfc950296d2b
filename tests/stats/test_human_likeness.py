"""Scores of human-likeness: two numbers that have both been called accuracy are kept apart."""

import numpy as np
import pytest

from stats import human_likeness
from stats.agreement import Incomputable
from stats.human_likeness import Guesses
from tests.stats.examples import NAN

# Two raters, three stories, the first by a person.
SCORES = np.array([[5, 1, 3], [2, 4, NAN]])
IS_HUMAN = np.array([True, False, False])


def test_guesses_by_hand() -> None:
    found = human_likeness.count_guesses(SCORES, IS_HUMAN)

    assert found == Guesses(n_correct=2, n_wrong=2, n_undecided=1)
    assert found.proportion_correct == 0.4


def test_ideal_distance_accuracy_by_hand() -> None:
    # Distances from the ideal 0, 0, 2 and 3, 3: 1 - 8/5/4.
    assert human_likeness.ideal_distance_accuracy(SCORES, IS_HUMAN) == pytest.approx(0.6)


def test_who_always_answers_3_guesses_nothing_and_still_has_half_the_ideal_distance_accuracy() -> None:
    undecided = np.full(4, 3.0)
    is_human = [True, False, False, False]

    assert human_likeness.count_guesses(undecided, is_human).proportion_correct == 0
    assert human_likeness.ideal_distance_accuracy(undecided, is_human) == 0.5


def test_sure_and_right_is_1_and_sure_and_wrong_is_0_on_both() -> None:
    ideal = np.where(IS_HUMAN, 5.0, 1.0)

    for scores, expected in [(ideal, 1), (6 - ideal, 0)]:
        assert human_likeness.count_guesses(scores, IS_HUMAN).proportion_correct == expected
        assert human_likeness.ideal_distance_accuracy(scores, IS_HUMAN) == expected


def test_no_scores_are_incomputable() -> None:
    with pytest.raises(Incomputable, match="no scores"):
        human_likeness.count_guesses([NAN], [True])
