"""Pass rates: a missing verdict is never a No, and the naive interval is called naive."""

import numpy as np
import pytest

from stats import rates
from stats.agreement import Incomputable
from tests.stats.examples import NAN

VERDICTS = np.array([[1, 0, 1, 1], [1, 0, NAN, 0], [1, 1, NAN, 0]])


def test_pass_rate_is_yes_among_verdicts_and_leaves_out_what_is_missing() -> None:
    assert rates.pass_rate(VERDICTS) == 60


def test_pass_rate_of_no_verdicts_is_incomputable() -> None:
    with pytest.raises(Incomputable, match="no verdicts"):
        rates.pass_rate([[NAN]])


def test_the_interval_of_a_pass_rate_is_over_clusters() -> None:
    verdicts = [[1, 1, 0, 0, 1, 0, 1, 1], [0, 1, 0, 0, 1, 0, 0, 1]]
    clusters = [1, 1, 2, 2, 3, 3, 4, 4]

    ends = rates.pass_rate_interval(verdicts, clusters, rng=np.random.default_rng(1))

    # Clusters of 75, 0, 50 and 75 %: mean 50, standard error 17.68, t(3) 3.18, so 50 ± 56 is cut at both ends.
    assert (ends.low, ends.high) == (0, 100)
    assert (ends.n_units, ends.method) == (4, "t")


def test_none_of_36_verdicts_on_12_stories_is_as_sure_as_none_of_12() -> None:
    ends = rates.pass_rate_interval(np.zeros((3, 12)), range(12), rng=np.random.default_rng(1))

    # Wilson: 0 of 12 is 0 to 24.2 %; 0 of 36 would be 0 to 9.6 %.
    assert (round(ends.low, 1), round(ends.high, 1)) == (0.0, 24.2)
    assert (ends.n_units, ends.method) == (12, "wilson")
    assert "over 12 clusters" in ends.note


@pytest.mark.parametrize(("n_with_yes", "method"), [(2, "wilson"), (3, "t"), (10, "wilson"), (9, "t")])
def test_a_rarer_answer_in_fewer_than_three_clusters_is_wilsons(n_with_yes: int, method: str) -> None:
    verdicts = np.array([[1.0] * n_with_yes + [0.0] * (12 - n_with_yes)])

    assert rates.pass_rate_interval(verdicts, range(12), rng=np.random.default_rng(1)).method == method


def test_wilson_interval_of_newcombe_1998_is_called_naive() -> None:
    interval = rates.wilson(81, 263)

    # Newcombe 1998, Statistics in Medicine 17, 857-872, table I, method 3: .2553 to .3662.
    assert (round(interval.low, 2), round(interval.high, 2)) == (25.53, 36.62)
    assert interval.n_units == 263
    assert interval.note.startswith("naive")


def test_wilson_interval_of_no_verdicts_is_incomputable() -> None:
    with pytest.raises(Incomputable, match="no verdicts"):
        rates.wilson(0, 0)


def test_tests_passed_is_the_mean_over_raters_who_answered_all() -> None:
    two_items = np.stack([VERDICTS, np.ones((3, 4))])

    assert rates.totals(two_items) == pytest.approx(
        np.array([[2, 1, 2, 2], [2, 1, NAN, 1], [2, 2, NAN, 1]]), nan_ok=True
    )
    assert rates.tests_passed(two_items) == pytest.approx([2, 4 / 3, 2, 4 / 3])


def test_tests_passed_is_nan_where_nobody_answered_all() -> None:
    assert np.isnan(rates.tests_passed([[[NAN]], [[1]]])).all()
