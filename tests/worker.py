"""A real Celery worker in a process of its own, on the tests' database and the configured broker."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection


@contextmanager
def working(pool: str = "solo") -> Iterator[subprocess.Popen[bytes]]:
    """While this holds, a worker works; it is ended afterwards, come what may."""
    command = [sys.executable, "-m", "celery", "--app", "config", "worker", "--pool", pool, "--loglevel", "error"]
    command += ["--queues", "celery,judges"]
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    worker = subprocess.Popen(
        [*command, *quiet], cwd=settings.BASE_DIR, env=os.environ | {"DATABASE_URL": database_url()}
    )
    try:
        yield worker
    finally:
        worker.terminate()
        try:
            worker.wait(timeout=20)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()


def database_url() -> str:
    """Where this test's database is, for another process."""
    at = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{at['NAME']}"
    return f"postgres://{at['USER']}:{at['PASSWORD']}@{at['HOST']}:{at['PORT']}/{at['NAME']}"


def until(is_so: Callable[[], bool], *, seconds: float = 60) -> bool:
    """Whether something comes to be so within that time."""
    for _ in range(int(seconds / 0.1)):
        if is_so():
            return True
        time.sleep(0.1)
    return False
