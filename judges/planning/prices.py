"""What calls cost: from prices with dates, in US dollars, before they are sent at most, and afterwards as it was."""

import json
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any

from django.db.models import Count, F, Max, Q

from judges.models import Attempt, Endpoint, Judge, Price
from judges.providers import HIGHEST_REPLY_LIMIT, Completion, Provider, Request, is_reply_limit

MILLION = Decimal(1_000_000)
CHARACTERS_PER_TOKEN = 4
# What servers put around each message and before the whole, at most, in tokens.
FRAME_TOKENS = 16
# No model on offer gives a longer reply, with what it reasons before: the largest limits that vendors named in 2026 are
# 128,000 tokens. Where nothing sets a limit, a reply may be as long as this.
MOST_TOKENS_OUT = 131_072
# Hardly a verdict with its reasons is longer. Where the budget does not bear the longest reply, this is the least to
# which one is limited.
USUAL_TOKENS_OUT = 4096
# So many replies of a model that kept to their limit, and none that did not, show that its provider keeps to limits.
N_SHOWS_LIMITS = 20
# OpenAI and Anthropic take half of every price for what may wait a day.
BATCH_PART = Decimal("0.5")
# How far over its limit a reply may be and still have kept to it: some servers count the sign at its end.
SLACK_TOKENS = 16
# So many of a model's last replies say how long they get, and whether they keep to limits.
N_LAST_REPLIES = 1000


@dataclass(frozen=True)
class Tariff:
    """What a million tokens cost at an endpoint: sent, answered, read from its cache, and written to it."""

    into: Decimal
    out: Decimal
    cached: Decimal
    written: Decimal

    def cost(self, n_in: int, n_out: int, *, n_cached: int = 0, n_written: int = 0) -> Decimal:
        """n_in : those read from the cache and written to it included; n_out : those of reasoning included"""
        n_plain = max(n_in - n_cached - n_written, 0)  # some servers count those of the cache apart
        return (n_plain * self.into + n_cached * self.cached + n_written * self.written + n_out * self.out) / MILLION

    def in_batches(self) -> "Tariff":
        """The same for calls that are handed in as a batch."""
        return Tariff(*(price * BATCH_PART for price in (self.into, self.out, self.cached, self.written)))


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
    into, cached, written = price.usd_per_million_in, price.usd_per_million_cached, price.usd_per_million_cache_written
    part = endpoint.provider.cache_write_part if endpoint.provider else Decimal(1)
    return Tariff(
        into,
        price.usd_per_million_out,
        into if cached is None else cached,
        into * part if written is None else written,
    )


@dataclass(frozen=True)
class ReplyLengths:
    """What is known of the last replies of a model at an endpoint, in tokens.

    n_longest : of the longest
    n_cut : the highest limit that cut one off
    n_kept : how many kept to their limit
    is_over : whether one was longer than its limit, so that limits say nothing
    """

    n_longest: int = 0
    n_cut: int = 0
    n_kept: int = 0
    is_over: bool = False

    @property
    def are_limits_kept(self) -> bool:
        """Whether so many kept to their limit that others may be relied upon to do so."""
        return self.n_kept >= N_SHOWS_LIMITS and not self.is_over

    def add(self, completion: Completion, *, limit: int | None) -> "ReplyLengths":
        """The same with one reply more, to which that limit was sent."""
        n = completion.n_tokens_out
        if not n:
            return self
        longer = replace(self, n_longest=max(self.n_longest, n))
        if limit is None:
            return longer
        is_over = n > limit + SLACK_TOKENS
        n_cut = max(self.n_cut, limit) if completion.finish_reason == "length" else self.n_cut
        return replace(longer, n_cut=n_cut, n_kept=self.n_kept + (not is_over), is_over=self.is_over or is_over)


