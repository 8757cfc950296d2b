"""What 100,800 calls take: the list of runs and the page of one, and planning and approving them, as a browser waits.

Four judges read 1,800 stories with 14 tests each. A worker of the site plans; nothing is sent.
"""

import http.client
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection
from django.test import Client

from judges.models import Call, Judge, Run
from studies.access import make_lead
from studies.models import Study
from tests import factories
from tests.worker import database_url
from tools import measurement
from tools.bench.judges import N_STORIES, make_judge, make_study
from tools.trials.person import Person
from tools.trials.server import Server

N_JUDGES, N_VISITS = 4, 9
PATIENCE_SECONDS = 900
POLL_SECONDS = 0.5


def run(n_groups: int = 150) -> dict[str, float]:
    """n_groups : of twelve stories"""
    study = make_study(n_groups)
    judges = [make_judge("http://127.0.0.1:9/v1") for _ in range(N_JUDGES)]
    user = factories.staff("researcher")
    make_lead(study, user)
    client = Client()
    client.force_login(user)
    cookie = {settings.SESSION_COOKIE_NAME: client.cookies[settings.SESSION_COOKIE_NAME].value}
    with Server(workers=1) as server, _worker() as worker:
        assert server.process is not None
        pages = _Pages(Person(server.port, cookie), study)
        before = measurement.cpu_seconds(server.process.pid), measurement.cpu_seconds(worker.pid)
        began = time.perf_counter()
        for judge in judges:
            pages.plan_and_approve(judge)
        seconds = time.perf_counter() - began
        web_cpu = measurement.cpu_seconds(server.process.pid) - before[0]
        worker_cpu = measurement.cpu_seconds(worker.pid) - before[1]
        planning_request = max(pages.seconds)
        last = Run.objects.latest("pk")
        list_seconds = pages.time(f"/studies/{study.slug}/runs/")
        page_seconds = pages.time(f"/studies/{study.slug}/runs/{last.pk}/")
        figures = {
            "calls": Call.objects.count(),
            "stories": n_groups * N_STORIES,
            "list of runs s": list_seconds,
            "page of a run s": page_seconds,
            "planned and approved s": seconds,
            "longest request while planning s": planning_request,
            "web process, CPU s while planning": web_cpu,
            "web process, peak memory MB": measurement.peak_megabytes(server.process.pid),
            "worker, CPU s while planning": worker_cpu,
            "worker, peak memory MB": measurement.peak_megabytes(worker.pid),
        }
        pages.person.hang_up()
    connection.close()
    return figures


class _Pages:
    """The pages of a study's runs, as somebody opens them who plans and approves."""

    def __init__(self, person: Person, study: Study) -> None:
        self.person, self.study = person, study
        self.seconds: list[float] = []
        self._connect()

    def plan_and_approve(self, judge: Judge) -> None:
        """Look what the judge would be asked, approve it, and wait until it is at work."""
        address = f"/studies/{self.study.slug}/runs/new/?judge={judge.pk}"
        page = self._wait(address, 'name="n_calls"')
        n_calls = re.search(r'name="n_calls" value="(\d+)"', page)
        assert n_calls is not None
        fields: dict[str, object] = {"judge": judge.pk, "n_calls": n_calls[1], "resends_unknown": "on", "do": "start"}
        self._connect()
        began = time.perf_counter()
        self.person.follow(self.person.post(f"/studies/{self.study.slug}/runs/new/", fields))
        self.seconds.append(time.perf_counter() - began)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not Run.objects.filter(judge=judge, state=Run.State.RUNNING).exists():
            assert time.monotonic() < deadline, "the run was not planned"
            time.sleep(POLL_SECONDS)

    def _connect(self) -> None:
        """A connection of its own for what comes: the server closes one that was quiet for two seconds."""
        self.person.hang_up()
        self.person.connection = http.client.HTTPConnection("127.0.0.1", self.person.port, timeout=PATIENCE_SECONDS)

    def time(self, address: str) -> float:
        """Seconds that the page takes, the middle one of some visits."""
        self.seconds.clear()
        for _ in range(N_VISITS):
            self._get(address)
        return statistics.median(self.seconds)

    def _get(self, address: str) -> str:
        self._connect()
        began = time.perf_counter()
        answer = self.person.get(address)
        self.seconds.append(time.perf_counter() - began)
        assert answer.status == 200, (address, answer.status)
        return answer.text

    def _wait(self, address: str, words: str) -> str:
        """The page once it holds these words."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while words not in (page := self._get(address)):
            assert time.monotonic() < deadline, f"{address} did not come to hold {words}"
            time.sleep(POLL_SECONDS)
        return page


@contextmanager
def _worker() -> Iterator[subprocess.Popen[bytes]]:
    """A worker of everything but the judges' calls."""
    command = [sys.executable, "-m", "celery", "--app", "config", "worker", "--pool", "solo", "--loglevel", "error"]
    process = subprocess.Popen(
        [*command, "--queues", "celery", "--without-gossip", "--without-mingle", "--without-heartbeat"],
        cwd=settings.BASE_DIR,
        env=os.environ | {"DATABASE_URL": database_url()},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=60)
