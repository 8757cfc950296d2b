"""What a study has paid for is not paid for again: an equal call takes the earlier reply."""

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from annotation.models import Response
from judges import extensions, parsing, planning, preparation, runs
from judges.models import Attempt, Call, Judge, Parse
from judges.planning import Scope
from studies.models import Study
from tests import factories
from tests.judges import standin as told
from tests.judges.conftest import answers, assert_everything_ended_once, judge_at, sendable, started
from tests.judges.standin import StandIn
from tests.judges.test_budget import price

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
    attempts = Attempt.objects.filter(call__run=second)
    assert Counter(attempts.values_list("outcome", flat=True)) == {"reused": 8}
    assert set(attempts.values_list("cost", "n_tokens_in", "status")) == {(Decimal(0), None, None)}
    assert all(a.body for a in attempts)
    earlier = first.calls.order_by("pk").first()
    assert earlier is not None
    assert f"The reply is that of call {earlier.pk} in run {first.pk}." in attempts.values_list("reason", flat=True)
    assert set(Parse.objects.filter(attempt__in=attempts).values_list("version", flat=True)) == {parsing.VERSION}
    assert second.state == "finished"


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


def test_a_reply_that_could_not_be_read_is_not_paid_for_a_third_time(study: Study, standin: StandIn) -> None:
    judge = judge_at(standin)
    standin.reply = lambda hit: told.PROSE
    runs.drain(started(study, judge))
    n_hits = len(standin.hits)

    second = runs.drain(started(study, twin(judge)))

    assert (n_hits, len(standin.hits)) == (16, 16)
    assert runs.count_calls(second) == {"unreadable": 8}
    assert answers(second) == {"unreadable": 8}


def test_a_failure_is_no_reply(study: Study, standin: StandIn) -> None:
    judge = judge_at(standin)
    first = started(study, judge)
    first.calls.update(state=Call.State.PROVIDER_ERROR)
    runs.close(first, at=first.created_at)

    second = runs.drain(started(study, twin(judge)))

    assert (len(standin.hits), runs.count_calls(second)) == (8, {"ok": 8})


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
