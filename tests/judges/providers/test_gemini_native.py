"""Gemini's own protocol, as its documents have it and the stand-in speaks it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from judges.providers import BatchRefused, BatchState, CallFailed, FailureKind
from judges.providers.gemini import GeminiBatches, body_of, completion_of
from tests.judges import standin as told
from tests.judges.conftest import KEY
from tests.judges.providers.calls import ASKED, Caller, connected
from tests.judges.providers.test_batches import REQUESTS, with_batches
from tests.judges.standin import Reply, StandIn
from tests.judges.standin.protocols import gemini_body

SYSTEM = {"role": "system", "content": "You are an editor."}


@pytest.fixture
def client(standin: StandIn) -> Iterator[Caller]:
    with connected(standin, "gemini") as caller:
        yield caller


def test_a_request_is_sent_with_its_parameters_and_its_key_in_a_header(client: Caller, standin: StandIn) -> None:
    parameters = {"temperature": 0, "top_p": 0.9, "top_k": 5, "seed": 7, "stop": "END", "responseLogprobs": True}
    outer = {"safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]}
    messages = [SYSTEM, {"role": "user", "content": "A"}, {"role": "assistant", "content": "B"}, *ASKED["messages"]]

    client.complete(ASKED | {"messages": messages, "parameters": parameters | outer, "max_tokens": 300})

    (hit,) = standin.hits
    assert (hit.path, hit.headers["x-goog-api-key"]) == ("/v1/models/m:generateContent", KEY)
    assert hit.body == {
        "systemInstruction": {"parts": [{"text": "You are an editor."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "A"}]},
            {"role": "model", "parts": [{"text": "B"}]},
            {"role": "user", "parts": [{"text": "Is it good?"}]},
        ],
        "generationConfig": {
            "temperature": 0,
            "topP": 0.9,
            "topK": 5,
            "seed": 7,
            "stopSequences": ["END"],
            "responseLogprobs": True,
            "maxOutputTokens": 300,
        },
        **outer,
    }


@pytest.mark.parametrize(
    ("model", "effort", "sent"),
    [
        ("gemini-2.5-flash", "none", {"thinkingBudget": 0}),
        ("gemini-2.5-flash", "minimal", {"thinkingBudget": 1024}),
        ("gemini-2.5-pro", "medium", {"thinkingBudget": 8192}),
        ("models/gemini-2.5-pro", "high", {"thinkingBudget": 24576}),
        ("gemini-3-flash-preview", "none", {"thinkingLevel": "minimal"}),
        ("gemini-3-flash-preview", "low", {"thinkingLevel": "low"}),
        ("gemini-flash-latest", "high", {"thinkingLevel": "high"}),
    ],
)
def test_a_reasoning_effort_is_a_budget_or_a_level_by_the_models_generation(
    model: str, effort: str, sent: dict[str, Any]
) -> None:
    request = ASKED | {"model": model, "parameters": {"reasoning_effort": effort}}
    with_own = ASKED | {"parameters": {"reasoning_effort": effort, "thinkingConfig": {"includeThoughts": True}}}

    assert body_of(request)["generationConfig"] == {"thinkingConfig": sent}
    assert body_of(with_own)["generationConfig"] == {"thinkingConfig": {"includeThoughts": True}}


def test_the_schema_is_sent_as_gemini_takes_it_with_the_order_of_its_properties() -> None:
    scale = {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 7}, "uniqueItems": True}

    config = body_of(ASKED | {"structured": True, "schema": scale})["generationConfig"]

    assert config["responseMimeType"] == "application/json"
    assert config["responseSchema"] == {
        "type": "OBJECT",
        "properties": {
            "rationale": {"type": "STRING"},
            "answer": {"type": "ARRAY", "items": {"type": "INTEGER", "minimum": 1, "maximum": 7}},
        },
        "required": ["rationale", "answer"],
        "propertyOrdering": ["rationale", "answer"],
    }


def test_thoughts_are_no_part_of_the_reply_and_are_paid_beside_it() -> None:
    document = json.loads(gemini_body(told.YES.body, 200))
    assert any(part.get("thought") for part in document["candidates"][0]["content"]["parts"])
    document["usageMetadata"] = {"promptTokenCount": 11, "candidatesTokenCount": 3, "thoughtsTokenCount": 900}

    completion = completion_of(json.dumps(document))

    assert completion.text == 'It is so, since it ends well.\n{"answer": "yes"}'
    assert (completion.n_tokens_out, completion.n_tokens_reasoning) == (903, 900)


def test_a_reply_that_ended_within_its_thoughts_is_empty_and_paid() -> None:
    usage = {"promptTokenCount": 11, "thoughtsTokenCount": 50}
    body = json.dumps({"candidates": [{"finishReason": "MAX_TOKENS", "content": {}}], "usageMetadata": usage})

    completion = completion_of(body)

    assert (completion.text, completion.finish_reason, completion.n_tokens_out) == ("", "length", 50)


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        *((name, "content_filter") for name in ("SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII")),
        ("MALFORMED_RESPONSE", "MALFORMED_RESPONSE"),
    ],
)
def test_why_a_reply_ended_has_one_name(sent: str, read: str) -> None:
    assert completion_of(json.dumps({"candidates": [{"finishReason": sent}]})).finish_reason == read


@pytest.mark.parametrize("reason", ["PROHIBITED_CONTENT", "SAFETY", "OTHER"])
def test_a_prompt_that_was_blocked_is_an_empty_reply_whose_tokens_are_counted(
    client: Caller, standin: StandIn, reason: str
) -> None:
    feedback = {"promptFeedback": {"blockReason": reason}, "usageMetadata": {"promptTokenCount": 9}}
    standin.script = [Reply(json.dumps(feedback))]

    completion = client.complete()

    assert (completion.text, completion.finish_reason) == ("", "content_filter")
    assert (completion.n_tokens_in, completion.n_tokens_out) == (9, 0)
    assert completion.refusal
    with pytest.raises(CallFailed):
        completion_of(completion.raw)


def test_a_wait_that_the_body_asks_for_is_kept_to(client: Caller, standin: StandIn) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "31s"}]
    error = {"code": 429, "message": "Quota", "status": "RESOURCE_EXHAUSTED", "details": details}
    standin.script = [Reply(json.dumps({"error": error}), status=429)]

    failure = client.failure()

    assert (failure.kind, failure.retry_after) == (FailureKind.OVERLOAD, 31.0)


def test_a_batch_that_was_not_taken_on_says_why(standin: StandIn) -> None:
    standin.batches.refusals = [{"message": "The model does not take batches"}]

    async def work(client: Any) -> Any:
        return await client.poll(await client.create("one", REQUESTS))

    with pytest.raises(BatchRefused, match="The model does not take batches"):
        with_batches(standin, "gemini", work)


def test_a_batch_that_expired_answers_those_that_it_had_come_to(standin: StandIn) -> None:
    standin.batches.end, standin.batches.n_answered, standin.batches.n_polls = "expired", 1, 0

    async def work(client: GeminiBatches) -> Any:
        batch = await client.create("one", REQUESTS)
        return await client.poll(batch), await client.results(batch)

    state, results = with_batches(standin, "gemini", work)

    assert state == BatchState.ENDED
    assert [result.key for result in results] == ["call-0"]


def test_replies_that_stand_in_the_batchs_output_or_name_no_call_are_looked_for(standin: StandIn) -> None:
    entries = [{"response": {}, "metadata": {"key": "call-1"}}, {"response": {}}, "none", {"metadata": {"key": 7}}]
    output = {"output": {"inlinedResponses": {"inlinedResponses": entries}}}

    async def work(client: GeminiBatches) -> Any:
        batch = await client.create("one", REQUESTS)
        operation = standin.batches.gemini[batch] | {"metadata": output, "done": True}
        standin.batches._poll_gemini = lambda name: Reply(json.dumps(operation))  # type: ignore[method-assign]
        return await client.results(batch)

    assert [result.key for result in with_batches(standin, "gemini", work)] == ["call-1"]
