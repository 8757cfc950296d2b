"""Refusals of one text in the words of each provider, over HTTP; and what looks like them and is not."""

from collections.abc import Iterator

import pytest

from judges.providers import FailureKind
from judges.providers.base import failure_of
from tests.judges.providers.calls import Caller, connected
from tests.judges.standin import StandIn
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
        (403, '{"error": {"message": "Your API key does not have permission."}}', FailureKind.FORBIDDEN),
        (403, "<html>Sorry, you have been blocked</html>", FailureKind.FORBIDDEN),
        (429, '{"error": {"message": "Too many tokens, please wait."}}', FailureKind.OVERLOAD),
        (500, '{"error": {"message": "The model crashed."}}', FailureKind.OVERLOAD),
    ],
)
def test_what_may_be_every_calls_is_not_taken_for_a_texts(status: int, body: str, kind: FailureKind) -> None:
    failure = failure_of(status, body, {})

    assert (failure.kind, failure.is_of_its_text) == (kind, False)
