"""Whether a study is large enough: by the share of simulated studies that find the difference, and what raises it."""

from typing import Any

import pytest

from annotation.design import study_size
from annotation.design.planned_outcomes import PlannedOutcome
from studies.models import StudyJob

OUTCOME = PlannedOutcome(key="o1", title="Tests", kind="scale", unit="percent", typical="verdicts")


def contrasts(
    power: float | None, width: float | None = 10.0, *, n_studies: int = 200, why: str = ""
) -> dict[str, Any]:
    return {"power": power, "other_raters": width, "n_studies": n_studies, "why": why, "least_p": 0.0}


def describe(planned: dict[str, Any], groups: dict[str, Any], raters: dict[str, Any]) -> study_size.StudySize:
    row = {"key": "o1", "effect": 15.0, "contrasts": planned, "larger": {"groups": groups, "raters": raters}}
    simulated = {"rows": [row], "n_groups": 8, "seats_per_group": 3, "same_raters": True}
    size = study_size.describe_size(StudyJob(outcome=simulated), [OUTCOME])
    assert size is not None
    return size


def test_a_study_that_finds_its_difference_four_times_in_five_is_large_enough() -> None:
    enough, small = (describe(contrasts(power), contrasts(0.95), contrasts(0.85)).is_enough for power in (0.80, 0.795))

    assert (enough, small) == (True, False)


@pytest.mark.parametrize(
    ("groups", "raters", "advice"),
    [
        (contrasts(0.95), contrasts(0.6), "More groups would help most."),
        (contrasts(0.6), contrasts(0.95), "More raters would help most."),
        # Shares that chance may tell apart: the narrower interval.
        (contrasts(0.9, 7.0), contrasts(0.91, 9.0), "More groups would help most."),
        (contrasts(0.9, 7.0), contrasts(0.91, 7.2), "More groups and more raters would help about as much."),
        (contrasts(0.6), contrasts(0.3), "More groups help most, but twice as many are not enough."),
        (contrasts(0.3), contrasts(0.6), "More raters help most, but twice as many are not enough."),
        (contrasts(None), contrasts(0.6), ""),
    ],
)
def test_what_would_help_most_is_what_finds_the_difference_more_often(
    groups: dict[str, Any], raters: dict[str, Any], advice: str
) -> None:
    assert describe(contrasts(0.4), groups, raters).advice == advice


def test_the_plan_stands_beside_twice_as_many_groups_and_twice_as_many_raters() -> None:
    size = describe(contrasts(0.4, 12.0), contrasts(0.7, 8.0), contrasts(0.5, 11.0))

    assert [(plan.label, plan.power, plan.width) for plan in size.plans] == [
        ("As planned: 8 groups, 3 raters for each", "40 %", "± 12 points"),
        ("16 groups, read by the same people", "70 %", "± 8 points"),
        ("6 raters for each group", "50 %", "± 11 points"),
    ]


def test_where_nothing_is_compared_it_says_why_and_advises_nothing() -> None:
    size = describe(contrasts(None, None, why="one_source"), contrasts(None), contrasts(None))

    assert (size.is_enough, size.advice, size.plans) == (None, "", [])
    assert size.finding == "No two sources are known, so there is nothing to compare."


def test_a_result_of_another_version_is_not_read() -> None:
    job = StudyJob(outcome={"rows": [{"key": "o1"}], "n_readings": 3})

    assert study_size.describe_size(job, [OUTCOME]) is None


def test_a_plan_too_large_to_simulate_a_larger_one_stands_alone() -> None:
    row = {"key": "o1", "effect": 15.0, "contrasts": contrasts(0.9)}
    simulated = {"rows": [row], "n_groups": 600, "seats_per_group": 9, "same_raters": False}

    size = study_size.describe_size(StudyJob(outcome=simulated), [OUTCOME])

    assert size is not None
    assert (size.is_enough, size.advice, len(size.plans)) == (True, "", 1)


def test_too_few_simulated_studies_say_nothing_that_chance_may_say() -> None:
    of_two, of_five = (
        describe(contrasts(power, n_studies=n), contrasts(1.0), contrasts(1.0)) for power, n in ((1.0, 2), (0.0, 5))
    )

    assert (of_two.is_enough, of_two.advice) == (None, "")
    assert "2 of 2 simulated studies" in of_two.finding
    assert of_five.is_enough is False
