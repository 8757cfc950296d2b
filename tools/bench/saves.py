"""How long a save takes, and how many a second, from many clients at once."""

import threading
import time
from typing import Any

import numpy as np
from django.db import connection

from annotation.participation import invitations
from studies.models import Study
from tests import factories
from tools.trials.person import Person
from tools.trials.server import Server

N_ITEMS = 14
WARM_UP = 5


def run(n_clients: int = 16, n_saves: int = 60) -> dict[str, float]:
    """Clients that save without a pause, each their own answers; every save changes what was there."""
    study = factories.study(
        f"bench{Study.objects.count()}", n_stories=1, k=n_clients, n_items=N_ITEMS, comparative=False
    )
    links = [f"/r/{invitations.issue(study)[1]}/" for _ in range(n_clients)]
    seconds: list[float] = []
    begun: list[float] = []
    start = threading.Barrier(n_clients)
    failures: list[BaseException] = []

    def work(person: Person, first: str) -> None:
        try:
            # An idle connection is closed by the server after two seconds.
            person.hang_up()
            bases = _save(person, first, {}, WARM_UP)
            start.wait()
            person.hang_up()
            begun.append(time.perf_counter())
            _save(person, first, bases, n_saves, seconds)
        except BaseException as error:
            start.abort()
            failures.append(error)
        finally:
            person.hang_up()

    with Server(application="tools.bench.wsgi") as server:
        people = [Person(server.port) for _ in links]
        firsts = [person.come_in(link) for person, link in zip(people, links, strict=True)]
        threads = [threading.Thread(target=work, args=pair) for pair in zip(people, firsts, strict=True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.perf_counter() - min(begun, default=0)
    connection.close()
    if failures:
        raise failures[0]
    return {
        "p50 ms": 1000 * float(np.median(seconds)),
        "p95 ms": 1000 * float(np.quantile(seconds, 0.95)),
        "saves/s": len(seconds) / took,
    }


def _save(
    person: Person, first: str, bases: dict[int, int], n: int, seconds: list[float] | None = None
) -> dict[int, int]:
    """n saves, round the items; the revision of each item at the end."""
    for _ in range(n):
        item = person.n_saves % N_ITEMS + 1
        path = first.rsplit("/", 2)[0] + f"/item-{item}/"
        given: dict[str, Any] = {"name": f"answer-tests-A-item-{item}", "value": "yes", "base": bases.get(item, 0)}
        began = time.perf_counter()
        bases[item] = person.save(path, why=f"Because of {person.n_saves}.", key=person.next_key(), **given)
        if seconds is not None:
            seconds.append(time.perf_counter() - began)
    return bases
