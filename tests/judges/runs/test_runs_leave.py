"""A run that was stopped, or whose leave to send was taken back, sends nothing."""

import pytest

from judges import catalogue, runs
from judges.models import Endpoint, Run
from judges.planning import CannotRun
from judges.planning.plans import NOT_SENDABLE
from judges.workers import jobs
from studies.models import Provenance, Study
from tests import factories
from tests.judges.conftest import judge_at, started
from tests.judges.standin import StandIn

pytestmark = pytest.mark.django_db


def test_a_stopped_run_sends_nothing(study: Study, standin: StandIn) -> None:
    run = runs.stop(started(study, judge_at(standin)), "because")

    run = runs.drain(run)

    assert (run.state, run.note, standin.hits) == (Run.State.STOPPED, "because", [])


def test_a_run_stops_if_its_endpoint_is_no_longer_what_it_was(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))
    Endpoint.objects.update(base_url="https://elsewhere.example/v1")

    run = runs.drain(Run.objects.get(pk=run.pk))

    assert run.state == Run.State.STOPPED
    assert "another address" in run.note
    assert runs.count_calls(run) == {"planned": 8}


def test_a_run_stops_if_its_endpoint_is_no_longer_allowed(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))
    Endpoint.objects.update(is_allowed=False)

    run = runs.drain(Run.objects.get(pk=run.pk))

    assert (run.state, standin.hits) == (Run.State.STOPPED, [])
    assert "not allowed" in run.note


def test_a_run_stops_if_leave_to_send_a_story_out_was_taken_back(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))
    Provenance.objects.filter(story=study.stories.first()).update(may_send_out=False)

    run = runs.drain(run)

    assert (run.state, standin.hits) == (Run.State.STOPPED, [])
    assert run.note == NOT_SENDABLE % {"study": "plums", "n": 1, "codes": "p1s1", "endpoint": run.judge.endpoint.name}
    assert runs.count_calls(run) == {"planned": 8}


def test_a_call_about_a_group_needs_leave_for_each_of_its_stories(standin: StandIn) -> None:
    study = factories.study()
    run = started(study, judge_at(standin))
    run.calls.exclude(story=None).delete()
    assert run.calls.exists()
    Provenance.objects.filter(story=study.stories.first()).update(may_send_out=False)

    run = runs.drain(run)

    assert (run.state, standin.hits) == (Run.State.STOPPED, [])
    assert run.note == NOT_SENDABLE % {"study": "plums", "n": 1, "codes": "p1s1", "endpoint": run.judge.endpoint.name}


def test_a_story_that_has_been_sent_for_the_last_time_needs_leave_no_more(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))
    sent = study.stories.first()
    run.calls.filter(story=sent).delete()
    Provenance.objects.filter(story=sent).update(may_send_out=False)

    assert runs.drain(run).state == Run.State.FINISHED


def test_an_endpoint_of_the_house_and_a_stub_need_no_leave(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))
    stub = runs.start(study, catalogue.make_stub_judge(), by="tests")
    Endpoint.objects.update(is_outside=False)
    Endpoint.objects.filter(adapter="stub").update(is_outside=True)
    Provenance.objects.update(may_send_out=False)

    ended = [runs.drain(Run.objects.get(pk=each.pk)) for each in (run, stub)]

    assert [each.state for each in ended] == [Run.State.FINISHED] * 2


def test_a_finished_run_cannot_be_resumed(study: Study) -> None:
    run = runs.drain(runs.start(study, catalogue.make_stub_judge(), by="tests"))

    with pytest.raises(CannotRun, match="is finished"):
        runs.resume(run)


@pytest.mark.parametrize("what", ["text", "endpoint"])
def test_what_is_taken_back_while_a_worker_is_at_work_is_sent_no_more(
    study: Study, standin: StandIn, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(jobs, "CHECK_SECONDS", 0)
    run = started(study, judge_at(standin, n_at_once=1))

    def take_back(counts: dict[str, int]) -> None:
        if counts.get("ok", 0) < 3:
            return
        if what == "text":
            Provenance.objects.update(may_send_out=False)
        else:
            Endpoint.objects.update(is_allowed=False)

    run = runs.drain(run, tell=take_back)

    assert run.state == Run.State.STOPPED
    assert ("free to be sent" if what == "text" else "not allowed") in run.note
    counts = runs.count_calls(run)
    assert set(counts) == {"ok", "planned"}
    assert counts["ok"] == len(standin.hits) < 8
