"""A judge against the majority: what is missing or unreadable is counted, and never as No."""

import numpy as np
import pytest

from stats import judgements
from stats.agreement import Coefficient, Incomputable
from tests.stats.examples import NAN


def test_majority_is_strict_and_a_tie_or_nothing_is_nan() -> None:
    ratings = [[1, 1, 1, NAN, 0], [1, 0, 0, NAN, NAN], [0, NAN, 0, NAN, NAN]]

    assert judgements.majority(ratings) == pytest.approx([1, NAN, 0, NAN, 0], nan_ok=True)


def test_majority_is_for_verdicts_only() -> None:
    with pytest.raises(ValueError, match="verdicts 0 and 1"):
        judgements.majority([[1, 3]])


def test_a_judge_is_compared_where_both_have_a_verdict() -> None:
    judge = [1, 1, 0, 1, NAN, 1]
    truth = [1, 0, 0, 1, 1, NAN]

    found = judgements.compare_with_majority(judge, truth)

    # Yes/Yes 2, Yes/No 1, No/No 1: observed 3/4, chance 1/2.
    assert isinstance(found.kappa, Coefficient)
    assert (found.kappa.value, found.kappa.n_units) == (pytest.approx(0.5), 4)
    assert (found.balanced_accuracy, found.yes_rate, found.majority_yes_rate) == (0.75, 0.75, 0.5)
    assert (found.n, found.n_missing, found.n_undecided) == (4, 1, 1)


def test_a_judge_who_always_says_yes_has_kappa_0_and_its_note() -> None:
    found = judgements.compare_with_majority(np.ones(4), [1, 0, 0, 1])

    assert isinstance(found.kappa, Coefficient)
    assert (found.kappa.value, found.balanced_accuracy, found.yes_rate) == (0, 0.5, 1)
    assert "one side always gives the same value" in found.kappa.note


def test_yes_rates_remain_where_kappa_has_no_value() -> None:
    found = judgements.compare_with_majority([1, 1], [1, 1])

    assert isinstance(found.kappa, Incomputable)
    assert "0/0" in str(found.kappa)
    assert isinstance(found.balanced_accuracy, Incomputable)
    assert (found.yes_rate, found.majority_yes_rate, found.n) == (1, 1, 2)


def test_a_judge_without_a_verdict_is_incomputable() -> None:
    with pytest.raises(Incomputable, match="Nothing has both"):
        judgements.compare_with_majority([NAN, 1], [1, NAN])
