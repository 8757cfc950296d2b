"""Vectors of texts by a model: what a reply holds of them, and how they are kept, each by its text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from judges import parsing, reasons
from judges.models import Call, TextVector
from judges.providers import CallFailed, Completion, mean_of_chunks, read_vectors
from judges.settlement.handlers import ReplyHandler, SettledReply

STORED = "<f4"  # of each number, as numpy names it; processes that serve raters do not load it


class VectorHandler(ReplyHandler):
    kind = Call.Kind.EMBED

    def read(self, call: Call, completion: Completion) -> dict[str, Any] | parsing.Failure:
        return read_reply(call.request, completion.raw)

    def follow(self, replies: Sequence[SettledReply]) -> None:
        keep((reply.call, reply.completion.raw) for reply in replies if reply.state == Call.State.OK)


def read_reply(request: Mapping[str, Any], body: str) -> dict[str, Any] | parsing.Failure:
    """How many vectors of how many numbers a reply holds; or why they cannot be used."""
    try:
        rows = read_vectors(body, n=len(request["messages"])).rows
    except CallFailed as failure:
        return parsing.Failure("unreadable", str(failure))
    sizes = sorted({len(row) for row in rows})
    if len(sizes) > 1:
        reason = reasons.SIZES_DIFFER % {"sizes": ", ".join(map(str, sizes))}
        return parsing.Failure("unreadable", reason)
    if not all(map(any, rows)):
        return parsing.Failure("unreadable", reasons.NO_DIRECTION)
    if (size := _find_kept_size(request)) not in (None, sizes[0]):
        reason = reasons.SIZES_DIFFER % {"sizes": f"{min(size or 0, sizes[0])}, {max(size or 0, sizes[0])}"}
        return parsing.Failure("unreadable", reason)
    return {"n_vectors": len(rows), "n_numbers": sizes[0]}


def _find_kept_size(request: Mapping[str, Any]) -> int | None:
    """How many numbers the vectors have that are kept of this embedding; None if there are none."""
    import numpy as np

    kept = TextVector.objects.filter(embedding=request["of"]["measure"], version=request["of"]["version"])
    vector = kept.values_list("vector", flat=True).first()
    return None if vector is None else len(np.frombuffer(vector, STORED))


def keep(replies: Iterable[tuple[Call, str]]) -> None:
    """Keep the vectors that replies hold, by the text: erasing a text reaches them."""
    import numpy as np

    rows: list[TextVector] = []
    for call, body in replies:
        of = call.request["of"]
        vectors = np.asarray(read_vectors(body, n=len(call.request["messages"])).rows, dtype=np.float64)
        means = mean_of_chunks(vectors, [n for _sha256, n in of["texts"]])
        means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-30)
        rows += [
            TextVector(embedding=of["measure"], version=of["version"], sha256=sha256, vector=row.tobytes())
            for (sha256, _n), row in zip(of["texts"], means.astype(STORED), strict=True)
        ]
    if rows:
        TextVector.objects.bulk_create(rows, ignore_conflicts=True)
