"""What every provider promises, whichever file defines it."""

import asyncio
import re
from typing import Any

import pytest

from judges import providers
from judges.providers import CallFailed, CannotConnect, Completion, Connection, FailureKind, Provider, Request

REQUEST: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "Is it good?"}],
    "parameters": {},
    "schema": {"type": "string", "enum": ["yes", "no"]},
}
NOWHERE = Connection("http://127.0.0.1:9/v1", key="sk-canary-1", timeout_seconds=1, may_be_private=True)
every_provider = pytest.mark.parametrize("provider", providers.all_providers().values(), ids=lambda p: p.slug)


def complete(provider: Provider, request: Request) -> Completion:
    async def connect_and_complete() -> Completion:
        client = provider.connect(NOWHERE)
        try:
            return await client.complete(request)
        finally:
            await client.close()

    return asyncio.run(connect_and_complete())


@every_provider
def test_a_provider_has_a_slug_that_fits_its_column_and_a_title(provider: Provider) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", provider.slug)
    assert len(provider.slug) <= 40
    assert str(provider.title)
    assert providers.find_provider(provider.slug) is provider


@every_provider
def test_a_provider_completes_or_fails_and_never_says_its_key(provider: Provider) -> None:
    if provider.is_stub:
        completion = complete(provider, REQUEST)
        assert isinstance(completion, Completion)
        assert completion.text
    else:
        with pytest.raises(CallFailed) as failure:
            complete(provider, REQUEST)
        assert failure.value.kind == FailureKind.CONNECTION
        assert failure.value.is_transient
        assert NOWHERE.key not in str(failure.value)


@every_provider
def test_a_message_may_come_in_parts(provider: Provider) -> None:
    """What a provider says of a request in parts is what it says of the whole, whether it can be reached or not."""
    in_parts = REQUEST | {"messages": [{"role": "user", "content": ["Is it ", "good?"]}]}
    outcomes = []
    for request in (REQUEST, in_parts):
        try:
            outcomes.append(complete(provider, request).text)
        except CallFailed as failure:
            outcomes.append(failure.kind)

    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    ("slug", "body"),
    [
        ("anthropic", '{"content": [{"type": "text", "text": "Yes"}], "stop_reason": "end_turn"}'),
        ("gemini", '{"candidates": [{"content": {"parts": [{"text": "Yes"}]}, "finishReason": "STOP"}]}'),
        (
            "openai-responses",
            '{"status": "completed", "output": [{"type": "message", '
            '"content": [{"type": "output_text", "text": "Yes"}]}]}',
        ),
        ("openai", '{"choices": [{"message": {"content": "Yes"}}]}'),
        ("stub", '{"stub": true, "reply": "Yes"}'),
    ],
)
def test_a_body_that_was_kept_is_read_again(slug: str, body: str) -> None:
    provider = providers.find_provider(slug)

    assert (provider.read(body).text, provider.read(body).finish_reason) == ("Yes", "stop")
    with pytest.raises(CallFailed):
        provider.read("<html>Bad gateway</html>")


@every_provider
def test_what_quire_sets_itself_is_named(provider: Provider) -> None:
    assert {"model", "messages"} <= set(provider.own_fields)


def test_the_providers_that_come_with_quire_are_found_in_alphabetical_order() -> None:
    assert list(providers.all_providers()) == sorted(providers.all_providers())
    assert {"anthropic", "gemini", "openai", "openai-responses", "stub"} <= set(providers.all_providers())


def test_an_unknown_provider_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        providers.UnknownProvider, match=r"“telegraph”.*: anthropic, gemini, openai, openai-responses, stub$"
    ):
        providers.find_provider("telegraph")


def test_an_endpoint_whose_provider_is_gone_cannot_be_connected_to() -> None:
    with pytest.raises(CannotConnect, match=r"“telegraph”.*: anthropic, gemini, openai, openai-responses, stub$"):
        providers.connect("telegraph", base_url="https://api.example.org/v1", key_variable="", timeout_seconds=1)
