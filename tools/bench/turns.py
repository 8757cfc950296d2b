"""`python -m tools.bench.turns OLD NEW`: what saves and pages cost in two checkouts, measured by turns in one run.

From outside, since modules have moved between them: each serves its own gunicorn on a new database of its own, raters
come in by links over HTTP, read, and save with the fields of the form. Prints medians and ratios; with --write they
become a section of docs/bench.md. A checkout may name its Python: `OLD=/path/to/python`.
"""

import argparse
import http.client
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from tools import measurement
from tools.trials.person import Person

N_CLIENTS, N_ITEMS, N_WORDS = 16, 14, 2000
N_ALONE, N_TOGETHER = 100, 30  # requests of a round: of each kind by one rater, and by each of many at once
WARM_UP = 2 * N_ITEMS
HEADING = "## Before and after, by turns"
# Run in the checkout: the only thing that is asked of its modules. Prints the links.
SEED = f"""
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from studies.models import Story
from tests import factories
try:
    from annotation.participation import invitations
except ImportError:
    from annotation import invitations
study = factories.study("turns", n_stories=1, k={N_CLIENTS}, n_items={N_ITEMS}, comparative=False, planned=False)
sentence = "A man who had bought the greenhouse came on a Saturday. "
Story.objects.filter(study=study).update(text="\\n\\n".join([sentence * 10] * {N_WORDS // 100}))
if hasattr(factories, "plan"):
    factories.plan(study)
else:
    from annotation import design
    design.plan(study, by="tests", at=factories.NOON)
print(*(f"/r/{{invitations.issue(study)[1]}}/" for _ in range({N_CLIENTS})))
"""


class Served:
    """A checkout at work: its server's port and process group, and its raters, each before a first item."""

    def __init__(self, port: int, group: int, links: list[str]) -> None:
        self.group = group
        self.people = [Person(port) for _ in links]
        self.firsts = [person.come_in(link) for person, link in zip(self.people, links, strict=True)]
        self.revisions: list[dict[int, int]] = [{} for _ in links]

    def save(self, n: int) -> None:
        """One save by the n-th rater, of the next item."""
        person, revisions = self.people[n], self.revisions[n]
        item = person.n_saves % N_ITEMS + 1
        path = f"{self.firsts[n].rsplit('/', 2)[0]}/item-{item}/"
        why, key = f"Because of {person.n_saves}.", person.next_key()
        name, base = f"answer-tests-A-item-{item}", revisions.get(item, 0)
        revisions[item] = person.save(path, name=name, value="yes", why=why, base=base, key=key)

    def read(self) -> None:
        page = self.people[0].get(self.firsts[0])
        if page.status != 200 or "greenhouse" not in page.text:
            raise SystemExit(f"the reading page is not there: {page.status}")

    def alone(self) -> dict[str, float]:
        """CPU milliseconds of the server's processes a save and a page, one after another."""
        self.people[0].hang_up()
        begun = measurement.cpu_seconds(self.group)
        for _ in range(N_ALONE):
            self.save(0)
        saved = measurement.cpu_seconds(self.group)
        for _ in range(N_ALONE):
            self.read()
        read = measurement.cpu_seconds(self.group)
        return {"CPU ms a save": 1000 * (saved - begun) / N_ALONE, "CPU ms a page": 1000 * (read - saved) / N_ALONE}

    def together(self) -> dict[str, float]:
        """Saves by all raters at once, without a pause."""
        seconds: list[float] = []
        failures: list[BaseException] = []

        def work(n: int) -> None:
            try:
                self.people[n].hang_up()  # a new connection, which may be another worker's
                for _ in range(N_TOGETHER):
                    begun = time.perf_counter()
                    self.save(n)
                    seconds.append(time.perf_counter() - begun)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(N_CLIENTS)]
        begun = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.perf_counter() - begun
        if failures:
            raise failures[0]
        return {"saves/s": len(seconds) / took, "p95 ms": 1000 * statistics.quantiles(seconds, n=20)[-1]}


