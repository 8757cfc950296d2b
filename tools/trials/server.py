"""A real gunicorn in processes of its own, on the database of this process: to load it, and to kill it."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from typing import Self

from django.conf import settings

from tests.worker import database_url


class Server:
    """While this holds, a server answers at `address`.

    without : the name of a defence that is switched off in it (see `tools.trials.wsgi`), to show that it is needed
    application : the module that is served
    """

    def __init__(
        self, *, without: str = "", workers: int = 2, threads: int = 4, application: str = "tools.trials.wsgi"
    ) -> None:
        self.port = _free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.url = self.address  # as pytest-django's live server calls it
        self.without = without
        self.application = application
        self.size = ["--workers", str(workers), "--threads", str(threads)]
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop(signal.SIGTERM)

    def start(self) -> None:
        """Start, and return when it answers."""
        command = [sys.executable, "-m", "gunicorn", self.application, "--bind", f"127.0.0.1:{self.port}"]
        environment = {"DATABASE_URL": database_url(), "SECRET_KEY": settings.SECRET_KEY, "TRIAL_WITHOUT": self.without}
        self.process = subprocess.Popen(
            [*command, *self.size, "--log-level", "critical", "--graceful-timeout", "2"],
            cwd=settings.BASE_DIR,
            env=os.environ | environment,
            start_new_session=True,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(600):
            if self.answers():
                return
            time.sleep(0.05)
        raise RuntimeError("the server did not start within 30 seconds")

    def answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/again/")
            answer = connection.getresponse()
            answer.read()
            return answer.status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def stop(self, signal_number: signal.Signals) -> None:
        """End all of its processes: SIGKILL as a power cut would, SIGTERM as an operator."""
        if self.process is None:
            return
        # Its whole group, since it was started as the leader of one: workers do not outlive their master.
        os.killpg(self.process.pid, signal_number)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.process = None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
