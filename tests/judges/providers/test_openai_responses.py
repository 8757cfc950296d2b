"""OpenAI's Responses API, as its documents have it and the stand-in speaks it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from judges.providers import CallFailed, FailureKind
from judges.providers.base import Token
from judges.providers.openai_responses import body_of, completion_of
from tests.judges import standin as told
from tests.judges.conftest import KEY
from tests.judges.providers.calls import ASKED, Caller, connected
from tests.judges.standin import StandIn
from tests.judges.standin.protocols import responses_body

SYSTEM = {"role": "system", "content": "You are an editor."}


@pytest.fixture
def client(standin: StandIn) -> Iterator[Caller]:
    with connected(standin, "openai-responses") as caller:
        yield caller


def test_a_request_is_sent_with_its_parameters_and_nothing_of_it_is_to_be_stored(
    client: Caller, standin: StandIn
) -> None:
    client.complete(ASKED | {"messages": [SYSTEM, *ASKED["messages"]], "max_tokens": 300})

    (hit,) = standin.hits
    assert (hit.path, hit.authorization) == ("/v1/responses", f"Bearer {KEY}")
    assert hit.body == {
        "model": "m",
        "temperature": 0,
        "top_k": 5,
        "max_output_tokens": 300,
        "instructions": "You are an editor.",
        "input": [{"role": "user", "content": "Is it good?"}],
        "store": False,
    }


@pytest.mark.parametrize(
    ("parameters", "sent"),
    [
        ({"reasoning_effort": "none"}, {"reasoning": {"effort": "none"}}),
        (
            {"reasoning_effort": "high", "reasoning": {"summary": "auto"}},
            {"reasoning": {"effort": "high", "summary": "auto"}},
        ),
        ({"max_tokens": 50}, {"max_output_tokens": 50}),
        ({"max_output_tokens": -1}, {}),
        (
            {"logprobs": True, "top_logprobs": 20},
            {"top_logprobs": 20, "include": ["message.output_text.logprobs"]},
        ),
        ({"logprobs": False}, {}),
        ({}, {}),
    ],
)
def test_effort_and_limit_are_sent_in_its_words(parameters: dict[str, Any], sent: dict[str, Any]) -> None:
    body = body_of(ASKED | {"parameters": parameters})

    assert {name: body[name] for name in body if name not in ("model", "input", "store")} == sent
    assert body_of(ASKED | {"parameters": parameters}) == body, "the parameters of the request stay as they are"


def test_the_schema_is_sent_if_the_request_says_so_and_verbosity_stays() -> None:
    request = ASKED | {"parameters": {"text": {"verbosity": "low"}}}

    free, structured = body_of(request), body_of(request | {"structured": True})

    assert free["text"] == {"verbosity": "low"}
    assert structured["text"]["verbosity"] == "low"
    form = structured["text"]["format"]
    assert (form["type"], form["name"], form["strict"]) == ("json_schema", "answer", True)
    assert list(form["schema"]["properties"]) == ["rationale", "answer"]


def test_the_probabilities_of_its_tokens_are_read() -> None:
    document = json.loads(responses_body(told.YES.body, 200))
    part = document["output"][-1]["content"][0]
    part["logprobs"] = [{"token": "It", "logprob": -0.5, "bytes": [73, 116], "top_logprobs": []}]

    assert completion_of(json.dumps(document)).tokens == (Token(b"It", -0.5),)
    part["logprobs"] = None
    assert completion_of(json.dumps(document)).tokens == ()


def test_what_was_reasoned_is_counted_and_is_no_part_of_the_reply() -> None:
    document = json.loads(responses_body(told.YES.body, 200))
    document["output"][0]["summary"] = [{"type": "summary_text", "text": 'No: {"answer": "no"}'}]
    document["usage"] |= {"output_tokens": 400, "output_tokens_details": {"reasoning_tokens": 380}}
    document["usage"]["input_tokens_details"] = {"cached_tokens": 4, "cache_write_tokens": 5}

    completion = completion_of(json.dumps(document))

    assert completion.text == 'It is so, since it ends well.\n{"answer": "yes"}'
    assert (completion.n_tokens_out, completion.n_tokens_reasoning) == (400, 380)
    assert (completion.n_tokens_in, completion.n_tokens_cached, completion.n_tokens_cache_written) == (11, 4, 5)
    assert completion.system_fingerprint == ""


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": "server_error", "message": "…"}, FailureKind.OVERLOAD),
        ({"code": "rate_limit_exceeded", "message": "…"}, FailureKind.OVERLOAD),
        ({"code": "invalid_prompt", "message": "potentially violating our usage policy"}, FailureKind.BLOCKED),
        ({"code": "bio_policy", "message": "…"}, FailureKind.BLOCKED),
        ({"code": "misalignment_policy_violation", "message": "…"}, FailureKind.BLOCKED),
        ({"code": "vector_store_timeout", "message": "…"}, FailureKind.BROKEN_OFF),
        (None, FailureKind.BROKEN_OFF),
    ],
)
def test_an_error_with_success_is_what_a_status_would_have_made_of_it(error: Any, kind: FailureKind) -> None:
    body = json.dumps({"status": "failed", "error": error, "output": [], "usage": None})

    with pytest.raises(CallFailed) as failure:
        completion_of(body)

    assert failure.value.kind == kind


def test_an_error_after_part_of_a_reply_is_no_overload_and_its_tokens_are_counted(
    client: Caller, standin: StandIn
) -> None:
    standin.script = [told.BROKEN_BY_PROVIDER]

    failure = client.failure()

    assert (failure.kind, failure.n_tokens_in, failure.n_tokens_out) == (FailureKind.BROKEN_OFF, 11, 3)


def test_a_response_that_has_not_ended_is_no_completion() -> None:
    with pytest.raises(CallFailed) as failure:
        completion_of('{"status": "in_progress", "output": []}')

    assert failure.value.kind == FailureKind.MALFORMED
