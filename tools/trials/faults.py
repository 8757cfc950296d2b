"""Saving over a bad line to a server that is killed: is any answer lost, is any doubled?"""

import signal
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.db import connection

from annotation.models import Response, ResponseEvent
from annotation.participation import invitations
from annotation.responses import verification
from studies import hashing
from studies.models import Study
from tests import factories
from tools.trials.person import Failed, Person
from tools.trials.server import Server

PATIENCE = 60  # seconds that a person keeps trying to save one answer
# How a save fares: how often of a hundred.
FARES = {"well": 0.6, "never sent": 0.1, "answer lost": 0.12, "late": 0.08, "twice": 0.1}


@dataclass
class Ledger:
    """What one person was told is saved: the words, by address, in order. And what befell them on the way."""

    saved: dict[str, list[str]] = field(default_factory=dict)
    n_conflicts: int = 0
    faults: Counter[str] = field(default_factory=Counter)


def run(
    n_people: int = 20, n_items: int = 60, *, seconds_between_kills: float = 4.0, seed: int = 1, without: str = ""
) -> dict[str, Any]:
    """People who answer items, each twice, while saves are dropped, delayed and doubled and the server is killed.

    lost : words that somebody was told are saved and that are not in the history, or are not what stands at the end
    doubled : answers with two rows, saves with two events
    """
    study = make_study(n_people, n_items)
    links = [f"/r/{invitations.issue(study)[1]}/" for _ in range(n_people)]
    ledgers = [Ledger() for _ in links]
    failures: list[BaseException] = []
    with Server(without=without) as server:
        people = [Person(server.port) for _ in links]
        firsts = [person.come_in(link) for person, link in zip(people, links, strict=True)]
        threads = [
            threading.Thread(target=_work, args=(people[n], firsts[n], n_items, ledgers[n], seed * 1000 + n, failures))
            for n in range(n_people)
        ]
        for thread in threads:
            thread.start()
        restarts = _harass(server, threads, seconds_between_kills)
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]
    connection.close()
    return count_losses(study, ledgers) | restarts


