"""What personas gain: by hand, and only where all of them answered."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from stats import personas
from stats.intervals import Interval
from stats.reasons import Incomputable
from tests.stats.examples import NAN

CLUSTERS = [f"g{n}" for n in range(6)]
PEOPLE = [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]
FIRST, SECOND = [[1.0, 2.0, 3.0, 4.0, 5.0, 5.0]], [[2.0, 1.0, 4.0, 3.0, 5.0, 5.0]]
NOBODY = [[5.0, 4.0, 3.0, 3.0, 2.0, 1.0]]


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def rho(a: object, b: object) -> float:
    return float(scipy_stats.spearmanr(a, b).statistic)


def test_the_gain_is_the_mean_of_personas_less_the_judge_without_one() -> None:
    compared = personas.compare([FIRST, SECOND], NOBODY, PEOPLE, CLUSTERS, rng=rng())

    mean = (np.array(FIRST[0]) + np.array(SECOND[0])) / 2
    assert compared.together == pytest.approx(rho(mean, PEOPLE[0]))
    assert compared.alone == pytest.approx((rho(FIRST[0], PEOPLE[0]) + rho(SECOND[0], PEOPLE[0])) / 2)
    assert compared.nobody == pytest.approx(rho(NOBODY[0], PEOPLE[0]))
    assert compared.gain == pytest.approx(compared.together - compared.nobody)
    assert isinstance(compared.interval, Interval)
    assert compared.n_units == 6


def test_a_unit_that_one_persona_left_out_is_in_none_of_the_correlations() -> None:
    gap = [[*SECOND[0][:5], NAN]]

    compared = personas.compare([FIRST, gap], NOBODY, PEOPLE, CLUSTERS, rng=rng())

    assert compared.n_units == 5
    assert compared.nobody == pytest.approx(rho(NOBODY[0][:5], PEOPLE[0][:5]))
    assert compared.alone == pytest.approx((rho(FIRST[0][:5], PEOPLE[0][:5]) + rho(gap[0][:5], PEOPLE[0][:5])) / 2)


def test_over_several_items_it_is_the_mean_and_items_without_a_value_are_left_out() -> None:
    one = personas.compare([FIRST, SECOND], NOBODY, PEOPLE, CLUSTERS, rng=rng())
    constant = [[3.0] * 6]
    both = personas.compare(
        [FIRST + constant, SECOND + constant], NOBODY + NOBODY, PEOPLE + PEOPLE, CLUSTERS, rng=rng()
    )

    assert both == one


def test_without_a_reading_as_nobody_there_is_no_gain_and_a_reason() -> None:
    compared = personas.compare([FIRST, SECOND], [[NAN] * 6], PEOPLE, CLUSTERS, rng=rng())

    assert isinstance(compared.interval, Incomputable)
    assert compared.interval.code == "not_read_as_nobody"
    assert math.isnan(compared.gain)
    assert compared.together > 0.9


@pytest.mark.parametrize(
    ("first", "code"), [([[NAN] * 6], "no_unit_with_judge_and_people"), ([[2.0] * 6], "judge_or_people_constant")]
)
def test_what_cannot_be_correlated_says_why(first: list[list[float]], code: str) -> None:
    with pytest.raises(Incomputable) as refusal:
        personas.compare([first, first], NOBODY, PEOPLE, CLUSTERS, rng=rng())

    assert refusal.value.code == code
