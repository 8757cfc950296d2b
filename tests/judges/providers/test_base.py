"""What all providers share: limits, waits, kinds of failures, names of models."""

from datetime import UTC, datetime

import pytest

from judges.providers import FailureKind, Limits, is_same_model
from judges.providers.base import failure_of, read_limits
from judges.providers.base.limits import retry_seconds

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def test_openais_limits_are_read() -> None:
    headers = {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "59",
        "x-ratelimit-reset-requests": "1s",
        "x-ratelimit-limit-tokens": "150000",
        "x-ratelimit-remaining-tokens": "149984",
        "x-ratelimit-reset-tokens": "6m0s",
    }

    assert read_limits(headers) == Limits(60, 59, 1.0, 150_000, 149_984, 360.0)


def test_anthropics_limits_are_read_and_their_dates_are_counted_from_the_replys() -> None:
    headers = {
        "date": "Sun, 01 Mar 2026 12:00:00 GMT",
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "49",
        "anthropic-ratelimit-requests-reset": "2026-03-01T12:00:12Z",
        "anthropic-ratelimit-input-tokens-limit": "30000",
        "anthropic-ratelimit-input-tokens-remaining": "29000",
        "anthropic-ratelimit-input-tokens-reset": "2026-03-01T12:00:02Z",
        "anthropic-ratelimit-output-tokens-limit": "8000",
    }

    assert read_limits(headers) == Limits(50, 49, 12.0, 30_000, 29_000, 2.0)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("6m0s", 360.0),
        ("1s", 1.0),
        ("20ms", 0.02),
        ("1h2m3.5s", 3723.5),
        ("8.64s", 8.64),
        ("1d", 86400.0),
        ("12", 12.0),
        ("2026-03-01T12:00:30Z", 30.0),
        ("2026-03-01T11:00:00Z", 0.0),
        ("soon", None),
        ("", None),
        ("-1", None),
        ("1s later", None),
    ],
)
def test_a_duration_is_read_in_every_form(text: str, seconds: float | None) -> None:
    limits = read_limits({"x-ratelimit-limit-requests": "1", "x-ratelimit-reset-requests": text}, at=NOW)

    assert limits
    assert limits.requests_reset_seconds == pytest.approx(seconds)


@pytest.mark.parametrize("headers", [{}, {"x-ratelimit-limit-requests": "many"}, {"x-ratelimit-limit-tokens": "-1"}])
def test_headers_that_say_nothing_are_no_limits(headers: dict[str, str]) -> None:
    assert read_limits(headers) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:01:00 GMT"}, 60.0),
        ({"retry-after": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Sun, 01 Mar 2026 18:00:00 GMT"}, 600.0),
        ({"retry-after": "99999"}, 600.0),
        ({"retry-after": "60", "retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_a_wait_is_read_in_seconds_and_as_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_seconds(headers, at=NOW) == seconds


def test_every_kind_of_failure_has_its_sentence_and_its_way_out() -> None:
    sentences = [(kind.sentence, kind.way_out) for kind in FailureKind]

    assert all(sentence.endswith(".") and way_out.endswith(".") for sentence, way_out in sentences)
    assert len({sentence for sentence, way_out in sentences}) == len(FailureKind)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        # As OpenAI, vLLM, Ollama, Gemini and Anthropic say it.
        (404, '{"error": {"message": "The model `x` does not exist", "code": "model_not_found"}}', "unknown_model"),
        (403, '{"error": {"message": "no access to model `x`", "code": "model_not_found"}}', "unknown_model"),
        (404, '{"object": "error", "message": "The model `x` does not exist.", "code": 404}', "unknown_model"),
        (404, '{"error": {"message": "model \\"x\\" not found, try pulling it first"}}', "unknown_model"),
        (404, '[{"error": {"code": 404, "message": "models/x is not found for API version v1"}}]', "unknown_model"),
        (404, '{"type": "error", "error": {"type": "not_found_error", "message": "model: x"}}', "unknown_model"),
        (404, "<html>404 Not Found</html>", "bad_request"),
        (429, '{"error": {"type": "insufficient_quota", "message": "You exceeded your quota"}}', "credit"),
        (429, '{"error": {"type": "requests", "code": "rate_limit_exceeded"}}', "overload"),
        (400, '{"error": {"message": "Your credit balance is too low to access the Anthropic API."}}', "credit"),
        (400, '{"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}}', "too_large"),
        (400, '{"error": {"code": "context_length_exceeded", "message": "…"}}', "too_large"),
        (503, "", "overload"),
    ],
)
def test_a_status_has_the_kind_that_its_body_tells(status: int, body: str, kind: str) -> None:
    assert failure_of(status, body, {}).kind == FailureKind(kind)


@pytest.mark.parametrize(
    ("asked", "answered", "is_same"),
    [
        ("gpt-4o", "gpt-4o", True),
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("gpt-4o", "gpt-4o-mini", False),
        ("gpt-4o", "gpt-4o-mini-2024-07-18", False),
        ("claude-3-5-haiku-latest", "claude-3-5-haiku-20241022", True),
        ("claude-sonnet-4-0", "claude-sonnet-4-20250514", True),
        ("claude-sonnet-4-0", "claude-opus-4-20250514", False),
        ("models/gemini-2.0-flash", "gemini-2.0-flash", True),
        ("llama3", "llama3:latest", True),
        ("m", "", True),
    ],
)
def test_another_model_is_told_from_a_dated_version(asked: str, answered: str, is_same: bool) -> None:
    assert is_same_model(asked, answered) is is_same