def make_study(n_people: int, n_items: int) -> Study:
    """One group of stories, four if the items can be shared out among them, and a seat in it for each person."""
    n_stories = 4 if n_items % 4 == 0 else 1
    slug = f"faults{Study.objects.count()}"
    return factories.study(slug, n_stories=n_stories, k=n_people, n_items=n_items // n_stories, comparative=False)


def _harass(server: Server, threads: list[threading.Thread], seconds: float) -> dict[str, int]:
    """Kill and restart the server by turns, as long as somebody works."""
    counts = {"kills": 0, "restarts": 0}
    while True:
        until = time.monotonic() + seconds
        while time.monotonic() < until and any(t.is_alive() for t in threads):
            time.sleep(0.05)
        if not any(t.is_alive() for t in threads):
            return counts
        is_kill = counts["kills"] <= counts["restarts"]
        server.stop(signal.SIGKILL if is_kill else signal.SIGTERM)
        counts["kills" if is_kill else "restarts"] += 1
        server.start()


def _work(person: Person, first: str, n_items: int, ledger: Ledger, seed: int, failures: list[BaseException]) -> None:
    """Every item answered, and changed once; what failed is sent again until it is saved."""
    rng = np.random.default_rng(seed)
    late: list[threading.Thread] = []
    code = first.split("/")[2]
    n_here = n_items // 4 if n_items % 4 == 0 else n_items
    try:
        for n in range(n_items):
            letter, item = "ABCD"[n // n_here], n % n_here + 1
            path, base = f"/a/{code}/s/tests/{letter}/item-{item}/", 0
            for edit in (1, 2):
                why = f"{person.page} {letter}{item} {edit}."
                base = _save(person, path, why, base, ledger, rng, late)
        for thread in late:
            thread.join()
    except BaseException as error:
        failures.append(error)
    finally:
        person.hang_up()


def _save(
    person: Person, path: str, why: str, base: int, ledger: Ledger, rng: np.random.Generator, late: list[Any]
) -> int:
    """The revision at last. As long as nothing is heard, the person types on, or the page sends the same again."""
    until = time.monotonic() + PATIENCE
    key, typed = person.next_key(), why
    letter, item = path.strip("/").split("/")[-2:]
    name = f"answer-tests-{letter}-{item}"
    while time.monotonic() < until:
        fare = str(rng.choice(list(FARES), p=list(FARES.values())))
        try:
            revision = _send(person, fare, rng, late, path=path, name=name, why=typed, base=base, key=key)
        except Failed as failed:
            ledger.faults[fare if fare != "well" else "server away"] += 1
            ledger.n_conflicts += str(failed) == "409"
            time.sleep(float(rng.uniform(0.02, 0.2)))
            if rng.random() < 0.5:
                key, typed = person.next_key(), f"{typed}+"
            continue
        ledger.faults[fare] += 1
        ledger.saved.setdefault(path, []).append(typed)
        return revision
    raise TimeoutError(f"an answer could not be saved within {PATIENCE} seconds")


def _send(
    person: Person, fare: str, rng: np.random.Generator, late: list[Any], *, path: str, why: str, **fields: Any
) -> int:
    """One save, faring as it fares."""
    fields = {"value": "yes", "why": why, **fields}
    if fare == "never sent":
        raise Failed(fare)
    if fare == "late":
        time.sleep(float(rng.uniform(0.05, 0.5)))
    if fare == "twice":
        # The second comes at the same time, or after whatever follows.
        pause = float(rng.choice([0, 0.05, 0.5]))
        again = threading.Thread(target=_once_more, args=(person, pause, path, fields))
        late.append(again)
        again.start()
    if fare == "answer lost":
        _once_more(person, 0, path, fields)
        raise Failed(fare)
    return person.save(path, **fields)


def _once_more(person: Person, pause: float, path: str, fields: dict[str, Any]) -> None:
    """The same save from a connection of its own; whatever is answered, nobody hears it."""
    time.sleep(pause)
    other = Person(person.port, cookies=dict(person.cookies), token=person.token)
    try:
        other.save(path, **fields)
    except Failed:
        pass
    finally:
        other.hang_up()


def count_losses(study: Study, ledgers: list[Ledger]) -> dict[str, Any]:
    """Every word that somebody was told is saved, against what is there."""
    rows = Response.objects.filter(assignment__study=study).select_related("assignment", "step", "item", "story")
    responses_by_place: dict[tuple[str, str, str], list[Response]] = {}
    for row in rows:
        letters = {code: letter for letter, code in zip("ABCD", row.assignment.seat.order, strict=False)}
        place = (row.assignment.code, letters[row.story.code] if row.story else "", row.item.key)
        responses_by_place.setdefault(place, []).append(row)
    lost = doubled = n_saves = 0
    for ledger in ledgers:
        for path, words in ledger.saved.items():
            _, _, code, _, _, letter, item, _ = path.split("/")
            mine = responses_by_place.get((code, letter, item), [])
            events = [e.words or "" for r in mine for e in r.events.all()]
            n_saves += len(words)
            lost += sum(not any(hashing.canonical_json(word) in text for text in events) for word in words)
            lost += not any(r.rationale == words[-1] for r in mine)
            doubled += max(0, len(mine) - 1)
    keys = Counter(ResponseEvent.objects.filter(response__assignment__study=study).values_list("response", "key"))
    doubled += sum(n - 1 for n in keys.values())
    faults: Counter[str] = sum((ledger.faults for ledger in ledgers), Counter())
    return {
        "people": len(ledgers),
        "answers": sum(len(ledger.saved) for ledger in ledgers),
        "saves": n_saves,
        "faults": dict(sorted(faults.items())),
        "lost": lost,
        "doubled": doubled,
        "met themselves as a stranger": sum(ledger.n_conflicts for ledger in ledgers),
        "faults in the history": len(verification.verify(study).faults),
    }
