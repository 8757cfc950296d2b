"""What trials and benches share: a database of their own, the machine they ran on, and a page of results."""

import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]


@contextmanager
def own_database() -> Iterator[str]:
    """Django set up on a new database, which is dropped afterwards: the kind and version of it."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["QUIRE_VAR"] = folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        import django

        django.setup()
        from django.db import connection
        from django.test.runner import DiscoverRunner
        from django.test.utils import setup_test_environment

        setup_test_environment()
        runner = DiscoverRunner(verbosity=0, interactive=False)
        databases = runner.setup_databases()
        try:
            yield _database(connection)
        finally:
            connection.close()
            runner.teardown_databases(databases)


def _database(connection: object) -> str:
    if connection.vendor == "sqlite":
        import sqlite3

        return f"SQLite {sqlite3.sqlite_version}"
    connection.ensure_connection()
    version = connection.pg_version
    return f"PostgreSQL {version // 10000}.{version % 10000}"


def cpu_seconds(group: int) -> float:
    """What all processes of a group, workers too, have used so far. Linux only, by /proc."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        if int(fields[2]) == group:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def thread_seconds(group: int) -> float:
    """What all threads that a group of processes has now have used so far, to the microsecond; `cpu_seconds` counts in
    hundredths of a second, threads that ended too. Linux only, by /proc."""
    nanoseconds = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(path.read_text().rpartition(")")[2].split()[2]) == group:
                tasks = path.parent.glob("task/*/schedstat")
                nanoseconds += sum(int(task.read_text().split()[0]) for task in tasks)
        except OSError:
            continue  # it ended meanwhile
    return nanoseconds / 1e9


def peak_megabytes(group: int) -> float:
    """The most memory that a process of a group has had at a time, of those that live. Linux only, by /proc."""
    peaks = [0.0]
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(path.read_text().rpartition(")")[2].split()[2]) == group:
                status = (path.parent / "status").read_text()
                peaks += [int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")]
        except OSError:
            continue  # it ended meanwhile
    return max(peaks)


class ProcessorWait:
    """How long a process has waited for a processor since the last look, its threads beside each other. By /proc.

    Of each look the thread that waited longest counts: while it waited the process may have stood still.
    """

    def __init__(self, pid: int) -> None:
        self._folder = Path(f"/proc/{pid}/task")
        self._waited = self._read()
        self.seconds = 0.0

    def look(self) -> None:
        waited = self._read()
        grown = [after - self._waited.get(thread, after) for thread, after in waited.items()]
        self.seconds += max(grown, default=0) / 1e9
        self._waited |= waited

    def _read(self) -> dict[str, int]:
        """Nanoseconds that each thread has waited, so far."""
        waited = {}
        for path in self._folder.glob("*/schedstat"):
            try:
                waited[path.parent.name] = int(path.read_text().split()[1])
            except (OSError, IndexError):
                continue  # it has ended meanwhile
        return waited


def commit(folder: Path = ROOT) -> str:
    """The commit that is measured, and whether something was changed since."""
    git = ["git", "-C", str(folder)]
    head = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True).stdout.strip()
    changed = subprocess.run(
        [*git, "status", "--porcelain", "--untracked-files=no"], capture_output=True, text=True
    ).stdout.strip()
    return (head or "unknown") + (" with changes" if changed else "")


def machine() -> str:
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"


def progress(words: str) -> None:
    sys.stderr.write(f"{words}\n")


def write(path: str, text: str) -> None:
    (ROOT / path).write_text(text)
    progress(f"written: {path}")
