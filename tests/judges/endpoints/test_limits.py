"""An endpoint's limit is kept by all workers together: at once, in a minute, and as its provider says itself."""

import asyncio
import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from judges import runs, settlement, tasks, workers
from judges.endpoints import limits
from judges.models import Attempt, Endpoint, Run, Share
from judges.providers import CallFailed, FailureKind
from judges.settlement import Ended, attempts
from judges.workers.endpoint_troubles import Troubles
from judges.workers.ledger import Ledger
from studies.models import Study
from tests import factories
from tests.judges import standin as told
from tests.judges.conftest import judge_at, started
from tests.judges.standin import Hit, Reply, StandIn

pytestmark = pytest.mark.django_db

NOW = factories.NOON


def endpoint(**limits: Any) -> Endpoint:
    return Endpoint.objects.create(name="model-1", base_url="http://127.0.0.1:9/v1", **limits)


def shares() -> dict[str, int]:
    return dict(Share.objects.values_list("worker", "n"))


def take(place: Endpoint, worker: str, *, n_busy: int = 0, **options: Any) -> tuple[int, bool] | None:
    """How many calls that worker may have, and whether that stays."""
    allowance = limits.take_share(place.pk, worker, n_busy=n_busy, at=NOW, **options)
    return allowance and (allowance.n, allowance.is_final)


def test_two_workers_come_to_share_the_limit_as_the_first_ones_calls_end() -> None:
    place = endpoint(n_at_once=100)

    assert take(place, "a") == (100, True)
    assert take(place, "b") == (0, False)
    assert take(place, "a", n_busy=100) == (50, False), "it begins none before half of them have ended"
    assert take(place, "b") == (0, False)
    assert take(place, "a", n_busy=70) == (50, False)
    assert take(place, "b") == (30, False)
    assert take(place, "a", n_busy=50) == (50, True)
    assert take(place, "b", n_busy=30) == (50, True)
    assert shares() == {"a": 50, "b": 50}


def test_an_odd_limit_is_shared_as_evenly_as_it_can_be() -> None:
    place = endpoint(n_at_once=129)
    for worker in "abc":
        take(place, worker)

    found = [take(place, worker) for worker in "abcabc"][3:]

    assert found == [(43, True)] * 3


def test_a_limit_that_one_worker_can_keep_takes_no_second() -> None:
    place = endpoint(n_at_once=64)

    assert take(place, "a") == (64, True)
    assert take(place, "b") is None


def test_a_worker_that_leaves_keeps_no_place_that_its_successor_needs() -> None:
    place = endpoint(n_at_once=8)
    take(place, "a")

    take(place, "a", n_busy=3, is_leaving=True)

    assert take(place, "b") == (5, False)
    take(place, "a", n_busy=1, is_leaving=True)
    assert take(place, "b", n_busy=5) == (7, False)
    assert shares() == {"a": 1, "b": 7}


def test_the_share_of_a_worker_that_is_not_heard_of_lapses() -> None:
    place = endpoint(n_at_once=8)
    take(place, "dead")
    later = NOW + timedelta(seconds=limits.SHARE_SECONDS + 1)

    allowance = limits.take_share(place.pk, "b", n_busy=0, at=later)

    assert (allowance, shares()) == (limits.Allowance(8, is_final=True), {"b": 8})


@transaction.atomic
def take_of_minute(place: Endpoint, n: int, *, seconds: float = 0, n_tokens: int = 10) -> int:
    return limits.take_of_minute(place.pk, n, n_tokens=n_tokens, at=NOW + timedelta(seconds=seconds))


def test_no_more_requests_are_begun_than_a_minute_takes() -> None:
    place = endpoint(requests_per_minute=5)

    assert [take_of_minute(place, 3, seconds=seconds) for seconds in (0, 1, 59, 60)] == [3, 2, 0, 3]


def test_a_minute_that_began_before_the_clock_was_set_back_is_over() -> None:
    place = endpoint(requests_per_minute=5)

    assert [take_of_minute(place, 5, seconds=seconds) for seconds in (7200, 0, 1, 60)] == [5, 5, 0, 5]


