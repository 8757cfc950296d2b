"""Workers that share a run, die, come late or are told twice: every call ends once."""

import threading
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pytest
from celery import current_app
from django.db import connection, transaction
from django.utils import timezone

from annotation.models import Assignment
from judges import catalogue, runs, settlement, workers
from judges.endpoints import limits
from judges.models import Attempt, Call, Run, Share
from judges.providers import Completion
from judges.requests import texts
from judges.settlement import Ended, attempts
from judges.workers import worker as loop
from studies.models import Study
from tests import factories
from tests.judges import standin as told
from tests.judges.conftest import answers, assert_everything_ended_once, judge_at, started
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
    assert standin.most_at_once == 2
    assert_everything_ended_once(run)


class Killed(BaseException):
    """What a worker feels of kill -9: nothing after it is done."""


@pytest.mark.parametrize("n_answers", [0, 1, 3, 5])
def test_a_run_goes_on_where_its_worker_died(
    study: Study, standin: StandIn, monkeypatch: pytest.MonkeyPatch, n_answers: int
) -> None:
    run = started(study, judge_at(standin))
    settle, settled = settlement.settle, []

    def dying(ended: Any) -> Any:
        if len(settled) >= n_answers:
            raise Killed
        settled.extend(ended)
        return settle(ended)

    monkeypatch.setattr(settlement, "settle", dying)
    with pytest.raises(Killed):
        runs.drain(run)
    monkeypatch.setattr(settlement, "settle", settle)
    n_in_flight = runs.count_calls(run)["leased"]

    # A worker that comes too early leaves alone what may still be on its way.
    assert attempts.release_expired(at=timezone.now()) == 0
    # Then the leases run out.
    Attempt.objects.filter(outcome="").update(lease_until=timezone.now() - timedelta(seconds=1))
    Share.objects.update(until=timezone.now() - timedelta(seconds=1))
    run = runs.drain(run)

    assert run.state == Run.State.FINISHED
    assert runs.count_calls(run) == {"ok": 8}
    assert answers(run) == {"yes": 8}
    assert_everything_ended_once(run)
    assert 1 <= n_in_flight <= 2
    assert len(standin.hits) <= 8 + n_in_flight
    assert Counter(Attempt.objects.values_list("outcome", flat=True)) == {
        "answered": 8,
        "unknown_outcome": n_in_flight,
    }


def begun(run: Run, *, at: datetime) -> Attempt:
    """One attempt at the first call that is due, as a worker writes it down."""
    with transaction.atomic():
        due = attempts.choose_due(run, n=1, at=at)
        (attempt,) = attempts.begin(due, worker="w", probes=(), shares={}, at=at)
    return Attempt.objects.select_related("call__assignment__seat", "call__step", "call__item", "call__story").get(
        pk=attempt.pk
    )


def came_back(attempt: Attempt, answer: str, *, at: datetime) -> Ended:
    completion = Completion(f'{{"answer": "{answer}"}}', "stop", f"body of {answer}")
    return Ended(attempt, completion, at, protocol="reasoning_first")


def test_an_answer_that_comes_after_its_lease_is_taken_if_the_call_has_none(study: Study, standin: StandIn) -> None:
    run, now = started(study, judge_at(standin)), timezone.now()
    slow = begun(run, at=now)
    assert attempts.release_expired(at=now + timedelta(minutes=1)) == 1

    settlement.settle([came_back(slow, "no", at=now)])
    run = runs.drain(run)

    slow.refresh_from_db()
    assert (slow.outcome, slow.body) == (Attempt.Outcome.ANSWERED, "body of no")
    assert len(standin.hits) == 7, "what was paid for is not asked again"
    assert answers(run) == {"yes": 7, "no": 1}
    assert_everything_ended_once(run)


def test_an_answer_that_comes_after_another_is_kept_and_changes_nothing(study: Study, standin: StandIn) -> None:
    run, now = started(study, judge_at(standin)), timezone.now()
    slow = begun(run, at=now)
    attempts.release_expired(at=now + timedelta(minutes=1))
    run = runs.drain(run)

    settlement.settle([came_back(slow, "no", at=now)])

    slow.refresh_from_db()
    assert (slow.outcome, slow.body) == (Attempt.Outcome.LATE, "body of no")
    assert answers(run) == {"yes": 8}
    assert_everything_ended_once(run)


def test_a_call_that_kills_its_worker_each_time_is_given_up(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))
    poison = run.calls.order_by("pk")[0]
    run.calls.exclude(pk=poison.pk).update(not_before=timezone.now() + timedelta(minutes=9))

    for _ in range(attempts.N_TRIES):
        now = timezone.now()
        begun(run, at=now)
        attempts.release_expired(at=now + timedelta(minutes=1))

    poison.refresh_from_db()
    assert poison.state == Call.State.PROVIDER_ERROR
    assert set(poison.attempts.values_list("outcome", flat=True)) == {"unknown_outcome"}
    assert runs.resume(run).calls.get(pk=poison.pk).state == Call.State.PLANNED


