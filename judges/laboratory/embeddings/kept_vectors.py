"""Vectors of texts by their hash: those that are kept are read, the others are made and kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from django.utils.translation import gettext as _

from judges.laboratory.embeddings.base import CannotEmbed, Embedding, SizesDiffer, as_unit_rows
from judges.models import TextVector
from studies import hashing

if TYPE_CHECKING:
    from stats.arrays import FloatArray

STORED = np.dtype("<f4")
# Texts that are embedded before anything is kept: what was made stays where a later text fails.
AT_ONCE = 32
HASHES_A_QUERY = 500


def read_or_make(embedding: Embedding, texts: Sequence[str]) -> FloatArray:
    """The texts as unit vectors, shape (n, d). Raises CannotEmbed; what was made before that is kept."""
    text_by_hash = {hashing.sha256(text): text for text in texts}
    rows = _read(embedding, list(text_by_hash))
    missing = [sha for sha in text_by_hash if sha not in rows]
    if missing and embedding.is_remote:
        rows |= _fetch(embedding, {sha: text_by_hash[sha] for sha in missing})
        missing = []
    for start in range(0, len(missing), AT_ONCE):
        hashes = missing[start : start + AT_ONCE]
        batch = [text_by_hash[sha] for sha in hashes]
        batch_rows = as_unit_rows(embedding.embed(batch), name=embedding.name, n=len(batch)).astype(STORED)
        _check_sizes(embedding, [*rows.values(), *batch_rows])
        rows |= dict(zip(hashes, batch_rows, strict=True))
        _keep(embedding, {sha: rows[sha] for sha in hashes})
    _check_sizes(embedding, list(rows.values()))
    stacked = np.stack([rows[hashing.sha256(text)] for text in texts])
    return as_unit_rows(stacked.astype(np.float64), name=embedding.name, n=len(texts))


def _fetch(embedding: Embedding, text_by_hash: Mapping[str, str]) -> dict[str, FloatArray]:
    """The vectors of these texts, made and kept by a remote embedding. Raises CannotEmbed."""
    rows: dict[str, FloatArray] = {}
    for _time in range(2):  # the first may go on with a run that was broken off, and that asked for other texts
        embedding.fetch([text for sha, text in text_by_hash.items() if sha not in rows])
        rows |= _read(embedding, list(text_by_hash))
        if len(rows) == len(text_by_hash):
            return rows
    message = _("%(name)s: %(n)s texts have no vector, since they were changed or erased meanwhile; ask again")
    raise CannotEmbed(message % {"name": embedding.name, "n": len(text_by_hash) - len(rows)})


def find_missing(embedding: Embedding, texts: Sequence[str]) -> list[str]:
    """The texts whose vector is not kept, in their order. Raises CannotEmbed if the embedding has no version."""
    text_by_hash = {hashing.sha256(text): text for text in texts}
    rows = _read(embedding, list(text_by_hash))
    return [text for sha, text in text_by_hash.items() if sha not in rows]


def _read(embedding: Embedding, hashes: Sequence[str]) -> dict[str, FloatArray]:
    rows: dict[str, FloatArray] = {}
    matching = TextVector.objects.filter(embedding=embedding.name, version=embedding.version)
    for start in range(0, len(hashes), HASHES_A_QUERY):
        chosen = matching.filter(sha256__in=hashes[start : start + HASHES_A_QUERY])
        rows |= {sha: np.frombuffer(vector, STORED) for sha, vector in chosen.values_list("sha256", "vector")}
    return rows


def _keep(embedding: Embedding, rows: Mapping[str, FloatArray]) -> None:
    """Another worker may keep the same at the same moment: then its row stays."""
    names = {"embedding": embedding.name, "version": embedding.version}
    vectors = [TextVector(sha256=sha, vector=row.tobytes(), **names) for sha, row in rows.items()]
    TextVector.objects.bulk_create(vectors, ignore_conflicts=True)


def _check_sizes(embedding: Embedding, rows: Sequence[FloatArray]) -> None:
    sizes = {len(row) for row in rows}
    if len(sizes) > 1:
        raise SizesDiffer(embedding.name, sorted(sizes))
