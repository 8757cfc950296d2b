"""Workers that share a run, die, come late or are told twice: every call ends once."""

import threading
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from judges import attempts, catalogue, runs
from judges.models import Attempt, Call, Endpoint, Run
from judges.providers import Completion
from studies.models import Study
from tests import factories
from tests.judges import standin as told
from tests.judges.conftest import KEY, answers, assert_everything_ended_once, judge_at, started
from tests.judges.standin import Hit, Reply, StandIn

pytestmark = pytest.mark.django_db


def test_a_message_that_comes_twice_doubles_nothing(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))

    first = runs.drain(run)
    again = runs.drain(run)

    assert (first.state, again.state) == (Run.State.FINISHED, Run.State.FINISHED)
    assert first.finished_at == again.finished_at
    assert len(standin.hits) == 8
    assert_everything_ended_once(run)


def test_workers_at_one_run_share_the_calls_and_double_none(committed: None, standin: StandIn) -> None:
    study = factories.study(n_groups=4, comparative=False)
    standin.reply = lambda hit: Reply(told.YES.body, delay=0.1)
    run = started(study, judge_at(standin))
    failures: list[BaseException] = []

    def work() -> None:
        try:
            runs.drain(Run.objects.get(pk=run.pk))
        except BaseException as error:
            failures.append(error)
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    run.refresh_from_db()
    assert failures == []
    assert run.state == Run.State.FINISHED
    assert len(standin.hits) == run.n_planned == 32
    assert standin.most_at_once > 2
    assert_everything_ended_once(run)


class Killed(BaseException):
    """What a worker feels of kill -9: nothing after it is done."""


@pytest.mark.parametrize("n_answers", [0, 1, 3, 7])
def test_a_run_goes_on_where_its_worker_died(
    study: Study, standin: StandIn, monkeypatch: pytest.MonkeyPatch, n_answers: int
) -> None:
    run = started(study, judge_at(standin))
    settle, settled = attempts.commit_attempt, []

    def dying(*args: Any, **kwargs: Any) -> bool:
        if len(settled) == n_answers:
            raise Killed
        settled.append(args)
        return settle(*args, **kwargs)

    monkeypatch.setattr(attempts, "commit_attempt", dying)
    with pytest.raises(Killed):
        runs.drain(run)
    monkeypatch.undo()
    monkeypatch.setenv("STANDIN_API_KEY", KEY)
    n_sent = len(standin.hits)
    n_in_flight = runs.count_calls(run)["leased"]

    # A worker that comes too early leaves alone what may still be on its way.
    assert attempts.release_leases(at=timezone.now()) == 0
    # Then the leases run out.
    Call.objects.filter(state=Call.State.LEASED).update(lease_until=timezone.now() - timedelta(seconds=1))
    run = runs.drain(run)

    assert run.state == Run.State.FINISHED
    assert runs.count_calls(run) == {"ok": 8}
    assert answers(run) == {"yes": 8}
    assert_everything_ended_once(run)
    assert 1 <= n_in_flight <= 2
    assert len(standin.hits) == 8 + n_in_flight
    assert n_sent == n_answers + n_in_flight
    assert Counter(Attempt.objects.values_list("outcome", flat=True)) == {
        "answered": 8,
        "unknown_outcome": n_in_flight,
    }


def test_an_answer_that_comes_after_its_lease_changes_nothing(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))
    now = timezone.now()
    slow = attempts.lease_calls(run, n=1, at=now)[0]
    later = now + timedelta(hours=1)
    assert attempts.release_leases(at=later) == 1

    no = Completion('{"answer": "no"}', "stop", n_tokens_in=None, n_tokens_out=None, raw="{}")
    is_ours = attempts.commit_attempt(slow, no, protocol="reasoning_first", at=later)
    run = runs.drain(run, clock=lambda: timezone.now() + timedelta(hours=1))

    slow.refresh_from_db()
    assert not is_ours
    assert slow.outcome == Attempt.Outcome.LATE
    assert answers(run) == {"yes": 8}
    assert_everything_ended_once(run)


def test_a_call_that_kills_its_worker_each_time_is_given_up(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))
    now = timezone.now()

    for _ in range(attempts.N_TRIES):
        now += timedelta(hours=1)
        (attempt,) = attempts.lease_calls(run, n=1, at=now)
        now += timedelta(hours=1)
        attempts.release_leases(at=now)
        run.calls.exclude(pk=attempt.call.pk).update(not_before=now + timedelta(days=365))

    poison = run.calls.get(pk=attempt.call.pk)
    assert poison.state == Call.State.PROVIDER_ERROR
    assert runs.resume(run).calls.get(pk=poison.pk).state == Call.State.PLANNED
    assert poison.attempts.count() == attempts.N_TRIES
    assert set(poison.attempts.values_list("outcome", flat=True)) == {"unknown_outcome"}


def test_the_attempt_is_committed_before_it_is_sent(committed: None, standin: StandIn) -> None:
    study = factories.study(comparative=False)
    run = started(study, judge_at(standin))
    seen: list[tuple[str, int]] = []

    def look(hit: Hit) -> Reply:
        # Another connection: it sees only what is committed.
        call = next(c for c in Call.objects.filter(run=run) if c.request["messages"] == hit.body["messages"])
        seen.append((call.state, call.attempts.filter(outcome="").count()))
        connection.close()
        return told.YES

    standin.reply = look
    runs.drain(run)

    assert seen == [("leased", 1)] * 8


def test_the_sweep_queues_what_nobody_has_in_hand(study: Study, queued: list[int]) -> None:
    run = runs.start(study, catalogue.make_stub_judge(), by="tests")
    now = timezone.now()

    first = runs.sweep(at=now)
    at_once = runs.sweep(at=now)
    later = runs.sweep(at=now + timedelta(minutes=5))

    assert (first, at_once, later) == ([run], [], [run])
    assert queued == [run.pk] * 2


def test_the_sweep_leaves_stopped_and_finished_runs_alone(study: Study, queued: list[int]) -> None:
    stopped = runs.stop(runs.start(study, catalogue.make_stub_judge(), by="tests"), "because")
    finished = runs.drain(runs.start(study, catalogue.make_stub_judge("stub-2"), by="tests"))

    assert runs.sweep(at=timezone.now() + timedelta(hours=1)) == []
    assert (stopped.state, finished.state, queued) == (Run.State.STOPPED, Run.State.FINISHED, [])


def test_a_broker_that_is_away_loses_nothing(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(name: str, args: list[int]) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr(runs.current_app, "send_task", away)
    run = runs.start(study, catalogue.make_stub_judge(), by="tests")

    runs.queue(run)

    assert runs.drain(run).state == Run.State.FINISHED


def test_a_worker_gives_way_after_its_turn(study: Study) -> None:
    run = runs.start(study, catalogue.make_stub_judge(), by="tests")
    Endpoint.objects.update(n_at_once=1)
    ticks = (timezone.now() + timedelta(seconds=n) for n in range(100))

    run = runs.drain(Run.objects.get(pk=run.pk), seconds=6, clock=lambda: next(ticks))

    # Two looks at the clock for every call, one before and one after.
    assert run.state == Run.State.RUNNING
    assert runs.count_calls(run) == {"planned": 5, "ok": 3}
    assert run.busy_until is None
