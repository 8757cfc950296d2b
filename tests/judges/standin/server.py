"""The server: one event loop in a thread of its own, a reply for each request, and a count of what is in flight."""

import asyncio
import hashlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from tests.judges.standin.batches import Batches
from tests.judges.standin.protocols import spoken
from tests.judges.standin.replies import YES, Reply, Way
from tests.judges.standin.vectors import echo_body, embeddings_body

CHUNK = 65_536
COMPLETED = ("/chat/completions", "/responses", "/messages")
REASONS = {200: "OK", 307: "Temporary Redirect"}


@dataclass(frozen=True)
class Hit:
    """A request that has come in.

    authorization : the key as it was sent, in whichever header
    """

    path: str
    authorization: str
    body: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def host(self) -> str:
        return self.headers["host"]

    @property
    def call(self) -> str:
        """What tells calls apart: the same request has the same."""
        return hashlib.sha256(json.dumps(self.body, sort_keys=True).encode()).hexdigest()[:16]


def always_yes(hit: Hit) -> Reply:
    return YES


class StandIn:
    """The server's orders and what it has seen.

    Replies with `script` in order while it lasts, then with what `reply` returns for the hit. `reply` may wait and may
    ask the database, since it has a thread; if `is_quick`, it is called in the loop.
    """

    def __init__(self) -> None:
        self.base_url = ""
        self.hits: list[Hit] = []
        self.n_by_call: Counter[str] = Counter()
        self.script: list[Reply] = []
        self.reply: Callable[[Hit], Reply] = always_yes
        self.is_quick = False
        self.n_at_once = self.most_at_once = 0
        self.batches = Batches()
        self.connections: set[Connection] = set()
        self._threads = ThreadPoolExecutor(max_workers=64)
        self._lock = threading.Lock()

    async def next(self, hit: Hit) -> Reply:
        """What to say to a hit, which is written down."""
        with self._lock:
            self.hits.append(hit)
            self.n_by_call[hit.call] += 1
            if self.script:
                return self.script.pop(0)
        if self.is_quick or self.reply is always_yes:
            return self.reply(hit)
        return await asyncio.get_running_loop().run_in_executor(self._threads, self.reply, hit)

    def entered(self, by: int) -> None:
        self.n_at_once += by
        self.most_at_once = max(self.most_at_once, self.n_at_once)

    def forget(self) -> None:
        """Begin the counts anew, but for what is in flight."""
        with self._lock:
            self.hits.clear()
            self.n_by_call.clear()
            self.most_at_once = self.n_at_once

    async def answer(self, method: str, path: str, headers: dict[str, str], content: bytes) -> Reply:
        """The reply to a request, by its route."""
        key = headers.get("authorization") or headers.get("x-api-key") or headers.get("x-goog-api-key", "")
        route = path.partition("?")[0].removeprefix("/v1")
        is_json = headers.get("content-type", "").startswith("application/json")
        body = json.loads(content) if is_json and content else {}
        hit = Hit(path, key, body, headers)
        if method == "POST" and (route in COMPLETED or route.endswith(":generateContent")):
            return await self._complete(hit)
        if method == "POST" and route == "/embeddings":
            self.hits.append(hit)
            return self.script.pop(0) if self.script else Reply(embeddings_body(body))
        if method == "POST" and route == "/completions":
            self.hits.append(hit)
            return self.script.pop(0) if self.script else Reply(echo_body(body))
        if method == "POST" and route == "/tell":
            self.script += [Reply(**order) for order in body["script"]]
            return Reply("{}")
        if method == "GET" and route == "/seen":
            return Reply(json.dumps(self.seen()))
        reply = await self.batches.answer(
            method, route, content, headers, lambda path, inner: self._complete(Hit(path, key, inner, headers))
        )
        if reply is None:
            self.hits.append(hit)
            return Reply('{"error": {"message": "no such route"}}', status=404)
        return reply

    def seen(self) -> dict[str, Any]:
        return {
            "n_hits": sum(self.n_by_call.values()),
            "n_calls": len(self.n_by_call),
            "most_hits_of_a_call": max(self.n_by_call.values(), default=0),
            "n_at_once": self.n_at_once,
            "most_at_once": self.most_at_once,
        }

    async def _complete(self, hit: Hit) -> Reply:
        reply = await self.next(hit)
        return replace(reply, body=spoken(hit.path.partition("?")[0], reply.body, reply.status))

    def close(self) -> None:
        for connection in list(self.connections):
            connection.transport.abort()
        self._threads.shutdown(wait=False)


