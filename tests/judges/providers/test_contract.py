"""What every provider promises, whichever file defines it."""

import re
from contextlib import closing
from typing import Any

import pytest

from judges import providers
from judges.providers import CallFailed, CannotConnect, Client, Completion, Connection, Provider

REQUEST: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "Is it good?"}],
    "parameters": {},
    "schema": {"type": "string", "enum": ["yes", "no"]},
}
NOWHERE = Connection("http://127.0.0.1:9/v1", key="sk-canary-1", timeout_seconds=1, may_be_private=True)
every_provider = pytest.mark.parametrize("provider", providers.all_providers().values(), ids=lambda p: p.slug)


def connected(provider: Provider) -> Client:
    return provider.connect(NOWHERE)


@every_provider
def test_a_provider_has_a_slug_that_fits_its_column_and_a_title(provider: Provider) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", provider.slug)
    assert len(provider.slug) <= 40
    assert str(provider.title)
    assert providers.find_provider(provider.slug) is provider


@every_provider
def test_a_provider_completes_or_fails_and_never_says_its_key(provider: Provider) -> None:
    with closing(connected(provider)) as client:
        if provider.is_stub:
            completion = client.complete(REQUEST)
            assert isinstance(completion, Completion)
            assert completion.text
        else:
            with pytest.raises(CallFailed) as failure:
                client.complete(REQUEST)
            assert failure.value.is_transient
            assert NOWHERE.key not in str(failure.value)


@every_provider
def test_what_quire_sets_itself_is_named(provider: Provider) -> None:
    assert {"model", "messages"} <= set(provider.own_fields)


def test_the_providers_that_come_with_quire_are_found_in_alphabetical_order() -> None:
    assert list(providers.all_providers()) == sorted(providers.all_providers())
    assert {"openai", "stub"} <= set(providers.all_providers())


def test_an_unknown_provider_is_refused_with_those_there_are() -> None:
    with pytest.raises(providers.UnknownProvider, match="“telegraph” is not a provider; there are: openai, stub"):
        providers.find_provider("telegraph")


def test_an_endpoint_whose_provider_is_gone_cannot_be_connected_to() -> None:
    with pytest.raises(CannotConnect, match="“telegraph” is not a provider"):
        providers.connect("telegraph", base_url="https://api.example.org/v1", key_variable="", timeout_seconds=1)
