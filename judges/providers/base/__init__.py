"""What a provider is, and what all of them share: replies, failures, limits, and the one way to the network.

A request is a plain document: model, messages, parameters, and the JSON schema of the value that is asked for. The
content of a message is a string, or a list of parts that are read one after the other as they are. A client gives back
a completion or raises CallFailed; retries are the run's affair, over rows, and never a client's. No Django models here:
whoever connects says what is needed. The schema is sent only if the request says `structured`: a reply that the
provider forces into a form is another treatment than one that is free.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, Protocol

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_noop

from judges.providers.base.batches import (
    MAX_BATCH_BYTES,
    BatchClient,
    BatchRefused,
    BatchResult,
    BatchState,
    number_of,
    result_lines,
)
from judges.providers.base.clients import LibraryClient
from judges.providers.base.completions import Completion, Request, document_of, outcome_of
from judges.providers.base.failures import CallFailed, FailureKind, failure_of, failure_within
from judges.providers.base.likelihoods import LIKELIHOOD, LikelihoodReply, read_likelihoods
from judges.providers.base.limits import Limits, read_limits
from judges.providers.base.tokens import Token, read_tokens
from judges.providers.base.vectors import VECTORS, VectorReply, mean_of_chunks, read_vectors

__all__ = [
    "HIGHEST_REPLY_LIMIT",
    "LIKELIHOOD",
    "MAX_BATCH_BYTES",
    "REASONING_EFFORT",
    "REASONING_EFFORTS",
    "REPLY_LIMITS",
    "VECTORS",
    "BatchClient",
    "BatchRefused",
    "BatchResult",
    "BatchState",
    "CallFailed",
    "CannotConnect",
    "Client",
    "Completion",
    "Connection",
    "FailureKind",
    "LibraryClient",
    "LikelihoodReply",
    "Limits",
    "Provider",
    "Request",
    "Token",
    "VectorReply",
    "answer_schema",
    "count_models",
    "document_of",
    "failure_of",
    "failure_within",
    "fit_count",
    "is_reply_limit",
    "is_same_model",
    "mean_of_chunks",
    "number_of",
    "outcome_of",
    "pop_reply_limit",
    "read_likelihoods",
    "read_limits",
    "read_tokens",
    "read_vectors",
    "result_lines",
    "text_of",
    "token_count",
]

# No answer to a question is as long as this; whatever is, is no answer, and must not fill the memory of a worker.
MAX_BODY_BYTES = 4_000_000
# Names by which most providers take the limit of a reply's length, and the highest that can be meant as one.
REPLY_LIMITS = ("max_tokens", "max_completion_tokens")
HIGHEST_REPLY_LIMIT = 1_000_000
# What a judge's parameter of that name may say of how much a model reasons, in OpenAI's words; each provider sends its
# own for it.
REASONING_EFFORT = "reasoning_effort"
REASONING_EFFORTS = ("none", "minimal", "low", "medium", "high")
# Columns of counts of tokens hold less than this.
TOKENS_BOUND = 2**31


class CannotConnect(Exception):
    """The endpoint cannot be used as it stands; the message says why. Nothing was sent.

    sentence : in English, with places for the values: it is translated when it is shown
    """

    def __init__(self, sentence: str, *, kind: FailureKind = FailureKind.CLIENT, **values: str | int) -> None:
        super().__init__(sentence)
        self.sentence, self.kind, self.values = sentence, kind, values

    def __str__(self) -> str:
        return gettext(self.sentence) % self.values if self.values else gettext(self.sentence)


class Client(Protocol):
    """Something that completes requests, many at once in one event loop; it belongs to the loop that it was used in."""

    async def complete(self, request: Request) -> Completion: ...

    async def close(self) -> None: ...


@dataclass(frozen=True)
class Connection:
    """Where a client sends its requests, once the address has been checked.

    key : sent along with every request; "" for an endpoint without one
    timeout_seconds : for a whole request, from the first byte sent to the last received
    may_be_private : the operator has named this address; otherwise every connection goes to a number checked for it
    """

    base_url: str
    key: str
    timeout_seconds: float
    max_body_bytes: int = MAX_BODY_BYTES
    may_be_private: bool = False


class Provider:
    """One protocol by which models are reached. Subclasses are discovered; one instance of each serves all endpoints.

    A subclass gives `slug`, `title`, `connect` and `read`. It imports its SDK in `connect` and not before: pages and
    commands that list providers need not wait for it.
    """

    slug: ClassVar[str]  # stored as the adapter of an endpoint
    title: ClassVar[str | Promise]
    # Nothing is reached: an endpoint of it has no address, and its judges have to say so in their names.
    is_stub: ClassVar[bool] = False
    # What its clients give besides words: `LIKELIHOOD`, `VECTORS`. A request asks for it under "asks".
    gives: ClassVar[tuple[str, ...]] = ()
    # What a judge's parameters may not set, since Quire sets it.
    own_fields: ClassVar[tuple[str, ...]] = ("model", "messages", "stream", "n")
    # What it does not know though others do: an endpoint would refuse every call with it.
    unknown_fields: ClassVar[tuple[str, ...]] = ()
    # What they set as an object, if they set it: `body_of` adds to it.
    object_fields: ClassVar[tuple[str, ...]] = ()
    # What it takes for tokens written to its cache, as a multiple of other tokens in, unless a price says otherwise.
    cache_write_part: ClassVar[Decimal] = Decimal(1)
    # Whether it keeps in its cache what stands before a mark, which a request asks for under "n_shared_parts".
    marks_shared_texts: ClassVar[bool] = False
    # Names by which a judge's parameters may limit the length of its replies.
    reply_limits: ClassVar[tuple[str, ...]] = REPLY_LIMITS
    # Tokens to which it limits a reply where the parameters set no limit; None if it sends none.
    default_limit: ClassVar[int | None] = None
    # How large the requests of one of its batches are together, with room for what stands around them.
    most_batch_bytes: ClassVar[int] = 50_000_000

    def connect(self, connection: Connection) -> Client:
        """A client for that address. Sends nothing yet. Raises CannotConnect."""
        raise NotImplementedError

    def read(self, body: str) -> Completion:
        """The completion that a body of this protocol holds, as it was kept. Raises CallFailed if it holds none."""
        raise NotImplementedError

    @property
    def takes_batches(self) -> bool:
        return type(self).connect_batches is not Provider.connect_batches

    def connect_batches(self, connection: Connection) -> BatchClient:
        """A client that hands in many calls as one batch. Sends nothing yet. Raises CannotConnect if there is none."""
        raise CannotConnect(gettext_noop("%(provider)s takes no batches"), provider=str(self.title))


def text_of(content: str | list[str]) -> str:
    """The content of a message as one string."""
    return content if isinstance(content, str) else "".join(content)


def pop_reply_limit(request: Request, parameters: dict[str, Any], names: Collection[str]) -> int | None:
    """The limit of a reply that is sent for a request, whose parameters keep none of those names; None if none is.

    The parameters' own goes before the one that was reserved.
    """
    values = [parameters.pop(name) for name in names if name in parameters]
    return max(filter(is_reply_limit, values), default=request.get("max_tokens"))


def answer_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of a reply that holds a value of that schema, its reasons before it.

    The schema of an object is that of the whole reply already.
    """
    if "properties" in schema:
        return _in_order(schema)
    return {
        "type": "object",
        "properties": {"rationale": {"type": "string"}, "answer": schema},
        "required": ["rationale", "answer"],
        "additionalProperties": False,
    }


