"""One ledger from reserve to bill: what a provider bills is never above the budget, and equals what the ledger says."""

import json
import random
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest

from judges import runs
from judges.models import Attempt, Judge, Run
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
    p_late: float = 0.0
    p_silent: float = 0.0
    keeps_limits: bool = True
    counts_reasoning_apart: bool = False
    billed: Decimal = Decimal(0)
    limits: list[int | None] = field(default_factory=list)
    rng: random.Random = field(default_factory=lambda: random.Random(7))

    def reply(self, hit: Hit) -> Reply:
        is_first = len(self.limits) < self.n_first_short
        n_out = SHORTEST if is_first else round(SHORTEST * (LONGEST / SHORTEST) ** self.rng.random())
        limit = next((hit.body[name] for name in LIMITS if name in hit.body), None)
        self.limits.append(limit)
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


def ledger_of(run: Run) -> Decimal:
    return sum(Attempt.objects.filter(call__run=run, cost__isnull=False).values_list("cost", flat=True), Decimal(0))


@pytest.mark.parametrize("budget", [2, 10])
@pytest.mark.parametrize("limit", [None, 4096])
@pytest.mark.parametrize(
    "provider",
    [
        pytest.param({}, id="in order"),
        pytest.param({"n_first_short": 6}, id="short ones first"),
        pytest.param({"p_late": 0.2}, id="a fifth times out"),
        pytest.param({"p_silent": 0.3}, id="usage missing"),
        pytest.param({"counts_reasoning_apart": True}, id="reasoning counted apart"),
        pytest.param({"keeps_limits": False}, id="limits not kept"),
    ],
)
def test_no_bill_is_above_the_budget(
    standin: StandIn, provider: dict[str, Any], limit: int | None, budget: int
) -> None:
    reasoner = Provider(**provider)
    judge = judge_of(standin, reasoner, **({"max_tokens": limit} if limit else {}))

    run = runs.drain(runs.start(study_of(80), judge, by="tests", budget=Decimal(budget)))

    print("BILL", budget, limit, provider, reasoner.billed, len(reasoner.limits), run.state)
    assert reasoner.limits
    assert reasoner.billed <= budget
    assert budgets.sum_costs(run) >= reasoner.billed
