"""Batches go in as one and come back call by call, whichever provider takes them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from judges import providers
from judges.providers import BatchClient, BatchState, CallFailed, CannotConnect, Completion, FailureKind
from judges.providers.anthropic import result_of as anthropic_result_of
from judges.providers.base.openai_library import result_of as openai_result_of
from judges.providers.gemini import result_of as gemini_result_of
from judges.providers.openai import completion_of
from tests.judges import standin as told
from tests.judges.conftest import KEY
from tests.judges.providers.calls import ASKED
from tests.judges.standin import StandIn

ADAPTERS = [slug for slug, provider in providers.all_providers().items() if provider.takes_batches]
every_one = pytest.mark.parametrize("adapter", ADAPTERS)
REQUESTS = {f"call-{n}": ASKED | {"parameters": {"seed": n}} for n in range(3)}


def with_batches(standin: StandIn, adapter: str, work: Callable[[BatchClient], Awaitable[Any]]) -> Any:
    async def connect_and_work() -> Any:
        client = providers.connect_batches(
            adapter,
            base_url=standin.base_url,
            key_variable="STANDIN_API_KEY",
            timeout_seconds=5,
            allowed=[standin.base_url.split("/")[2]],
        )
        try:
            return await work(client)
        finally:
            await client.close()

    return asyncio.run(connect_and_work())


@every_one
def test_a_batch_is_handed_in_polled_and_read(standin: StandIn, adapter: str) -> None:
    standin.script = [told.YES, told.NO_MODEL, told.NO]

    async def work(client: BatchClient) -> Any:
        batch = await client.create("run-1-batch-1", REQUESTS)
        states = [await client.poll(batch), await client.poll(batch)]
        return states, await client.results(batch)

    states, results = with_batches(standin, adapter, work)

    assert states == [BatchState.WORKING, BatchState.ENDED]
    assert [result.key for result in results] == ["call-0", "call-1", "call-2"]
    first, failed, last = (result.outcome for result in results)
    assert isinstance(first, Completion)
    assert first.text == 'It is so, since it ends well.\n{"answer": "yes"}'
    assert isinstance(failed, CallFailed)
    assert failed.kind == FailureKind.UNKNOWN_MODEL
    assert isinstance(last, Completion)
    assert (last.text, last.n_tokens_in) == ('It breaks off.\n{"answer": "no"}', 11)
    assert [(hit.body.get("generationConfig") or hit.body)["seed"] for hit in standin.hits] == [0, 1, 2]
    assert KEY in standin.hits[0].authorization


@pytest.mark.parametrize("adapter", ["gemini", "openai", "openai-responses"])
def test_a_batch_whose_number_was_lost_is_found_by_its_name(standin: StandIn, adapter: str) -> None:
    async def work(client: BatchClient) -> list[str | None]:
        batch = await client.create("run-1-batch-1", REQUESTS)
        return [batch, await client.find("run-1-batch-1"), await client.find("run-1-batch-2")]

    batch, by_name, other = with_batches(standin, adapter, work)

    assert batch == by_name
    assert other is None


@every_one
def test_a_batch_that_is_not_there_is_a_failure(standin: StandIn, adapter: str) -> None:
    with pytest.raises(CallFailed) as failure:
        with_batches(standin, adapter, lambda client: client.poll("batch-999"))

    assert failure.value.status == 404


def test_a_stub_takes_no_batches() -> None:
    with pytest.raises(CannotConnect, match="takes no batches"):
        providers.connect_batches("stub", base_url="", key_variable="", timeout_seconds=5)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ({"response": None, "error": {"code": "batch_expired"}}, FailureKind.TIMEOUT),
        ({"response": {"status_code": 429, "body": {"error": {"code": "rate_limit_exceeded"}}}}, FailureKind.OVERLOAD),
        ({"response": {"status_code": 200, "body": {"choices": []}}}, FailureKind.BROKEN_OFF),
    ],
)
def test_a_call_of_openais_batch_that_got_no_answer_says_why(line: dict[str, Any], kind: FailureKind) -> None:
    outcome = openai_result_of(line | {"custom_id": "call-0"}, completion_of).outcome

    assert isinstance(outcome, CallFailed)
    assert outcome.kind == kind


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ({"type": "expired"}, FailureKind.TIMEOUT),
        ({"type": "canceled"}, FailureKind.TIMEOUT),
        ({"type": "errored", "error": {"error": {"type": "overloaded_error", "message": "…"}}}, FailureKind.OVERLOAD),
        ({"type": "errored", "error": {"error": {"type": "billing_error", "message": "…"}}}, FailureKind.CREDIT),
        ({"type": "succeeded", "message": {"content": None}}, FailureKind.MALFORMED),
    ],
)
def test_a_call_of_anthropics_batch_that_got_no_answer_says_why(result: dict[str, Any], kind: FailureKind) -> None:
    outcome = anthropic_result_of({"custom_id": "call-0", "result": result}).outcome

    assert isinstance(outcome, CallFailed)
    assert outcome.kind == kind


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ({"error": {"code": 8, "message": "Resource has been exhausted"}}, FailureKind.OVERLOAD),
        ({"error": {"code": 13, "message": "Internal"}}, FailureKind.OVERLOAD),
        ({"error": {"code": 3, "message": "Invalid value at 'temperature'"}}, FailureKind.BAD_REQUEST),
        ({"error": {"code": [3]}}, FailureKind.OVERLOAD),
        ({"response": {"candidates": "none"}}, FailureKind.MALFORMED),
        ({}, FailureKind.MALFORMED),
    ],
)
def test_a_call_of_geminis_batch_that_got_no_answer_says_why(entry: dict[str, Any], kind: FailureKind) -> None:
    outcome = gemini_result_of("call-0", entry).outcome

    assert isinstance(outcome, CallFailed)
    assert outcome.kind == kind


def test_a_reply_of_a_batch_that_a_filter_stopped_is_blocked_as_one_that_was_sent_alone_would_be() -> None:
    filtered = {"status_code": 400, "body": {"error": {"code": "content_filter", "message": "…"}}}
    error = {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"}
    errored = {"type": "errored", "error": {"type": "error", "error": error}}

    outcomes = [
        openai_result_of({"custom_id": "call-0", "response": filtered}, completion_of).outcome,
        anthropic_result_of({"custom_id": "call-0", "result": errored}).outcome,
        gemini_result_of("call-0", {"response": {"promptFeedback": {"blockReason": "OTHER"}}}).outcome,
    ]

    assert [getattr(outcome, "finish_reason", outcome) for outcome in outcomes] == ["content_filter"] * 3
