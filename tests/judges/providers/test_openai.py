import json
import logging
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import pytest

from judges import providers
from judges.endpoints.presets import Preset, all_presets
from judges.providers import CannotConnect, Completion, FailureKind, Limits
from judges.providers.openai import body_of, completion_of
from tests.judges import standin as told
from tests.judges.conftest import KEY
from tests.judges.providers.calls import ASKED, Caller, connected, running
from tests.judges.standin import Reply, StandIn


@pytest.fixture
def client(standin: StandIn) -> Iterator[Caller]:
    with connected(standin) as caller:
        yield caller


def test_a_request_is_sent_with_its_parameters_and_its_key_and_the_reply_comes_back(
    client: Caller, standin: StandIn
) -> None:
    found = client.complete()

    (hit,) = standin.hits
    assert hit.path == "/v1/chat/completions"
    assert hit.authorization == f"Bearer {KEY}"
    assert hit.body == {"model": "m", "messages": ASKED["messages"], "temperature": 0, "top_k": 5}
    assert found == Completion(
        'It is so, since it ends well.\n{"answer": "yes"}',
        "stop",
        told.YES.body,
        model="standin",
        request_id="req-1",
        n_tokens_in=11,
        n_tokens_out=3,
    )


@pytest.mark.parametrize(
    ("reply", "finish_reason"),
    [
        (told.REFUSED, "refusal"),
        (told.BLOCKED, "content_filter"),
        (told.TRUNCATED, "length"),
        (told.FILTERED, "content_filter"),
    ],
)
def test_a_reply_that_is_no_answer_says_why(client: Caller, standin: StandIn, reply: Reply, finish_reason: str) -> None:
    standin.script = [reply]

    assert client.complete().finish_reason == finish_reason


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (told.ERROR, FailureKind.OVERLOAD),
        (told.BUSY, FailureKind.OVERLOAD),
        (told.OVERLOADED, FailureKind.OVERLOAD),
        (Reply("{}", status=408), FailureKind.OVERLOAD),
        (Reply("<html>Bad gateway</html>", status=502), FailureKind.OVERLOAD),
        (told.GARBAGE, FailureKind.MALFORMED),
        (Reply(told.YES.body[:80]), FailureKind.MALFORMED),
        (Reply('{"choices": []}'), FailureKind.BROKEN_OFF),
        (Reply('{"choices": [{"message": null}]}'), FailureKind.MALFORMED),
        (told.BROKEN_BY_PROVIDER, FailureKind.BROKEN_OFF),
        (told.ROUTED_OVERLOAD, FailureKind.OVERLOAD),
        (told.ROUTED_NO_CREDIT, FailureKind.CREDIT),
        (Reply("[]"), FailureKind.MALFORMED),
        (Reply(""), FailureKind.MALFORMED),
        (told.BROKEN_OFF, FailureKind.CONNECTION),
        (told.NO_KEY, FailureKind.KEY),
        (Reply("{}", status=403), FailureKind.FORBIDDEN),
        (told.NO_CREDIT, FailureKind.CREDIT),
        (told.SPENT, FailureKind.CREDIT),
        (told.NO_MODEL, FailureKind.UNKNOWN_MODEL),
        (Reply('{"detail": "Not Found"}', status=404), FailureKind.BAD_REQUEST),
        (told.WRONG, FailureKind.BAD_REQUEST),
        (Reply("{}", status=422), FailureKind.BAD_REQUEST),
        (told.TOO_LONG, FailureKind.TOO_LARGE),
        (Reply("{}", status=413), FailureKind.TOO_LARGE),
        (told.HUGE, FailureKind.TOO_LARGE),
    ],
)
def test_a_failure_has_its_kind_and_is_not_tried_again_here(
    client: Caller, standin: StandIn, reply: Reply, kind: FailureKind
) -> None:
    standin.script = [reply]

    failed = client.failure()

    assert failed.kind == kind
    assert failed.status in (reply.status, None) or reply in (told.ROUTED_OVERLOAD, told.ROUTED_NO_CREDIT)
    assert len(standin.hits) == 1


