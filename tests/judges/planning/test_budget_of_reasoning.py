"""Budgets of models that reason and that nobody limits: they hold, whatever lengths come."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from itertools import chain, cycle, repeat
from typing import Any

import pytest
from django.test import Client

from judges import runs
from judges.models import Attempt, Endpoint, Judge, Run
from judges.planning import prices
from judges.providers import Completion, all_providers
from judges.settlement import attempts, budgets
from studies.models import Study
from tests import factories
from tests.judges import standin as told
from tests.judges.conftest import judge_at, sendable
from tests.judges.planning.test_budget import price
from tests.judges.standin import Hit, Reply, StandIn
from tests.judges.views.pages import page, words

pytestmark = pytest.mark.django_db

MILLION = Decimal(1_000_000)
USD_PER_MILLION = 10
BUDGET = Decimal(10)
AT_ONCE = 64


def yes_of(n_tokens: int, *, is_cut: bool = False) -> Reply:
    """A verdict that took so many tokens, and long enough for others to be sent beside it."""
    verdict = told.TRUNCATED if is_cut else told.YES
    body = verdict.body.replace('"completion_tokens": 3', f'"completion_tokens": {n_tokens}')
    return replace(told.YES, body=body, delay=0.05)


def usd(n_tokens: int) -> Decimal:
    return n_tokens * USD_PER_MILLION / MILLION


def say_lengths(standin: StandIn, lengths: Iterable[int], *, keeps_limits: bool = True) -> list[int]:
    """Have the stand-in's replies take so many tokens, one after the other; those that were sent, as they are sent."""
    ahead, sent = iter(lengths), []

    def reply(hit: Hit) -> Reply:
        n, limit = next(ahead), hit.body.get("max_tokens")
        is_cut = keeps_limits and limit is not None and limit < n
        sent.append(limit if is_cut else n)
        return yes_of(sent[-1], is_cut=is_cut)

    standin.reply, standin.is_quick = reply, True
    return sent


def unlimited_judge(standin: StandIn, **values: Any) -> Judge:
    judge = judge_at(standin, **{"n_at_once": AT_ONCE} | values)
    price(judge, "0", str(USD_PER_MILLION))
    return judge


def study_of(n_calls: int) -> Study:
    return sendable(factories.study(n_groups=n_calls // 8, comparative=False))


@pytest.mark.parametrize(
    "lengths",
    [
        pytest.param(lambda: repeat(32_000), id="all alike"),
        pytest.param(lambda: cycle(range(24_000, 48_001, 3_000)), id="mixed"),
        pytest.param(lambda: chain([2_000, 3_000, 2_500], repeat(32_000)), id="short ones first"),
        pytest.param(lambda: chain(repeat(900, 40), repeat(128_000)), id="many short ones first"),
    ],
)
def test_a_budget_holds(standin: StandIn, lengths: Callable[[], Iterable[int]]) -> None:
    sent = say_lengths(standin, lengths())

    run = runs.drain(runs.start(study_of(200), unlimited_judge(standin), by="tests", budget=BUDGET))

    spent = usd(sum(sent))
    assert (run.state, "budget" in run.note) == (Run.State.WAITING, True)
    assert BUDGET - usd(max(sent)) < spent <= BUDGET, "it stops no earlier than it has to"
    assert budgets.sum_costs(run) == spent


def test_near_the_end_of_a_budget_replies_are_limited_to_the_longest_and_come_one_by_one(standin: StandIn) -> None:
    sent = say_lengths(standin, chain([300, 300, 300], repeat(100_000)))
    most = usd(prices.MOST_TOKENS_OUT)

    run = runs.drain(runs.start(study_of(16), unlimited_judge(standin), by="tests", budget=most - usd(1)))

    assert (run.state, standin.most_at_once) == (Run.State.WAITING, 1)
    limits = [hit.body.get("max_tokens") for hit in standin.hits]
    assert limits == [4096, 4096, 4096, 4096, 8192, 16384, 32768, 65536]
    assert sent == [300, 300, 300, *limits[3:]]


def test_with_an_ample_budget_as_many_calls_are_under_way_as_the_endpoint_takes(standin: StandIn) -> None:
    is_full = threading.Event()

    def reply(hit: Hit) -> Reply:
        if standin.n_at_once == AT_ONCE:
            is_full.set()
        if len(standin.hits) > attempts.N_PROBES:
            is_full.wait(20)
        return told.YES

    standin.reply = reply
    budget = AT_ONCE * usd(prices.MOST_TOKENS_OUT) + 1

    run = runs.drain(runs.start(study_of(200), unlimited_judge(standin), by="tests", budget=budget))

    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 200})
    assert standin.most_at_once == AT_ONCE


@pytest.mark.parametrize("way", [told.GARBAGE, told.BROKEN_OFF, told.HANG])
def test_what_broke_off_counts_as_the_longest_reply_and_the_page_says_so(
    standin: StandIn, client: Client, way: Reply
) -> None:
    standin.script = [told.YES, told.YES, way]
    judge = unlimited_judge(standin, n_at_once=1, timeout_seconds=1)
    study = study_of(8)

    run = runs.drain(runs.start(study, judge, by="tests", budget=usd(prices.MOST_TOKENS_OUT + 10)))
    told_there = words(page(client, "researcher", f"/studies/{study.slug}/runs/{run.pk}/"))

    assert (run.state, len(standin.hits)) == (Run.State.WAITING, 3)
    assert budgets.sum_costs(run) == usd(prices.MOST_TOKENS_OUT + 6)
    assert "cost unknown 1 request " in told_there


