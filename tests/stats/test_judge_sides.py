"""Which answers of people count in a part, and what a statistic of a judge and people has there."""

from dataclasses import dataclass

import numpy as np
import pytest

from stats import judge_scores, table_scores
from stats.arrays import BoolArray, FloatArray, IntArray
from stats.judge_sides import Sides, find_split, find_unanimous
from stats.reasons import Incomputable
from tests.stats.examples import NAN

# One item, two people, six units: both Yes, both No, they differ, one alone, nobody, both Yes.
PEOPLE = np.array([[[1, 0, 1, 1, NAN, 1], [1, 0, 0, NAN, NAN, 1]]])
MAJORITY = np.array([[1, 0, NAN, 1, NAN, 1]])
JUDGE = np.array([[1, 1, 1, 0, 1, NAN]])


@dataclass(frozen=True)
class Material:
    people: FloatArray
    sources: tuple[str, ...]
    is_of_models: BoolArray
    clusters: IntArray


class Seed:
    def rng(self, *salt: int) -> np.random.Generator:
        return np.random.default_rng([5, *salt])

    def resampling(self) -> np.random.Generator:
        return self.rng()


def sides(*, models: str = "yynnnn") -> Sides:
    is_of_models = np.array([letter == "y" for letter in models])
    material = Material(PEOPLE, ("A", "A", "B", "B", "B", "B"), is_of_models, np.arange(6))
    return Sides(Seed(), material, JUDGE, MAJORITY, [1.0], (3,))


def test_people_are_unanimous_or_split_where_two_have_answered() -> None:
    assert find_unanimous(PEOPLE).tolist() == [[True, True, False, False, False, True]]
    assert find_split(PEOPLE).tolist() == [[False, False, True, False, False, False]]


def test_a_part_holds_its_own_units_or_the_answers_that_count_in_it() -> None:
    assert sides().select("models").people.tolist() == [[1, 0]]
    assert sides().select("models").sources == ("A", "A")
    np.testing.assert_equal(sides().select("unanimous").people, [[1, 0, NAN, NAN, NAN, 1]])


def test_a_study_of_models_alone_has_no_part_of_them() -> None:
    assert sides().list_parts(["all", "models", "split"]) == [(0, "all"), (1, "models"), (2, "split")]
    assert sides(models="yyyyyy").list_parts(["all", "models", "split"]) == [(0, "all"), (2, "split")]


@pytest.mark.parametrize("statistic", [table_scores.PERCENT_AGREEMENT, judge_scores.MEAN_ABSOLUTE_ERROR])
def test_a_statistic_says_of_how_many_answers_it_is(
    statistic: judge_scores.Statistic | table_scores.TableStatistic,
) -> None:
    computed, again = (
        sides().compute(statistic, "all", slice(None), salt=(3, 0), n_resamples=50) for _time in range(2)
    )

    # Units one, two and four have both; the judge is right of the first alone.
    assert (computed.n, computed.n_units) == (3, 3)
    assert computed.value == pytest.approx({"percent_agreement": 100 / 3}.get(statistic.key, 2 / 3))
    assert computed.strata == ("A", "A", "B", "B", "B", "B")
    ends = computed.interval()
    assert ends.low <= computed.value <= ends.high
    assert computed.floor(None) == again.floor(None)


def test_a_part_without_units_of_both_has_no_value() -> None:
    with pytest.raises(Incomputable):
        sides().compute(table_scores.PERCENT_AGREEMENT, "split", slice(None), salt=(3, 0), n_resamples=50)
