"""Anthropic's messages, as the stand-in speaks them."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from judges import prompts
from judges.providers import Completion, FailureKind
from judges.providers.anthropic import body_of, completion_of
from tests.judges import standin as told
from tests.judges.attacks import YES_NO
from tests.judges.conftest import KEY
from tests.judges.providers.calls import ASKED, Caller, connected
from tests.judges.standin import Reply, StandIn
from tests.judges.standin.protocols import anthropic_body

SYSTEM = {"role": "system", "content": "You are an editor."}


def block(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": text} | more


@pytest.mark.parametrize(
    ("parameters", "sent"),
    [
        ({"reasoning_effort": "none"}, {"thinking": {"type": "disabled"}}),
        ({"reasoning_effort": "minimal"}, {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}),
        (
            {"reasoning_effort": "high", "thinking": {"type": "enabled", "budget_tokens": 2048}},
            {"thinking": {"type": "enabled", "budget_tokens": 2048}, "output_config": {"effort": "high"}},
        ),
        ({}, {}),
    ],
)
def test_a_reasoning_effort_is_asked_for_in_anthropics_words(parameters: dict[str, Any], sent: dict[str, Any]) -> None:
    body = body_of(ASKED | {"parameters": parameters})

    assert {name: body[name] for name in body if name not in ("model", "messages", "max_tokens")} == sent
    assert body_of(ASKED | {"parameters": parameters}) == body, "the parameters of the request stay as they are"


@pytest.fixture
def client(standin: StandIn) -> Iterator[Caller]:
    with connected(standin, "anthropic") as caller:
        yield caller


def test_a_request_is_sent_with_its_parameters_and_its_key_and_the_reply_comes_back(
    client: Caller, standin: StandIn
) -> None:
    completion = client.complete()

    (hit,) = standin.hits
    assert hit.path == "/v1/messages"
    assert hit.authorization == KEY
    assert hit.headers["anthropic-version"] == "2023-06-01"
    assert hit.body == {
        "model": "m",
        "max_tokens": 4096,
        "temperature": 0,
        "top_k": 5,
        "messages": [{"role": "user", "content": [block("Is it good?")]}],
    }
    assert completion == Completion(
        'It is so, since it ends well.\n{"answer": "yes"}',
        "stop",
        anthropic_body(told.YES.body, 200),
        model="standin",
        request_id="",
        n_tokens_in=11,
        n_tokens_out=3,
        n_tokens_cached=2,
        n_tokens_cache_written=1,
    )


def test_the_systems_words_stand_apart() -> None:
    body = body_of(ASKED | {"messages": [SYSTEM, {"role": "user", "content": "Is it good?"}]})

    assert body["system"] == [block("You are an editor.")]
    assert body["messages"] == [{"role": "user", "content": [block("Is it good?")]}]


def test_a_judges_question_goes_as_one_text_without_a_mark_for_the_cache() -> None:
    prompt = prompts.find_built_in("ttcw-reasoning-first")
    context = prompts.PromptContext([prompts.StoryText("A", "The story.")], prompts.new_mark(), canary="c")
    rendered = prompts.render(prompt.system, prompt.template, context, item=YES_NO)
    assert len(rendered[-1]["content"]) > 1, "a story and a question"

    body = body_of(ASKED | {"messages": prompts.join(rendered)})

    assert body["system"] == [block("".join(rendered[0]["content"]))]
    assert body["messages"] == [{"role": "user", "content": [block("".join(rendered[-1]["content"]))]}]
    assert body_of(ASKED | {"messages": rendered}) == body


def test_an_empty_part_is_left_out() -> None:
    body = body_of(ASKED | {"messages": [{"role": "user", "content": ["", "The question."]}]})

    assert body["messages"][0]["content"] == [block("The question.")]


@pytest.mark.parametrize(
    ("changes", "max_tokens"),
    [({}, 4096), ({"max_tokens": 600}, 600), ({"max_tokens": 600, "parameters": {"max_tokens": 50}}, 50)],
)
def test_a_reply_is_limited_by_a_parameter_or_by_what_is_needed(changes: dict[str, Any], max_tokens: int) -> None:
    assert body_of(ASKED | changes)["max_tokens"] == max_tokens


def test_the_schema_is_sent_if_the_request_says_so_and_effort_stays() -> None:
    request = ASKED | {"parameters": {"output_config": {"effort": "low"}}}

    free, structured = body_of(request), body_of(request | {"structured": True})

    assert free["output_config"] == {"effort": "low"}
    assert structured["output_config"]["effort"] == "low"
    form = structured["output_config"]["format"]
    assert form["type"] == "json_schema"
    assert list(form["schema"]["properties"].items()) == [
        ("rationale", {"type": "string"}),
        ("answer", ASKED["schema"]),
    ]


@pytest.mark.parametrize(
    ("reply", "finish_reason"),
    [
        (told.REFUSED, "refusal"),
        (told.BLOCKED, "refusal"),
        (told.TRUNCATED, "length"),
        (told.EMPTY, "stop"),
        (Reply('{"error": {"message": "Output blocked by content filtering policy"}}', status=400), "content_filter"),
    ],
)
def test_a_reply_that_is_no_answer_says_why(client: Caller, standin: StandIn, reply: Reply, finish_reason: str) -> None:
    standin.script = [reply]

    assert client.complete().finish_reason == finish_reason


def test_what_a_model_thought_is_no_part_of_its_answer() -> None:
    document = json.loads(anthropic_body(told.YES.body, 200))
    document["content"].insert(0, {"type": "thinking", "thinking": 'No: {"answer": "no"}', "signature": "s"})
    document["usage"]["output_tokens_details"] = {"thinking_tokens": 2}

    completion = completion_of(json.dumps(document))

    assert completion.text == 'It is so, since it ends well.\n{"answer": "yes"}'
    assert completion.n_tokens_reasoning == 2


def test_counts_whose_sum_fits_no_column_are_unknown() -> None:
    document = json.loads(anthropic_body(told.YES.body, 200))
    document["usage"] |= {"input_tokens": 2**31 - 1, "cache_read_input_tokens": 1}

    assert completion_of(json.dumps(document)).n_tokens_in is None


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (told.ERROR, FailureKind.OVERLOAD),
        (told.OVERLOADED, FailureKind.OVERLOAD),
        (told.BUSY, FailureKind.OVERLOAD),
        (told.NO_KEY, FailureKind.KEY),
        (told.NO_CREDIT, FailureKind.CREDIT),
        (told.NO_MODEL, FailureKind.UNKNOWN_MODEL),
        (told.WRONG, FailureKind.BAD_REQUEST),
        (Reply('{"error": {"message": "prompt is too long: 9 tokens > 8"}}', status=400), FailureKind.TOO_LARGE),
        (told.GARBAGE, FailureKind.MALFORMED),
        (Reply('{"content": [{"type": "text"}], "stop_reason": "end_turn"}'), FailureKind.MALFORMED),
        (told.BROKEN_OFF, FailureKind.CONNECTION),
        (told.HUGE, FailureKind.TOO_LARGE),
        (Reply("", status=307, headers={"Location": "http://127.0.0.1:9/"}), FailureKind.REDIRECT),
    ],
)
def test_a_failure_has_its_kind_and_is_not_tried_again_here(
    client: Caller, standin: StandIn, reply: Reply, kind: FailureKind
) -> None:
    standin.script = [reply]

    assert client.failure().kind == kind
    assert len(standin.hits) == 1


@pytest.mark.parametrize("reply", [told.HANG, told.DRIP, told.NEWLINES], ids=["hang", "drip", "newlines"])
def test_a_server_that_keeps_one_waiting_is_left(standin: StandIn, reply: Reply) -> None:
    standin.script = [reply]

    with connected(standin, "anthropic", timeout_seconds=0.3) as client:
        assert client.failure().kind == FailureKind.TIMEOUT


def test_limits_and_the_requests_number_are_read(client: Caller, standin: StandIn) -> None:
    headers = {
        "request-id": "req-7",
        "date": "Sun, 01 Mar 2026 12:00:00 GMT",
        "anthropic-ratelimit-requests-remaining": "49",
        "anthropic-ratelimit-requests-reset": "2026-03-01T12:00:12Z",
    }
    standin.script = [replace(told.YES, headers=headers)]

    completion = client.complete()

    assert completion.request_id == "req-7"
    assert completion.limits
    assert (completion.limits.n_requests_left, completion.limits.requests_reset_seconds) == (49, 12.0)


def test_what_the_environment_holds_for_others_is_not_sent_here(
    standin: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-another")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "x-api-key: sk-of-another\nAuthorization: Bearer sk-of-another")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

    with connected(standin, "anthropic", key_variable="") as client:
        client.complete()

    (hit,) = standin.hits
    assert hit.authorization == ""
    assert "sk-of-another" not in str(hit.headers)


def test_a_key_that_the_server_repeats_is_taken_out(client: Caller, standin: StandIn) -> None:
    standin.script = [told.says(f"Your key is {KEY}."), Reply(f'{{"error": {{"message": "{KEY}"}}}}', status=401)]

    completion, failed = client.complete(), client.failure()

    assert "[key]" in completion.text
    assert "[key]" in str(failed)
    assert all(KEY not in text for text in (completion.text, completion.raw, str(failed), failed.body))