def test_a_limit_that_the_provider_does_not_keep_to_is_not_relied_upon(standin: StandIn) -> None:
    sent = say_lengths(standin, repeat(30_000), keeps_limits=False)
    judge = unlimited_judge(standin)
    Judge.objects.update(parameters={"max_tokens": 100})
    judge.refresh_from_db()

    run = runs.drain(runs.start(study_of(200), judge, by="tests", budget=Decimal(2)))

    assert run.state == Run.State.WAITING
    assert (usd(sum(sent)), len(sent)) == (Decimal("0.9"), 3), "it is set aside as if there was none"


@pytest.mark.parametrize(("adapter", "limit"), [("anthropic", 4096), ("openai", None)])
def test_where_a_judge_sets_no_limit_that_counts_which_is_sent(
    standin: StandIn, adapter: str, limit: int | None
) -> None:
    judge = unlimited_judge(standin)
    Endpoint.objects.update(adapter=adapter)
    judge.refresh_from_db()

    runs.drain(runs.start(study_of(8), judge, by="tests"))

    assert {hit.body.get("max_tokens") for hit in standin.hits} == {limit}
    assert prices.find_limit({}, endpoint=judge.required_endpoint) == limit


@pytest.mark.parametrize(
    ("parameters", "limit"),
    [
        ({"max_tokens": 500}, 500),
        ({"max_completion_tokens": 600}, 600),
        ({"max_tokens": 500, "max_completion_tokens": 600}, 600),
        ({"max_completion_tokens": -1}, None),
        ({"max_tokens": 10**12}, None),
        ({"max_tokens": True}, None),
        ({"max_tokens": 4096.0, "max_completion_tokens": 600}, 600),
        ({"max_output_tokens": 500}, None),  # of another protocol: servers of chats refuse or overlook it
    ],
)
def test_a_limit_counts_only_under_a_name_that_the_protocol_has(parameters: dict[str, Any], limit: int | None) -> None:
    assert prices.find_limit(parameters, endpoint=Endpoint(adapter="openai")) == limit
    assert "openai" in all_providers()


@pytest.mark.parametrize("limit", [-1, 10**12, 4096.0])
def test_what_is_no_limit_is_taken_for_none_and_another_sent_where_the_budget_needs_one(
    standin: StandIn, limit: Any
) -> None:
    judge = unlimited_judge(standin)
    Judge.objects.update(parameters={"max_completion_tokens": limit})
    judge.refresh_from_db()

    run = runs.drain(runs.start(study_of(8), judge, by="tests", budget=Decimal(1)))

    assert run.state == Run.State.FINISHED
    assert {(hit.body.get("max_tokens"), hit.body.get("max_completion_tokens")) for hit in standin.hits} == {
        (4096, None)
    }


def test_a_reply_a_few_tokens_over_its_limit_has_kept_to_it() -> None:
    reply = Completion("yes", "length", "{}", n_tokens_in=1, n_tokens_out=301)

    kept = prices.ReplyLengths().add(reply, limit=300)
    not_kept = kept.add(replace(reply, n_tokens_out=400), limit=300)

    assert (kept.n_kept, kept.is_over) == (1, False)
    assert (not_kept.n_kept, not_kept.is_over) == (1, True)


def test_only_the_last_replies_say_whether_limits_are_kept(standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = say_lengths(standin, chain([500], repeat(100)), keeps_limits=False)
    judge = unlimited_judge(standin, n_at_once=1)
    Judge.objects.update(parameters={"max_tokens": 300})
    judge.refresh_from_db()
    runs.drain(runs.start(study_of(8), judge, by="tests"))
    assert len(sent) == 8

    of_all = prices.load_lengths(judge)
    monkeypatch.setattr(prices, "N_LAST_REPLIES", 7)
    of_last = prices.load_lengths(judge)

    assert of_all == prices.ReplyLengths(n_longest=500, n_kept=7, is_over=True)
    assert of_last == prices.ReplyLengths(n_longest=100, n_kept=7)


@pytest.mark.parametrize(
    ("lengths", "limit"),
    [
        ({}, 4096),
        ({"n_cut": 65_536}, 131_072),
        ({"n_cut": 131_072}, 131_072),
        ({"n_longest": 2**31 - 1}, 1_000_000),
    ],
)
def test_a_limit_of_our_own_grows_no_longer_than_replies_can_be(lengths: dict[str, int], limit: int) -> None:
    tariff, request = prices.Tariff(*[Decimal(1)] * 4), {"messages": [], "parameters": {}}

    reserve = prices.reserve(
        tariff, request, endpoint=Endpoint(adapter="openai"), lengths=prices.ReplyLengths(**lengths)
    )

    assert reserve.limit == limit


def test_a_batch_is_limited_where_the_budget_bears_no_longest_reply(standin: StandIn) -> None:
    judge = unlimited_judge(standin)
    run = runs.start(study_of(8), judge, by="tests", budget=Decimal("0.1"))
    due = list(run.calls.all())
    tariff = prices.find_tariff(judge, on=run.created_at.date())
    assert tariff is not None
    request = {"messages": [], "parameters": {}}
    reserve = prices.reserve(tariff.in_batches(), request, endpoint=judge.required_endpoint)

    borne, shares = budgets.within_budget(
        run, due, {call.pk: reserve for call in due}, prices.ReplyLengths(), is_batch=True
    )

    assert reserve.worst > Decimal("0.1") > reserve.usual
    assert borne == due[:4]
    assert {share.limit for share in shares.values()} == {4096}
    assert not Attempt.objects.exists()
