"""What holds of every provider that reaches a model, in its own protocol as the stand-in speaks it."""

from collections.abc import Iterator

import pytest

from judges import providers
from judges.providers import FailureKind
from tests.judges import standin as told
from tests.judges.conftest import KEY
from tests.judges.providers.calls import ASKED, Caller, connected
from tests.judges.standin import Reply, StandIn
from tests.judges.standin.replies import error

ADAPTERS = [slug for slug, provider in providers.all_providers().items() if not provider.is_stub]


@pytest.fixture(params=ADAPTERS)
def adapter(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def client(standin: StandIn, adapter: str) -> Iterator[Caller]:
    with connected(standin, adapter) as caller:
        yield caller


def test_words_tokens_and_the_model_come_back(client: Caller, standin: StandIn, adapter: str) -> None:
    completion = client.complete()

    (hit,) = standin.hits
    assert KEY in hit.authorization
    assert KEY not in hit.path
    assert completion.text == 'It is so, since it ends well.\n{"answer": "yes"}'
    assert (completion.finish_reason, completion.model) == ("stop", "standin")
    assert (completion.n_tokens_in, completion.n_tokens_out) == (11, 3)
    assert providers.find_provider(adapter).read(completion.raw).text == completion.text


@pytest.mark.parametrize(
    ("reply", "endings"),
    [
        (told.REFUSED, ("refusal", "stop")),  # Gemini marks no refusal as one
        (told.BLOCKED, ("content_filter", "refusal")),
        (told.TRUNCATED, ("length",)),
        (told.EMPTY, ("stop",)),
        (error(400, "Output blocked by content filtering policy"), ("content_filter",)),
    ],
    ids=["refused", "blocked", "truncated", "empty", "filtered"],
)
def test_a_reply_that_is_no_answer_says_why(
    client: Caller, standin: StandIn, reply: Reply, endings: tuple[str, ...]
) -> None:
    standin.script = [reply]

    assert client.complete().finish_reason in endings


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
        (told.TOO_LONG, FailureKind.TOO_LARGE),
        (told.GARBAGE, FailureKind.MALFORMED),
        (told.BROKEN_OFF, FailureKind.CONNECTION),
        (told.HUGE, FailureKind.TOO_LARGE),
        (Reply("[1, 2]"), FailureKind.MALFORMED),
        (Reply("{}"), FailureKind.MALFORMED),
        (Reply("[" * 100_000), FailureKind.MALFORMED),
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
def test_a_server_that_keeps_one_waiting_is_left(standin: StandIn, adapter: str, reply: Reply) -> None:
    standin.script = [reply]

    with connected(standin, adapter, timeout_seconds=0.2) as client:
        assert client.failure().kind == FailureKind.TIMEOUT


def test_a_key_that_the_server_repeats_is_taken_out(client: Caller, standin: StandIn) -> None:
    standin.script = [told.says(f"Your key is {KEY}."), Reply(f'{{"error": {{"message": "{KEY}"}}}}', status=401)]

    completion, failed = client.complete(), client.failure()

    assert "[key]" in completion.text
    assert "[key]" in str(failed)
    assert all(KEY not in text for text in (completion.text, completion.raw, str(failed), failed.body))


def test_what_the_environment_holds_for_others_is_not_sent_here(
    standin: StandIn, adapter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "sk-of-another")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

    with connected(standin, adapter, key_variable="") as client:
        client.complete()

    (hit,) = standin.hits
    assert hit.authorization == ""
    assert "sk-of-another" not in str(hit.headers)


def test_a_limit_goes_by_any_of_its_names_and_the_judges_own_before_the_one_that_was_reserved(
    client: Caller, standin: StandIn, adapter: str
) -> None:
    names = providers.find_provider(adapter).reply_limits

    client.complete(ASKED | {"max_tokens": 321})
    for name in names:
        client.complete(ASKED | {"max_tokens": 321, "parameters": {name: 77}})

    limits = [
        [value for name, value in (hit.body.get("generationConfig") or hit.body).items() if name in names]
        for hit in standin.hits
    ]
    # Anthropic wants a limit by its own name whatever else is said.
    assert limits[0] == [321]
    assert all(77 in sent for sent in limits[1:])
