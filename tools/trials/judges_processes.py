"""What judges run in, as real processes: workers, the scheduler, a Redis of the trial's own."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from celery import current_app
from django.conf import settings

from tests.redis import Redis
from tests.worker import database_url
from tools.bench.judges import KEY_VARIABLE
from tools.measurement import ProcessorWait

CELERY = [sys.executable, "-m", "celery", "--quiet", "--app", "tools.trials.judges_app"]
QUIET = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "error"]
START_SECONDS = 120


@dataclass(frozen=True)
class End:
    """How long a worker took to end, and how much of that it waited for a processor that others used, in seconds."""

    seconds: float
    waited: float


class Fleet:
    """Workers for judges on the trial's database, as many as there are to be, and the scheduler beside them.

    broker : the address of a Redis; "" for the broker of files
    """

    def __init__(self, n: int, *, broker: str, allowed: str) -> None:
        self._environment = os.environ | {
            "DATABASE_URL": database_url(),
            "QUIRE_ALLOWED_PRIVATE_ENDPOINTS": allowed,
            KEY_VARIABLE: "sk-trial",
            "REDIS_URL": broker,
        }
        self._broker = broker
        self._n_started = 0
        self._folder = Path(tempfile.mkdtemp())
        self.workers = [self._start_worker() for _ in range(n)]
        beat = ["beat", "--loglevel", "error", "--pidfile=", "--schedule", f"{os.environ['QUIRE_VAR']}/beat"]
        self._beat = self._start(beat)

    def kill(self, n: int) -> None:
        """Kill a worker (SIGKILL), as if the machine had gone."""
        self.workers[n].kill()
        self.workers[n].wait()

    def terminate(self, n: int) -> "End":
        """Have a worker end (SIGTERM), as an update does."""
        waited = ProcessorWait(self.workers[n].pid)
        began = time.monotonic()
        self.workers[n].send_signal(signal.SIGTERM)
        while self.workers[n].poll() is None:
            time.sleep(0.05)
            waited.look()
        return End(time.monotonic() - began, waited.seconds)

    def replace(self, n: int) -> None:
        """Start a worker in place of one that has ended."""
        self.workers[n] = self._start_worker()

    def tell(self, endpoint_id: int, *, n: int) -> None:
        """Send the workers so many messages that the endpoint has work."""
        with current_app.connection_for_write(self._broker or settings.CELERY_BROKER_URL) as connection:
            for _ in range(n):
                current_app.send_task("judges.tasks.work", args=[endpoint_id], connection=connection)

    def wait_until_ready(self) -> None:
        """Wait until all workers take messages: what comes before, whoever is up first takes alone."""
        until = time.monotonic() + START_SECONDS
        while any(not self._file_of(worker).exists() for worker in self.workers):
            if time.monotonic() > until:
                raise RuntimeError(f"a worker did not start within {START_SECONDS} s")
            time.sleep(0.1)

    def stop(self) -> None:
        for process in [*self.workers, self._beat]:
            process.kill()
            process.wait()

    def _start_worker(self) -> subprocess.Popen[bytes]:
        self._n_started += 1
        name = f"judges{self._n_started}@trial"
        pool = ["--pool", "threads", "--concurrency", "4", "--queues", "judges,celery", "--hostname", name]
        return self._start(["worker", *pool, *QUIET])

    def _start(self, arguments: list[str]) -> subprocess.Popen[bytes]:
        environment = self._environment | {"TRIAL_READY_FOLDER": str(self._folder)}
        return subprocess.Popen([*CELERY, *arguments], cwd=settings.BASE_DIR, env=environment)

    def _file_of(self, worker: subprocess.Popen[bytes]) -> Path:
        return self._folder / str(worker.pid)


@contextmanager
def fleet(n: int, url: str) -> Iterator[tuple[Fleet, Redis | None]]:
    """Workers that may ask the server at that address: over Redis beside PostgreSQL, else over files."""
    redis = Redis() if "postgres" in database_url() and shutil.which("redis-server") else None
    with ExitStack() as stack:
        if redis:
            redis.start()
            stack.callback(redis.stop)
        workers = Fleet(n, broker=redis.url if redis else "", allowed=url.split("/")[2])
        stack.callback(workers.stop)
        yield workers, redis
