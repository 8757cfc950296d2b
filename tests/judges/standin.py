"""A stand-in for a provider: an OpenAI-compatible server on loopback that does as it is told, and counts its hits."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """What goes back over the wire."""

    body: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0


def says(text: str | None, *, finish_reason: str = "stop", **message: Any) -> Reply:
    """A chat completion with that text."""
    return Reply(
        json.dumps(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "model": "standin",
                "choices": [
                    {
                        "index": 0,
                        "message": {"role": "assistant", "content": text} | message,
                        "finish_reason": finish_reason,
                    }
                ],
                "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14},
            }
        )
    )


YES = says('It is so, since it ends well.\n{"answer": "yes"}')
NO = says('It breaks off.\n{"answer": "no"}')
REFUSED = says(None, refusal="I cannot judge this.")
BLOCKED = says("", finish_reason="content_filter")
TRUNCATED = says('It is so.\n{"answer": "yes"}', finish_reason="length")
PROSE = says("There is much to be said for it.")
OUT_OF_RANGE = says('{"answer": "maybe"}')
GARBAGE = Reply("<html>Bad gateway</html>")
ERROR = Reply('{"error": {"message": "boom"}}', status=500)
BUSY = Reply('{"error": {"message": "slow down"}}', status=429, headers={"Retry-After": "0.01"})
NO_KEY = Reply('{"error": {"message": "wrong key"}}', status=401)
TOO_LONG = Reply('{"error": {"message": "context length exceeded"}}', status=400)
FILTERED = Reply('{"error": {"message": "filtered", "code": "content_filter"}}', status=400)


@dataclass(frozen=True)
class Hit:
    path: str
    authorization: str
    body: dict[str, Any]


class StandIn:
    """The server's orders and what it has seen.

    Replies with `script` in order while it lasts, then with what `reply` returns for the hit.
    """

    def __init__(self) -> None:
        self.base_url = ""
        self.hits: list[Hit] = []
        self.script: list[Reply] = []
        self.reply: Callable[[Hit], Reply] = lambda hit: YES
        self.n_at_once = self.most_at_once = 0
        self._lock = threading.Lock()

    def next(self, hit: Hit) -> Reply:
        with self._lock:
            self.hits.append(hit)
            return self.script.pop(0) if self.script else self.reply(hit)

    def entered(self, by: int) -> None:
        with self._lock:
            self.n_at_once += by
            self.most_at_once = max(self.most_at_once, self.n_at_once)


@contextmanager
def serving() -> Iterator[StandIn]:
    """A stand-in at work on a free port of loopback."""
    standin = StandIn()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            standin.entered(1)
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = standin.next(Hit(self.path, self.headers.get("Authorization", ""), body))
            time.sleep(reply.delay)
            standin.entered(-1)
            content = reply.body.encode()
            try:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except OSError:
                self.close_connection = True  # the client stopped waiting

        def do_GET(self) -> None:
            standin.next(Hit(self.path, self.headers.get("Authorization", ""), {}))
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            pass  # a client that was killed leaves its connections open

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    standin.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield standin
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
