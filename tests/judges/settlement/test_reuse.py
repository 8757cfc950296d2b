"""What a study has paid for is not paid for again: an equal call takes the earlier reply."""

from collections import Counter
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from annotation.models import Response
from judges import parsing, planning, runs
from judges.endpoints import limits
from judges.models import Attempt, Call, Endpoint, Judge, Parse, Run
from judges.planning import Scope, extensions
from judges.runs import preparation
from judges.settlement import attempts, reuse
from studies.models import Study
from tests import factories, threads
from tests.judges import standin as told
from tests.judges.conftest import answers, assert_everything_ended_once, judge_at, probed, sendable, started
from tests.judges.planning.test_budget import price
from tests.judges.standin import Reply, StandIn

pytestmark = pytest.mark.django_db


def twin(judge: Judge, slug: str = "twin", **changes: Any) -> Judge:
    """A judge of another name that asks the same."""
    names = ("endpoint", "model", "prompt", "parameters")
    return Judge.objects.create(slug=slug, **({name: getattr(judge, name) for name in names} | changes))


def test_an_equal_call_takes_the_earlier_reply_and_sends_nothing(study: Study, standin: StandIn) -> None:
    judge = judge_at(standin)
    price(judge)
    first = runs.drain(started(study, judge))
    n_hits = len(standin.hits)

    second = runs.drain(started(study, twin(judge)))

    assert (n_hits, len(standin.hits)) == (8, 8)
    assert answers(second) == answers(first) == {"yes": 8}
    assert_everything_ended_once(second)
    taken = Attempt.objects.filter(call__run=second)
    assert Counter(taken.values_list("outcome", flat=True)) == {"reused": 8}
    assert set(taken.values_list("cost", "n_tokens_in", "status")) == {(Decimal(0), None, None)}
    assert all(a.body for a in taken)
    earlier = first.calls.order_by("pk").first()
    assert earlier is not None
    assert f"The reply is that of call {earlier.pk} in run {first.pk}." in taken.values_list("reason", flat=True)
    assert set(Parse.objects.filter(attempt__in=taken).values_list("version", flat=True)) == {parsing.VERSION}
    assert second.state == "finished"


def test_a_run_that_asks_afresh_sends_everything_and_estimates_so(study: Study, standin: StandIn) -> None:
    judge = judge_at(standin)
    runs.drain(started(study, judge))
    scope = Scope(afresh=True)

    estimate = preparation.estimate(study, planning.plan_run(study, twin(judge), scope))
    again = runs.drain(runs.start(study, Judge.objects.get(slug="twin"), by="tests", scope=scope))
    third = runs.drain(started(study, twin(judge, "third")))

    assert estimate is not None
    assert (estimate.n_calls, estimate.n_reused) == (8, 0)
    assert len(standin.hits) == 16
    assert Attempt.objects.filter(call__run=again, outcome="answered").count() == 8
    assert Attempt.objects.filter(call__run=third, outcome="reused").count() == 8


def test_another_parameter_or_another_study_asks_afresh(study: Study, standin: StandIn) -> None:
    judge = judge_at(standin)
    runs.drain(started(study, judge))

    runs.drain(started(study, twin(judge, "warmer", parameters={"temperature": 1})))
    runs.drain(started(factories.study("pears", comparative=False), judge))

    assert len(standin.hits) == 24
    assert not Attempt.objects.filter(outcome="reused").exists()


def test_repeats_that_were_asked_for_are_sent(study: Study, standin: StandIn) -> None:
    judge = judge_at(standin)
    runs.drain(started(study, judge))

    runs.drain(runs.start(study, judge, by="tests", scope=Scope(n_repeats=2)))

    assert len(standin.hits) == 16


@pytest.mark.parametrize("reply", [told.PROSE, told.REFUSED, told.TRUNCATED])
def test_only_a_reply_that_gave_an_answer_is_taken_over(study: Study, standin: StandIn, reply: told.Reply) -> None:
    judge = judge_at(standin)
    standin.reply = lambda hit: reply
    runs.drain(probed(started(study, judge)))
    n_hits = len(standin.hits)
    standin.reply = lambda hit: told.YES

    second = runs.drain(started(study, twin(judge)))

    assert len(standin.hits) - n_hits == 8
    assert answers(second) == {"yes": 8}


def test_a_failure_is_no_reply(study: Study, standin: StandIn) -> None:
    judge = judge_at(standin)
    first = started(study, judge)
    first.calls.update(state=Call.State.PROVIDER_ERROR)
    runs.close(first, at=first.created_at)

    second = runs.drain(started(study, twin(judge)))

    assert (len(standin.hits), runs.count_calls(second)) == (8, {"ok": 8})


def test_two_runs_at_once_pay_for_an_equal_call_once(
    committed: None, standin: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reuse, "WAIT_SECONDS", 0.05)
    monkeypatch.setattr(limits, "N_PER_WORKER", 2)  # both are let in at once
    judge = judge_at(standin, n_at_once=4)
    study = sendable(factories.study(comparative=False))
    standin.reply = lambda hit: Reply(told.YES.body, delay=0.05)
    both = [runs.start(study, each, by="tests") for each in (judge, twin(judge))]

    threads.at_once(*(partial(runs.drain, Run.objects.get(pk=run.pk)) for run in both))

    assert len(standin.hits) == 8
    outcomes = Counter(Attempt.objects.values_list("outcome", flat=True))
    assert outcomes == {"answered": 8, "reused": 8}
    for run in both:
        run.refresh_from_db()
        assert (run.state, answers(run)) == ("finished", {"yes": 8})
        assert_everything_ended_once(run)


def test_an_equal_call_waits_for_one_under_way_and_is_sent_if_that_comes_to_nothing(
    study: Study, standin: StandIn
) -> None:
    judge = judge_at(standin)
    first, second = started(study, judge), started(study, twin(judge))
    now = timezone.now()
    with transaction.atomic():
        (begun,) = attempts.begin(attempts.choose_due(first, n=1, at=now), worker="w", probes=(), shares={}, at=now)
        due = attempts.choose_due(second, n=8, at=now)
        left = reuse.leave_equal(second, due, at=now)
    assert [call.pk for call in left] == [call.pk for call in due[1:]]

    attempts.give_back([begun])
    later = now + timedelta(seconds=1)
    due = attempts.choose_due(second, n=8, at=later)

    assert len(reuse.leave_equal(second, due, at=later)) == 8


def test_an_estimate_leaves_out_what_is_paid_for(study: Study, standin: StandIn) -> None:
    judge = judge_at(standin)
    price(judge)
    runs.drain(runs.start(sendable(study), judge, by="tests", scope=Scope(selection=("p1s1",))))
    other = twin(judge)

    estimate = preparation.estimate(study, extensions.plan(study, other))

    assert estimate is not None
    assert (estimate.n_calls, estimate.n_reused) == (6, 2)
    unpaid = planning.estimate(planning.plan_run(study, other, Scope(selection=("p1s2", "p1s3", "p1s4"))))
    assert (estimate.n_tokens_in, estimate.cost) == (unpaid.n_tokens_in, unpaid.cost)
    assert Response.objects.count() == 2


def test_a_call_that_takes_an_earlier_reply_takes_nothing_of_the_minute(study: Study, standin: StandIn) -> None:
    judge = judge_at(standin)
    first, second = started(study, judge), started(study, twin(judge))
    runs.drain(first)
    Endpoint.objects.update(requests_per_minute=100)

    second = runs.drain(second)

    assert (second.state, len(standin.hits)) == ("finished", 8)
    assert Endpoint.objects.get(pk=judge.endpoint_id).n_requests_in_minute == 0
