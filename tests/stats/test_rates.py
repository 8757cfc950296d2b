"""Pass rates: a missing verdict is never a No, and the naive interval is called naive."""

import numpy as np
import pytest

from stats import intervals, rates
from stats.agreement import Incomputable
from tests.stats.examples import NAN

VERDICTS = np.array([[1, 0, 1, 1], [1, 0, NAN, 0], [1, 1, NAN, 0]])


def test_pass_rate_is_yes_among_verdicts_and_leaves_out_what_is_missing() -> None:
    assert rates.pass_rate(VERDICTS) == 60


def test_pass_rate_of_no_verdicts_is_incomputable() -> None:
    with pytest.raises(Incomputable, match="no verdicts"):
        rates.pass_rate([[NAN]])


def test_pass_rate_interval_equals_the_loop() -> None:
    verdicts = np.random.default_rng(1).choice([0.0, 1.0, NAN], size=(3, 12), p=[0.5, 0.4, 0.1])

    fast = rates.pass_rate_interval(verdicts, range(12), rng=np.random.default_rng(2), n_resamples=200)
    loop = intervals.bootstrap(
        lambda units: rates.pass_rate(verdicts[:, units]), range(12), rng=np.random.default_rng(2), n_resamples=200
    )

    assert (fast.low, fast.high) == pytest.approx((loop.low, loop.high), abs=1e-12)
    assert (fast.n_units, fast.note) == (loop.n_units, loop.note)
    assert fast.low < rates.pass_rate(verdicts) < fast.high


def test_pass_rate_of_a_resample_without_verdicts_is_nan() -> None:
    verdicts = [[1, NAN], [0, NAN]]

    assert rates.pass_rate_resamples(verdicts, np.array([[1, 1], [0, 2]])) == pytest.approx([50, NAN], nan_ok=True)


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