def test_a_failure_keeps_what_came_with_it(client: Caller, standin: StandIn) -> None:
    standin.script = [told.NO_CREDIT, told.GARBAGE]

    failures = [client.failure(), client.failure()]

    assert [failed.body for failed in failures] == [told.NO_CREDIT.body, told.GARBAGE.body]
    assert {failed.request_id for failed in failures} == {"req-1"}


@pytest.mark.parametrize("reply", [told.HANG, told.DRIP, told.NEWLINES], ids=["hang", "drip", "newlines"])
def test_a_server_that_keeps_one_waiting_is_left_when_the_time_for_the_whole_is_over(
    standin: StandIn, reply: Reply
) -> None:
    standin.script = [reply]

    with connected(standin, timeout_seconds=0.3) as client:
        assert client.failure().kind == FailureKind.TIMEOUT
        assert client.complete().text == json.loads(told.YES.body)["choices"][0]["message"]["content"]


def test_many_calls_wait_at_once(standin: StandIn) -> None:
    standin.reply = lambda hit: replace(told.YES, delay=0.5)
    standin.is_quick = True

    with connected(standin, timeout_seconds=60) as client:
        completions = client.complete_at_once([ASKED | {"parameters": {"seed": n}} for n in range(150)])

    assert {type(completion) for completion in completions} == {Completion}
    assert standin.most_at_once == 150


