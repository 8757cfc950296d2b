"""Prices, estimates and budgets: nothing is spent blindly."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Assignment
from judges import planning, runs
from judges.models import Attempt, Call, Judge, Price, Run
from judges.planning import prices
from judges.providers import Completion
from judges.settlement import budgets
from judges.views.progress import load_progress
from studies.models import Study
from tests.judges import standin as told
from tests.judges.conftest import assert_everything_ended_once, judge_at, sendable
from tests.judges.standin import Reply, StandIn

pytestmark = pytest.mark.django_db


def price(judge: Judge, into: str = "2", out: str = "10", **more: Any) -> Price:
    """USD per million tokens. The stand-in says of each reply that it took 11 tokens in and 3 out."""
    values = {"adapter": "openai", "model": judge.model, "valid_from": date(2026, 1, 1)} | more
    return Price.objects.create(usd_per_million_in=Decimal(into), usd_per_million_out=Decimal(out), **values)


def test_the_price_of_the_day_holds_and_the_endpoints_own_goes_first(standin: StandIn) -> None:
    judge = judge_at(standin)
    price(judge, "1", "1", valid_from=date(2025, 1, 1))
    price(judge, "2", "10", usd_per_million_cached=Decimal("0.5"))

    tariff = prices.find_tariff(judge, on=date(2026, 6, 1))

    assert tariff is not None
    assert tariff.cost(1_000_000, 100_000, n_cached=500_000) == Decimal("2.25")  # 1 + .25 + 1
    assert prices.find_tariff(judge, on=date(2025, 6, 1)) == prices.Tariff(*[Decimal(1)] * 4)
    assert prices.find_tariff(judge, on=date(2024, 6, 1)) is None
    price(judge, "7", "7", adapter="", endpoint=judge.endpoint)
    assert prices.find_tariff(judge, on=date(2026, 6, 1)) == prices.Tariff(*[Decimal(7)] * 4)


@pytest.mark.parametrize(("adapter", "written"), [("openai", "2"), ("anthropic", "2.5")])
def test_what_goes_into_a_cache_costs_what_the_provider_or_the_price_says(
    standin: StandIn, adapter: str, written: str
) -> None:
    judge = judge_at(standin)
    judge.required_endpoint.adapter = adapter
    row = price(judge, "2", "10", adapter=adapter, usd_per_million_cached=Decimal("0.2"))
    day = date(2026, 6, 1)

    by_provider = prices.find_tariff(judge, on=day)
    Price.objects.filter(pk=row.pk).update(usd_per_million_cache_written=4)
    by_price = prices.find_tariff(judge, on=day)

    assert by_provider is not None
    assert by_price is not None
    assert (by_provider.written, by_price.written) == (Decimal(written), Decimal(4))
    completion = Completion(
        "yes", "stop", "{}", n_tokens_in=1000, n_tokens_out=50, n_tokens_cached=600, n_tokens_cache_written=300
    )
    assert prices.cost_of(by_price, completion) == Decimal("0.00202")  # (100 × 2 + 600 × .2 + 300 × 4 + 50 × 10) / 1e6


def test_what_nobody_counted_has_no_cost() -> None:
    tariff = prices.Tariff(*[Decimal(1)] * 4)

    assert prices.cost_of(tariff, Completion("yes", "stop", "{}")) is None
    assert prices.cost_of(tariff, Completion("yes", "stop", "{}", n_tokens_in=0, n_tokens_out=0)) is None


def test_tokens_that_a_server_counts_beside_those_sent_refund_nothing() -> None:
    tariff = prices.Tariff(into=Decimal(2), out=Decimal(10), cached=Decimal("0.2"), written=Decimal(2))

    assert tariff.cost(10, 0, n_cached=1000) == Decimal("0.0002")


def test_every_request_keeps_what_it_cost(study: Study, standin: StandIn) -> None:
    judge = judge_at(standin)
    price(judge)

    runs.drain(runs.start(sendable(study), judge, by="tests"))

    assert set(Attempt.objects.values_list("cost", flat=True)) == {Decimal("0.000052")}  # (11 × 2 + 3 × 10) / 1e6
    assert all(attempt.reserved > attempt.cost for attempt in Attempt.objects.all())


def test_a_run_stops_at_its_budget_and_goes_on_when_it_is_raised(study: Study, standin: StandIn) -> None:
    judge = judge_at(standin)
    Judge.objects.update(parameters={"max_tokens": 3})
    judge.refresh_from_db()
    price(judge, "0", "10")
    # Every reply costs exactly what it may cost at most, 30 millionths of a dollar; so three are paid for.
    run = runs.start(sendable(study), judge, by="tests", budget=Decimal("0.0001"))

    run = runs.drain(run)

    assert (run.state, len(standin.hits)) == (Run.State.WAITING, 3)
    assert "budget" in run.note
    assert runs.count_calls(run) == {"ok": 3, "budget_stopped": 5}
    assert Assignment.objects.get().status == Assignment.Status.OPEN

    Run.objects.update(budget=1)
    run = runs.drain(runs.resume(run))

    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 8})
    assert_everything_ended_once(run)


def test_a_budget_without_a_price_is_refused_before_approval_until_somebody_enters_one(
    study: Study, standin: StandIn
) -> None:
    judge = judge_at(standin)
    with pytest.raises(runs.CannotRun, match=r"no price for standin.*enter the price"):
        runs.start(sendable(study), judge, by="tests", budget=Decimal(1))
    assert not Run.objects.exists()
    run = runs.plan(study, judge, by="tests")
    with pytest.raises(runs.CannotRun, match="no price for standin"):
        runs.set_budget(run, Decimal(1))
    Run.objects.update(budget=1)
    run.refresh_from_db()
    with pytest.raises(runs.CannotRun, match="no price for standin"):
        runs.approve(run, by="tests")

    price(judge)
    run = runs.drain(runs.approve(run, by="tests"))

    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 8})


def test_a_run_whose_price_is_gone_sends_nothing_until_somebody_enters_one(study: Study, standin: StandIn) -> None:
    judge = judge_at(standin)
    price(judge)
    run = runs.start(sendable(study), judge, by="tests", budget=Decimal(1))
    Price.objects.all().delete()

    run = runs.drain(run)

    assert (run.state, standin.hits, runs.count_calls(run)) == (Run.State.WAITING, [], {"planned": 8})
    assert "no price for standin" in run.note

    price(judge)
    run = runs.drain(runs.resume(run))

    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 8})


def test_a_reply_whose_tokens_nobody_counted_has_cost_what_it_may_at_most(study: Study, standin: StandIn) -> None:
    judge = judge_at(standin, n_at_once=1)
    Judge.objects.update(parameters={"max_tokens": 3})
    judge.refresh_from_db()
    price(judge, "0", "10")
    standin.reply = lambda hit: replace(told.YES, body=told.YES.body.replace('"usage"', '"unused"'))

    run = runs.drain(runs.start(sendable(study), judge, by="tests", budget=Decimal("0.0001")))

    assert set(run.calls.filter(state="ok").values_list("attempts__cost", flat=True)) == {None}
    assert (run.state, len(standin.hits)) == (Run.State.WAITING, 3)


@pytest.mark.parametrize("way", [told.GARBAGE, told.BROKEN_OFF, told.HANG])
def test_a_request_that_broke_off_has_cost_what_it_may_at_most(study: Study, standin: StandIn, way: Reply) -> None:
    judge = judge_at(standin, n_at_once=1, timeout_seconds=1)
    Judge.objects.update(parameters={"max_tokens": 3})
    judge.refresh_from_db()
    price(judge, "0", "10")
    standin.script = [told.YES, told.YES, way]

    run = runs.drain(runs.start(sendable(study), judge, by="tests", budget=Decimal("0.0001")))

    assert (run.state, len(standin.hits)) == (Run.State.WAITING, 3)
    assert budgets.sum_costs(run) == Decimal("0.00009")
    assert load_progress(run, at=timezone.now()).spending.n_unknown == 1


def test_an_estimate_says_calls_tokens_cost_and_time(study: Study, standin: StandIn) -> None:
    judge = judge_at(standin, n_at_once=4)
    price(judge)

    estimate = planning.estimate(planning.plan_run(sendable(study), judge))

    n_characters = sum(
        len(message["content"])
        for call in planning.plan_run(study, judge).all_calls
        for message in call.request["messages"]
    )
    assert (estimate.n_calls, estimate.n_tokens_out, estimate.seconds) == (8, 8 * 300, 8 * 5.0 / 4)
    assert estimate.n_tokens_in == pytest.approx(n_characters / 4, rel=0.01)
    assert estimate.cost == (2 * Decimal(estimate.n_tokens_in) + 10 * 2400) / 1_000_000
    assert estimate.worst_cost is not None
    assert estimate.worst_cost > estimate.cost
    assert not Call.objects.exists()


def test_without_a_price_an_estimate_says_so(study: Study, standin: StandIn) -> None:
    estimate = planning.estimate(planning.plan_run(sendable(study), judge_at(standin)))

    assert (estimate.cost, estimate.worst_cost) == (None, None)
