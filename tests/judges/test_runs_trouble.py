"""A provider that fails, is away or slow: what is tried again, what stops a run, and what is never doubled."""

from collections import Counter
from datetime import timedelta

import pytest

from annotation.models import Assignment
from judges import attempts, runs
from judges.models import Attempt, Call, Run
from studies.models import Study
from tests import factories
from tests.judges import standin as told
from tests.judges.conftest import answers, assert_everything_ended_once, judge_at, started
from tests.judges.standin import Reply, StandIn

pytestmark = pytest.mark.django_db


def test_a_call_that_failed_for_a_moment_is_tried_again(study: Study, standin: StandIn) -> None:
    standin.script = [told.ERROR, told.BUSY, told.GARBAGE, told.NO]

    run = runs.drain(started(study, judge_at(standin, n_at_once=1)))

    assert runs.count_calls(run) == {"ok": 8}
    assert answers(run) == {"yes": 7, "no": 1}
    assert len(standin.hits) == 11
    assert Counter(Attempt.objects.values_list("outcome", flat=True)) == {"failed": 3, "answered": 8}
    assert_everything_ended_once(run)


def test_a_call_that_keeps_failing_stops_the_run_and_has_fresh_tries_when_it_is_resumed(
    study: Study, standin: StandIn
) -> None:
    run = started(study, judge_at(standin))
    bad = run.calls.last()
    assert bad is not None
    standin.reply = lambda hit: told.ERROR if hit.body["messages"] == bad.request["messages"] else told.YES

    run = runs.drain(run)

    assert run.state == Run.State.STOPPED
    assert run.note == 'calls without an answer after 6 tries: 1, such as: HTTP 500: {"error": {"message": "boom"}}'
    assert runs.count_calls(run) == {"ok": 7, "provider_error": 1}
    assert bad.attempts.count() == attempts.N_TRIES
    assert answers(run) == {"yes": 7}
    assert {a.status for a in Assignment.objects.all()} == {Assignment.Status.OPEN}
    assert_everything_ended_once(run)

    standin.script = [told.ERROR] * (attempts.N_TRIES - 1)
    standin.reply = lambda hit: told.NO
    run = runs.drain(runs.resume(run))

    assert (run.state, run.note, runs.count_calls(run)) == (Run.State.FINISHED, "", {"ok": 8})
    assert answers(run) == {"yes": 7, "no": 1}
    assert {a.status for a in Assignment.objects.all()} == {Assignment.Status.SUBMITTED}
    assert_everything_ended_once(run)


def test_an_outage_that_every_call_meets_leaves_nothing_submitted_and_a_way_back(standin: StandIn) -> None:
    study = factories.study(n_stories=1, comparative=False)  # two calls: too few to be taken for an outage on the way
    standin.reply = lambda hit: Reply("{}", status=503)

    run = runs.drain(started(study, judge_at(standin)))

    assert (run.state, runs.count_calls(run)) == (Run.State.STOPPED, {"provider_error": 2})
    assert Assignment.objects.get().status == Assignment.Status.OPEN

    standin.reply = lambda hit: told.YES
    run = runs.drain(runs.resume(run))

    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 2})


def test_a_request_that_is_wrong_in_itself_is_not_tried_again_and_holds_nothing_up(
    study: Study, standin: StandIn
) -> None:
    standin.reply = lambda hit: told.TOO_LONG
    run = started(study, judge_at(standin))
    # That it failed in passing before makes it no less wrong.
    run.calls.update(n_failures=attempts.N_TRIES - 1)

    run = runs.drain(run)

    assert run.state == Run.State.FINISHED
    assert runs.count_calls(run) == {"provider_error": 8}
    assert len(standin.hits) == 8
    assert answers(run) == {}


def test_a_wrong_key_stops_the_run_after_three_calls_and_it_can_be_resumed(study: Study, standin: StandIn) -> None:
    standin.reply = lambda hit: told.NO_KEY

    run = runs.drain(started(study, judge_at(standin, n_at_once=1)))

    assert run.state == Run.State.STOPPED
    assert "HTTP 401" in run.note
    assert len(standin.hits) == 3
    assert runs.count_calls(run) == {"planned": 8}

    standin.reply = lambda hit: told.YES
    run = runs.drain(runs.resume(run))

    assert (run.state, run.note, runs.count_calls(run)) == (Run.State.FINISHED, "", {"ok": 8})
    assert_everything_ended_once(run)


def test_an_outage_stops_the_run_before_it_burns_every_call(standin: StandIn) -> None:
    study = factories.study(n_groups=6, comparative=False)
    standin.reply = lambda hit: told.ERROR

    run = runs.drain(started(study, judge_at(standin)))

    assert run.state == Run.State.STOPPED
    assert runs.count_calls(run) == {"planned": 48}
    assert len(standin.hits) == runs.N_FAILED_IN_A_ROW


def test_a_wait_that_the_provider_asks_for_is_kept(study: Study, standin: StandIn) -> None:
    standin.script = [Reply("{}", status=429, headers={"Retry-After": "30"})]
    run = started(study, judge_at(standin, n_at_once=1))

    def enough(seconds: float) -> None:
        """A worker sleeps once there is nothing else to do."""
        runs.stop(run, "enough")

    runs.drain(run, sleep=enough)

    waiting = run.calls.get(state=Call.State.PLANNED)
    failed = waiting.attempts.get()
    assert waiting.not_before == failed.ended_at + timedelta(seconds=30)
    assert runs.count_calls(run) == {"planned": 1, "ok": 7}
