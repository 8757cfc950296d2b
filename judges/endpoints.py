"""An endpoint's limit as rows that all workers keep to: shares of it, its minute, its rests, its wait for a person."""

from datetime import datetime, timedelta
from math import ceil

from django.db import transaction
from django.db.models import F, Sum

from judges.models import Endpoint, Run, Share

# A worker that has not been heard of for so long is taken to be dead.
SHARE_SECONDS = 30
# One loop keeps so many calls under way; further workers help beyond.
N_PER_WORKER = 64
LONGEST_REST_SECONDS = 300.0
FIRST_REST_SECONDS = 1.0


def n_workers(n_at_once: int) -> int:
    """How many workers an endpoint of that limit is worth."""
    return max(1, ceil(n_at_once / N_PER_WORKER))


@transaction.atomic
def take_share(endpoint_id: int, worker: str, *, n_busy: int, is_leaving: bool = False, at: datetime) -> Share | None:
    """The worker's share of the limit as it stands now, renewed; None if there are workers enough without it.

    n_busy : how many calls the worker has under way; it keeps as many
    is_leaving : it begins no more, so its share goes to others as its calls end
    """
    endpoint = Endpoint.objects.select_for_update(no_key=True).get(pk=endpoint_id)
    Share.objects.filter(endpoint=endpoint, until__lt=at).exclude(worker=worker).delete()
    others = Share.objects.filter(endpoint=endpoint).exclude(worker=worker)
    n_others = others.filter(is_leaving=False).count()
    if (
        n_others >= n_workers(endpoint.n_at_once)
        and not Share.objects.filter(endpoint=endpoint, worker=worker).exists()
    ):
        return None
    n_free = endpoint.n_at_once - (others.aggregate(n=Sum("n"))["n"] or 0)
    n_asked = n_busy if is_leaving else max(n_busy, ceil(endpoint.n_at_once / (n_others + 1)))
    until = at + timedelta(seconds=SHARE_SECONDS)
    values = {"n": max(0, min(n_asked, n_free)), "until": until, "is_leaving": is_leaving}
    return Share.objects.update_or_create(endpoint=endpoint, worker=worker, defaults=values)[0]


def give_up_share(endpoint_id: int, worker: str) -> None:
    """Leave the worker's share to others."""
    Share.objects.filter(endpoint=endpoint_id, worker=worker).delete()


def take_of_minute(endpoint_id: int, n: int, *, n_tokens: int, at: datetime) -> int:
    """How many of n requests still fit into this minute, counted as sent; all if no limit per minute is set.

    n_tokens : what one request is expected to take. Must be called in a transaction: the row is held to its end
    """
    endpoint = Endpoint.objects.select_for_update(no_key=True).get(pk=endpoint_id)
    if endpoint.requests_per_minute is None and endpoint.tokens_per_minute is None:
        return n
    if endpoint.minute_began is None or at - endpoint.minute_began >= timedelta(minutes=1):
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


def note_answer(endpoint: Endpoint) -> None:
    """The endpoint answers (again): the next rest is short."""
    Endpoint.objects.filter(pk=endpoint.pk, n_rests__gt=0).update(n_rests=0, resting_reason="", resting_until=None)


def ask_attention(endpoint: Endpoint, sentence: str) -> None:
    """Have all runs at the endpoint wait until a person has seen to it."""
    Endpoint.objects.filter(pk=endpoint.pk).update(needs_attention=sentence)
    at_work = Run.objects.filter(judge__endpoint=endpoint, state=Run.State.RUNNING)
    at_work.update(state=Run.State.WAITING, note=sentence)


def mend(endpoint_id: int) -> None:
    """Have the endpoint called again: a person has seen to it."""
    Endpoint.objects.filter(pk=endpoint_id).update(needs_attention="", resting_until=None, resting_reason="", n_rests=0)
