"""Calls without a usable answer are asked once more, and no oftener."""

import pytest

from annotation.models import Assignment
from judges import catalogue, runs
from judges.models import Call, Run
from judges.planning import CannotRun
from judges.runs import retries
from judges.settlement import attempts
from studies.models import Study
from tests.judges import standin as told
from tests.judges.conftest import answers, assert_everything_ended_once, judge_at, probed, started
from tests.judges.standin import StandIn

pytestmark = pytest.mark.django_db


def test_a_finished_run_asks_again_what_was_cut_off_and_comes_to_its_end_anew(study: Study, standin: StandIn) -> None:
    standin.script = [told.TRUNCATED] * 3
    run = runs.drain(started(study, judge_at(standin, n_at_once=1)))
    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 5, "truncated": 3})
    receipt = Assignment.objects.get().receipt

    n = runs.retry(run)

    assert (n, run.state, run.finished_at) == (3, Run.State.RUNNING, None)
    run = runs.drain(run)
    assert (run.state, runs.count_calls(run), answers(run)) == (Run.State.FINISHED, {"ok": 8}, {"yes": 8})
    assert len(standin.hits) == 11
    assignment = Assignment.objects.get()
    assert assignment.status == Assignment.Status.SUBMITTED
    assert assignment.receipt != receipt


@pytest.mark.parametrize("reply", [told.REFUSED, told.BLOCKED, told.PROSE])
def test_what_was_declined_or_asked_twice_is_not_asked_again(study: Study, standin: StandIn, reply: told.Reply) -> None:
    standin.reply = lambda hit: reply
    run = runs.drain(probed(started(study, judge_at(standin))))
    n_hits = len(standin.hits)

    with pytest.raises(CannotRun, match=retries.NO_CALLS.removeprefix("%(run)s ")):
        runs.retry(run)

    run.refresh_from_db()
    assert (run.state, len(standin.hits)) == (Run.State.FINISHED, n_hits)


def test_what_was_erased_is_never_sent_again(study: Study, standin: StandIn) -> None:
    standin.reply = lambda hit: told.TRUNCATED
    run = runs.drain(started(study, judge_at(standin)))
    run.calls.update(request={}, request_sha256="")

    with pytest.raises(CannotRun):
        runs.retry(run)


def test_a_retry_beside_an_unfinished_run_of_the_judge_is_refused(study: Study, standin: StandIn) -> None:
    standin.reply = lambda hit: told.TRUNCATED
    judge = judge_at(standin)
    run = runs.drain(started(study, judge))
    runs.plan(study, judge, by="tests", scope=runs.Scope(n_repeats=2))

    with pytest.raises(CannotRun, match="unfinished run"):
        runs.retry(run)
    assert runs.count_calls(run) == {"truncated": 8}
    assert Assignment.objects.filter(status=Assignment.Status.OPEN).count() == 1


def test_calls_without_a_reply_and_calls_never_sent_are_asked_in_a_closed_run(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))
    first = run.calls.first()
    assert first is not None
    attempts.begin([first], worker="", probes=(), shares={}, at=run.created_at)
    attempts.release(attempts.in_flight_of(""))
    runs.close(run, at=run.created_at)
    assert runs.count_calls(run) == {"provider_error": 1, "not_asked": 7}

    assert runs.retry(run) == 8

    assert runs.count_calls(runs.drain(run)) == {"ok": 8}
    assert_everything_ended_once(run)


def test_a_metric_is_not_asked_again(study: Study) -> None:
    run = runs.drain(runs.start(study, catalogue.make_metric_judge("length"), by="tests"))
    Call.objects.update(state="out_of_range")

    with pytest.raises(CannotRun, match=retries.NO_CALLS.removeprefix("%(run)s ")):
        runs.retry(run)
