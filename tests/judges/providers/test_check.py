"""One tiny request says whether an endpoint can be used, and if not why."""

from typing import Any

import pytest

from judges import providers
from judges.providers import FailureKind
from tests.judges import standin as told
from tests.judges.conftest import KEY
from tests.judges.standin import Reply, StandIn


def check(standin: StandIn, adapter: str = "openai", **changes: Any) -> providers.ConnectionCheck:
    address = {"base_url": standin.base_url, "key_variable": "STANDIN_API_KEY", "timeout_seconds": 5}
    allowed = {"allowed": [standin.base_url.split("/")[2]]}
    return providers.check(adapter, "standin", **(address | allowed | changes))


@pytest.mark.parametrize("adapter", ["anthropic", "openai"])
def test_a_model_that_answers_is_said_to_after_one_request(standin: StandIn, adapter: str) -> None:
    result = check(standin, adapter)

    assert (result.is_ok, result.sentence, result.way_out) == (True, "The model answers.", "")
    (hit,) = standin.hits
    assert hit.body["model"] == "standin"
    assert len(str(hit.body)) < 200


def test_a_stub_answers_too() -> None:
    assert providers.check("stub", "stub", base_url="", key_variable="", timeout_seconds=5).is_ok


def test_another_model_is_named(standin: StandIn) -> None:
    standin.script = [told.OTHER_MODEL]

    result = check(standin)

    assert result.is_ok
    assert result.sentence == "Another model answered than was asked: standin-mini."


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (told.NO_KEY, FailureKind.KEY),
        (told.NO_CREDIT, FailureKind.CREDIT),
        (told.NO_MODEL, FailureKind.UNKNOWN_MODEL),
        (told.WRONG, FailureKind.BAD_REQUEST),
        (told.BUSY, FailureKind.OVERLOAD),
        (told.GARBAGE, FailureKind.MALFORMED),
        (Reply("", status=301, headers={"Location": "https://example.org/"}), FailureKind.REDIRECT),
    ],
)
def test_a_failure_is_told_with_its_sentence_its_way_out_and_what_was_said(
    standin: StandIn, reply: Reply, kind: FailureKind
) -> None:
    standin.script = [reply]

    result = check(standin)

    assert (result.kind, result.sentence, result.way_out) == (kind, kind.sentence, kind.way_out)
    assert result.detail
    assert KEY not in repr(result)
    assert len(standin.hits) == 1


def test_a_key_that_is_not_set_and_a_private_address_are_told_without_a_request(
    standin: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STANDIN_API_KEY")

    results = [check(standin), check(standin, key_variable="", allowed=()), check(standin, "telegraph")]

    assert [result.kind for result in results] == [FailureKind.KEY, FailureKind.ADDRESS, FailureKind.CLIENT]
    assert "STANDIN_API_KEY is not set" in results[0].detail
    assert standin.hits == []
