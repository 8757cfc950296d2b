"""What the judges' engine costs, beside a bare client of the same library that sends the same requests to one server.

Times hold the whole of a run: its three probes, which nothing is sent beside, and every answer recorded. The server is
a stand-in on the same machine.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Sum
from django.db.models.functions import Length

from judges import catalogue, planning, runs
from judges.models import Call, Endpoint, Judge, Run, Text
from judges.providers.openai import body_of
from studies.models import Provenance, Story, Study
from tests import factories
from tests.worker import database_url
from tools.bench.reading import SENTENCE

KEY_VARIABLE = "STANDIN_API_KEY"
N_WORDS, N_ITEMS, N_STORIES = 1500, 14, 12
N_AT_ONCE = 256


@dataclass(frozen=True)
class Cost:
    """What it took to have all calls answered.

    seconds : by the clock
    cpu_seconds : of this process, or of all workers
    n_queries : 0 where nobody counted
    """

    seconds: float
    cpu_seconds: float
    n_queries: int = 0


def run(n_groups: int = 12, *, delay: float = 1.0) -> dict[str, float]:
    """One round: each case by the bare client and by the engine, one after the other.

    n_groups : of twelve stories with fourteen tests each
    delay : seconds until the server answers
    """
    study = make_study(n_groups)
    figures = _measure_planning(study)
    slow = {"delay": delay, "slow_share": 1 / 40}
    with ExitStack() as stack:
        steady_url = stack.enter_context(standing_in(delay=delay))
        slow_url, quick_url = stack.enter_context(standing_in(**slow)), stack.enter_context(standing_in())
        bodies = _bodies(study, steady_url)
        n = len(bodies)
        bare, own = _bare(steady_url, bodies), _drain(study, steady_url)
        two = _drain_by_two(study, steady_url)
        bare_slow, own_slow = _bare(slow_url, bodies), _drain(study, slow_url)
        bare_quick, own_quick = _bare(quick_url, bodies), _drain(study, quick_url)
    return figures | {
        "calls": n,
        "s, bare client": bare.seconds,
        "s, engine": own.seconds,
        "time, engine / bare": own.seconds / bare.seconds,
        "time, two workers / bare": two.seconds / bare.seconds,
        "time with one call in forty eight times slower, engine / bare": own_slow.seconds / bare_slow.seconds,
        "calls/s of a server that answers at once, bare client": n / bare_quick.seconds,
        "calls/s of a server that answers at once, engine": n / own_quick.seconds,
        "rate at a server that answers at once, engine / bare": bare_quick.seconds / own_quick.seconds,
        "CPU ms a call, bare client": 1000 * bare.cpu_seconds / n,
        "CPU ms a call, engine": 1000 * own.cpu_seconds / n,
        "CPU, engine / bare": own.cpu_seconds / bare.cpu_seconds,
        "queries a call": own.n_queries / n,
        "load of the machine": os.getloadavg()[0],
    }


def make_study(n_groups: int) -> Study:
    """A study whose stories a judge may be asked about, as long as stories of magazines are."""
    slug = f"judged{Study.objects.count()}"
    design = {"n_stories": N_STORIES, "n_items": N_ITEMS, "k": 1, "comparative": False, "planned": False}
    study = factories.study(slug, n_groups=n_groups, **design)
    stories = list(Story.objects.filter(study=study))
    for story in stories:
        # No two alike, since a text is stored once.
        story.text = "\n\n".join([f"{story.code}. {SENTENCE * 10}"] * (N_WORDS // 100))
    Story.objects.bulk_update(stories, ["text"])
    Provenance.objects.filter(story__study=study).update(may_send_out=True)
    factories.plan(study)
    return study


def make_judge(url: str, *, n_at_once: int = N_AT_ONCE, timeout_seconds: int = 120, **endpoint: Any) -> Judge:
    """A new judge that asks the server at that address."""
    slug = f"judge-{Judge.objects.count() + 1}"
    settings.ALLOWED_PRIVATE_ENDPOINTS = [*settings.ALLOWED_PRIVATE_ENDPOINTS, url.split("/")[2]]
    os.environ[KEY_VARIABLE] = "sk-bench"
    values = {"key_variable": KEY_VARIABLE, "is_allowed": True, "timeout_seconds": timeout_seconds}
    place = Endpoint.objects.create(name=slug, base_url=url, n_at_once=n_at_once, **values, **endpoint)
    prompt = next(p for p in catalogue.load_prompts() if p.name == "ttcw-reasoning-first")
    return Judge.objects.create(slug=slug, endpoint=place, model="standin", prompt=prompt, parameters={})


@contextmanager
def standing_in(**faults: float) -> Iterator[str]:
    """The address of a stand-in in a process of its own that deals out those faults."""
    options = [word for name, value in faults.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    command = [sys.executable, "-m", "tests.judges.standin", *options]
    with subprocess.Popen(command, cwd=settings.BASE_DIR, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def _measure_planning(study: Study) -> dict[str, float]:
    """What planning takes, and how much room what it writes does."""
    judge = make_judge("http://127.0.0.1:9/v1")
    began = time.process_time()
    planning.plan_run(study, judge)
    planned = time.process_time()
    started = runs.start(study, judge, by="bench")
    ended = time.process_time()
    requests = sum(len(json.dumps(request)) for request in started.calls.values_list("request", flat=True))
    texts = Text.objects.aggregate(n=Sum(Length("content")))["n"]
    stories = Story.objects.filter(study=study).aggregate(n=Sum(Length("text")))["n"]
    runs.pause(started, "only planned")
    Text.objects.all().delete()
    return {
        "CPU s, planning": planned - began,
        "CPU s, planning and writing down": ended - planned,
        "characters of texts stored / of stories": texts / stories,
        "characters of texts and requests stored / of stories": (texts + requests) / stories,
    }


def _bodies(study: Study, url: str) -> list[dict[str, Any]]:
    """What a run sends, call by call, as the library is given it."""
    planned = planning.plan_run(study, make_judge(url))
    return [body_of(call.request) for call in planned.all_calls]


def _bare(url: str, bodies: list[dict[str, Any]]) -> Cost:
    """The library by itself, with as many calls under way."""
    import openai

    async def send_all() -> None:
        gate = asyncio.Semaphore(N_AT_ONCE)
        async with openai.AsyncOpenAI(base_url=url, api_key="sk-bench", max_retries=0, timeout=120) as client:

            async def send(body: dict[str, Any]) -> None:
                async with gate:
                    completion = await client.chat.completions.create(**body)
                    assert completion.choices

            await asyncio.gather(*(send(body) for body in bodies))

    began, cpu = time.monotonic(), time.process_time()
    asyncio.run(send_all())
    return Cost(time.monotonic() - began, time.process_time() - cpu)


def _drain(study: Study, url: str) -> Cost:
    """A run of the engine in this process."""
    started = runs.start(study, make_judge(url), by="bench")
    n_queries = 0

    def count(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal n_queries
        n_queries += 1
        return execute(sql, params, many, context)

    began, cpu = time.monotonic(), time.process_time()
    with connection.execute_wrapper(count):
        ended = runs.drain(started)
    cost = Cost(time.monotonic() - began, time.process_time() - cpu, n_queries)
    _check(ended)
    return cost


def _drain_by_two(study: Study, url: str) -> Cost:
    """The same by two workers in processes of their own, which share the endpoint's limit."""
    started = runs.start(study, make_judge(url), by="bench")
    environment = os.environ | {
        "DATABASE_URL": database_url(),
        "QUIRE_ALLOWED_PRIVATE_ENDPOINTS": url.split("/")[2],
    }
    command = [sys.executable, "-m", "tools.bench.judges_worker", str(started.pk)]
    workers = [
        subprocess.Popen(command, cwd=settings.BASE_DIR, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    for worker in workers:
        assert worker.stdout
        worker.stdout.readline()  # it has been set up
    began = time.monotonic()
    for worker in workers:
        assert worker.stdin
        worker.stdin.write(b"\n")
        worker.stdin.flush()
    cpu = sum(json.loads(worker.communicate()[0]) for worker in workers)
    cost = Cost(time.monotonic() - began, cpu)
    started.refresh_from_db()
    _check(started)
    return cost


def _check(ended: Run) -> None:
    n_ok = ended.calls.filter(state=Call.State.OK).count()
    if (ended.state, n_ok) != (Run.State.FINISHED, ended.n_planned):
        raise AssertionError(f"the run is {ended.state} ({ended.note}), {runs.count_calls(ended)}")