def test_no_more_tokens_are_sent_than_a_minute_takes() -> None:
    place = endpoint(tokens_per_minute=45)

    assert [take_of_minute(place, 3), take_of_minute(place, 3)] == [3, 1]
    assert take_of_minute(place, 3, seconds=60, n_tokens=1000) == 1, "one that is larger than a minute goes alone"


def test_limits_that_a_provider_names_in_its_headers_are_kept(study: Study, standin: StandIn) -> None:
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1h"}
    standin.script = [told.YES] * 4
    standin.reply = lambda hit: Reply(told.YES.body, headers=headers)

    run = runs.drain(started(study, judge_at(standin, n_at_once=1)), seconds=1)

    assert (run.state, len(standin.hits)) == (Run.State.RUNNING, 5)


def test_a_worker_whose_minute_is_over_goes_on_while_nobody_waits(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))

    workers.work(run.judge.required_endpoint, workers.Shift(0, stays=True))

    run.refresh_from_db()
    assert run.state == Run.State.FINISHED


def test_a_worker_whose_minute_is_over_gives_way_to_an_endpoint_that_waits(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))
    waiting = started(factories.study("pears", comparative=False), judge_at(standin, "model-2"))
    handed_over: list[bool] = []

    def hand_over() -> None:
        held = sum(Share.objects.filter(is_leaving=True).values_list("n", flat=True))  # by calls still under way
        allowance = limits.take_share(run.judge.endpoint_id or 0, "successor", n_busy=0, at=timezone.now())
        handed_over.append(allowance is not None and allowance.n == 2 - held)

    workers.work(run.judge.required_endpoint, workers.Shift(0, stays=True, hand_over=hand_over))

    assert runs.count_calls(run) == {"planned": 6, "ok": 2}, "it looks round once it is at work"
    assert runs.count_calls(waiting) == {"planned": 8}
    assert handed_over == [True]


def test_a_successor_in_the_same_process_does_not_wait_for_calls_that_are_under_way(
    committed: None, standin: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = started(factories.study(comparative=False), judge_at(standin, n_at_once=4, timeout_seconds=60))
    started(factories.study("pears", comparative=False), judge_at(standin, "model-2"))
    Run.objects.update(n_probes_answered=3)
    endpoint_id = run.judge.required_endpoint.pk
    successors: list[threading.Thread] = []
    all_were_sent = asyncio.Event()

    def work() -> None:
        try:
            tasks.work(endpoint_id)
        finally:
            connection.close()

    def succeed(name: str, args: list[int], **options: Any) -> None:
        if args == [endpoint_id] and not successors:
            monkeypatch.setattr(tasks, "TURN_SECONDS", 60)
            successors.append(threading.Thread(target=work))
            successors[0].start()

    async def keep_the_first_waiting(hit: Hit) -> Reply:
        standin.hits.append(hit)
        if len(standin.hits) == 1:
            await asyncio.wait_for(all_were_sent.wait(), 30)
        elif len(standin.hits) == 8:
            all_were_sent.set()
        return told.YES

    monkeypatch.setattr(tasks, "TURN_SECONDS", 0)
    monkeypatch.setattr(current_app, "send_task", succeed)
    standin.next = keep_the_first_waiting  # type: ignore[method-assign]
    tasks.work(endpoint_id)
    for successor in successors:
        successor.join()

    run.refresh_from_db()
    assert (len(successors), len(standin.hits), run.state) == (1, 8, Run.State.FINISHED)
    assert Attempt.objects.values("worker").distinct().count() == 2


def test_a_probe_that_hangs_holds_up_no_other_call(study: Study, standin: StandIn) -> None:
    all_were_sent = threading.Event()

    def keep_the_first_waiting(hit: Hit) -> Reply:
        if len(standin.hits) == 1:
            assert all_were_sent.wait(30), "no call was sent but the probes"
        elif len(standin.hits) == 8:
            all_were_sent.set()
        return told.YES

    standin.reply = keep_the_first_waiting

    run = runs.drain(started(study, judge_at(standin, n_at_once=8, timeout_seconds=60)))

    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 8})


