"""May a judge stand in for one of the people? The published data sets give the authors' values."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stats.alternative_annotator import Score, alt_test
from stats.reasons import Incomputable
from tests.stats.examples import NAN

# (winning rate, advantage probability) of the authors' implementation, with ε .15.
PUBLISHED = [
    ("framing", "gemini_flash", 1.0, 0.833650),
    ("framing", "gemini_pro", 1.0, 0.906151),
    ("framing", "gpt-4o", 1.0, 0.917870),
    ("framing", "llama-31", 0.5, 0.801484),
    ("framing", "gpt-4o-mini", 1.0, 0.872351),
    ("framing", "mistral-v03", 0.25, 0.799133),
    ("lesion", "gemini_flash", 0.166667, 0.710806),
    ("lesion", "gemini_pro", 1.0, 0.809751),
    ("lesion", "gpt-4o", 0.0, 0.617032),
    ("lesion", "gpt-4o-mini", 0.666667, 0.734858),
]
SCORES: dict[str, Score] = {"framing": "accuracy", "lesion": "neg_rmse"}


def as_matrix(answers: dict[str, dict[str, Any]], units: list[str], codes: dict[Any, float]) -> np.ndarray:
    return np.array([[codes.get(given.get(unit), NAN) for unit in units] for given in answers.values()])


@pytest.mark.parametrize(("name", "model", "winning_rate", "advantage"), PUBLISHED)
def test_the_authors_values_come_out_to_six_decimals(
    release: Path, name: str, model: str, winning_rate: float, advantage: float
) -> None:
    folder = release / "alttest" / name
    people = json.loads((folder / "human_annotations.json").read_text())
    models = json.loads((folder / "llm_annotations.json").read_text())
    units = sorted({unit for given in people.values() for unit in given})
    values = sorted({value for given in [*people.values(), *models.values()] for value in given.values()}, key=str)
    codes = {value: float(value) if SCORES[name] == "neg_rmse" else n for n, value in enumerate(values)}

    found = alt_test(
        as_matrix(people, units, codes),
        as_matrix({model: models[model]}, units, codes)[0],
        epsilon=0.15,
        score=SCORES[name],
    )

    assert found.winning_rate == pytest.approx(winning_rate, abs=1e-6)
    assert found.advantage_probability == pytest.approx(advantage, abs=1e-6)


def test_who_is_left_out_is_scored_against_the_others_by_hand() -> None:
    # The judge says what the first person says. The second differs from both others on one unit of thirty.
    first, second = np.zeros(30), np.zeros(30)
    second[0] = 1
    found = alt_test([first, second, first], first, epsilon=0.2, score="accuracy")

    assert [person.advantage for person in found.people] == [1, 1, 1]
    assert [person.p for person in found.people] == [0, pytest.approx(second_p()), 0]
    assert (found.winning_rate, found.advantage_probability) == (1, 1)


def second_p() -> float:
    """Of 30 differences, one of −1 and 29 of 0, against .2."""
    from scipy import stats

    return float(stats.ttest_1samp([-1.0, *[0.0] * 29], 0.2, alternative="less").pvalue)


def test_units_without_a_second_person_or_the_judge_are_left_out_first() -> None:
    people = np.zeros((3, 40))
    people[1:, :5] = NAN  # one person alone
    judge = np.zeros(40)
    judge[5:10] = NAN

    found = alt_test(people, judge, epsilon=0.2, score="accuracy")

    assert [person.n for person in found.people] == [30, 30, 30]


def test_who_has_fewer_than_thirty_units_is_not_tested_and_remains_among_the_others() -> None:
    people = np.zeros((3, 40))
    people[2, 29:] = NAN
    people[2, :29] = 1
    judge = np.ones(40)

    found = alt_test(people, judge, epsilon=0.2, score="neg_rmse")

    assert [(person.n, person.is_tested) for person in found.people] == [(40, True), (40, True), (29, False)]
    assert math.isnan(found.people[2].p)
    # Against the other two, the judge equals the third where it answered: as far from them as the person is.
    assert found.people[0].advantage == 29 / 40


def test_a_p_of_nought_by_nought_is_never_rejected_and_counts() -> None:
    # Each person differs from the judge by 1 on every unit and by exactly ε = 1 from what is tested.
    people = np.zeros((2, 30))

    found = alt_test(people, np.ones(30), epsilon=1, score="neg_rmse")

    assert all(math.isnan(person.p) for person in found.people)
    assert (found.winning_rate, found.advantage_probability) == (0, 0)


def test_nobody_with_thirty_units_is_a_reason() -> None:
    with pytest.raises(Incomputable) as refusal:
        alt_test(np.zeros((3, 29)), np.zeros(29), epsilon=0.2, score="accuracy")

    assert (refusal.value.code, refusal.value.values) == ("nobody_to_leave_out", {"least": 30})


def test_answers_that_the_judge_did_not_give_can_count_as_lost() -> None:
    judge = np.zeros(40)
    judge[:10] = NAN

    found = alt_test(np.zeros((2, 40)), judge, epsilon=0.2, score="accuracy", counts_unanswered=True)

    assert [(person.n, person.advantage) for person in found.people] == [(40, 0.75), (40, 0.75)]


def test_units_of_one_cluster_count_once() -> None:
    # Person minus judge is 0 on all units of three stories and 1 on those of the fourth: means 0, 0, 0, 1.
    people, judge = np.zeros((2, 40)), np.zeros(40)
    judge[30:] = 1
    stories = [f"story {n // 10}" for n in range(40)]

    found = alt_test(people, judge, epsilon=0.2, score="accuracy", clusters=stories)

    from scipy import stats

    expected = stats.ttest_1samp([0, 0, 0, 1], 0.2, alternative="less").pvalue
    assert [person.p for person in found.people] == [pytest.approx(expected)] * 2
    assert found.winning_rate == 0


def test_a_judge_needs_one_answer_a_unit() -> None:
    with pytest.raises(ValueError, match="one answer a unit"):
        alt_test(np.zeros((3, 30)), np.zeros(29), epsilon=0.2, score="accuracy")