class Connection(asyncio.Protocol):
    """One client's connection: its requests one after the other, each given up when the client goes."""

    transport: asyncio.Transport

    def __init__(self, standin: StandIn) -> None:
        self.standin = standin
        self.buffer = bytearray()
        self.task: asyncio.Task[None] | None = None
        self.may_write = asyncio.Event()
        self.may_write.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.standin.connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self.standin.connections.discard(self)
        if self.task:
            self.task.cancel()

    def pause_writing(self) -> None:
        self.may_write.clear()

    def resume_writing(self) -> None:
        self.may_write.set()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if self.task is None:
            self._begin()

    def _begin(self) -> None:
        """Answer the next request if the whole of it has come."""
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        first, *lines = self.buffer[:end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        n_bytes = int(headers.get("content-length", 0))
        if len(self.buffer) < end + 4 + n_bytes:
            return
        content = bytes(self.buffer[end + 4 : end + 4 + n_bytes])
        del self.buffer[: end + 4 + n_bytes]
        method, path, _version = first.split(" ")
        self.task = asyncio.get_running_loop().create_task(self._answer(method, path, headers, content))
        self.task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.task = None
        if not task.cancelled() and not task.exception() and self.buffer:
            self._begin()

    async def _answer(self, method: str, path: str, headers: dict[str, str], content: bytes) -> None:
        self.standin.entered(1)
        try:
            reply = await self.standin.answer(method, path, headers, content)
            if reply.delay:
                await asyncio.sleep(reply.delay)
            if reply.way == Way.HANG:
                await asyncio.Event().wait()
            if reply.way in (Way.DRIP, Way.NEWLINES):
                await self._trickle(reply)
        except BaseException:
            self.transport.abort()
            raise
        finally:
            # Before the reply is out: with it in hand a client may send its next, which must not count as a second.
            self.standin.entered(-1)
        await self._write(reply)

    def _write_head(self, reply: Reply, **headers: str) -> None:
        own = {"Content-Type": "application/json", "X-Request-Id": "req-1"} | headers | reply.headers
        lines = [f"HTTP/1.1 {reply.status} {REASONS.get(reply.status, 'Status')}"]
        lines += [f"{name}: {value}" for name, value in own.items()]
        self.transport.write("\r\n".join([*lines, "", ""]).encode())

    async def _write(self, reply: Reply) -> None:
        content = reply.body.encode()
        n_padded = max(reply.n_bytes - len(content), 0)
        self._write_head(reply, **{"Content-Length": str(len(content) + n_padded)})
        if reply.way == Way.HALF:
            self.transport.write(content[: len(content) // 2])
            self.transport.close()
            return
        self.transport.write(content)
        while n_padded > 0:
            await self.may_write.wait()
            self.transport.write(b" " * min(CHUNK, n_padded))
            n_padded -= CHUNK

    async def _trickle(self, reply: Reply) -> None:
        """Bytes for ever, as few as keep a client waiting that measures each read by itself."""
        self._write_head(reply, **{"Transfer-Encoding": "chunked"})
        left = reply.body.encode() if reply.way == Way.DRIP else b""
        while True:
            byte, left = (left[:1] or b" ", left[1:]) if reply.way == Way.DRIP else (b"\n", b"")
            self.transport.write(b"1\r\n" + byte + b"\r\n")
            await asyncio.sleep(0.01)


@contextmanager
def serving(port: int = 0) -> Iterator[StandIn]:
    """A stand-in at work on that port of loopback, or on a free one."""
    standin = StandIn()
    with asyncio.Runner() as runner:
        loop = runner.get_loop()

        async def listen() -> asyncio.Server:
            return await loop.create_server(lambda: Connection(standin), "127.0.0.1", port, backlog=1024)

        async def end(server: asyncio.Server) -> None:
            server.close()
            standin.close()
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        server = runner.run(listen())
        standin.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        try:
            yield standin
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            runner.run(end(server))
