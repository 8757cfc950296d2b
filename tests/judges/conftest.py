"""A provider that does as it is told, and a broker that only remembers."""

from collections.abc import Iterator
from typing import Any

import pytest

from judges import catalogue, runs
from judges.models import Endpoint, Judge, Run
from studies.models import Provenance, Study
from tests.judges.standin import StandIn, serving

KEY = "sk-canary-3b1f0e5d7a9c"


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The runs that workers were told of: nothing leaves for a real broker."""
    told: list[int] = []
    monkeypatch.setattr(runs.current_app, "send_task", lambda name, args: told.append(*args))
    return told


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "BACKOFF_SECONDS", 0.001)


@pytest.fixture
def standin(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    with serving() as standin:
        settings.ALLOWED_PRIVATE_ENDPOINTS = [standin.base_url.split("/")[2]]
        monkeypatch.setenv("STANDIN_API_KEY", KEY)
        yield standin


def judge_at(standin: StandIn, slug: str = "model-1", *, n_at_once: int = 2, timeout_seconds: int = 5) -> Judge:
    """A judge that asks the stand-in."""
    endpoint = Endpoint.objects.create(
        name=slug,
        base_url=standin.base_url,
        key_variable="STANDIN_API_KEY",
        is_allowed=True,
        n_at_once=n_at_once,
        timeout_seconds=timeout_seconds,
    )
    prompt = next(p for p in catalogue.load_prompts() if p.name == "ttcw-reasoning-first")
    return Judge.objects.create(
        slug=slug, endpoint=endpoint, model="standin", prompt=prompt, parameters={"temperature": 0}
    )


def sendable(study: Study) -> Study:
    Provenance.objects.filter(story__study=study).update(may_send_out=True)
    return study


def started(study: Study, judge: Judge) -> Run:
    return runs.start(sendable(study), judge, by="tests")
