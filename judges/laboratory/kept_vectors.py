"""Vectors of texts that are kept, by the text's hash and the embedding's name and version. Knows no embedding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from judges.models import TextVector

if TYPE_CHECKING:
    from stats.arrays import FloatArray

STORED = np.dtype("<f4")
HASHES_A_QUERY = 500


def read(name: str, version: str, hashes: Sequence[str]) -> dict[str, FloatArray]:
    """The vectors that are kept of the texts with these hashes. One query for every 500."""
    rows: dict[str, FloatArray] = {}
    matching = TextVector.objects.filter(embedding=name, version=version)
    for start in range(0, len(hashes), HASHES_A_QUERY):
        chosen = matching.filter(sha256__in=hashes[start : start + HASHES_A_QUERY])
        rows |= {sha: np.frombuffer(vector, STORED) for sha, vector in chosen.values_list("sha256", "vector")}
    return rows


def keep(name: str, version: str, rows: Mapping[str, FloatArray]) -> None:
    """Keep the vectors, by the hash of their text. Another worker may keep the same at the same moment: then its row
    stays."""
    vectors = [
        TextVector(embedding=name, version=version, sha256=sha, vector=row.astype(STORED).tobytes())
        for sha, row in rows.items()
    ]
    TextVector.objects.bulk_create(vectors, ignore_conflicts=True)
