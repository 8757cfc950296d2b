"""What a save and a reading page cost in CPU, beside views that decide nothing: the web server's own, without the
database's where that is a process of its own."""

import statistics
from urllib.parse import urlsplit

from django.db import connection

from annotation.models import Response
from annotation.participation import invitations
from studies.models import Story, Study
from tests import factories
from tools import measurement
from tools.bench.reading import N_ITEMS, N_WORDS, SENTENCE
from tools.trials.person import Person
from tools.trials.server import Server

BLOCKS = 12  # of each kind, by turns
WARM_UP = 2 * N_ITEMS


def run(n: int = 70) -> dict[str, float]:
    """CPU milliseconds of each kind of request, medians of blocks of n, and ours in relation to the bare ones."""
    design = {"n_stories": 4, "k": 1, "n_items": N_ITEMS, "comparative": False, "planned": False}
    study = factories.study(f"cost{Study.objects.count()}", **design)
    Story.objects.filter(study=study).update(text="\n\n".join([SENTENCE * 10] * (N_WORDS // 100)))
    factories.plan(study)
    with Server(workers=1, application="tools.bench.wsgi") as server:
        visitor = _Visitor(Person(server.port), f"/r/{invitations.issue(study)[1]}/", study)
        kinds = {
            "save": visitor.save,
            "bare save": visitor.save_bare,
            "page": visitor.page,
            "bare page": visitor.page_bare,
        }
        for request in kinds.values():
            for _ in range(WARM_UP):
                request()
        blocks: dict[str, list[float]] = {kind: [] for kind in kinds}
        for _ in range(BLOCKS):
            for kind, request in kinds.items():
                before = _cpu_seconds(server)
                for _ in range(n):
                    request()
                blocks[kind].append(1000 * (_cpu_seconds(server) - before) / n)
        visitor.person.hang_up()
    connection.close()
    cost = {kind: statistics.median(of_kind) for kind, of_kind in blocks.items()}
    return {f"CPU ms a {kind}": milliseconds for kind, milliseconds in cost.items()} | {
        "a save in relation to a bare one": cost["save"] / cost["bare save"],
        "a page in relation to a bare one": cost["page"] / cost["bare page"],
    }


class _Visitor:
    """A rater who saves and reads, through our views and through the bare ones."""

    def __init__(self, person: Person, link: str, study: Study) -> None:
        self.person = person
        self.first = person.come_in(link)
        self.place = urlsplit(self.first).path.removeprefix("/a/").replace("/s/", "/", 1)
        self.study = study
        self.revisions: dict[int, int] = {}
        self.responses: dict[int, int] = {}

    def save(self) -> None:
        item = self.person.n_saves % N_ITEMS + 1
        self._post(self.first.rsplit("/", 2)[0] + f"/item-{item}/", item)

    def save_bare(self) -> None:
        item = self.person.n_saves % N_ITEMS + 1
        if item not in self.responses:
            mine = Response.objects.filter(assignment__study=self.study, item__key=f"item-{item}")
            self.responses[item] = mine.values_list("pk", flat=True).get()
        self._post(f"/bare/save/{self.responses[item]}/", item)

    def _post(self, path: str, item: int) -> None:
        why, key = f"Because of {self.person.n_saves}.", self.person.next_key()
        base = self.revisions.get(item, 0)
        name = f"answer-tests-A-item-{item}"
        self.revisions[item] = self.person.save(path, name=name, value="yes", why=why, base=base, key=key)

    def page(self) -> None:
        self.person.get(self.first)

    def page_bare(self) -> None:
        self.person.get(f"/bare/page/{self.place}")


def _cpu_seconds(server: Server) -> float:
    assert server.process is not None
    return measurement.thread_seconds(server.process.pid)
