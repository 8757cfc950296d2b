"""A metric's run: rows as ever, responses by the function of everybody, and nothing that a rater could meet."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation import responses
from annotation.design import launches
from annotation.models import Assignment, Response
from annotation.responses import history, verification
from judges import catalogue, metrics, planning, runs, tasks
from judges.metrics.length import Length
from judges.models import Attempt, Call, Judge, Run
from judges.planning import CannotRun
from judges.runs import measurements
from reports import results
from reports.export import long_table
from studies import hashing, loader, protocol
from studies.documents.instrument import ItemDocument
from studies.models import Instrument, Item, Step, Story, StoryGroup, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.judges.runs.test_run_judges import run_judges

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """Four stories of nine words and three paragraphs, in one group."""
    return factories.study()


def measured(study: Study) -> Run:
    return runs.drain(runs.start(study, catalogue.make_metric_judge("length"), by="tests"))


def values(study: Study) -> dict[str, dict[str, Any]]:
    """Value by item, by story."""
    of_metrics = Response.objects.filter(assignment__study=study, assignment__rater__kind="metric")
    by_story: dict[str, dict[str, Any]] = {}
    for story, item, value in of_metrics.order_by("story__code").values_list("story__code", "item__key", "value"):
        by_story.setdefault(story, {})[item] = value
    return by_story


def withhold(*codes: str) -> None:
    Story.objects.filter(code__in=codes).update(is_withheld=True, text="")


def test_every_story_is_measured_and_recorded_with_its_history(study: Study) -> None:
    run = measured(study)

    nine = {"words": 8, "sentences": 3, "paragraphs": 3}
    assert values(study) == {f"p1s{n}": nine for n in range(1, 5)}
    assert (run.state, run.n_planned, runs.count_calls(run)) == (Run.State.FINISHED, 4, {"ok": 4})
    for response in Response.objects.all():
        events = list(response.events.all())
        assert len(events) == 1
        assert history.faults(response, events) == []
    assert verification.verify(study).faults == []


def test_its_rater_seat_and_assignment_are_a_metrics(study: Study) -> None:
    measured(study)

    assignment = Assignment.objects.get(rater__code="length-2")
    assert (assignment.rater.kind, assignment.rater_kind, assignment.seat.rater_kind) == ("metric",) * 3
    assert (assignment.rater.is_simulated, assignment.status) == (False, "submitted")
    assert assignment.receipt
    assert study.seats.filter(rater_kind="person").count() == 3


def test_each_call_keeps_what_was_measured_and_what_came_out(study: Study) -> None:
    measured(study)

    call = Call.objects.get(story__code="p1s1")
    assert call.request == {"metric": "length", "version": "2", "sha256": call.story.sha256}
    assert json.loads(call.attempts.get().body) == {"words": 8, "sentences": 3, "paragraphs": 3}
    assert call.item is None
    assert set(Attempt.objects.values_list("outcome", "status")) == {("answered", None)}, "nothing was sent"


def test_nothing_reaches_for_the_network(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("a metric connects to nothing")

    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)
    monkeypatch.setattr("judges.endpoints.connections.connect", refuse)

    assert measured(study).state == Run.State.FINISHED


def test_a_story_of_two_groups_is_measured_in_both(study: Study) -> None:
    with triggers.lifted():
        group = StoryGroup.objects.create(study=study, code="again")
        group.stories.set(Story.objects.filter(code__in=["p1s1", "p1s2"]))

    run = measured(study)

    assert run.n_planned == 6
    assert Response.objects.filter(story__code="p1s1", item__key="words").count() == 2


def test_the_command_measures_at_once_and_says_so(study: Study) -> None:
    assert run_judges("plums", "--metric", "length") == ("length-2 in plums: finished. 4 of 4 stories measured: 4 ok\n")


def test_the_command_changes_nothing_a_second_time(study: Study) -> None:
    run_judges("plums", "--metric", "length")
    before = list(Response.objects.order_by("pk").values())

    again = run_judges("plums", "--metric", "length")

    assert again == "length-2 in plums: finished already. 4 of 4 stories measured: 4 ok\n"
    assert list(Response.objects.order_by("pk").values()) == before
    assert (Run.objects.count(), Judge.objects.count(), Instrument.objects.filter(slug="metric-length").count()) == (
        1,
        1,
        1,
    )
    assert Step.objects.filter(kind="metric").count() == 1


def test_withheld_stories_are_left_out_counted_and_named(study: Study) -> None:
    withhold("p1s2", "p1s4")

    output = run_judges("plums", "--metric", "length")

    assert "2 stories are withheld and were left out: p1s2, p1s4\n" in output
    assert output.endswith("2 of 2 stories measured: 2 ok\n")
    assert set(values(study)) == {"p1s1", "p1s3"}
    assert json.loads(Run.objects.get().document)["withheld"] == ["p1s2", "p1s4"]


def test_a_study_whose_stories_are_all_withheld_is_refused_and_nothing_is_written(study: Study) -> None:
    withhold("p1s1", "p1s2", "p1s3", "p1s4")

    with pytest.raises(CommandError, match="plums: there is no story to measure"):
        run_judges("plums", "--metric", "length")
    assert not Step.objects.filter(kind="metric").exists()
    assert not Run.objects.exists()


def test_a_draft_is_refused_and_nothing_is_written() -> None:
    factories.study(planned=False)

    with pytest.raises(CommandError, match="no protocol is frozen yet"):
        run_judges("plums", "--metric", "length")
    assert not Instrument.objects.filter(slug="metric-length").exists()


def test_an_unknown_metric_is_refused_with_those_there_are(study: Study) -> None:
    with pytest.raises(CommandError, match=r"“width”.*: .*length"):
        run_judges("plums", "--metric", "width")


@pytest.mark.parametrize("arguments", [[], ["--judge", "stub", "--metric", "length"]])
def test_the_command_takes_a_judge_or_a_metric(study: Study, arguments: list[str]) -> None:
    with pytest.raises(CommandError, match=r"--judge|--metric"):
        call_command("run_judges", "plums", *arguments)


def test_workers_do_the_same(study: Study) -> None:
    run = runs.start(study, catalogue.make_metric_judge("length"), by="tests")

    tasks.measure(run.pk)

    run.refresh_from_db()
    assert run.state == Run.State.FINISHED
    assert len(values(study)) == 4


def test_a_second_worker_records_nothing_again(study: Study) -> None:
    run = runs.start(study, catalogue.make_metric_judge("length"), by="tests")
    call = run.calls.select_related("assignment__seat", "step", "story").order_by("pk").first()
    assert call is not None
    items = list(Item.objects.filter(instrument__slug="metric-length"))
    value_by_item = {"words": 1, "sentences": 1, "paragraphs": 1}

    first = measurements.commit_call(call, value_by_item, items, at=NOON)
    again = measurements.commit_call(call, dict.fromkeys(value_by_item, 2), items, at=NOON)

    assert (first, again) == (True, False)
    assert set(Response.objects.values_list("value", "revision")) == {(1, 1)}


def measuring(monkeypatch: pytest.MonkeyPatch, function: Callable[[str], Mapping[str, float]]) -> None:
    monkeypatch.setattr(Length, "measure", lambda self, text: function(text))


def test_a_value_that_the_item_does_not_allow_is_unreadable_and_no_number(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    measuring(monkeypatch, lambda text: {"words": -1, "sentences": 2, "paragraphs": float("nan")})

    run = measured(study)

    assert runs.count_calls(run) == {"out_of_range": 4}
    assert values(study)["p1s1"] == {"words": None, "sentences": 2, "paragraphs": None}
    assert set(Response.objects.filter(value__isnull=True).values_list("outcome", flat=True)) == {"unreadable"}
    assert "words: Please give a whole number of at least 0." in Call.objects.all()[0].reason


def test_a_metric_that_fails_stops_the_run_and_it_goes_on_once_mended(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        measuring(patch, lambda text: {"words": 1 / 0})
        with pytest.raises(CommandError, match=r"story p1s1: length failed with ZeroDivisionError.*goes on from here"):
            run_judges("plums", "--metric", "length")
        assert not Response.objects.exists()

    assert run_judges("plums", "--metric", "length").endswith("4 of 4 stories measured: 4 ok\n")


def test_a_text_that_changed_since_is_not_measured(study: Study) -> None:
    run = runs.start(study, catalogue.make_metric_judge("length"), by="tests")
    story = Story.objects.get(code="p1s1")
    story.text += " More."
    with triggers.lifted():
        story.save()

    run = runs.drain(run)

    assert (run.state, run.note) == (
        Run.State.STOPPED,
        "story p1s1: its text has changed since the run was planned",
    )


def test_an_assignment_that_was_closed_meanwhile_gets_no_value(study: Study) -> None:
    run = runs.start(study, catalogue.make_metric_judge("length"), by="tests")
    Assignment.objects.update(status="given_up")

    run = runs.drain(run)

    assert run.state == Run.State.STOPPED
    assert responses.ENDED in run.note
    assert runs.count_calls(run) == {"planned": 4}


def test_a_judge_of_an_older_version_is_refused(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = catalogue.make_metric_judge("length")
    monkeypatch.setattr(Length, "version", "3")

    with pytest.raises(CannotRun, match="version 2 of length, which is now at 3; make another judge"):
        runs.start(study, judge, by="tests")
    assert catalogue.make_metric_judge("length").slug == "length-3"


def test_a_metric_that_changed_under_its_version_is_refused(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    measured(study)
    item = ItemDocument(key="words", type="number", question="How many words are there?")
    monkeypatch.setattr(Length, "items", (item,))

    with pytest.raises(CannotRun, match="metric-length 2 is published and asks something else"):
        runs.start(factories.study("pears"), catalogue.make_metric_judge("length"), by="tests")


def test_another_study_gets_its_own_step_with_the_same_instrument(study: Study) -> None:
    other = factories.study("pears")

    measured(study)
    measured(other)

    first, second = Step.objects.filter(kind="metric").order_by("pk")
    assert first.instrument == second.instrument == Instrument.objects.get(slug="metric-length")
    assert (first.version.study, second.version.study) == (study, other)


# What it leaves alone.


def test_the_frozen_protocol_keeps_its_hash_and_its_steps(study: Study) -> None:
    version = study.versions.get()
    before = (version.sha256, version.document, [step.key for step in protocol.read_rows(version).steps])

    measured(study)

    version.refresh_from_db()
    document = protocol.write_document(protocol.read_rows(version))
    assert (version.sha256, document, [step.key for step in protocol.read_rows(version).steps]) == before
    assert hashing.sha256(document) == version.sha256


def test_a_study_can_be_launched_after_a_metric_and_not_after_any_other_step() -> None:
    study = factories.study(state=Study.State.DRAFT)
    factories.freeze(study)
    measured(study)
    assert launches.launch_obstacles(study, at=timezone.now()) == []

    with triggers.lifted():
        Step.objects.create(version=study.versions.get(), position=90, key="more", kind="briefing", text="More.")

    assert [finding.sentence for finding in launches.launch_obstacles(study, at=timezone.now())] == [
        "its steps, stories or groups have changed since its protocol was frozen"
    ]


def test_a_model_is_not_asked_what_a_metric_measures(study: Study) -> None:
    judge = catalogue.make_stub_judge()
    before = planning.plan_run(study, judge)

    measured(study)

    after = planning.plan_run(study, judge)
    assert (after.n_calls, after.document) == (before.n_calls, before.document)


def test_a_step_is_added_to_a_frozen_version_alone() -> None:
    study = factories.study(planned=False)
    instrument = loader.load_instrument(metrics.find_metric("length").instrument)

    with pytest.raises(protocol.NotPlannable, match="not frozen yet"):
        protocol.add_metric_step(study.versions.get(), instrument, key="metric-length-2")

    factories.plan(study)
    version = study.versions.get()
    step = protocol.add_metric_step(version, instrument, key="metric-length-2")
    assert protocol.add_metric_step(version, instrument, key="metric-length-2") == step
    assert (step.scope, step.locks, step.layout, step.revises) == ("", False, "", "")


def test_a_step_holds_numbers_of_a_published_instrument(study: Study) -> None:
    version = study.versions.get()
    verdicts = version.steps.get(key="tests").instrument
    draft = Instrument.objects.create(slug="draft", version="1", title="Draft")

    for instrument in (verdicts, draft):
        with pytest.raises(protocol.NotPlannable, match="not a published instrument of numbers"):
            protocol.add_metric_step(version, instrument, key="metric-x")


def test_a_key_of_the_protocol_is_not_taken_over(study: Study) -> None:
    instrument = loader.load_instrument(metrics.find_metric("length").instrument)

    with pytest.raises(protocol.NotPlannable, match="another step called tests"):
        protocol.add_metric_step(study.versions.get(), instrument, key="tests")


# What is read of it.


def test_the_long_file_has_its_rows(study: Study) -> None:
    factories.answer_all(factories.assignment(study))
    measured(study)

    rows = [row for row in long_table.rows(study, with_sources=False) if row["rater_kind"] == "metric"]

    assert len(rows) == 12
    first = next(row for row in rows if (row["story"], row["item"]) == ("p1s1", "words"))
    assert (first["rater"], first["step"], first["instrument"], first["value"], first["analysed"]) == (
        "length-2",
        "metric-length-2",
        "metric-length",
        8,
        8.0,
    )


def computed(study: Study) -> tuple[dict[str, Any], dict[str, Any]]:
    """The results of a closed study before a metric has run and after."""
    factories.answer_all(factories.assignment(study))
    Assignment.objects.update(status="submitted")
    runs.drain(runs.start(study, catalogue.make_stub_judge(), by="tests"))
    Study.objects.filter(pk=study.pk).update(state=Study.State.CLOSED)
    study.refresh_from_db()
    before = results.compute(study)
    measured(study)
    return before, results.compute(study)


def test_a_report_counts_it_neither_as_a_person_nor_as_a_model(study: Study) -> None:
    before, after = computed(study)

    for document in (before, after):
        of_judges = document["progress"]["judges"]
        document["progress"]["judges"] = [row for row in of_judges if row["kind"] != "metric"]
        # What it measured stands in a figure of its own, and the table of judges beside people is the next test's.
        del document["judges"], document["measures"], document["measures_beside_people"]
    assert after == before


def test_a_report_does_not_compare_it_with_peoples_verdicts(study: Study) -> None:
    before, after = computed(study)

    assert after["judges"] == before["judges"]