@dataclass(frozen=True)
class Reserve:
    """What a request may cost, in US dollars, every word of it new.

    worst : with the longest reply that there may be
    usual : with a reply of `limit` tokens; the same where the request sets that limit itself
    limit : tokens to which a reply is limited if no more than `usual` is set aside
    is_limited : whether the request sets that limit
    unlimited : as worst, of a provider that keeps to no limit
    """

    worst: Decimal
    usual: Decimal
    limit: int
    unlimited: Decimal
    is_limited: bool


def reserve(tariff: Tariff, request: Request, *, endpoint: Endpoint, lengths: ReplyLengths = ReplyLengths()) -> Reserve:
    """What is to be set aside for a request before it is sent.

    lengths : of the model's replies so far; see `load_lengths`
    """
    # No tokeniser makes more tokens of a text than it has bytes.
    n_in = sum(len(message["content"].encode()) + FRAME_TOKENS for message in request["messages"]) + FRAME_TOKENS
    if request.get("structured"):
        n_in += len(json.dumps(request["schema"]))
    cost_in = n_in * max(tariff.into, tariff.written) / MILLION
    n_most = max(MOST_TOKENS_OUT, lengths.n_longest)
    unlimited = cost_in + tariff.cost(0, n_most)
    own = find_limit(request["parameters"], endpoint=endpoint)
    wanted = max(USUAL_TOKENS_OUT, lengths.n_longest, 2 * lengths.n_cut)
    limit = min(wanted, n_most, HIGHEST_REPLY_LIMIT) if own is None else own
    usual = unlimited if lengths.is_over else cost_in + tariff.cost(0, limit)
    return Reserve(unlimited if own is None else usual, usual, limit, unlimited, is_limited=own is not None)


def load_lengths(judge: Judge) -> ReplyLengths:
    """What is known of the last replies of the judge's model at its endpoint, in whichever run. One query."""
    rows = Attempt.objects.filter(call__run__judge__endpoint=judge.endpoint_id, call__run__judge__model=judge.model)
    last = rows.filter(n_tokens_out__gt=0).order_by("-pk")[:N_LAST_REPLIES]
    is_over = Q(n_tokens_out__gt=F("n_tokens_limit") + SLACK_TOKENS)
    counts = last.aggregate(
        n_longest=Max("n_tokens_out"),
        n_cut=Max("n_tokens_limit", filter=Q(finish_reason="length")),
        n_kept=Count("pk", filter=Q(n_tokens_limit__isnull=False) & ~is_over),
        n_over=Count("pk", filter=is_over),
    )
    n_over = counts.pop("n_over")
    return ReplyLengths(**{name: n or 0 for name, n in counts.items()}, is_over=n_over > 0)


def limit_reply(request: Request, limit: int | None) -> Request:
    """The request with that limit of its reply, in tokens; as it is where None."""
    return request if limit is None else request | {"max_tokens": limit}


def cost_of(tariff: Tariff, completion: Completion) -> Decimal | None:
    """What a completion cost; None if the provider did not say how many tokens it took, or said 0 of words.

    A refusal that no model served costs nothing.
    """
    if completion.refusal is not None and completion.refusal.is_unserved:
        return Decimal(0)
    if completion.n_tokens_in is None or completion.n_tokens_out is None:
        return None
    if completion.text and not completion.n_tokens_in and not completion.n_tokens_out:
        return None
    return tariff.cost(
        completion.n_tokens_in,
        completion.n_tokens_out,
        n_cached=completion.n_tokens_cached or 0,
        n_written=completion.n_tokens_cache_written or 0,
    )


def find_limit(parameters: dict[str, Any], *, endpoint: Endpoint) -> int | None:
    """How many tokens a reply may have, by what is sent along with the request; None if nothing says so.

    Where several names are set, servers differ in which they follow.
    """
    provider = endpoint.provider or Provider
    values = [parameters[name] for name in provider.reply_limits if is_reply_limit(parameters.get(name))]
    return max(values, default=provider.default_limit)


def n_tokens(request: Request) -> int:
    """About how many tokens a request has."""
    return sum(len(message["content"]) for message in request["messages"]) // CHARACTERS_PER_TOKEN + 1
