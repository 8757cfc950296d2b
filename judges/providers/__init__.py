"""Providers of models: one file each, discovered, never listed.

A provider knows everything that differs between protocols: how a request is sent, what a reply and a failure look like.
An endpoint names its provider by slug.
"""

import asyncio
import os
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cache

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from judges import addresses
from judges.providers.base import (
    HIGHEST_REPLY_LIMIT,
    LIKELIHOOD,
    MAX_BODY_BYTES,
    REASONING_EFFORT,
    REASONING_EFFORTS,
    REPLY_LIMITS,
    VECTORS,
    BatchClient,
    BatchRefused,
    BatchResult,
    BatchState,
    CallFailed,
    CannotConnect,
    Client,
    Completion,
    Connection,
    FailureKind,
    Limits,
    Provider,
    Request,
    Token,
    VectorReply,
    count_models,
    is_reply_limit,
    is_same_model,
    mean_of_chunks,
    read_likelihoods,
    read_vectors,
)
from studies.discovery import find_classes

__all__ = [
    "HIGHEST_REPLY_LIMIT",
    "LIKELIHOOD",
    "REASONING_EFFORT",
    "REASONING_EFFORTS",
    "REPLY_LIMITS",
    "VECTORS",
    "BatchClient",
    "BatchRefused",
    "BatchResult",
    "BatchState",
    "CallFailed",
    "CannotConnect",
    "Client",
    "Completion",
    "Connection",
    "ConnectionCheck",
    "FailureKind",
    "Limits",
    "Provider",
    "Request",
    "Token",
    "UnknownProvider",
    "VectorReply",
    "all_providers",
    "check",
    "connect",
    "connect_batches",
    "count_models",
    "find_provider",
    "is_reply_limit",
    "is_same_model",
    "mean_of_chunks",
    "read_likelihoods",
    "read_vectors",
]


# As little as can be asked, and without a limit on the reply: models differ in what they call one.
SMALLEST_REQUEST: Request = {
    "messages": [{"role": "user", "content": "Answer with the one word: yes"}],
    "parameters": {},
    "schema": {"type": "string", "enum": ["yes"]},
}


@dataclass(frozen=True)
class ConnectionCheck:
    """Whether a model answers at an endpoint; if not, what kind of failure that is.

    kind : None if it answered
    detail : what the provider or the client said; "" if it answered
    model : the model that answered, as it says
    """

    kind: FailureKind | None
    detail: str = ""
    model: str = ""
    is_asked_model: bool = True

    @property
    def is_ok(self) -> bool:
        return self.kind is None

    @property
    def sentence(self) -> str:
        """What came out, in one sentence."""
        if self.kind:
            return self.kind.sentence
        if not self.is_asked_model:
            return _("Another model answered than was asked: %(model)s.") % {"model": self.model}
        return _("The model answers.")

    @property
    def way_out(self) -> str:
        """What to do about a failure; "" if there is none."""
        return self.kind.way_out if self.kind else ""


class UnknownProvider(ValueError):
    """No file defines a provider of that slug; the message names those there are."""


@cache
def all_providers() -> dict[str, Provider]:
    """Every provider by its slug, in alphabetical order. Raises TypeError if two share a slug."""
    return {slug: kind() for slug, kind in find_classes(__name__, Provider, key="slug").items()}


def find_provider(slug: str) -> Provider:
    """The provider of that slug. Raises UnknownProvider."""
    try:
        return all_providers()[slug]
    except KeyError:
        message = _("“%(slug)s” is not a provider; there are: %(slugs)s")
        raise UnknownProvider(message % {"slug": slug, "slugs": ", ".join(all_providers())}) from None


def connect(
    adapter: str,
    *,
    base_url: str,
    key_variable: str,
    timeout_seconds: float,
    max_body_bytes: int = MAX_BODY_BYTES,
    allowed: Collection[str] = (),
) -> Client:
    """A client for an endpoint. Raises CannotConnect. Asks the name service for the host's address.

    key_variable : the name of the environment variable that holds the key; "" for an endpoint without one
    allowed : private endpoints that the operator runs, as "host:port"
    """
    provider = _find_provider(adapter)
    if provider.is_stub:
        return provider.connect(Connection(base_url="", key="", timeout_seconds=timeout_seconds))
    connection = _check_connection(
        base_url, key_variable=key_variable, timeout_seconds=timeout_seconds, allowed=allowed
    )
    return provider.connect(replace(connection, max_body_bytes=max_body_bytes))


def connect_batches(
    adapter: str, *, base_url: str, key_variable: str, timeout_seconds: float, allowed: Collection[str] = ()
) -> BatchClient:
    """A client for batches at an endpoint, as `connect`. Raises CannotConnect, also if the provider has none."""
    provider = _find_provider(adapter)
    if provider.is_stub:
        return provider.connect_batches(Connection(base_url="", key="", timeout_seconds=timeout_seconds))
    return provider.connect_batches(
        _check_connection(base_url, key_variable=key_variable, timeout_seconds=timeout_seconds, allowed=allowed)
    )


def _find_provider(adapter: str) -> Provider:
    try:
        return find_provider(adapter)
    except UnknownProvider as error:
        raise CannotConnect(str(error)) from None


def _check_connection(
    base_url: str, *, key_variable: str, timeout_seconds: float, allowed: Collection[str]
) -> Connection:
    try:
        addresses.check_reach(base_url, allowed=allowed)
    except addresses.InvalidAddress as error:
        raise CannotConnect(error.sentence, kind=FailureKind.ADDRESS, **error.values) from None
    key = os.environ.get(key_variable, "").strip() if key_variable else ""
    if key_variable and not key:
        sentence = gettext_noop("the environment variable %(name)s is not set where judges run")
        raise CannotConnect(sentence, kind=FailureKind.KEY, name=key_variable)
    if not key.isascii() or not key.isprintable():
        sentence = gettext_noop("the environment variable %(name)s does not contain a valid key")
        raise CannotConnect(sentence, kind=FailureKind.KEY, name=key_variable)
    is_allowed = addresses.is_allowed(base_url, allowed)
    return Connection(base_url, key=key, timeout_seconds=timeout_seconds, may_be_private=is_allowed)


def check(
    adapter: str,
    model: str,
    *,
    base_url: str,
    key_variable: str,
    timeout_seconds: float,
    max_body_bytes: int = MAX_BODY_BYTES,
    allowed: Collection[str] = (),
) -> ConnectionCheck:
    """Whether the model answers at the endpoint, found out by one tiny request that may cost a fraction of a cent.

    Arguments as of `connect`. Must not be called inside an event loop.
    """

    async def ask() -> Completion:
        client = connect(
            adapter,
            base_url=base_url,
            key_variable=key_variable,
            timeout_seconds=timeout_seconds,
            max_body_bytes=max_body_bytes,
            allowed=allowed,
        )
        try:
            return await client.complete(SMALLEST_REQUEST | {"model": model})
        finally:
            await client.close()

    try:
        completion = asyncio.run(ask())
    except (CannotConnect, CallFailed) as error:
        return ConnectionCheck(error.kind, detail=str(error))
    return ConnectionCheck(None, model=completion.model, is_asked_model=is_same_model(model, completion.model))
