"""What is asked of a model, and what it replies."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from judges import reasons
from judges.providers.base.failures import CallFailed, FailureKind
from judges.providers.base.limits import Limits
from judges.providers.base.tokens import Token

Request = dict[str, Any]


@dataclass(frozen=True)
class Completion:
    """A model's reply. What the provider does not say is empty or None.

    finish_reason : "stop", "length", "content_filter", or as the provider says; "refusal" if it marked the text as one
    raw : the body of the response, to keep; the key is taken out should the server have echoed it
    model : the model that answered, as it says, which may be another than the one that was asked
    system_fingerprint : of the servers that answered, as the provider names their state
    n_tokens_in : of the whole request; among them those served from the provider's cache (n_tokens_cached), which are
        cheaper, and those written to it (n_tokens_cache_written), which are dearer at Anthropic
    refusal : the failure that this empty reply stands for: a filter stopped the text; None if a model replied
    tokens : of the text, where log-probabilities were asked for and came; else empty
    n_tokens_out : all that were paid for as output, those spent on reasoning (n_tokens_reasoning) included
    """

    text: str
    finish_reason: str
    raw: str
    model: str = ""
    system_fingerprint: str = ""
    request_id: str = ""
    n_tokens_in: int | None = None
    n_tokens_out: int | None = None
    n_tokens_cached: int | None = None
    n_tokens_cache_written: int | None = None
    n_tokens_reasoning: int | None = None
    limits: Limits | None = None
    refusal: CallFailed | None = None
    tokens: tuple[Token, ...] = ()


def outcome_of(failure: CallFailed) -> Completion | CallFailed:
    """The empty reply that stands for a filter's refusal, as if it had ended a reply; any other failure as it is."""
    if failure.kind != FailureKind.BLOCKED:
        return failure
    return Completion(
        "",
        "content_filter",
        failure.body,
        request_id=failure.request_id,
        n_tokens_in=failure.n_tokens_in,
        n_tokens_out=failure.n_tokens_out,
        limits=failure.limits,
        refusal=failure,
    )


def document_of(body: str) -> dict[str, Any]:
    """The JSON object that a body holds. Raises CallFailed."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise CallFailed(reasons.NO_DOCUMENT, kind=FailureKind.MALFORMED, status=200, body=body)
    return document