def test_what_nobody_heard_of_is_held_if_the_run_says_so(study: Study, standin: StandIn) -> None:
    run, now = started(study, judge_at(standin)), timezone.now()
    Run.objects.update(resends_unknown=False)
    lost = begun(run, at=now)
    attempts.release_expired(at=now + timedelta(minutes=1))

    run = runs.drain(run)

    assert (run.state, runs.count_calls(run)) == (Run.State.WAITING, {"held": 1, "ok": 7})
    assert Assignment.objects.get().status == Assignment.Status.OPEN
    assert runs.drain(runs.resume(run)).state == Run.State.FINISHED
    assert lost.call.attempts.count() == 2


def test_a_worker_that_lives_keeps_its_leases(study: Study, standin: StandIn) -> None:
    run, now = started(study, judge_at(standin)), timezone.now()
    begun(run, at=now)

    assert attempts.renew("w", at=now + timedelta(seconds=20)) == 1
    assert attempts.release_expired(at=now + timedelta(seconds=45)) == 0
    assert attempts.release_expired(at=now + timedelta(seconds=51)) == 1


def test_a_worker_that_is_told_to_end_begins_no_more_and_marks_what_it_leaves(
    study: Study, standin: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "GRACE_SECONDS", 0.05)
    run, stop = started(study, judge_at(standin)), threading.Event()

    def hang(hit: Hit) -> Reply:
        stop.set()
        return Reply(told.YES.body, delay=3)

    standin.reply = hang
    workers.work(run.judge.required_endpoint, workers.Shift(stop=stop), only=run)

    assert len(standin.hits) == 2
    assert Counter(Attempt.objects.values_list("outcome", flat=True)) == {"unknown_outcome": 2}
    assert runs.count_calls(run) == {"planned": 8}
    assert not Share.objects.exists()


def test_the_attempt_is_committed_before_it_is_sent(committed: None, standin: StandIn) -> None:
    study = factories.study(comparative=False)
    run = started(study, judge_at(standin))
    seen: list[tuple[str, int]] = []

    def look(hit: Hit) -> Reply:
        # Another connection: it sees only what is committed.
        call = next(
            c for c in Call.objects.filter(run=run) if texts.render(c.request)["messages"] == hit.body["messages"]
        )
        seen.append((call.state, call.attempts.filter(outcome="").count()))
        connection.close()
        return told.YES

    standin.reply = look
    runs.drain(run)

    assert seen == [("leased", 1)] * 8


def test_the_sweep_queues_what_nobody_has_in_hand(study: Study, queued: list[int]) -> None:
    run = runs.start(study, catalogue.make_stub_judge(), by="tests")
    endpoint, now = run.judge.required_endpoint, timezone.now()

    assert runs.sweep(at=now) == 1
    limits.take_share(endpoint.pk, "w", n_busy=0, at=now)
    assert runs.sweep(at=now) == 0
    assert runs.sweep(at=now + timedelta(minutes=1)) == 1, "its worker died"
    limits.rest(endpoint, "busy", seconds=300, at=now + timedelta(minutes=1))
    assert runs.sweep(at=now + timedelta(minutes=2)) == 0
    assert queued == [endpoint.pk] * 2


def test_as_many_workers_are_told_of_work_as_the_endpoint_is_worth(
    study: Study, standin: StandIn, queued: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    """Else one worker had a new run to itself until the next sweep."""
    judge = judge_at(standin, n_at_once=4 * limits.N_PER_WORKER)
    place = judge.required_endpoint
    limits.take_share(place.pk, "w", n_busy=0, at=timezone.now())

    with django_capture_on_commit_callbacks(execute=True):
        started(study, judge)

    assert queued == [place.pk] * 3


def test_the_sweep_leaves_stopped_and_finished_runs_alone(study: Study, queued: list[int]) -> None:
    stopped = runs.stop(runs.start(study, catalogue.make_stub_judge(), by="tests"), "because")
    finished = runs.drain(runs.start(study, catalogue.make_stub_judge("stub-2"), by="tests"))

    assert runs.sweep(at=timezone.now() + timedelta(hours=1)) == 0
    assert (stopped.state, finished.state, queued) == (Run.State.STOPPED, Run.State.FINISHED, [])


def test_a_broker_that_is_away_loses_nothing(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(name: str, args: list[int], **options: Any) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr(current_app, "send_task", away)
    run = runs.start(study, catalogue.make_stub_judge(), by="tests")

    runs.queue(run)

    assert runs.drain(run).state == Run.State.FINISHED


def test_a_worker_gives_way_after_its_turn_and_keeps_nothing(study: Study) -> None:
    run = runs.start(study, catalogue.make_stub_judge(), by="tests")

    run = runs.drain(Run.objects.get(pk=run.pk), seconds=0)

    assert run.state == Run.State.RUNNING
    assert runs.count_calls(run) == {"planned": 8}
    assert not Share.objects.exists()
