"""What a provider's headers say about how much it takes: how long to wait, what is left of a minute."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from django.utils import timezone

LONGEST_WAIT_SECONDS = 600.0
_SECONDS_BY_UNIT = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_NUMBER = r"\d{1,9}(?:\.\d{1,9})?"


@dataclass(frozen=True)
class Limits:
    """How many requests and tokens a provider takes in its window, and how many of them are left; None if unsaid.

    requests_reset_seconds, tokens_reset_seconds : from the reply until all of them are there again
    """

    n_requests: int | None = None
    n_requests_left: int | None = None
    requests_reset_seconds: float | None = None
    n_tokens: int | None = None
    n_tokens_left: int | None = None
    tokens_reset_seconds: float | None = None


def read_limits(headers: Mapping[str, str], *, at: datetime | None = None) -> Limits | None:
    """The limits that OpenAI's or Anthropic's headers name; None if there are none.

    at : when the reply came, for dates; by default as its header Date has it, since clocks differ
    """
    at = at or _date(headers.get("date", "")) or timezone.now()

    def number(*names: str) -> int | None:
        values = (headers.get(name, "").strip() for name in names)
        return next((int(value) for value in values if re.fullmatch(r"\d{1,12}", value)), None)

    def seconds(*names: str) -> float | None:
        values = (_seconds(headers.get(name, ""), at=at) for name in names)
        return next((value for value in values if value is not None), None)

    # Where Anthropic counts tokens apart, those that go in matter: a judge sends them by the thousand.
    ours, theirs = "x-ratelimit", "anthropic-ratelimit"
    limits = Limits(
        n_requests=number(f"{ours}-limit-requests", f"{theirs}-requests-limit"),
        n_requests_left=number(f"{ours}-remaining-requests", f"{theirs}-requests-remaining"),
        requests_reset_seconds=seconds(f"{ours}-reset-requests", f"{theirs}-requests-reset"),
        n_tokens=number(f"{ours}-limit-tokens", f"{theirs}-tokens-limit", f"{theirs}-input-tokens-limit"),
        n_tokens_left=number(
            f"{ours}-remaining-tokens", f"{theirs}-tokens-remaining", f"{theirs}-input-tokens-remaining"
        ),
        tokens_reset_seconds=seconds(f"{ours}-reset-tokens", f"{theirs}-tokens-reset", f"{theirs}-input-tokens-reset"),
    )
    return limits if any(getattr(limits, field.name) is not None for field in fields(limits)) else None


def retry_seconds(headers: Mapping[str, str], *, at: datetime | None = None) -> float | None:
    """How long Retry-After asks to wait, in seconds or until a date, at most ten minutes; None if it does not say."""
    milliseconds = headers.get("retry-after-ms", "").strip()  # finer, where OpenAI sends it
    if re.fullmatch(_NUMBER, milliseconds):
        return min(float(milliseconds) / 1000, LONGEST_WAIT_SECONDS)
    at = at or _date(headers.get("date", "")) or timezone.now()
    seconds = _seconds(headers.get("retry-after", ""), at=at)
    return None if seconds is None else min(seconds, LONGEST_WAIT_SECONDS)


def _seconds(text: str, *, at: datetime) -> float | None:
    """A number of seconds, a duration as 6m0s or 20ms, or the time until a date, in seconds; None if it is none."""
    text = text.strip()
    if re.fullmatch(_NUMBER, text):
        return float(text)
    if re.fullmatch(rf"(?:{_NUMBER}(?:ms|[dhms]))+", text):
        return sum(float(n) * _SECONDS_BY_UNIT[unit] for n, unit in re.findall(rf"({_NUMBER})(ms|[dhms])", text))
    date = _date(text)
    return max((date - at).total_seconds(), 0.0) if date else None


def _date(text: str) -> datetime | None:
    """The date of an HTTP header, as RFC 3339 or as RFC 9110 writes it."""
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            date = read(text.strip())
        except (ValueError, TypeError):
            continue
        return date if date.tzinfo else date.replace(tzinfo=UTC)
    return None
