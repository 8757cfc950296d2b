"""A judge in a study a second time: what it has not been asked yet, and nothing twice."""

from collections import Counter

import pytest

from annotation.models import Assignment, Response
from judges import catalogue, planning, runs
from judges.models import Run
from judges.planning import CannotRun, Scope, metric_plans, readings
from judges.planning.extensions import NothingToAsk
from studies.models import Story, Study
from tests import factories, triggers

pytestmark = pytest.mark.django_db


def judged(study: Study, **scope: object) -> Run:
    """A finished run of the stub with that scope."""
    return runs.drain(runs.start(study, catalogue.make_stub_judge(), by="tests", scope=Scope(**scope)))  # type: ignore[arg-type]


def asked_codes(run: Run) -> Counter[str]:
    return Counter(call.story.code if call.story else "group" for call in run.calls.select_related("story"))


def test_a_second_run_reads_the_stories_that_the_first_did_not(study: Study) -> None:
    first = judged(study, selection=("p1s1", "p1s2"))

    second = judged(study)

    assert asked_codes(first) == {"p1s1": 2, "p1s2": 2}
    assert asked_codes(second) == {"p1s3": 2, "p1s4": 2}
    assert sorted(second.readings.get().assignment.seat.order) == ["p1s3", "p1s4"]
    assert second.frozen["continues"] == [first.sha256]
    assert study.raters.get().assignments.count() == 2
    assert Response.objects.count() == 8
    assert Counter(Assignment.objects.values_list("status", flat=True)) == {"submitted": 2}


def test_what_is_asked_of_a_whole_group_is_asked_once_all_of_it_is_read() -> None:
    study = factories.study(n_stories=2, n_items=1)
    judged(study, selection=("p1s1",))

    second = judged(study)

    # The other story with a test and a guess, and the ranking of both.
    assert asked_codes(second) == {"p1s2": 2, "group": 1}
    assert sorted(second.readings.get().assignment.seat.order) == ["p1s1", "p1s2"]


def test_nothing_is_asked_twice_and_the_refusal_says_what_could_be(study: Study) -> None:
    judged(study)

    with pytest.raises(NothingToAsk, match="asked all of this in plums; ask for more stories, orders or repeats"):
        judged(study)
    assert Run.objects.count() == 1


def test_more_readings_get_the_next_numbers_and_the_first_still_counts(study: Study) -> None:
    first = judged(study)

    second = judged(study, n_repeats=3)
    third = judged(study, n_repeats=3, orders=("planned", "reversed"))

    assert [reading.repeat for reading in second.readings.order_by("pk")] == [2, 3]
    assert [(reading.order, reading.repeat) for reading in third.readings.order_by("pk")] == [
        ("reversed", 1),
        ("reversed", 2),
        ("reversed", 3),
    ]
    assert readings.primary_assignments(study) == {first.readings.get().assignment_id}


def test_a_run_in_the_other_order_alone_makes_the_reading_that_counts_too(study: Study) -> None:
    run = judged(study, orders=("reversed",))

    assert [reading.order for reading in run.readings.order_by("pk")] == ["planned", "reversed"]
    assert run.orders == ["planned", "reversed"]
    assert readings.primary_assignments(study) == {run.readings.get(order="planned").assignment_id}


def test_a_judge_that_has_read_everything_can_still_be_asked_what_it_knows_once(study: Study) -> None:
    judged(study)

    second = judged(study, probes=True)

    assert Counter(second.calls.values_list("kind", flat=True)) == {"probe": 4}
    assert (second.state, second.n_planned, second.readings.count()) == ("finished", 4, 0)
    assert second.estimate["n_calls"] == 4
    with pytest.raises(NothingToAsk):
        judged(study, probes=True)
    assert Counter(judged(study, probes=True, anchors=True).calls.values_list("kind", flat=True)) == {"test": 6}


def test_a_metric_measures_the_stories_that_have_come_since(study: Study) -> None:
    judge = catalogue.make_metric_judge("length")
    with triggers.lifted():
        Story.objects.filter(code="p1s4").update(is_withheld=True, text="")
    runs.drain(runs.start(study, judge, by="tests"))
    with triggers.lifted():
        Story.objects.filter(code="p1s4").update(is_withheld=False, text="It came later.")

    second = runs.drain(runs.start(study, judge, by="tests"))

    assert asked_codes(second) == {"p1s4": 1}
    with pytest.raises(NothingToAsk):
        runs.start(study, judge, by="tests")
    assert metric_plans.describe_withheld(second.withheld) == ""


def test_calls_that_a_closed_run_left_without_an_answer_are_asked_by_the_next(study: Study) -> None:
    run = runs.start(study, catalogue.make_stub_judge(), by="tests")
    call = run.calls.filter(story__code="p1s1").first()
    assert call is not None
    run.calls.exclude(pk=call.pk).delete()
    runs.close(run, at=run.created_at)

    second = judged(study, selection=("p1s1",))

    assert asked_codes(second) == {"p1s1": 2}


def test_a_rater_that_no_run_of_the_judge_made_is_somebody_else(study: Study) -> None:
    factories.rater(study, "stub")

    with pytest.raises(CannotRun, match="already has a rater called stub"):
        judged(study)


def test_a_plan_of_a_judge_that_never_read_the_study_is_left_as_it_is(study: Study) -> None:
    judge = catalogue.make_stub_judge()
    run = runs.start(study, judge, by="tests")

    assert "continues" not in run.frozen
    assert run.n_planned == planning.plan_run(study, judge).n_calls
