"""Texts placed by a model: one request of many texts, one vector for each."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from judges import reasons
from judges.providers.base.failures import CallFailed, FailureKind


@dataclass(frozen=True)
class VectorReply:
    """The vectors of a request's texts, in the texts' order. model : which answered, "" if it does not say"""

    rows: list[list[float]]
    model: str = ""


class VectorClient(Protocol):
    """Something that gives texts vectors; it belongs to the event loop that it was used in."""

    async def embed(self, model: str, texts: Sequence[str]) -> VectorReply: ...

    async def close(self) -> None: ...


def read_vectors(body: str, *, n: int, request_id: str = "") -> VectorReply:
    """The n vectors that a body of OpenAI's protocol holds. Raises CallFailed if it holds others."""
    try:
        document: Any = json.loads(body)
        row_by_index = {int(entry["index"]): [float(x) for x in entry["embedding"]] for entry in document["data"]}
        rows = [row_by_index[index] for index in range(n)]
        is_whole = len(document["data"]) == n and all(math.isfinite(x) for row in rows for x in row)
        model = str(document.get("model") or "")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        is_whole, rows, model = False, [], ""
    if not is_whole:
        reason = reasons.NO_VECTORS % {"n": n}
        raise CallFailed(reason, kind=FailureKind.MALFORMED, status=200, body=body, request_id=request_id)
    return VectorReply(rows, model)
