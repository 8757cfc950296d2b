import json
import logging
import tracemalloc
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from judges import providers
from judges.providers import CallFailed, CannotConnect, Client, Completion, base
from tests.judges import standin as told
from tests.judges.conftest import KEY
from tests.judges.standin import Reply, StandIn

ASKED: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "Is it good?"}],
    "parameters": {"temperature": 0, "top_k": 5},
    "schema": {"type": "string", "enum": ["yes", "no"]},
}


@pytest.fixture
def client(standin: StandIn) -> Iterator[Client]:
    with connect(standin) as client:
        yield client


@contextmanager
def connect(standin: StandIn, *, key_variable: str = "STANDIN_API_KEY", timeout_seconds: float = 5) -> Iterator[Client]:
    client = providers.connect(
        "openai",
        base_url=standin.base_url,
        key_variable=key_variable,
        timeout_seconds=timeout_seconds,
        allowed=[standin.base_url.split("/")[2]],
    )
    with closing(client):
        yield client


def failure(client: Client) -> CallFailed:
    with pytest.raises(CallFailed) as caught:
        client.complete(ASKED)
    return caught.value


def test_a_request_is_sent_with_its_parameters_and_its_key_and_the_reply_comes_back(
    client: Client, standin: StandIn
) -> None:
    found = client.complete(ASKED)

    (hit,) = standin.hits
    assert hit.path == "/v1/chat/completions"
    assert hit.authorization == f"Bearer {KEY}"
    assert hit.body == {"model": "m", "messages": ASKED["messages"], "temperature": 0, "top_k": 5}
    assert found == Completion(
        'It is so, since it ends well.\n{"answer": "yes"}', "stop", n_tokens_in=11, n_tokens_out=3, raw=told.YES.body
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
def test_a_reply_that_is_no_answer_says_why(client: Client, standin: StandIn, reply: Reply, finish_reason: str) -> None:
    standin.script = [reply]

    assert client.complete(ASKED).finish_reason == finish_reason


@pytest.mark.parametrize(
    ("reply", "is_transient", "is_fatal"),
    [
        (told.ERROR, True, False),
        (told.BUSY, True, False),
        (Reply("{}", status=529), True, False),
        (Reply("{}", status=408), True, False),
        (told.GARBAGE, True, False),
        (Reply('{"choices": []}'), True, False),
        (Reply('{"choices": [{"message": null}]}'), True, False),
        (Reply("[]"), True, False),
        (told.NO_KEY, False, True),
        (Reply("{}", status=403), False, True),
        (Reply("{}", status=404), False, True),
        (told.TOO_LONG, False, False),
    ],
)
def test_a_failure_says_whether_to_try_again_and_is_not_tried_again_here(
    client: Client, standin: StandIn, reply: Reply, is_transient: bool, is_fatal: bool
) -> None:
    standin.script = [reply]

    failed = failure(client)

    assert (failed.is_transient, failed.is_fatal) == (is_transient, is_fatal)
    assert len(standin.hits) == 1


def test_the_wait_that_a_provider_asks_for_is_passed_on(client: Client, standin: StandIn) -> None:
    standin.script = [Reply("{}", status=429, headers={"Retry-After": "7"})]

    assert failure(client).retry_after == 7


@pytest.mark.parametrize("header", ["", "soon", "-1", "Wed, 21 Oct 2026 07:28:00 GMT", "99999999999999"])
def test_a_wait_that_is_no_number_is_left_to_us(client: Client, standin: StandIn, header: str) -> None:
    standin.script = [Reply("{}", status=429, headers={"Retry-After": header})]

    assert failure(client).retry_after is None


def test_a_redirect_is_not_followed(client: Client, standin: StandIn) -> None:
    standin.script = [Reply("", status=307, headers={"Location": f"{standin.base_url}/elsewhere"})]

    failed = failure(client)

    assert failed.is_fatal
    assert "redirect" in str(failed)
    assert [hit.path for hit in standin.hits] == ["/v1/chat/completions"]


def test_an_answer_that_takes_too_long_is_not_waited_for(standin: StandIn) -> None:
    standin.script = [Reply(told.YES.body, delay=1)]

    with connect(standin, timeout_seconds=0.1) as client:
        assert "in time" in str(failure(client))


def test_a_server_that_is_not_there_may_come_back() -> None:
    gone = providers.connect(
        "openai", base_url="http://127.0.0.1:9/v1", key_variable="", timeout_seconds=1, allowed=["127.0.0.1:9"]
    )

    with closing(gone):
        assert failure(gone).is_transient


def test_a_key_that_the_server_repeats_is_taken_out(
    client: Client, standin: StandIn, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    standin.script = [
        told.says(f"Your key is {KEY}."),
        Reply(json.dumps({"error": {"message": f"wrong key {KEY}"}}), status=401),
    ]

    found, failed = client.complete(ASKED), failure(client)

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
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

    with connect(standin, key_variable="") as client:
        client.complete(ASKED)

    assert standin.hits[0].authorization == "Bearer none"


def test_a_key_that_is_missing_is_named_and_nothing_is_sent(standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STANDIN_API_KEY")

    with pytest.raises(CannotConnect, match="STANDIN_API_KEY is not set"), connect(standin):
        pass
    assert standin.hits == []


def test_a_private_address_that_nobody_allowed_is_not_called(standin: StandIn) -> None:
    with pytest.raises(CannotConnect, match="private address"):
        providers.connect("openai", base_url=standin.base_url, key_variable="", timeout_seconds=5)
    assert standin.hits == []


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_reply_that_is_too_long_is_not_read_to_its_end(
    client: Client, standin: StandIn, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr(base, "MOST_BYTES", 100_000)
    standin.script = [Reply("x" * 30_000_000, status=status)]
    tracemalloc.start()

    error = failure(client)

    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "larger than 0.1 MB" in str(error)
    assert not error.is_transient
    assert most < 70_000_000, "the stand-in holds the body twice; a third copy would be the client's"


def test_a_compressed_reply_is_refused_since_nobody_asked_for_it(client: Client, standin: StandIn) -> None:
    standin.script = [Reply(told.YES.body, headers={"Content-Encoding": "gzip"})]

    assert "compressed" in str(failure(client))
