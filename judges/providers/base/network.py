"""The one way to the network: an HTTP client for the SDKs that keeps to what was checked, and to its bounds.

The SDKs read much from their environment: keys, hosts, proxies, headers of others. What leaves here is what Quire says.
Importing this module imports httpx2; providers import it in `connect`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpcore2
import httpx2

from judges import addresses, reasons
from judges.providers.base import CannotConnect, Connection
from judges.providers.base.failures import CallFailed, FailureKind

# What of an SDK's headers is sent on; all others are its telemetry, or come from the environment.
SENT_HEADERS = frozenset({b"host", b"accept", b"content-type", b"content-length", b"transfer-encoding"})


def http_client(connection: Connection, headers: Mapping[str, str]) -> httpx2.AsyncClient:
    """A client that sends those headers, follows no redirect and asks no proxy. Raises CannotConnect.

    It raises CallFailed where httpx would raise its own. How many are under way at once is for whoever calls it to say.
    """
    try:
        httpx2.URL(connection.base_url)
    except httpx2.InvalidURL as error:
        raise CannotConnect(str(error), kind=FailureKind.ADDRESS) from None
    transport = GuardedTransport(connection, headers)
    return httpx2.AsyncClient(transport=transport, trust_env=False, follow_redirects=False, timeout=None)


@asynccontextmanager
async def call(connection: Connection) -> AsyncIterator[None]:
    """Bound the whole of a call in time, and have whatever goes wrong in an SDK end in CallFailed.

    Each read by itself could take as long as a server likes that drips.
    """
    try:
        async with asyncio.timeout(connection.timeout_seconds):
            yield
    except TimeoutError:
        raise CallFailed(reasons.LATE, kind=FailureKind.TIMEOUT) from None
    except Exception as error:
        cause: BaseException | None = error
        while cause:  # some SDKs wrap what the transport raises
            if isinstance(cause, CallFailed):
                raise cause from None
            cause = cause.__cause__ or cause.__context__
        # No more of it than its name: it could show the key.
        raise CallFailed(reasons.NOT_MADE % {"error": type(error).__name__}) from None


@contextmanager
def failures() -> Iterator[None]:
    """Have what httpcore raises end in CallFailed."""
    try:
        yield
    except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
        cause = type(error.__cause__ or error).__name__
        reason = reasons.UNREACHED % {"error": cause}
        raise CallFailed(reason, kind=FailureKind.CONNECTION, is_unserved=True) from None
    except httpcore2.TimeoutException:
        raise CallFailed(reasons.LATE, kind=FailureKind.TIMEOUT) from None
    except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
        cause = type(error.__cause__ or error).__name__
        raise CallFailed(reasons.UNREACHED % {"error": cause}, kind=FailureKind.CONNECTION) from None


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Requests over connections to checked addresses, whose replies are bounded.

    Each connection has a pool of its own. httpcore's looks through all its idle connections at every request, which at
    hundreds at once takes longer than all the rest of the request.
    """

    def __init__(self, connection: Connection, headers: Mapping[str, str]) -> None:
        own = {"Accept-Encoding": "identity", "User-Agent": "Quire"} | dict(headers)  # what is counted is what arrives
        self._headers = [(name.encode(), value.encode()) for name, value in own.items()]
        self._max_body_bytes = connection.max_body_bytes
        self._backend = httpcore2.AnyIOBackend() if connection.may_be_private else PinnedBackend()
        self._ssl_context = httpx2.create_ssl_context(trust_env=False)
        self._pools: list[httpcore2.AsyncConnectionPool] = []
        self._idle_pools: list[httpcore2.AsyncConnectionPool] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        headers = [(name, value) for name, value in request.headers.raw if name.lower() in SENT_HEADERS]
        url = request.url
        pool = self._idle_pools.pop() if self._idle_pools else self._add_pool()
        try:
            with failures():
                response = await pool.handle_async_request(
                    httpcore2.Request(
                        method=request.method,
                        url=httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                        headers=headers + self._headers,
                        content=request.stream,
                        extensions=request.extensions,
                    )
                )
        except BaseException:
            self._idle_pools.append(pool)
            raise
        stream = BoundedStream(response, max_bytes=self._max_body_bytes, closed=lambda: self._idle_pools.append(pool))
        return httpx2.Response(response.status, headers=response.headers, stream=stream, extensions=response.extensions)

    async def aclose(self) -> None:
        for pool in self._pools:
            await pool.aclose()

    def _add_pool(self) -> httpcore2.AsyncConnectionPool:
        pool = httpcore2.AsyncConnectionPool(
            ssl_context=self._ssl_context,
            max_connections=1,
            keepalive_expiry=15,
            network_backend=self._backend,
        )
        self._pools.append(pool)
        return pool


class BoundedStream(httpx2.AsyncByteStream):
    """The body of a response, as it comes. Raises CallFailed where it grows too large or breaks off.

    closed : called once, when nothing more is read
    """

    def __init__(self, response: httpcore2.Response, *, max_bytes: int, closed: Callable[[], None]) -> None:
        self._response = response
        self._max_bytes = max_bytes
        self._closed: Callable[[], None] | None = closed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for name, value in self._response.headers:
            if name.lower() == b"content-encoding" and value.lower() != b"identity":
                raise CallFailed(reasons.COMPRESSED, kind=FailureKind.MALFORMED)
        n_bytes = 0
        with failures():
            async for chunk in self._response.aiter_stream():
                n_bytes += len(chunk)
                if n_bytes > self._max_bytes:
                    reason = reasons.LARGER % {"size": f"{self._max_bytes / 1e6:g}"}
                    raise CallFailed(reason, kind=FailureKind.TOO_LARGE)
                yield chunk

    async def aclose(self) -> None:
        try:
            await self._response.aclose()
        finally:
            closed, self._closed = self._closed, None
            if closed:
                closed()


class PinnedBackend(httpcore2.AnyIOBackend):
    """Connects to the number that was checked, not to the name: in between it could come to stand for another."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            # In a thread: the name service may take its time, and the loop has other calls to see to.
            number = await asyncio.to_thread(addresses.resolve_public, host, port)
        except addresses.InvalidAddress as error:
            raise CallFailed(str(error), kind=FailureKind.ADDRESS) from None
        return await super().connect_tcp(number, port, timeout, local_address, socket_options)