@pytest.mark.parametrize(("n_at_once", "n_failures"), [(4, 2), (64, 7)])
def test_failures_by_chance_do_not_rest_an_endpoint_that_is_asked_much_at_once(n_at_once: int, n_failures: int) -> None:
    """At a fifth of errors three of 64 calls fail in a row every second or so."""
    place = endpoint(n_at_once=n_at_once)
    troubles = Troubles(place)
    failures = [CallFailed("HTTP 500", kind=FailureKind.OVERLOAD, status=500)] * n_failures

    for n, failure in enumerate(failures):
        troubles.follow_failure(failure, frozenset({f"story {n}"}), share=n_at_once, at=NOW)
    place.refresh_from_db()
    assert place.resting_until is None

    troubles.follow_failure(failures[0], frozenset({"another"}), share=n_at_once, at=NOW)
    place.refresh_from_db()
    assert place.resting_until is not None


def test_what_an_endpoint_was_found_to_bear_again_outlives_a_worker_that_is_killed() -> None:
    """Else every worker begins as narrow as the last one was at its worst."""
    place = endpoint(n_at_once=64)
    ledger = Ledger(place, at=NOW)
    ledger.enter(at=NOW)

    learnt = []
    for seconds, size in ((0, 64), (1, 16), (2, 20), (6, 40), (7, 41), (8, 12)):
        at = NOW + timedelta(seconds=seconds)
        ledger.turn([], [], n_wanted=0, n_busy=1, size=size, at=at)
        place.refresh_from_db()
        learnt.append(place.learnt_at_once)

    assert learnt == [None, 16, 16, 40, 40, 12], "fewer at once, more every five seconds"


def test_a_worker_that_comes_later_knows_how_long_answers_take(study: Study, standin: StandIn) -> None:
    judge = judge_at(standin)
    place = judge.required_endpoint
    run = started(study, judge)
    ledger = Ledger(place, at=NOW)
    assert ledger.enter(at=NOW)
    assert ledger.begin_pace().usual_seconds is None
    ledger.leave([], size=None, at=NOW)
    runs.drain(run)
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING)
    Attempt.objects.update(ended_at=F("sent_at") + timedelta(seconds=3))

    later = Ledger(place, at=NOW)
    later.enter(at=NOW)

    assert later.begin_pace().usual_seconds == 3.0


def test_calls_that_come_back_all_at_once_do_not_keep_the_next_waiting_for_their_settlement(
    standin: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first calls come back together; until more were sent than stood ready no settlement of many gets through."""
    monkeypatch.setattr(workers.worker, "N_BEFORE_NEXT", 2)
    n_at_once, n_ready = 32, 32 // workers.worker.READY_PART
    n_sent_by_then: list[int] = []
    window_was_full, next_were_sent = threading.Event(), threading.Event()
    settle = settlement.settle

    def come_back_together(hit: Hit) -> Reply:
        if window_was_full.is_set():
            if len(standin.hits) > n_sent_by_then[0] + n_ready:
                next_were_sent.set()
        elif standin.n_at_once == n_at_once:
            n_sent_by_then.append(len(standin.hits))
            window_was_full.set()
        elif len(standin.hits) > attempts.N_PROBES:
            assert window_was_full.wait(30)
        return told.YES

    # As many as stood ready may be settled while the window is full again, and probes that came back before it was.
    n_without_room = n_ready + attempts.N_PROBES

    def wait_for_the_next(ended: Sequence[Ended]) -> Any:
        if len(ended) > n_without_room:
            assert next_were_sent.wait(30), f"{len(ended)} are settled while there is room for more"
        return settle(ended)

    standin.reply = come_back_together
    monkeypatch.setattr(settlement, "settle", wait_for_the_next)
    study = factories.study(n_groups=2, n_items=6, comparative=False)

    run = runs.drain(started(study, judge_at(standin, n_at_once=n_at_once, timeout_seconds=60)))

    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 48})
