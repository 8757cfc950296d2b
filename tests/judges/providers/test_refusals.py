"""Refusals of one text in the words of each provider, over HTTP; and what looks like them and is not."""

import json
from collections.abc import Iterator
from decimal import Decimal

import pytest

from judges.planning import prices
from judges.providers import FailureKind
from judges.providers.base import failure_of
from tests.judges.providers.calls import Caller, connected
from tests.judges.standin import Reply, StandIn
from tests.judges.standin.refusals import BLOCKS, LONG


@pytest.fixture
def client(standin: StandIn) -> Iterator[Caller]:
    with connected(standin) as caller:
        yield caller


@pytest.mark.parametrize("provider", BLOCKS)
def test_what_a_filter_stops_is_an_empty_reply_that_it_ended(client: Caller, standin: StandIn, provider: str) -> None:
    standin.script = [BLOCKS[provider]]

    completion = client.complete()

    assert (completion.text, completion.finish_reason) == ("", "content_filter")
    assert completion.raw == BLOCKS[provider].body


@pytest.mark.parametrize("provider", LONG)
def test_a_text_that_is_too_long_is_told_from_other_refusals(client: Caller, standin: StandIn, provider: str) -> None:
    standin.script = [LONG[provider]]

    failure = client.failure()

    assert (failure.kind, failure.is_of_its_text) == (FailureKind.TOO_LARGE, True)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, '{"error": {"message": "Unsupported parameter: \'temperature\'"}}', FailureKind.BAD_REQUEST),
        (400, '{"error": {"message": "Invalid prompt", "code": "invalid_prompt"}}', FailureKind.BAD_REQUEST),
        (403, '{"error": "Your account was flagged for violating our usage policies."}', FailureKind.FORBIDDEN),
        (403, '{"error": "This API key was disabled for violation of our usage policy."}', FailureKind.FORBIDDEN),
        (403, '{"error": {"message": "Your API key does not have permission."}}', FailureKind.KEY),
        (403, '{"error": {"type": "permission_error", "message": "Ask your administrator."}}', FailureKind.KEY),
        (403, '{"error": {"message": "You are not authorized to access this model."}}', FailureKind.KEY),
        (403, '{"error": {"message": "Access denied."}}', FailureKind.FORBIDDEN),
        (403, "<html>Sorry, you have been blocked</html>", FailureKind.FORBIDDEN),
        (403, "<html>Blocked: this site violates our content policy.</html>", FailureKind.FORBIDDEN),
        (429, '{"error": {"message": "Too many tokens, please wait."}}', FailureKind.OVERLOAD),
        (500, '{"error": {"message": "The model crashed."}}', FailureKind.OVERLOAD),
    ],
)
def test_what_may_be_every_calls_is_not_taken_for_a_texts(status: int, body: str, kind: FailureKind) -> None:
    failure = failure_of(status, body, {})

    assert (failure.kind, failure.is_of_its_text) == (kind, False)


TARIFF = prices.Tariff(into=Decimal(2), out=Decimal(10), cached=Decimal(1), written=Decimal(2))
STOPPED = {"choices": None, "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
COUNTED = Reply(json.dumps(STOPPED | {"usage": {"prompt_tokens": 500, "total_tokens": 500}}))


@pytest.mark.parametrize(
    ("reply", "cost"),
    [
        pytest.param(BLOCKS["xai"], Decimal(0), id="by an HTTP status, before a model"),
        pytest.param(COUNTED, Decimal("0.001"), id="with success and its usage"),
        pytest.param(Reply(json.dumps(STOPPED)), None, id="with success and no usage"),
    ],
)
def test_a_refusal_costs_what_the_provider_counted(
    client: Caller, standin: StandIn, reply: Reply, cost: Decimal | None
) -> None:
    standin.script = [reply]

    assert prices.cost_of(TARIFF, client.complete()) == cost
