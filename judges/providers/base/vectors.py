"""Texts placed by a model: one request of many texts, one vector for each."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judges import reasons
from judges.providers.base.failures import CallFailed, FailureKind

if TYPE_CHECKING:
    from stats.arrays import FloatArray

# What a request asks for that has no words back: a vector for each of its messages.
VECTORS = "vectors"


@dataclass(frozen=True)
class VectorReply:
    """The vectors of a request's texts, in the texts' order. model : which answered, "" if it does not say"""

    rows: list[list[float]]
    model: str = ""


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
        raise CallFailed(reason, kind=FailureKind.NOT_OFFERED, status=200, body=body, request_id=request_id)
    return VectorReply(rows, model)


def mean_of_chunks(rows: FloatArray, counts: Sequence[int]) -> FloatArray:
    """Each text's vector: the mean of its chunks' unit vectors. rows : (chunks, d); counts : chunks of each text"""
    import numpy as np

    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-30)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(int)
    return np.asarray(np.add.reduceat(unit, starts, axis=0) / np.asarray(counts)[:, None], dtype=np.float64)
