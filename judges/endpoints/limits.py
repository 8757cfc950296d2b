"""An endpoint's limit as rows that all workers keep to: shares of it, its minute, its rests, its wait for a person."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from django.db import transaction
from django.db.models import Count, F, Q, Sum
from django.db.models.functions import Coalesce

from judges.models import Endpoint, Run, Share
from judges.providers.base.limits import LONGEST_WAIT_SECONDS

# A worker that has not been heard of for so long is taken to be dead.
SHARE_SECONDS = 25
# One loop keeps so many calls under way; further workers help beyond.
N_PER_WORKER = 64
LONGEST_REST_SECONDS = 300.0
FIRST_REST_SECONDS = 1.0


def n_workers(n_at_once: int) -> int:
    """How many workers an endpoint of that limit is worth."""
    return max(1, ceil(n_at_once / N_PER_WORKER))


@dataclass(frozen=True)
class Allowance:
    """What a worker may have of an endpoint's limit.

    n : how many calls it may have under way; while it has more, it begins none
    is_final : whether that stays so as long as no worker comes or goes
    """

    n: int
    is_final: bool


@transaction.atomic
def take_share(
    endpoint_id: int, worker: str, *, n_busy: int, is_leaving: bool = False, at: datetime
) -> Allowance | None:
    """What the worker may have of the limit as it stands now, its share renewed; None if there are enough without it.

    n_busy : how many calls the worker has under way. The share holds as many, even if it is to have fewer: others get
        them as they end
    is_leaving : it begins no more, so its share goes to others as its calls end
    """
    endpoint = Endpoint.objects.select_for_update(no_key=True).get(pk=endpoint_id)
    Share.objects.filter(endpoint=endpoint, until__lt=at).exclude(worker=worker).delete()
    others = Share.objects.filter(endpoint=endpoint).exclude(worker=worker)
    sums = others.aggregate(n_others=Count("pk", filter=Q(is_leaving=False)), n_held=Coalesce(Sum("n"), 0))
    if (
        sums["n_others"] >= n_workers(endpoint.n_at_once)
        and not Share.objects.filter(endpoint=endpoint, worker=worker).exists()
    ):
        return None
    n_free = max(endpoint.n_at_once - sums["n_held"], 0)
    n_due = 0 if is_leaving else ceil(endpoint.n_at_once / (sums["n_others"] + 1))
    n, n_held = min(n_due, n_free), min(max(n_due, n_busy), n_free)
    values = {"n": n_held, "until": at + timedelta(seconds=SHARE_SECONDS), "is_leaving": is_leaving}
    Share.objects.update_or_create(endpoint=endpoint, worker=worker, defaults=values)
    # What cannot be shared out evenly may stay with one of them.
    return Allowance(n, is_final=n_held <= n_due <= n + sums["n_others"])


def is_other_waiting(endpoint_id: int, *, at: datetime) -> bool:
    """Whether another endpoint could be called and has no worker."""
    at_work = Endpoint.objects.exclude(pk=endpoint_id).filter(judges__runs__state=Run.State.RUNNING)
    can_be_called = at_work.filter(Q(resting_until=None) | Q(resting_until__lte=at), needs_attention="")
    staffed = Share.objects.filter(until__gte=at, is_leaving=False)
    return can_be_called.exclude(pk__in=staffed.values("endpoint")).exists()


def give_up_share(endpoint_id: int, worker: str) -> None:
    """Leave the worker's share to others."""
    Share.objects.filter(endpoint=endpoint_id, worker=worker).delete()


def hold(endpoint_id: int) -> None:
    """Hold the endpoint's row to the end of the transaction, so that what two workers begin there has an order."""
    Endpoint.objects.select_for_update(no_key=True).get(pk=endpoint_id)


def take_of_minute(endpoint_id: int, n: int, *, n_tokens: int, at: datetime) -> int:
    """How many of n requests still fit into this minute, counted as sent; all if no limit per minute is set.

    n_tokens : what one request is expected to take. Must be called in a transaction: the row is held to its end
    """
    endpoint = Endpoint.objects.select_for_update(no_key=True).get(pk=endpoint_id)
    if endpoint.requests_per_minute is None and endpoint.tokens_per_minute is None:
        return n
    began = endpoint.minute_began
    # One that begins later than now was stored before the clock was set back.
    if began is None or not began <= at < began + timedelta(minutes=1):
        endpoint.minute_began, endpoint.n_requests_in_minute, endpoint.n_tokens_in_minute = at, 0, 0
    if endpoint.requests_per_minute is not None:
        n = min(n, endpoint.requests_per_minute - endpoint.n_requests_in_minute)
    if endpoint.tokens_per_minute is not None and n_tokens:
        n_free = endpoint.tokens_per_minute - endpoint.n_tokens_in_minute
        # A request that is larger than a whole minute's tokens is sent alone.
        n = min(n, max(n_free // n_tokens, int(endpoint.n_tokens_in_minute == 0)))
    n = max(n, 0)
    endpoint.n_requests_in_minute += n
    endpoint.n_tokens_in_minute += n * n_tokens
    endpoint.save(update_fields=["minute_began", "n_requests_in_minute", "n_tokens_in_minute"])
    return n


def rest(endpoint: Endpoint, reason: str, *, seconds: float | None, at: datetime) -> None:
    """Have nothing sent to the endpoint for as long as it asked, or for twice as long as the last time."""
    stored = Endpoint.objects.get(pk=endpoint.pk)
    is_resting = stored.resting_until is not None and stored.resting_until > at
    if seconds is None and is_resting:
        return  # sent before the rest began, and no news
    doubled = min(FIRST_REST_SECONDS * 2**stored.n_rests, LONGEST_REST_SECONDS)
    until = at + timedelta(seconds=doubled if seconds is None else seconds)
    if stored.resting_until is not None and stored.resting_until >= until:
        return
    Endpoint.objects.filter(pk=endpoint.pk).update(
        resting_until=until, resting_reason=reason, n_rests=F("n_rests") + int(not is_resting)
    )


def shorten(*, at: datetime) -> None:
    """End rests and shares no later than they can last from now.

    What ends later was stored before the clock was set back.
    """
    longest_rest = at + timedelta(seconds=max(LONGEST_REST_SECONDS, LONGEST_WAIT_SECONDS))
    Endpoint.objects.filter(resting_until__gt=longest_rest).update(resting_until=longest_rest)
    longest_share = at + timedelta(seconds=SHARE_SECONDS)
    Share.objects.filter(until__gt=longest_share).update(until=longest_share)


def note_answer(endpoint: Endpoint) -> None:
    """The endpoint answers (again): the next rest is short."""
    Endpoint.objects.filter(pk=endpoint.pk, n_rests__gt=0).update(n_rests=0, resting_reason="", resting_until=None)


def ask_attention(endpoint: Endpoint, sentence: str, **values: str | int) -> None:
    """Have all runs at the endpoint wait until a person has seen to it.

    sentence : in English, with places for the values: it is translated when it is shown
    """
    Endpoint.objects.filter(pk=endpoint.pk).update(needs_attention=sentence, attention_values=values)
    at_work = Run.objects.filter(judge__endpoint=endpoint, state=Run.State.RUNNING)
    at_work.update(state=Run.State.WAITING, note_sentence=sentence, note_values=values)


def mend(endpoint_id: int) -> None:
    """Have the endpoint called again: a person has seen to it."""
    Endpoint.objects.filter(pk=endpoint_id).update(
        needs_attention="", attention_values={}, resting_until=None, resting_reason="", n_rests=0
    )
