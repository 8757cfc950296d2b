"""How likely a model finds the tokens of a text: a completion that echoes its prompt with log-probabilities."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from judges import reasons
from judges.providers.base.failures import CallFailed, FailureKind

# What a request asks for that has no words back: the prompt again, with its log-probabilities.
LIKELIHOOD = "likelihood"


@dataclass(frozen=True)
class LikelihoodReply:
    """Tokens of a prompt in their order.

    logprobs : natural logarithms; None of a token that nothing stands before
    starts : the place in the prompt where each begins, in characters
    model : which answered, "" if it does not say
    """

    logprobs: list[float | None]
    starts: list[int]
    model: str = ""


def read_likelihoods(body: str, *, n: int, prompt: str | None = None, request_id: str = "") -> LikelihoodReply:
    """The log-probabilities of a prompt in a body of OpenAI's completions. Raises CallFailed if it holds none.

    n : how many characters the prompt has; prompt : to see whether the tokens spell it; None if that was seen before

    Tokens that were written after the prompt are left out: some servers write one although none was asked for.
    """
    try:
        document: Any = json.loads(body)
        logprobs_field = document["choices"][0]["logprobs"]
        logprobs = [None if x is None else float(x) for x in logprobs_field["token_logprobs"]]
        starts = logprobs_field.get("text_offset")
        starts = [int(start) for start in starts] if starts else _find_starts(logprobs_field["tokens"], prompt)
        is_whole = len(starts) == len(logprobs) > 0 and _are_logarithms(logprobs)
        model = str(document.get("model") or "")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        is_whole, logprobs, starts, model = False, [], [], ""
    if not is_whole or starts[0] != 0:
        raise CallFailed(
            reasons.NO_LIKELIHOODS, kind=FailureKind.NOT_OFFERED, status=200, body=body, request_id=request_id
        )
    n_tokens = sum(start < n for start in starts)
    return LikelihoodReply(logprobs[:n_tokens], starts[:n_tokens], model)


def _are_logarithms(logprobs: list[float | None]) -> bool:
    """Whether all but the first are finite and of no more than certain events, but for rounding."""
    return all(x is not None and math.isfinite(x) and x < 0.01 for x in logprobs[1:])


def _find_starts(tokens: list[str], prompt: str | None) -> list[int]:
    """Where each token begins. Raises ValueError if they do not spell the prompt."""
    if prompt is not None and not "".join(tokens).startswith(prompt):
        raise ValueError("The tokens are not those of the prompt.")
    starts, place = [], 0
    for token in tokens:
        starts.append(place)
        place += len(token)
    return starts
