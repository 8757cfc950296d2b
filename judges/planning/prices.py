"""What calls cost: from prices with dates, in US dollars, before they are sent at most, and afterwards as it was."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from django.db.models import Max, Q

from judges.models import Attempt, Endpoint, Judge, Price, Run
from judges.providers import Completion, Request

MILLION = Decimal(1_000_000)
# A token has hardly ever fewer bytes than this, in any language; for the worst case, not for the estimate.
LEAST_BYTES_PER_TOKEN = 2
CHARACTERS_PER_TOKEN = 4
# No model on offer gives a longer reply, with what it reasons before: the largest limits that vendors named in 2026 are
# 128,000 tokens. Where nothing sets a limit, a reply may be as long as this.
MOST_TOKENS_OUT = 131_072
# Hardly a verdict with its reasons is longer. Where the budget does not bear the longest reply, it has to bear this.
USUAL_TOKENS_OUT = 4096
# OpenAI and Anthropic take half of every price for what may wait a day.
BATCH_PART = Decimal("0.5")
# Names by which providers take the limit of a reply's length.
LIMITS = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True)
class Tariff:
    """What a million tokens cost at an endpoint."""

    into: Decimal
    out: Decimal
    cached: Decimal

    def cost(self, n_in: int, n_out: int, n_cached: int = 0) -> Decimal:
        """n_in : cached ones included"""
        return ((n_in - n_cached) * self.into + n_cached * self.cached + n_out * self.out) / MILLION

    def in_batches(self) -> "Tariff":
        """The same for calls that are handed in as a batch."""
        return Tariff(self.into * BATCH_PART, self.out * BATCH_PART, self.cached * BATCH_PART)


def find_tariff(judge: Judge, *, on: date) -> Tariff | None:
    """What the judge's model costs on that day; None if nobody has said. The endpoint's own price goes first."""
    endpoint = judge.required_endpoint
    prices = Price.objects.filter(Q(endpoint=endpoint) | Q(adapter=endpoint.adapter), model=judge.model)
    valid = sorted(
        prices.filter(valid_from__lte=on), key=lambda price: (price.endpoint_id is not None, price.valid_from)
    )
    if not valid:
        return None
    price = valid[-1]
    cached = price.usd_per_million_in if price.usd_per_million_cached is None else price.usd_per_million_cached
    return Tariff(price.usd_per_million_in, price.usd_per_million_out, cached)


@dataclass(frozen=True)
class Reserve:
    """What a request may cost, in US dollars, every word of it new.

    worst : with the longest reply that there may be
    usual : with a reply as long as the longest so far; the same where something sets a limit
    """

    worst: Decimal
    usual: Decimal


def reserve(tariff: Tariff, request: Request, *, endpoint: Endpoint, n_longest: int = 0) -> Reserve:
    """What is to be set aside for a request before it is sent.

    n_longest : tokens of the longest reply so far; see `find_longest`
    """
    n_bytes = sum(len(message["content"].encode()) for message in request["messages"])
    n_in = n_bytes // LEAST_BYTES_PER_TOKEN + 1
    limit = find_limit(request["parameters"], endpoint=endpoint)
    n_worst, n_usual = (MOST_TOKENS_OUT, USUAL_TOKENS_OUT) if limit is None else (limit, limit)
    return Reserve(tariff.cost(n_in, max(n_worst, n_longest)), tariff.cost(n_in, max(n_usual, n_longest)))


def find_longest(run: Run) -> int:
    """Tokens of the longest reply to learn from; 0 if there is none.

    Without a limit it is the model's longest at its endpoint: one that reasons writes far more than its answer. With a
    limit it is the run's own: a longer one shows that the provider does not keep to the limit.
    """
    judge = run.judge
    if find_limit(judge.parameters, endpoint=judge.required_endpoint) is None:
        rows = Attempt.objects.filter(call__run__judge__endpoint=judge.endpoint_id, call__run__judge__model=judge.model)
    else:
        rows = Attempt.objects.filter(call__run=run)
    return rows.aggregate(longest=Max("n_tokens_out"))["longest"] or 0


def cost_of(tariff: Tariff, completion: Completion) -> Decimal | None:
    """What a completion cost; None if the provider did not say how many tokens it took."""
    if completion.n_tokens_in is None or completion.n_tokens_out is None:
        return None
    return tariff.cost(completion.n_tokens_in, completion.n_tokens_out, completion.n_tokens_cached or 0)


def find_limit(parameters: dict[str, Any], *, endpoint: Endpoint) -> int | None:
    """How many tokens a reply may have, by what is sent along with the request; None if nothing says so.

    Where both names are set, servers differ in which they follow.
    """
    values = [parameters[name] for name in LIMITS if isinstance(parameters.get(name), int)]
    return max(values, default=endpoint.provider.default_limit if endpoint.provider else None)


def n_tokens(request: Request) -> int:
    """About how many tokens a request has."""
    return sum(len(message["content"]) for message in request["messages"]) // CHARACTERS_PER_TOKEN + 1