def _in_order(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with its properties in the order of `required`.

    A server writes them as they stand, reasons first. PostgreSQL's JSON keeps the order of lists, not that of names.
    """
    properties = schema.get("properties")
    if properties is None:
        return schema
    names = dict.fromkeys([*schema.get("required", ()), *properties])
    return {**schema, "properties": {name: _in_order(properties[name]) for name in names}}


def token_count(usage: Any, *path: str) -> int | None:
    """The number at the end of that path through a provider's account of tokens, if there is one that fits a column."""
    for name in path:
        usage = usage.get(name) if isinstance(usage, dict) else None
    return usage if isinstance(usage, int) and not isinstance(usage, bool) and 0 <= usage < TOKENS_BOUND else None


def fit_count(n: int) -> int | None:
    """A number of tokens that was added up, if it fits a column."""
    return n if n < TOKENS_BOUND else None


def is_reply_limit(value: Any) -> bool:
    """Whether the value of one of a provider's `reply_limits` limits a reply; to some, -1 means that nothing does."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= HIGHEST_REPLY_LIMIT


def count_models(names: Collection[str]) -> int:
    """How many models answered by these names: one that answered by a plain name and a dated one is one."""
    return sum(not any(name != other and is_same_model(name, other) for other in names) for name in names)


def is_same_model(asked: str, answered: str) -> bool:
    """Whether a reply comes from the model that was asked, whose dated version may answer to its plain name.

    True if the provider does not say which answered.
    """
    asked, answered = (name.removeprefix("models/").removesuffix(":latest") for name in (asked, answered))
    alias = re.sub(r"-(?:latest|0)$", "", asked)
    return answered in ("", asked) or bool(
        re.fullmatch(rf"{re.escape(alias)}[-@](?:\d{{8}}|\d{{4}}-\d\d-\d\d)", answered)
    )
