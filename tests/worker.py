"""A real Celery worker in a process of its own, on the tests' database and the configured broker."""

import fcntl
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from celery import current_app
from django.conf import settings
from django.db import connection


@pytest.fixture
def broker() -> Iterator[None]:
    """The configured broker, emptied, and nobody else's as long as the test lasts: there is one for all processes of
    tests, and each of two workers would take the other's messages."""
    with (Path(tempfile.gettempdir()) / "quire-tests-broker.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        current_app.control.purge()
        yield


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
