"""Saving while all backends of the database are ended: is every answer there, and does the server recover?"""

import threading
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.db import connection

from annotation.participation import invitations
from tools.trials.faults import PATIENCE, Ledger, count_losses, make_study
from tools.trials.person import Failed, Person
from tools.trials.server import Server

GRACE = 1.0  # seconds after the backends were ended in which a page may fail
PAUSES = (0.05, 0.25)  # seconds between two saves of one person


@dataclass
class Record:
    """What all people met. failures : when each request was sent that was answered with 5xx, or with nothing"""

    failures: list[float] = field(default_factory=list)
    n_pages: int = 0
    faults: list[BaseException] = field(default_factory=list)


def run(
    n_people: int = 20,
    n_items: int = 40,
    *,
    n_ends: int = 3,
    seconds_between: float = 5.0,
    grace: float = GRACE,
    without: str = "",
) -> dict[str, Any]:
    """People who answer items, each twice, while all backends are ended some times, evenly spread. On SQLite, which
    has none, nothing is ended.

    late : requests sent later than that grace after the backends were ended and answered with 5xx or not at all
    """
    study = make_study(n_people, n_items)
    links = [f"/r/{invitations.issue(study)[1]}/" for _ in range(n_people)]
    ledgers, record, ends = [Ledger() for _ in links], Record(), list[float]()
    with Server(without=without) as server:
        people = [Person(server.port) for _ in links]
        firsts = [person.come_in(link) for person, link in zip(people, links, strict=True)]
        connection.close()
        threads = [
            threading.Thread(target=_work, args=(people[n], firsts[n], n_items, ledgers[n], record, n))
            for n in range(n_people)
        ]
        for thread in threads:
            thread.start()
        n_ended = 0
        while len(ends) < n_ends and any(thread.is_alive() for thread in threads):
            time.sleep(seconds_between)
            n_ended += end_backends()
            ends.append(time.monotonic())
        are_all_during = any(thread.is_alive() for thread in threads)
        for thread in threads:
            thread.join()
    if record.faults:
        raise record.faults[0]
    late = [at for at in record.failures if not any(end - GRACE <= at <= end + grace for end in ends)]
    return count_losses(study, ledgers) | {
        "pages read": record.n_pages,
        "times ended": len(ends) if are_all_during else f"{len(ends)}, the last after all was saved",
        "backends ended": n_ended,
        "requests that failed": len(record.failures),
        "late": len(late),
    }


def end_backends() -> int:
    """End every backend of this database, and no other; how many there were."""
    if connection.vendor != "postgresql":
        return 0
    with connect_beside() as other:
        sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = %s"
        row = other.execute(sql, [connection.settings_dict["NAME"]]).fetchone()
    return int(row[0]) if row else 0


def connect_beside() -> Any:
    """A connection to the same server, but to another database."""
    import psycopg

    at = connection.settings_dict
    return psycopg.connect(
        host=at["HOST"], port=at["PORT"], user=at["USER"], password=at["PASSWORD"], dbname="postgres", autocommit=True
    )


def _work(person: Person, first: str, n_items: int, ledger: Ledger, record: Record, seed: int) -> None:
    """Every item answered, and changed once, with a look at a page now and then."""
    rng = np.random.default_rng(seed)
    code = first.split("/")[2]
    n_on_story = n_items // 4 if n_items % 4 == 0 else n_items
    person.hang_up()  # an idle connection is closed by the server after two seconds
    try:
        for n in range(n_items):
            letter, item = "ABCD"[n // n_on_story], n % n_on_story + 1
            path, base = f"/a/{code}/s/tests/{letter}/item-{item}/", 0
            for edit in (1, 2):
                base = _save(person, path, f"{person.page} {letter}{item} {edit}.", base, ledger, record, rng)
            if n % 5 == 0:
                _read(person, path, record)
    except BaseException as error:
        record.faults.append(error)
    finally:
        person.hang_up()


def _save(
    person: Person, path: str, why: str, base: int, ledger: Ledger, record: Record, rng: np.random.Generator
) -> int:
    """The revision at last; the same save is sent until it is answered."""
    until, key = time.monotonic() + PATIENCE, person.next_key()
    letter, item = path.strip("/").split("/")[-2:]
    while time.monotonic() < until:
        time.sleep(float(rng.uniform(*PAUSES)))
        sent_at = time.monotonic()
        try:
            revision = person.save(path, name=f"answer-tests-{letter}-{item}", value="yes", why=why, base=base, key=key)
        except Failed as error:
            status = str(error)
            ledger.n_conflicts += status == "409"
            ledger.faults[status] += 1
            if not status.startswith("4"):
                record.failures.append(sent_at)
            continue
        ledger.saved.setdefault(path, []).append(why)
        return revision
    raise TimeoutError(f"an answer could not be saved within {PATIENCE} seconds")


def _read(person: Person, path: str, record: Record) -> None:
    """The page of an item, as a rater who loads it anew."""
    sent_at = time.monotonic()
    try:
        page = person.get(path)
    except Failed:
        record.failures.append(sent_at)
        return
    record.n_pages += 1
    if page.status >= 500:
        record.failures.append(sent_at)
