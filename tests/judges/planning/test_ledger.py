"""One ledger from reserve to bill: what a provider bills is never above the budget, and equals what the ledger says."""

import json
import random
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest

from judges import runs
from judges.models import Attempt, Endpoint, Judge, Price, Run
from judges.settlement import budgets
from studies.models import Study
from tests import factories
from tests.judges import standin as told
from tests.judges.conftest import judge_at, sendable
from tests.judges.planning.test_budget import price
from tests.judges.standin import Hit, Reply, StandIn

pytestmark = pytest.mark.django_db

USD_IN, USD_OUT = Decimal(2), Decimal(10)  # per million tokens
MILLION = Decimal(1_000_000)
LIMITS = ("max_tokens", "max_completion_tokens")
SHORTEST, LONGEST = 200, 40_000


@dataclass
class Provider:
    """A stand-in that reasons, keeps to limits, and bills whatever it has written, whether or not that arrived.

    p_late : which share of the replies never comes; p_silent : which share says nothing of its tokens
    """

    n_first_short: int = 0
    shortest: int = SHORTEST
    p_late: float = 0.0
    p_silent: float = 0.0
    keeps_limits: bool = True
    counts_reasoning_apart: bool = False
    billed: Decimal = Decimal(0)
    n_replies: int = 0
    rng: random.Random = field(default_factory=lambda: random.Random(7))

    def reply(self, hit: Hit) -> Reply:
        is_first = self.n_replies < self.n_first_short
        self.n_replies += 1
        n_out = SHORTEST if is_first else round(self.shortest * (LONGEST / self.shortest) ** self.rng.random())
        limit = next((hit.body[name] for name in LIMITS if name in hit.body), None)
        is_cut = self.keeps_limits and limit is not None and limit < n_out
        n_out = min(n_out, limit) if is_cut and limit else n_out
        n_in = sum(len(message["content"]) for message in hit.body["messages"]) // 4
        self.billed += (n_in * USD_IN + n_out * USD_OUT) / MILLION
        fate = self.rng.random()
        if fate < self.p_late:
            return told.HANG
        document = json.loads(told.TRUNCATED.body if is_cut else told.YES.body)
        document["usage"] = self._usage(n_in, n_out)
        if fate < self.p_late + self.p_silent:
            del document["usage"]
        return Reply(json.dumps(document), delay=0.02)

    def _usage(self, n_in: int, n_out: int) -> dict[str, Any]:
        n_reasoning = n_out - 3
        n_said = n_out - n_reasoning if self.counts_reasoning_apart else n_out
        details = {"completion_tokens_details": {"reasoning_tokens": n_reasoning}}
        return {"prompt_tokens": n_in, "completion_tokens": n_said, "total_tokens": n_in + n_out} | details


def judge_of(standin: StandIn, provider: Provider, **parameters: Any) -> Judge:
    """A judge at the stand-in that answers so, 64 calls at once."""
    standin.reply, standin.is_quick = provider.reply, True
    judge = judge_at(standin, n_at_once=64, timeout_seconds=1)
    Judge.objects.update(parameters=parameters)
    judge.refresh_from_db()
    price(judge, str(USD_IN), str(USD_OUT))
    return judge