def test_the_model_that_answered_and_all_tokens_are_kept(client: Caller, standin: StandIn) -> None:
    document = json.loads(told.OTHER_MODEL.body)
    document["usage"] |= {
        "prompt_tokens_details": {"cached_tokens": 7},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    standin.script = [Reply(json.dumps(document))]

    completion = client.complete()

    assert completion.model == "standin-mini"
    assert (completion.n_tokens_in, completion.n_tokens_cached) == (11, 7)
    assert (completion.n_tokens_out, completion.n_tokens_reasoning) == (3, 2)


def test_counts_whose_sum_fits_no_column_are_unknown() -> None:
    document = json.loads(told.YES.body)
    details = {"completion_tokens_details": {"reasoning_tokens": 2**31 - 1}}
    document["usage"] |= {"completion_tokens": 2**31 - 2} | details

    assert completion_of(json.dumps(document)).n_tokens_out is None


def test_limits_are_read_from_replies_and_from_failures(client: Caller, standin: StandIn) -> None:
    headers = {"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "59"}
    standin.script = [replace(told.YES, headers=headers), replace(told.BUSY, headers=headers | {"Retry-After": "7"})]

    completion, failed = client.complete(), client.failure()

    assert completion.limits == failed.limits == Limits(n_requests=60, n_requests_left=59)
    assert failed.retry_after == 7


def test_a_redirect_is_not_followed(client: Caller, standin: StandIn) -> None:
    standin.script = [Reply("", status=307, headers={"Location": f"{standin.base_url}/elsewhere"})]

    failed = client.failure()

    assert failed.kind == FailureKind.REDIRECT
    assert "redirect" in str(failed)
    assert [hit.path for hit in standin.hits] == ["/v1/chat/completions"]


def test_an_answer_that_takes_too_long_is_not_waited_for(standin: StandIn) -> None:
    standin.script = [Reply(told.YES.body, delay=1)]

    with connected(standin, timeout_seconds=0.1) as client:
        assert "in time" in str(client.failure())


def test_a_server_that_is_not_there_may_come_back() -> None:
    gone = providers.connect(
        "openai", base_url="http://127.0.0.1:9/v1", key_variable="", timeout_seconds=1, allowed=["127.0.0.1:9"]
    )

    with running(gone) as caller:
        assert caller.failure().kind == FailureKind.CONNECTION


def test_a_key_that_the_server_repeats_is_taken_out(
    client: Caller, standin: StandIn, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    standin.script = [
        told.says(f"Your key is {KEY}."),
        Reply(json.dumps({"error": {"message": f"wrong key {KEY}"}}), status=401),
    ]

    found, failed = client.complete(), client.failure()

    assert [hit.authorization for hit in standin.hits] == [f"Bearer {KEY}"] * 2
    assert "[key]" in found.text
    assert "[key]" in str(failed)
    for said in (found.text, found.raw, str(failed), repr(failed), caplog.text):
        assert KEY not in said


def test_what_the_environment_holds_for_others_is_not_sent_here(
    standin: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-of-another")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

    with connected(standin, key_variable="") as client:
        client.complete()

    assert standin.hits[0].authorization == ""


def test_a_key_that_is_missing_is_named_and_nothing_is_sent(standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STANDIN_API_KEY")

    with pytest.raises(CannotConnect, match="STANDIN_API_KEY is not set"), connected(standin):
        pass
    assert standin.hits == []


def test_a_private_address_that_nobody_allowed_is_not_called(standin: StandIn) -> None:
    with pytest.raises(CannotConnect, match="private address"):
        providers.connect("openai", base_url=standin.base_url, key_variable="", timeout_seconds=5)
    assert standin.hits == []


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_reply_that_is_too_long_is_not_read_to_its_end(standin: StandIn, status: int) -> None:
    standin.script = [replace(told.HUGE, status=status)]
    with connected(standin, max_body_bytes=1_000_000) as client:
        tracemalloc.start()

        error = client.failure()

        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert error.kind == FailureKind.TOO_LARGE
    assert "larger than 1 MB" in str(error)
    assert not error.is_transient
    assert most < 20_000_000


def test_a_compressed_reply_is_refused_since_nobody_asked_for_it(client: Caller, standin: StandIn) -> None:
    standin.script = [Reply(told.YES.body, headers={"Content-Encoding": "gzip"})]

    assert "compressed" in str(client.failure())


def test_the_schema_is_sent_if_the_request_says_so(client: Caller, standin: StandIn) -> None:
    client.complete(ASKED | {"structured": True})

    form = standin.hits[0].body["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["strict"] is True
    assert list(form["json_schema"]["schema"]["properties"].items()) == [
        ("rationale", {"type": "string"}),
        ("answer", ASKED["schema"]),
    ]


def test_the_schema_of_a_whole_reply_is_sent_as_it_is(client: Caller, standin: StandIn) -> None:
    schema = {"type": "object", "properties": {"q1": {"type": "integer"}}, "required": ["q1"]}

    client.complete(ASKED | {"schema": schema, "structured": True})

    assert standin.hits[0].body["response_format"]["json_schema"]["schema"] == schema


def test_the_parts_of_a_message_are_sent_as_one(client: Caller, standin: StandIn) -> None:
    client.complete(ASKED | {"messages": [{"role": "user", "content": ["The story.\n", "The question."]}]})

    assert standin.hits[0].body["messages"] == [{"role": "user", "content": "The story.\nThe question."}]


@pytest.mark.parametrize("preset", [p for p in all_presets().values() if p.adapter == "openai"], ids=lambda p: p.slug)
def test_a_limit_on_the_reply_goes_by_the_name_that_each_server_documents(preset: Preset) -> None:
    parameters = {"temperature": 0, "max_tokens": 300, "seed": 7}

    body = body_of(ASKED | {"parameters": parameters}, base_url=preset.base_url)

    limit = "max_completion_tokens" if preset.slug == "openai" else "max_tokens"
    assert set(body) == {"model", "messages", "temperature", "seed", limit}
    assert body[limit] == 300


@pytest.mark.parametrize(
    ("base_url", "limit"),
    [
        ("https://we.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("https://we.cognitiveservices.azure.com/openai/v1", "max_completion_tokens"),
        ("https://we.services.ai.azure.com/openai/v1", "max_completion_tokens"),
        ("https://we.services.ai.azure.com/models", "max_tokens"),
    ],
)
def test_on_azure_the_limit_goes_by_the_name_of_the_protocol_that_is_spoken(base_url: str, limit: str) -> None:
    body = body_of(ASKED | {"model": "ours", "parameters": {"max_tokens": 300}}, base_url=base_url)

    assert body[limit] == 300
    assert len({"max_tokens", "max_completion_tokens"} & set(body)) == 1
