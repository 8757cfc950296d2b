"""A mail server to test against: takes mails, refuses some recipients, and remembers whom it took one for."""

import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Mailbox(socketserver.ThreadingTCPServer):
    """recipients : of every mail that was accepted, in order; seconds : how long it takes to accept one"""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, seconds: float) -> None:
        super().__init__(("127.0.0.1", 0), _Talk)
        self.recipients: list[str] = []
        self.seconds = seconds

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Talk(socketserver.StreamRequestHandler):
    """One connection. Whoever has “refused” in the address is no user."""

    server: Mailbox

    def handle(self) -> None:
        recipient = ""
        self._say("220 here")
        for raw in self.rfile:
            line = raw.decode().strip()
            command = line.upper()
            if command.startswith("RCPT"):
                recipient = line.partition("<")[2].partition(">")[0]
                self._say(f"550 5.1.1 <{recipient}> no such user" if "refused" in recipient else "250 ok")
            elif command == "DATA":
                self._take(recipient)
            elif command == "QUIT":
                self._say("221 bye")
                return
            else:
                self._say("250 ok")

    def _take(self, recipient: str) -> None:
        self._say("354 go on")
        for raw in self.rfile:
            if raw.strip() == b".":
                # From here on the mail is in, whether its sender lives to hear so or not.
                self.server.recipients.append(recipient)
                time.sleep(self.server.seconds)
                self._say("250 taken")
                return

    def _say(self, words: str) -> Any:
        try:
            self.wfile.write(f"{words}\r\n".encode())
        except OSError:
            return


@contextmanager
def receiving(*, seconds: float = 0) -> Iterator[Mailbox]:
    """While this holds, a server takes mails."""
    with Mailbox(seconds) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