def study_of(n_calls: int) -> Study:
    return sendable(factories.study(n_groups=n_calls // 8, comparative=False))


def count_costs(run: Run) -> Decimal:
    return sum(Attempt.objects.filter(call__run=run, cost__isnull=False).values_list("cost", flat=True), Decimal(0))


PROVIDERS: list[Any] = [
    pytest.param({}, id="in any order"),
    pytest.param({"n_first_short": 6}, id="short ones first"),
    pytest.param({"p_late": 0.2}, id="a fifth times out"),
    pytest.param({"p_silent": 0.3}, id="usage missing"),
    pytest.param({"p_late": 0.2, "p_silent": 0.2}, id="both"),
    pytest.param({"counts_reasoning_apart": True}, id="reasoning counted apart"),
    pytest.param({"keeps_limits": False}, id="limits not kept"),
]
HEAVY = [pytest.param(n, n_calls, marks=pytest.mark.slow) for n, n_calls in ((2, 40), (10, 80), (50, 400))]


@pytest.mark.parametrize(("budget", "n_calls"), [("0.3", 8), *HEAVY])
@pytest.mark.parametrize("limit", [None, 4096])
@pytest.mark.parametrize("orders", PROVIDERS)
def test_no_bill_is_above_the_budget(
    standin: StandIn, orders: dict[str, Any], limit: int | None, budget: Any, n_calls: int
) -> None:
    provider = Provider(**orders)
    judge = judge_of(standin, provider, **({"max_tokens": limit} if limit else {}))

    run = runs.drain(runs.start(study_of(n_calls), judge, by="tests", budget=Decimal(budget)))

    assert run.state in (Run.State.FINISHED, Run.State.WAITING)
    assert 0 < provider.billed <= budgets.sum_costs(run) <= Decimal(budget)
    if provider.p_late == provider.p_silent == 0:
        assert count_costs(run) == provider.billed


def test_a_provider_that_keeps_to_no_limit_is_found_out_before_it_has_spent_the_budget(standin: StandIn) -> None:
    provider = Provider(n_first_short=3, shortest=LONGEST, keeps_limits=False)
    judge = judge_of(standin, provider, max_tokens=300)

    run = runs.drain(runs.start(study_of(200), judge, by="tests", budget=Decimal(10)))

    assert (run.state, "budget" in run.note) == (Run.State.WAITING, True)
    assert Decimal(8) < provider.billed <= 10
    assert count_costs(run) == provider.billed


def test_a_limit_that_replies_have_kept_lets_as_many_go_as_the_endpoint_takes(standin: StandIn) -> None:
    provider = Provider()
    judge = judge_of(standin, provider, max_tokens=300)
    budget = Decimal(1)  # of which the longest reply would take more

    run = runs.drain(runs.start(study_of(200), judge, by="tests", budget=budget))

    assert (run.state, provider.billed <= budget) == (Run.State.FINISHED, True)
    assert standin.most_at_once > 20
    assert set(Attempt.objects.values_list("n_tokens_limit", flat=True)) == {300}


@pytest.mark.parametrize(
    ("model", "name"),
    [("standin", "max_tokens"), ("o3-mini", "max_completion_tokens"), ("openai/gpt-5-mini", "max_completion_tokens")],
)
def test_the_limit_that_is_set_aside_is_sent_by_the_name_that_the_model_knows(
    standin: StandIn, model: str, name: str
) -> None:
    judge = judge_of(standin, Provider())
    Judge.objects.update(model=model)
    Price.objects.update(model=model)
    judge.refresh_from_db()

    runs.drain(runs.start(study_of(8), judge, by="tests", budget=Decimal(1)))

    limits = [[hit.body[key] for key in LIMITS if key in hit.body] for hit in standin.hits]
    assert {key for hit in standin.hits for key in hit.body if key in LIMITS} == {name}
    assert limits == [[n] for n in Attempt.objects.order_by("pk").values_list("n_tokens_limit", flat=True)]


def test_every_kind_of_token_has_its_column(standin: StandIn) -> None:
    judge = judge_of(standin, Provider())
    endpoint = judge.required_endpoint
    endpoint.adapter = "anthropic"
    endpoint.save()
    Endpoint.objects.update(is_allowed=True, key_variable="STANDIN_API_KEY")
    price(judge, "2", "10", adapter="anthropic")
    standin.reply = lambda hit: told.YES  # as Anthropic: 8 tokens in, 1 into the cache, 2 from it, 3 out

    runs.drain(runs.start(study_of(8), Judge.objects.get(), by="tests"))

    counts = Attempt.objects.values_list("n_tokens_in", "n_tokens_cache_written", "n_tokens_cached", "n_tokens_limit")
    assert set(counts) == {(11, 1, 2, 4096)}
    cost = Decimal("0.0000525")  # (10 × 2 + 2.5 + 3 × 10) / 1e6; what is read from the cache has no price of its own
    assert set(Attempt.objects.values_list("cost", flat=True)) == {cost}
