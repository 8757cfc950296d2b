"""What calls cost: from prices with dates, in US dollars, before they are sent at most, and afterwards as it was."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from django.db.models import Max, Q

from judges.models import Attempt, Judge, Price
from judges.providers import Completion, Request

MILLION = Decimal(1_000_000)
# A token has hardly ever fewer bytes than this, in any language; for the worst case, not for the estimate.
LEAST_BYTES_PER_TOKEN = 2
CHARACTERS_PER_TOKEN = 4
# Where a judge's parameters set no limit, a reply is taken to be no longer than this, or than the longest so far.
MOST_TOKENS_OUT = 4096
# OpenAI and Anthropic take half of every price for what may wait a day.
BATCH_PART = Decimal("0.5")
# Names by which providers take the limit of a reply's length.
LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


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


def worst_cost(tariff: Tariff, request: Request, *, n_longest: int = 0) -> Decimal:
    """What a request costs at most: every word of it new, and the longest reply that it allows.

    n_longest : tokens of the longest reply that the model has given; see `find_longest`
    """
    n_bytes = sum(len(message["content"].encode()) for message in request["messages"])
    n_out = most_tokens_out(request["parameters"], n_longest=n_longest)
    return tariff.cost(n_bytes // LEAST_BYTES_PER_TOKEN + 1, n_out)


def find_longest(judge: Judge) -> int:
    """Tokens of the longest reply that the judge's model has given at its endpoint; 0 if it has given none.

    A model that reasons writes far more than its answer, and what nobody limits is as long as it likes.
    """
    of_model = Attempt.objects.filter(call__run__judge__endpoint=judge.endpoint_id, call__run__judge__model=judge.model)
    return of_model.aggregate(longest=Max("n_tokens_out"))["longest"] or 0


def cost_of(tariff: Tariff, completion: Completion) -> Decimal | None:
    """What a completion cost; None if the provider did not say how many tokens it took."""
    if completion.n_tokens_in is None or completion.n_tokens_out is None:
        return None
    return tariff.cost(completion.n_tokens_in, completion.n_tokens_out, completion.n_tokens_cached or 0)


def most_tokens_out(parameters: dict[str, Any], *, n_longest: int = 0) -> int:
    """How long a reply may be by the judge's parameters, or by the longest that came if they set no limit."""
    values = [parameters[name] for name in LIMITS if isinstance(parameters.get(name), int)]
    return min(values, default=max(MOST_TOKENS_OUT, n_longest))


def n_tokens(request: Request) -> int:
    """About how many tokens a request has."""
    return sum(len(message["content"]) for message in request["messages"]) // CHARACTERS_PER_TOKEN + 1
