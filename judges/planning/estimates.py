"""What a run will take, before anything is sent: tokens, cost and time, from what such calls took so far."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import date
from decimal import Decimal
from math import ceil
from typing import Any

from django.db.models import Avg, F

from judges.models import Attempt, Judge
from judges.planning import prices
from judges.providers import Request

# Where the model was never asked: about as long as a verdict with a paragraph of reasons, and about as slow.
TOKENS_OUT = 300
SECONDS = 5.0
# What cannot be read is asked once more.
N_ASKED_AT_MOST = 2


@dataclass(frozen=True)
class RunEstimate:
    """What a run will take.

    n_calls : those that will be sent
    n_reused : calls beside them that take the reply of an earlier one, and cost nothing
    is_in_batches : whether calls are handed in as batches, which are answered within a day
    cost : in US dollars, of a reply of the usual length; None if there is no price
    worst_cost : the same if every reply is as long as it may be and every call is asked once more
    """

    n_calls: int
    n_tokens_in: int
    n_tokens_out: int
    cost: Decimal | None
    worst_cost: Decimal | None
    seconds: float
    n_reused: int = 0
    is_in_batches: bool = False

    def in_batches(self, *, n_alone: int) -> "RunEstimate":
        """The same where all calls but so many are handed in as batches."""
        if self.cost is None or self.worst_cost is None:
            return replace(self, is_in_batches=True)
        n_together = max(self.n_calls - n_alone, 0)
        part = 1 - (1 - prices.BATCH_PART) * n_together / max(self.n_calls, 1)
        return replace(self, cost=self.cost * part, worst_cost=self.worst_cost * part, is_in_batches=True)

    @property
    def minutes(self) -> int:
        return ceil(self.seconds / 60)

    @property
    def document(self) -> dict[str, Any]:
        """As it is kept with the run: costs as decimal numbers in words, exact."""
        costs = {name: None if (cost := getattr(self, name)) is None else str(cost) for name in ("cost", "worst_cost")}
        return asdict(self) | costs

    @classmethod
    def load(cls, document: dict[str, Any]) -> "RunEstimate | None":
        """The estimate that was kept with a run; None if there is none."""
        if not document:
            return None
        costs = {name: None if document[name] is None else Decimal(document[name]) for name in ("cost", "worst_cost")}
        return cls(**document | costs)


def estimate(judge: Judge, requests: Iterable[Request], *, on: date) -> RunEstimate:
    """What it takes to send these requests, each of which is looked at once. Two queries."""
    endpoint = judge.required_endpoint
    answered = Attempt.objects.filter(
        call__run__judge__endpoint=endpoint, call__run__judge__model=judge.model, outcome=Attempt.Outcome.ANSWERED
    )
    usual = answered.aggregate(n_out=Avg("n_tokens_out"), took=Avg(F("ended_at") - F("sent_at")))
    seconds = usual["took"].total_seconds() if usual["took"] else SECONDS
    limit = prices.find_limit(judge.parameters, endpoint=endpoint)
    n_usual = int(usual["n_out"] or TOKENS_OUT)
    tariff = prices.find_tariff(judge, on=on)
    n_calls, n_in, worst_cost = 0, 0, Decimal(0)
    for request in requests:
        n_calls += 1
        n_in += prices.n_tokens(request)
        worst_cost += prices.reserve(tariff, request, endpoint=endpoint).worst if tariff else 0
    n_out = (n_usual if limit is None else min(n_usual, limit)) * n_calls
    n_at_once = endpoint.learnt_at_once or endpoint.n_at_once
    return RunEstimate(
        n_calls=n_calls,
        n_tokens_in=n_in,
        n_tokens_out=n_out,
        cost=tariff.cost(n_in, n_out) if tariff else None,
        worst_cost=N_ASKED_AT_MOST * worst_cost if tariff else None,
        seconds=seconds * n_calls / n_at_once,
    )
