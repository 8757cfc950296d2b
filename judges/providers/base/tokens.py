"""The tokens of a reply with their log-probabilities, and with those of others that could have stood there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

HIGHEST = 0.01  # a logarithm of what is certain, but for rounding


@dataclass(frozen=True)
class Token:
    """A token of a reply, with its natural log-probability. alternatives : those of others that could stand there"""

    text: bytes
    logprob: float
    alternatives: tuple[tuple[bytes, float], ...] = ()


def read_tokens(logprobs: Any) -> tuple[Token, ...]:
    """The tokens that OpenAI's chat lists beside a reply if `logprobs` was asked for; none where any is malformed."""
    try:
        return tuple(_read_token(entry) for entry in logprobs["content"])
    except (ValueError, LookupError, TypeError, AttributeError):
        return ()


def _read_token(entry: Any) -> Token:
    alternatives = tuple(_read_pair(other) for other in entry.get("top_logprobs") or ())
    return Token(*_read_pair(entry), alternatives)


def _read_pair(entry: Any) -> tuple[bytes, float]:
    """What is written, as bytes, since a token may be a part of a letter, and its logarithm. Raises ValueError."""
    text, logprob = entry.get("bytes"), float(entry["logprob"])
    if not logprob <= HIGHEST:
        raise ValueError(f"{logprob} is no logarithm of a probability")
    return bytes(text) if text is not None else str(entry["token"]).encode("utf-8", "surrogatepass"), min(logprob, 0.0)