@contextmanager
def serving(checkout: Path, python: str, database: str) -> Iterator[Served]:
    """The checkout's gunicorn, 2 workers of 4 threads, on a database that is thrown away."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        environment = os.environ | {
            "QUIRE_VAR": folder,
            "PYTHONPATH": str(checkout),
            "DATABASE_URL": database or f"sqlite:///{folder}/turns.sqlite3",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        seeded = subprocess.run(
            [python, "-c", SEED], cwd=checkout, env=environment, capture_output=True, text=True, check=False
        )
        if seeded.returncode:
            raise SystemExit(f"{checkout}: {seeded.stderr}")
        has_own = (checkout / "tools" / "bench" / "wsgi.py").exists()  # which sets no end to saves
        application = "tools.bench.wsgi" if has_own else "config.wsgi"
        command = [python, "-m", "gunicorn", application, "--bind", f"127.0.0.1:{port}", "--log-level", "critical"]
        server = subprocess.Popen(
            [*command, "--workers", "2", "--threads", "4", "--keep-alive", "120"],
            cwd=checkout,
            env=environment,
            start_new_session=True,
        )
        try:
            wait_for(port)
            yield Served(port, server.pid, seeded.stdout.split())
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(timeout=40)


def wait_for(port: int) -> None:
    for _ in range(1200):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request("GET", "/again/")
            connection.getresponse().read()
            return
        except OSError:
            time.sleep(0.1)
        finally:
            connection.close()
    raise SystemExit("a server did not start within two minutes")


@contextmanager
def postgres(url: str, name: str) -> Iterator[str]:
    """The address of a new database of that name on the server, dropped afterwards."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
        finally:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def measure(checkouts: list[tuple[Path, str]], url: str, n_rounds: int) -> list[dict[str, float]]:
    """Medians over the rounds of each checkout; who begins a round changes from round to round."""
    with ExitStack() as stack:
        served = []
        for n, (checkout, python) in enumerate(checkouts):
            database = stack.enter_context(postgres(url, f"quire_turns_{n}")) if url else ""
            served.append(stack.enter_context(serving(checkout, python, database)))
        for one in served:
            for _ in range(WARM_UP):
                one.save(0)
                one.read()
        rounds: list[list[dict[str, float]]] = [[] for _ in served]
        for number in range(n_rounds):
            measurement.progress(f"{'PostgreSQL' if url else 'SQLite'}, round {number + 1} of {n_rounds} …")
            for n in (0, 1) if number % 2 == 0 else (1, 0):
                rounds[n].append(served[n].alone())
            for n in (0, 1) if number % 2 == 0 else (1, 0):
                rounds[n][-1] |= served[n].together()
            measurement.progress(f"{[rows[-1] for rows in rounds]}")
    return [{name: statistics.median(row[name] for row in rows) for name in rows[0]} for rows in rounds]


def section(checkouts: list[tuple[Path, str]], results: dict[str, list[dict[str, float]]], n_rounds: int) -> str:
    old, new = (measurement.commit(checkout) for checkout, _ in checkouts)
    lines = [
        HEADING,
        "",
        f"{old} and {new}, two servers on one machine; {measurement.machine()}; gunicorn with 2 workers of 4 threads, "
        f"a story of {N_WORDS:,} words with {N_ITEMS} items. Medians of {n_rounds} rounds by turns: CPU of the web "
        f"server over {N_ALONE} requests of one rater, saves of {N_CLIENTS} raters without a pause.",
        "",
        "| | before | after | after / before |",
        "|---|---|---|---|",
    ]
    for database, (before, after) in results.items():
        lines += [
            f"| {database}: {name} | {before[name]:.2f} | {after[name]:.2f} | {after[name] / before[name]:.2f} |"
            for name in before
        ]
    return "\n".join([*lines, ""])


def with_python(words: str) -> tuple[Path, str]:
    folder, _, python = words.partition("=")
    return Path(folder).resolve(), python or sys.executable


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench.turns", description=__doc__)
    parser.add_argument("old", type=with_python, metavar="OLD[=PYTHON]")
    parser.add_argument("new", type=with_python, metavar="NEW[=PYTHON]")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--postgres", default="", metavar="URL", help="measure on this server too")
    parser.add_argument("--write", action="store_true", help="put the table into docs/bench.md")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that servers end and databases go, whoever stops it
    checkouts = [options.old, options.new]
    urls = {"SQLite": ""} | ({"PostgreSQL": options.postgres} if options.postgres else {})
    results = {database: measure(checkouts, url, options.rounds) for database, url in urls.items()}
    text = section(checkouts, results, options.rounds)
    sys.stdout.write(text)
    if options.write:
        page = (measurement.ROOT / "docs" / "bench.md").read_text().partition(HEADING)[0].rstrip()
        measurement.write("docs/bench.md", f"{page}\n\n{text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
