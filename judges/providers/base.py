"""What a provider is, and what all of them share: replies, failures, and the guard over addresses.

A request is a plain document: model, messages, parameters, and the JSON schema of the value that is asked for. A client
gives back a completion or raises CallFailed; retries are the run's affair, over rows, and never a client's. No Django
models here: whoever connects says what is needed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Protocol

from django.utils.functional import Promise

from judges import addresses

# No answer to a question is as long as this; whatever is, is no answer, and must not fill the memory of a worker.
MOST_BYTES = 4_000_000
Request = dict[str, Any]

# What a provider may be asked again about: overload, conflict, and what happens on the way.
TRANSIENT = (408, 409, 425, 429)
# What will not get better by asking about another story: the key, the right to the model, its name.
FATAL = (401, 403, 404)


class CannotConnect(Exception):
    """The endpoint cannot be used as it stands; the message says why. Nothing was sent."""


class CallFailed(Exception):
    """A request got no completion. The message is safe to keep: it never holds the key.

    is_transient : the same request may succeed later
    is_fatal : no request to this endpoint will succeed before somebody mends something
    retry_after : seconds that the provider asked to wait, if it did
    """

    def __init__(
        self, reason: str, *, is_transient: bool = False, is_fatal: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(reason)
        self.is_transient = is_transient
        self.is_fatal = is_fatal
        self.retry_after = retry_after


@dataclass(frozen=True)
class Completion:
    """A model's reply.

    finish_reason : "stop", "length", "content_filter", or as the provider says; "refusal" if it marked the text as one
    raw : the body of the response, to keep; the key is taken out should the server have echoed it
    """

    text: str
    finish_reason: str
    n_tokens_in: int | None
    n_tokens_out: int | None
    raw: str


class Client(Protocol):
    """Something that completes requests, from several threads at once."""

    def complete(self, request: Request) -> Completion: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Connection:
    """Where a client sends its requests, once the address has been checked.

    key : sent along with every request; "" for an endpoint without one
    may_be_private : the operator has named this address; otherwise every call goes to a number checked for it
    """

    base_url: str
    key: str
    timeout_seconds: float
    may_be_private: bool = False


class Provider:
    """One protocol by which models are reached. Subclasses are discovered; one instance of each serves all endpoints.

    A subclass gives `slug`, `title` and `connect`. It imports its SDK in `connect` and not before: pages and commands
    that list providers need not wait for it.
    """

    slug: ClassVar[str]  # stored as the adapter of an endpoint
    title: ClassVar[str | Promise]
    # Nothing is reached: an endpoint of it has no address, and its judges have to say so in their names.
    is_stub: ClassVar[bool] = False
    # What a judge's parameters may not set, since Quire sets it.
    own_fields: ClassVar[tuple[str, ...]] = ("model", "messages", "stream", "n")

    def connect(self, connection: Connection) -> Client:
        """A client for that address. Sends nothing yet. Raises CannotConnect."""
        raise NotImplementedError


def pin_address(request: Any) -> None:
    """Have an httpx request sent to a number that has just been checked. Raises CallFailed.

    Between a check of the name and the connection the name could come to stand for another address.
    """
    host = request.url.raw_host.decode("ascii")
    port = request.url.port or (443 if request.url.scheme == "https" else 80)
    try:
        number = addresses.resolve_public(host, port)
    except addresses.InvalidAddress as error:
        raise CallFailed(str(error), is_fatal=True) from None
    except OSError as error:
        raise CallFailed(f"the provider could not be reached ({type(error).__name__})", is_transient=True) from None
    request.url = request.url.copy_with(host=number)
    # The header Host was written before; the certificate too is asked for and checked by name.
    request.extensions = {**request.extensions, "sni_hostname": host}


def bound(response: Any, *, seconds: float) -> None:
    """Have the body of an httpx response end in CallFailed once it is too large, or has taken so many seconds."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise CallFailed("the provider's reply is compressed, which was not asked for")
    inner, ends_at = response.stream, time.monotonic() + seconds
    # The library that the SDK came with: its name has changed once.
    library = import_module(type(response).__module__.partition(".")[0])

    class Bounded(library.SyncByteStream):  # type: ignore[misc, name-defined]
        def __iter__(self) -> Iterator[bytes]:
            n_bytes = 0
            for chunk in inner:
                n_bytes += len(chunk)
                if n_bytes > MOST_BYTES:
                    raise CallFailed(f"the provider's reply is larger than {MOST_BYTES / 1e6:g} MB")
                if time.monotonic() > ends_at:
                    raise CallFailed("the provider did not answer in time", is_transient=True)
                yield chunk

        def close(self) -> None:
            inner.close()

    response.stream = Bounded()


def failure_of(status: int, body: str, retry_after: str) -> CallFailed:
    """What an HTTP status other than success means for this call and the next."""
    if 300 <= status < 400:
        return CallFailed(f"the provider redirects (HTTP {status}); redirects are not followed", is_fatal=True)
    return CallFailed(
        f"HTTP {status}: {' '.join(body.split())[:300]}",
        is_transient=status in TRANSIENT or status >= 500,
        is_fatal=status in FATAL,
        retry_after=_seconds(retry_after),
    )


def _seconds(header: str) -> float | None:
    """How long Retry-After asks to wait, at most ten minutes. Dates are left to our own backoff."""
    return min(float(header), 600.0) if re.fullmatch(r"\d{1,6}(\.\d+)?", header.strip()) else None
