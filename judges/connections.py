"""How an endpoint is reached, and whether a run still may: what was allowed when it was planned can be taken back."""

from django.conf import settings

from judges import planning, providers
from judges.models import Call, Endpoint, Run
from judges.planning import CannotRun
from judges.providers import CannotConnect, Client


def connect(endpoint: Endpoint) -> Client:
    """A client for the endpoint. Raises CannotConnect. Asks the name service for the host's address."""
    return providers.connect(
        endpoint.adapter,
        base_url=endpoint.base_url,
        key_variable=endpoint.key_variable,
        timeout_seconds=endpoint.timeout_seconds,
        max_body_bytes=endpoint.max_body_bytes,
        allowed=settings.ALLOWED_PRIVATE_ENDPOINTS,
    )


def check(run: Run) -> None:
    """Raise CannotConnect unless the endpoint is as the run's document has it, and still allowed.

    Asks anew whether the stories that are still to be sent may be, since leave can be taken back while a run waits.
    """
    endpoint, frozen = run.judge.required_endpoint, run.frozen["endpoint"]
    if not endpoint.is_allowed:
        raise CannotConnect(f"the endpoint {endpoint.name} is not allowed (any more)")
    if (endpoint.adapter, endpoint.base_url) != (frozen["adapter"], frozen["base_url"]):
        raise CannotConnect(f"the endpoint {endpoint.name} has another address than when the run was started")
    try:
        planning.check_sendable(run.study, _codes_to_send(run), endpoint)
    except CannotRun as error:
        raise CannotConnect(str(error)) from None


def _codes_to_send(run: Run) -> set[str]:
    """Codes of the stories whose text stands in a call that is not over; a call about a group shows all of its.

    Those that are shown as examples count as long as anything is to be sent.
    """
    pending = run.calls.filter(state__in=Call.PENDING)
    orders = pending.filter(story=None).exclude(assignment=None).values_list("assignment__seat__order", flat=True)
    codes = set(pending.exclude(story=None).values_list("story__code", flat=True))
    shown = run.frozen.get("example_stories", []) if codes else []
    return codes.union(shown, *orders)
