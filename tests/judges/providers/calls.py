"""Calls of an asynchronous client, one after the other or all at once, for tests that are not."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from judges import providers
from judges.providers import CallFailed, Client, Completion, Request
from tests.judges.standin import StandIn

ASKED: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "Is it good?"}],
    "parameters": {"temperature": 0, "top_k": 5},
    "schema": {"type": "string", "enum": ["yes", "no"]},
}


class Caller:
    """A client in its event loop."""

    def __init__(self, client: Client, runner: asyncio.Runner) -> None:
        self.client = client
        self.runner = runner

    def complete(self, request: Request = ASKED) -> Completion:
        return self.runner.run(self.client.complete(request))

    def complete_at_once(self, requests: list[Request]) -> list[Completion | BaseException]:
        async def gather() -> list[Completion | BaseException]:
            return await asyncio.gather(*map(self.client.complete, requests), return_exceptions=True)

        return self.runner.run(gather())

    def failure(self, request: Request = ASKED) -> CallFailed:
        with pytest.raises(CallFailed) as caught:
            self.complete(request)
        return caught.value


@contextmanager
def running(client: Client) -> Iterator[Caller]:
    with asyncio.Runner() as runner:
        try:
            yield Caller(client, runner)
        finally:
            runner.run(client.close())


@contextmanager
def connected(
    standin: StandIn, adapter: str = "openai", *, key_variable: str = "STANDIN_API_KEY", **changes: Any
) -> Iterator[Caller]:
    """A client of the stand-in."""
    client = providers.connect(
        adapter,
        base_url=standin.base_url,
        key_variable=key_variable,
        allowed=[standin.base_url.split("/")[2]],
        **({"timeout_seconds": 5} | changes),
    )
    with running(client) as caller:
        yield caller
