"""Gemini by its compatible API, as its own documents and what it was seen to send have it; the preset leads there.

Its errors come in a list, as Google writes them: a wrong key with HTTP 400, and how long to wait in the body alone.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from judges import runs
from judges.endpoints.presets import all_presets
from judges.models import Endpoint, Run
from judges.providers import FailureKind
from studies.models import Study
from tests.judges import standin as told
from tests.judges.conftest import answers, judge_at, started
from tests.judges.providers.calls import Caller, connected
from tests.judges.standin import Reply, StandIn


def error(code: int, message: str, status: str, *details: dict[str, Any]) -> Reply:
    document = [{"error": {"code": code, "message": message, "status": status, "details": list(details)}}]
    return Reply(json.dumps(document, indent=2), status=code)


def replies(content: str | None, finish_reason: str) -> Reply:
    message = {"role": "assistant"} | ({} if content is None else {"content": content})
    choice = {"finish_reason": finish_reason, "index": 0, "message": message}
    usage = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 40}
    document = {"choices": [choice], "created": 1, "id": "r1", "model": "gemini-2.5-flash", "usage": usage}
    return Reply(json.dumps(document | {"object": "chat.completion"}))


NO_KEY = error(
    400,
    "API key not valid. Please pass a valid API key.",
    "INVALID_ARGUMENT",
    {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"},
)
NO_MODEL = error(404, "models/gemini-9 is not found for API version v1main, or is not supported.", "NOT_FOUND")
EXHAUSTED = error(
    429,
    "You exceeded your current quota, please check your plan and billing details.",
    "RESOURCE_EXHAUSTED",
    {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "31s"},
)
OVERLOADED = error(503, "The model is overloaded. Please try again later.", "UNAVAILABLE")
WRONG = error(400, "Invalid value at 'temperature' (TYPE_FLOAT), \"hot\"", "INVALID_ARGUMENT")


@pytest.fixture
def client(standin: StandIn) -> Iterator[Caller]:
    with connected(standin) as caller:
        yield caller


def test_the_preset_leads_to_the_compatible_api() -> None:
    assert (all_presets()["gemini"].adapter, all_presets()["gemini"].base_url[-7:]) == ("openai", "/openai")


@pytest.mark.parametrize(
    ("reply", "kind", "retry_after"),
    [
        (NO_KEY, FailureKind.KEY, None),
        (NO_MODEL, FailureKind.UNKNOWN_MODEL, None),
        (EXHAUSTED, FailureKind.OVERLOAD, 31.0),
        (OVERLOADED, FailureKind.OVERLOAD, None),
        (WRONG, FailureKind.BAD_REQUEST, None),
    ],
)
def test_a_failure_has_its_kind_and_the_wait_that_its_body_asks_for(
    client: Caller, standin: StandIn, reply: Reply, kind: FailureKind, retry_after: float | None
) -> None:
    standin.script = [reply]

    failure = client.failure()

    assert (failure.kind, failure.retry_after) == (kind, retry_after)


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("stop", "stop"),
        ("STOP", "stop"),
        ("length", "length"),
        ("MAX_TOKENS", "length"),
        ("content_filter", "content_filter"),
        ("content_filter: RECITATION", "content_filter"),
        ("SAFETY", "content_filter"),
        ("PROHIBITED_CONTENT", "content_filter"),
    ],
)
def test_why_a_reply_ended_has_one_name_whichever_of_them_came(
    client: Caller, standin: StandIn, sent: str, read: str
) -> None:
    standin.script = [replies(None if read == "content_filter" else "Yes", sent)]

    completion = client.complete()

    assert (completion.finish_reason, completion.model) == (read, "gemini-2.5-flash")
    assert (completion.n_tokens_in, completion.n_tokens_out) == (11, 29)


@pytest.mark.django_db
def test_a_run_blocks_what_a_filter_stopped_without_asking_again(study: Study, standin: StandIn) -> None:
    standin.script = [told.YES, told.YES, replies(None, "SAFETY")]

    run = runs.drain(started(study, judge_at(standin, n_at_once=1)))

    assert (runs.count_calls(run), len(standin.hits)) == ({"blocked": 1, "ok": 7}, 8)
    assert answers(run) == {"yes": 7, "declined": 1}


@pytest.mark.django_db
def test_a_wrong_key_stops_the_run_after_the_probes_and_says_so(study: Study, standin: StandIn) -> None:
    standin.reply = lambda hit: NO_KEY

    run = runs.drain(started(study, judge_at(standin)))

    assert (run.state, len(standin.hits)) == (Run.State.STOPPED, 3)
    assert "API key not valid" in run.note


@pytest.mark.django_db
def test_an_endpoint_rests_as_long_as_the_body_asks(study: Study, standin: StandIn) -> None:
    standin.script = [EXHAUSTED]

    runs.drain(started(study, judge_at(standin, n_at_once=1)), seconds=0.3)

    endpoint = Endpoint.objects.get(name="model-1")
    assert endpoint.resting_until is not None
    assert len(standin.hits) == 1
