"""How an endpoint is reached, and whether a run still may: what was allowed when it was planned can be taken back."""

from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from judges import planning, providers
from judges.models import Call, Endpoint, Run
from judges.planning import CannotRun
from judges.providers import BatchClient, CannotConnect, Client
from studies import licences


def connect(endpoint: Endpoint) -> Client:
    """A client for the endpoint. Raises CannotConnect. Asks the name service for the host's address."""
    return providers.connect(endpoint.adapter, max_body_bytes=endpoint.max_body_bytes, **_address_of(endpoint))


def connect_batches(endpoint: Endpoint) -> BatchClient:
    """A client that hands in batches, as `connect`. Raises CannotConnect, also if the provider takes none."""
    return providers.connect_batches(endpoint.adapter, **_address_of(endpoint))


def _address_of(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "base_url": endpoint.base_url,
        "key_variable": endpoint.key_variable,
        "timeout_seconds": endpoint.timeout_seconds,
        "allowed": settings.ALLOWED_PRIVATE_ENDPOINTS,
    }


def check(run: Run) -> None:
    """Raise CannotConnect unless the endpoint is as the run's document has it, and still allowed.

    Asks again whether the stories that are still to be sent may be, since leave can be taken back while a run waits.
    """
    endpoint, frozen = run.judge.required_endpoint, run.frozen["endpoint"]
    if not endpoint.is_allowed:
        raise CannotConnect(gettext_noop("the endpoint %(name)s is not allowed (any more)"), name=endpoint.name)
    if (endpoint.adapter, endpoint.base_url) != (frozen["adapter"], frozen["base_url"]):
        sentence = gettext_noop("the endpoint %(name)s has another address than when the run was started")
        raise CannotConnect(sentence, name=endpoint.name)
    try:
        _check_texts(run, endpoint)
        planning.check_sendable(run.study, _codes_to_send(run), endpoint)
    except CannotRun as error:
        raise CannotConnect(str(error)) from None


def _check_texts(run: Run, endpoint: Endpoint) -> None:
    """Raise CannotRun if a text that is to be embedded may not leave: they are of other studies, too."""
    if not endpoint.is_outside:
        return
    pending = run.calls.filter(kind=Call.Kind.EMBED, state__in=Call.PENDING)
    hashes = {sha256 for request in pending.values_list("request", flat=True) for sha256, _n in request["of"]["texts"]}
    may_send_out = bool(run.frozen.get("may_send_out"))
    if any(not leave.get(sha256, may_send_out) for leave in [licences.find_leave(hashes)] for sha256 in hashes):
        raise CannotRun(_("texts that are still to be sent may not go to an outside provider any more"))


def _codes_to_send(run: Run) -> set[str]:
    """Codes of the stories whose text stands in a call that is not over; a call about a group shows all of its.

    Those that are shown as examples count as long as anything is to be sent.
    """
    pending = run.calls.filter(state__in=Call.PENDING)
    orders = pending.filter(story=None).exclude(assignment=None).values_list("assignment__seat__order", flat=True)
    codes = set(pending.exclude(story=None).values_list("story__code", flat=True))
    shown = run.frozen.get("example_stories", []) if codes else []
    return codes.union(shown, *orders)
