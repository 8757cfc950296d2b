"""Why a request got no completion, and what that means for the requests after it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from judges import reasons
from judges.providers.base import refusals
from judges.providers.base.limits import LONGEST_WAIT_SECONDS, Limits, read_limits, retry_seconds


class FailureKind(StrEnum):
    OVERLOAD = "overload"  # 429, 5xx: the endpoint needs a rest
    CONNECTION = "connection"  # nothing was heard, or the reply broke off
    TIMEOUT = "timeout"
    BAD_REQUEST = "bad_request"  # 400, 422, or a route that is not there: the same words are refused again
    BLOCKED = "blocked"  # a filter stopped the text
    KEY = "key"  # 401
    FORBIDDEN = "forbidden"  # 403: of what the key may do, or of this text, in words not met before
    CREDIT = "credit"  # 402, or a quota that is spent
    UNKNOWN_MODEL = "unknown_model"
    TOO_LARGE = "too_large"  # the request for the model, or the reply for us
    MALFORMED = "malformed"  # HTTP 200 without a completion
    BROKEN_OFF = "broken_off"  # HTTP 200, and the provider says that it failed, or has written nothing
    NOT_OFFERED = "not_offered"  # HTTP 200 without what was asked for, which another try will not give
    REDIRECT = "redirect"
    ADDRESS = "address"  # the host's name stands for a private address by now
    CLIENT = "client"  # our own fault

    @property
    def sentence(self) -> str:
        """What has happened."""
        return str(_SENTENCES[self][0])

    @property
    def way_out(self) -> str:
        """What to do about it."""
        return str(_SENTENCES[self][1])


_SENTENCES: dict[FailureKind, tuple[str | Promise, str | Promise]] = {
    FailureKind.OVERLOAD: (
        _("The provider is overloaded, or limits how often it may be asked."),
        _("Calls pause and resume automatically. If this persists, lower the number of calls at once."),
    ),
    FailureKind.CONNECTION: (
        _("The provider could not be reached, or the connection broke."),
        _("Calls pause and resume automatically. If this persists, check the address and that the server is running."),
    ),
    FailureKind.TIMEOUT: (
        _("The provider did not answer in time."),
        _("The call is made again. If this persists, raise the time limit, or lower the number of calls at once."),
    ),
    FailureKind.BAD_REQUEST: (
        _("The provider rejects the request."),
        _("Read what it says below, and make a judge with other parameters; an address usually ends with /v1."),
    ),
    FailureKind.BLOCKED: (
        _("The provider's filter blocked the text."),
        _("Only the calls about this text are affected. Ask another provider or model about it."),
    ),
    FailureKind.FORBIDDEN: (
        _("The provider forbids the request."),
        _("Read what it says below: either the key must not use this model, or the provider does not accept the text."),
    ),
    FailureKind.KEY: (
        _("The key is not set, or the provider rejects it."),
        _("Set the right key in the endpoint's environment variable where judges run, restart them, and resume."),
    ),
    FailureKind.CREDIT: (
        _("The credit or the quota at the provider is spent."),
        _("Top up the account at the provider, then resume."),
    ),
    FailureKind.UNKNOWN_MODEL: (
        _("The provider has no model of that name for this key."),
        _("Look up the model's name at the provider, and make a judge with it."),
    ),
    FailureKind.TOO_LARGE: (
        _("The text is too long for the model, or the reply is larger than the endpoint allows."),
        _("Choose a model with a longer context, or raise the endpoint's limit of a reply's size."),
    ),
    FailureKind.MALFORMED: (
        _("The reply is not what a model sends, but perhaps the page of a proxy or half an answer."),
        _("The call is made again. If this persists, check that the address is that of the provider's API."),
    ),
    FailureKind.BROKEN_OFF: (
        _("The provider ended its reply with an error of its own."),
        _("The call is made again, twice at most. If this persists, choose another provider or model."),
    ),
    FailureKind.NOT_OFFERED: (
        _("The provider does not give what was asked for."),
        _("Read what it says below, and choose another endpoint or model."),
    ),
    FailureKind.REDIRECT: (
        _("The provider sends the request to another address, which is not followed."),
        _("Enter the address that it names as the endpoint's own, if you trust it."),
    ),
    FailureKind.ADDRESS: (
        _("The endpoint's name stands for a private address."),
        _("If the endpoint is yours, have its host and port added to QUIRE_ALLOWED_PRIVATE_ENDPOINTS."),
    ),
    FailureKind.CLIENT: (
        _("The request could not be made."),
        _("This is a fault of Quire, or of what is installed. Report it with what it says below."),
    ),
}
# The same request may get its completion later.
TRANSIENT = frozenset(
    {
        *(FailureKind.OVERLOAD, FailureKind.CONNECTION, FailureKind.TIMEOUT),
        *(FailureKind.MALFORMED, FailureKind.BROKEN_OFF),
    }
)


class CallFailed(Exception):
    """A request got no completion. The message is safe to keep: it never holds the key.

    status : of HTTP, if there was one
    body : what came with it, without the key
    retry_after : seconds that the provider asked to wait, if it did
    is_unserved : no model can have worked at it, so that nothing is paid
    n_tokens_in, n_tokens_out : that the provider counted all the same; None if it says nothing of them
    """

    def __init__(
        self,
        reason: str,
        *,
        kind: FailureKind = FailureKind.CLIENT,
        status: int | None = None,
        body: str = "",
        request_id: str = "",
        retry_after: float | None = None,
        limits: Limits | None = None,
        is_unserved: bool = False,
    ) -> None:
        super().__init__(reason)
        self.is_unserved = is_unserved
        self.n_tokens_in: int | None = None
        self.n_tokens_out: int | None = None
        self.kind = kind
        self.status = status
        self.body = body
        self.request_id = request_id
        self.retry_after = retry_after
        self.limits = limits

    @property
    def is_transient(self) -> bool:
        return self.kind in TRANSIENT

    @property
    def is_of_its_text(self) -> bool:
        """Whether the text is at fault, and no other: a filter stopped it, or it is too long for the model."""
        is_too_long = self.kind == FailureKind.TOO_LARGE and self.status is not None and self.status >= 400
        return is_too_long or self.kind == FailureKind.BLOCKED


def failure_of(status: int, body: str, headers: Mapping[str, str], *, request_id: str = "") -> CallFailed:
    """What an HTTP status other than success means for this call and the next."""
    kind = _kind_of(status, body)
    if kind == FailureKind.REDIRECT:
        reason = reasons.REDIRECTED % {"status": status}
    else:
        reason = f"HTTP {status}: {' '.join(body.split())[:300]}"
    return CallFailed(
        reason,
        kind=kind,
        status=status,
        body=body,
        request_id=request_id,
        retry_after=_retry_seconds(body, headers),
        limits=read_limits(headers),
        is_unserved=kind == FailureKind.BLOCKED,
    )


def failure_within(
    error: Any, body: str, *, has_begun: bool, request_id: str = "", limits: Limits | None = None
) -> CallFailed:
    """What an error in a body of success means: what a status of HTTP means, if its code is one.

    error : as the provider writes it; None if it says nothing
    has_begun : part of a reply was written and is paid for, so that a failure of the server is not another's as well
    """
    code = str(error.get("code")) if isinstance(error, dict) else ""
    status = int(code) if code.isdecimal() and len(code) == 3 else 0
    if not status and _kind_of(400, body) in (FailureKind.BLOCKED, FailureKind.TOO_LARGE):
        status = 400
    if 400 <= status < 500 or (status >= 500 and not has_begun):
        failure = failure_of(status, body, {}, request_id=request_id)
        failure.limits, failure.is_unserved = limits, False
        return failure
    kind = FailureKind.BROKEN_OFF
    return CallFailed(reasons.BROKEN_OFF, kind=kind, status=200, body=body, request_id=request_id, limits=limits)


# How Gemini asks to wait, in place of a header.
_RETRY_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d{1,6}(?:\.\d{1,9})?)s"')


def _retry_seconds(body: str, headers: Mapping[str, str]) -> float | None:
    """How long the provider asks to wait, in its headers or in its words; None if it does not say."""
    seconds = retry_seconds(headers)
    delay = _RETRY_DELAY.search(body)
    return min(float(delay[1]), LONGEST_WAIT_SECONDS) if seconds is None and delay else seconds


# How Gemini says, with HTTP 400, that it does not accept the key.
_NO_KEY = re.compile(r"API_KEY_INVALID|API key not valid|API key expired", re.IGNORECASE)
# How Anthropic, Gemini, Bedrock and OpenAI say that the key may not do this. A bare “access denied” or “not allowed” is
# what a firewall says of a text as well, and xAI's lack of permission what it says of a text.
_MAY_NOT = re.compile(
    r'"type"\s*:\s*"permission_error"|"status"\s*:\s*"PERMISSION_DENIED"|AccessDeniedException'
    r"|\b(?:key|token|account|project|organi[sz]ation|team|user)\b[^.{}\"]{0,60}"
    r"\b(?:not authori[sz]ed|denied access|(?:not have|lacks?|missing|without) (?:\w+ ){0,2}permissions?)\b"
    r"|\bnot authori[sz]ed to (?:access|use|call|invoke)\b|\baccess denied for (?:this |the |your )?(?:API )?key\b",
    re.IGNORECASE,
)
# How OpenAI and Anthropic say that nothing is left to pay with, whatever the status.
_SPENT = re.compile(
    r"insufficient_quota|billing_hard_limit|billing_not_active|credit balance is too low", re.IGNORECASE
)
# How OpenAI, vLLM, Ollama, Gemini and Anthropic say that there is no model of that name.
_NO_MODEL = re.compile(
    r"model_not_found|\bmodels?\b[^{}]{0,200}\b(?:not (?:be )?found|not exist)|\"model: ", re.IGNORECASE
)


def _kind_of(status: int, body: str) -> FailureKind:
    if 300 <= status < 400:
        return FailureKind.REDIRECT
    if status == 402 or (status in (400, 403, 429) and _SPENT.search(body)):
        return FailureKind.CREDIT
    if refusals.is_blocked(status, body):
        return FailureKind.BLOCKED
    if refusals.is_too_long(status, body):
        return FailureKind.TOO_LARGE
    if status in (400, 403, 404) and _NO_MODEL.search(body):
        return FailureKind.UNKNOWN_MODEL
    if status == 401 or (status in (400, 403) and _NO_KEY.search(body)) or (status == 403 and _MAY_NOT.search(body)):
        return FailureKind.KEY
    if status == 403:
        return FailureKind.FORBIDDEN
    # 408, 409 and 425 too ask for another try.
    return FailureKind.OVERLOAD if status >= 500 or status in (408, 409, 425, 429) else FailureKind.BAD_REQUEST
