"""Whether a judge has begun to answer otherwise: exact by hand, silent about judges that only waver."""

import numpy as np
import pytest

from stats import drift


def checks(*values: object) -> list[dict[str, object]]:
    """Replies to one call, the latest first."""
    return [{"plot": value} for value in values]


def compare(calls: list[list[dict[str, object]]], seed: int = 1) -> drift.DriftTest | None:
    return drift.compare_checks(calls, seed=seed)


def test_by_hand() -> None:
    # The latest says no, three before it yes: its distance is 1, that of each other 1/3; one draw in four is its own.
    test = compare([checks("no", "yes", "yes", "yes")])

    assert test is not None
    assert (test.n_answers, test.n_checks, test.distance, test.floor) == (1, 3, 1.0, 0.0)
    assert (test.p, test.least_p) == (1 / 4, 1 / 4)


def test_calls_are_drawn_apart_and_questions_of_one_call_together() -> None:
    apart = compare([checks("no", *["yes"] * 9)] * 4)
    together = compare([[{"a": "no", "b": "no"}, *[{"a": "yes", "b": "yes"}] * 9]])

    assert apart is not None
    assert together is not None
    assert apart.p == pytest.approx(1 / 10_000)
    assert together.p == pytest.approx(1 / 10)


def test_more_ways_than_can_be_looked_at_are_drawn() -> None:
    drawn = compare([checks("no", "yes", "yes", "yes", "yes")] * 9 + [checks("yes", "yes")])

    assert drawn is not None
    assert (drawn.p, drawn.least_p) == (1 / 10_000, 1 / 10_000)


def test_numbers_differ_by_how_far_they_lie_apart_and_no_answer_is_unlike_any() -> None:
    test = compare([checks(3, 1, 5), checks(None, 2, 2)])

    assert test is not None
    assert test.distance == pytest.approx((0.5 + 1) / 2)
    assert test.floor == pytest.approx((1 + 0) / 2)


def test_one_check_alone_or_nothing_in_common_is_compared_with_nothing() -> None:
    assert compare([]) is None
    assert compare([checks("yes")]) is None
    assert compare([[{}, {}]]) is None


def test_judges_that_only_waver_are_seldom_said_to_have_moved() -> None:
    """3 texts × 14 questions, ten checks before; a level of .05 is looked at, since .001 needs many more studies."""
    rng = np.random.default_rng(1)
    n_below = 0
    for _study in range(200):
        chances = rng.beta(0.5, 0.5, size=42)
        said = rng.random((11, 42)) < chances
        test = compare([[{"q": bool(said[n, call])} for n in range(11)] for call in range(42)], _study)
        assert test is not None
        n_below += test.p < 0.05

    assert n_below <= 19, "expected 10 or fewer, standard error 3.1"


def test_a_steady_judge_that_now_says_yes_to_half_of_its_noes_has_moved() -> None:
    rng = np.random.default_rng(2)
    n_moved = 0
    for _study in range(40):
        chances = rng.beta(0.1, 0.1, size=42)
        said = rng.random((11, 42)) < chances
        said[0] |= rng.random(42) < 0.5
        test = compare([[{"q": bool(said[n, call])} for n in range(11)] for call in range(42)], _study)
        n_moved += test is not None and test.p < 0.001

    assert n_moved >= 36
