"""The database is started anew while Quire runs. On SQLite nothing is there to restart, and nothing may change."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from celery import current_app
from django.db import connection, connections
from django.test import Client

from annotation import responses
from annotation.models import Assignment, Response
from judges import catalogue, runs
from judges.models import Endpoint, Run
from judges.providers.base import Completion, Request
from judges.providers.stub import StubClient
from studies import protocol
from tests import factories
from tests.annotation import walk


def end_all_connections() -> None:
    """What a restart does to every connection of the pool, idle ones and ones in use."""
    if connection.vendor != "postgresql":
        return
    import psycopg

    at = connection.settings_dict
    with psycopg.connect(
        host=at["HOST"], port=at["PORT"], user=at["USER"], password=at["PASSWORD"], dbname="postgres", autocommit=True
    ) as other:
        other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [at["NAME"]])


def in_a_thread_of_its_own(work: Callable[[], Any]) -> Any:
    """As a server does: its connection goes back to the pool at the end."""

    def run() -> Any:
        try:
            return work()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()


def fill_the_pool(n: int = 9) -> None:
    """As many idle connections as a busy hour leaves."""
    barrier = threading.Barrier(n)

    def connect() -> None:
        connections["default"].ensure_connection()
        barrier.wait()
        connections.close_all()

    with ThreadPoolExecutor(n) as threads:
        for future in [threads.submit(connect) for _ in range(n)]:
            future.result()


def test_pages_and_saves_go_on_after_a_restart_of_the_database(committed: None) -> None:
    client = Client(raise_request_exception=False)
    work = walk.begin(client, factories.study())
    for base in range(3):  # compiled queries are kept with a connection
        answer = in_a_thread_of_its_own(lambda base=base: walk.give(client, work, why=f"{base}.", base=base, htmx=True))
        assert answer.status_code == 200
    connection.close()
    fill_the_pool()

    end_all_connections()

    statuses = [in_a_thread_of_its_own(lambda: client.get(walk.address(work)).status_code) for _ in range(20)]
    saved = in_a_thread_of_its_own(lambda: walk.give(client, work, "no", base=3, htmx=True))
    assert statuses == [200] * 20
    assert saved.status_code == 200
    assert Response.objects.get().value == "no"


def test_one_thread_goes_on_with_the_queries_that_it_has_compiled(committed: None) -> None:
    work = factories.assignment(factories.study())
    step = protocol.load_protocol(work.version).ratings[0]
    item, story = protocol.items_of(step)[0], work.study.stories.first()
    client = Client(raise_request_exception=False)
    assert client.get("/").status_code == 200
    responses.record(
        work, step=step, item=item, story=story, answer=responses.Answer("yes", "It is so."), at=factories.NOON
    )
    connection.close()

    end_all_connections()

    more = {"answer": responses.Answer("no", "It is not."), "base": 1}
    responses.record(Assignment.objects.get(), step=step, item=item, story=story, at=factories.NOON, **more)
    assert Response.objects.get().value == "no"


def test_a_run_takes_an_answer_for_which_it_waited_longer_than_its_connection_lived(
    committed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(current_app, "send_task", lambda name, args: None)
    run = runs.start(factories.study(comparative=False), catalogue.make_stub_judge(), by="tests")
    Endpoint.objects.update(n_at_once=1)  # so that the run waits, and writes nothing, at that moment
    run = Run.objects.get()
    complete, n_calls = StubClient.complete, []

    def restarted(client: StubClient, request: Request) -> Completion:
        n_calls.append(1)
        if len(n_calls) == 1:
            end_all_connections()
        return complete(client, request)

    monkeypatch.setattr(StubClient, "complete", restarted)

    runs.drain(run)

    assert Run.objects.get().state == Run.State.FINISHED
    assert runs.count_calls(run) == {"ok": run.n_planned}
    assert len(n_calls) == run.n_planned, "nothing was paid for twice"
