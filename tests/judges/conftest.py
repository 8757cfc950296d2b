"""A provider that does as it is told, and a broker that only remembers."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from celery import current_app

from annotation.models import Response
from annotation.responses import history
from judges import catalogue, runs
from judges.endpoints import limits
from judges.models import Call, Endpoint, Judge, Run
from judges.settlement import attempts, replies
from studies.models import Provenance, Study
from tests import factories
from tests.judges.standin import StandIn, serving

KEY = "sk-canary-3b1f0e5d7a9c"


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The endpoints, and runs of metrics, that workers were told of: nothing leaves for a real broker."""
    told: list[int] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, **options: told.append(*args))
    return told


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "BACKOFF_SECONDS", 0.001)
    monkeypatch.setattr(limits, "FIRST_REST_SECONDS", 0.001)
    monkeypatch.setattr(limits, "LONGEST_REST_SECONDS", 0.01)


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


def probed(run: Run) -> Run:
    """The run as if its first calls had been answered well."""
    Run.objects.filter(pk=run.pk).update(n_probes_answered=3)
    run.refresh_from_db()
    return run


def started(study: Study, judge: Judge) -> Run:
    return runs.start(sendable(study), judge, by="tests")


@pytest.fixture
def study() -> Study:
    """Four stories, two tests of each: eight calls."""
    return factories.study(comparative=False)


def answers(run: Run) -> Counter[str]:
    """How often each value, or each outcome without one, was recorded for the run's rater."""
    found = Response.objects.filter(assignment__rater__code=run.judge.slug)
    return Counter(str(r.value) if r.outcome == "answered" else r.outcome for r in found)


def assert_everything_ended_once(run: Run) -> None:
    """Each call has one terminal state, one response unless it got no answer, and a history without faults."""
    assert set(runs.count_calls(run)) <= set(Call.State.values) - set(Call.PENDING)
    assert run.calls.count() == run.n_planned
    for call in run.calls.all():
        found = list(
            Response.objects.filter(
                assignment=call.assignment_id, step=call.step_id, item=call.item_id, story=call.story_id
            )
        )
        assert len(found) == (call.state != Call.State.PROVIDER_ERROR)
        for response in found:
            events = list(response.events.all())
            assert [event.key for event in events] == [f"call {call.pk}"]
            assert history.faults(response, events) == []
            assert response.outcome == replies.OUTCOME_BY_STATE[Call.State(call.state)]
