"""Texts by the words that they share, in few dimensions (latent semantic analysis): offline, without any model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy

from judges.laboratory.embeddings.base import Embedding
from studies.typography.word_boundaries import split_words

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from stats.arrays import FloatArray

MOST_DIMENSIONS = 256
# Terms are counted by their hash, so that no list of them stands in memory: of three million about two thousand share
# a place with another.
N_HASHES = 2**31 - 1
TOLERANCE = 1e-8  # of an axis
LOST = 1e-6  # a row of length 1 that is shorter on the axes is but the noise of computing them


class TfidfSvd(Embedding):
    """TF-IDF of words (`split_words`) and of pairs of neighbours, reduced by a truncated singular value decomposition.

    Fitted on the texts that are given, and on nothing else: a text's vector depends on the others, and two calls with
    other texts are not comparable. No chunks: a text's words are counted as a whole. Term frequency 1 + log(tf), smooth
    idf, rows of length 1; d = min(256, n texts, number of terms), so that up to 256 texts keep their cosines exactly.
    Texts that lie on none of these axes, as one in another language does among hundreds, get axes of their own.
    The same texts give the same vectors. The table stays sparse, and what is dense beside it has a row for each text,
    none for a term.
    """

    kind = "tfidf-svd"
    is_fitted = True
    takes_model = False
    rests_on = gettext_lazy("on shared words")

    @property
    def version(self) -> str:
        # 1 approximated the axes, with a dense row for each term. 2 gave a text that shares no term with most others an
        # axis by chance, and took a word with another hyphen, or a soft one, for two.
        return "3"

    def embed(self, texts: Sequence[str]) -> FloatArray:
        return _reduce(_weigh(texts))


def _weigh(texts: Sequence[str]) -> csr_matrix:
    """The texts by their terms, rows of length 1, shape (n, terms)."""
    import numpy as np
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

    hasher = HashingVectorizer(analyzer=_list_terms, n_features=N_HASHES, alternate_sign=False, norm=None)
    counts = hasher.transform(texts)
    terms, places = np.unique(counts.indices, return_inverse=True)
    counts = type(counts)((counts.data, places, counts.indptr), shape=(len(texts), len(terms)))
    weights: csr_matrix = TfidfTransformer(sublinear_tf=True).fit(counts).transform(counts, copy=False)
    return weights


def _reduce(weights: csr_matrix) -> FloatArray:
    """The rows on the axes on which they differ most, shape (n, d); those that lie on none of them on more axes."""
    import numpy as np

    rows = _project(weights)
    lost = np.linalg.norm(rows, axis=1) < LOST
    if not lost.any() or lost.all():  # all : texts without words, which lie on no axis
        return rows
    others = _reduce(weights[lost])
    table = np.zeros((len(rows), rows.shape[1] + others.shape[1]))
    table[~lost, : rows.shape[1]] = rows[~lost]
    table[lost, rows.shape[1] :] = others
    return table


def _project(weights: csr_matrix) -> FloatArray:
    """The rows on at most 256 axes on which they differ most, shape (n, d), each axis times its singular value."""
    import numpy as np
    from scipy.sparse.linalg import LinearOperator, eigsh

    # By the products of the texts with each other, or of the terms, whichever are fewer; nothing dense is of the other.
    is_tall = weights.shape[0] > weights.shape[1]
    table = weights.T.tocsr() if is_tall else weights
    size = table.shape[0]
    if size > MOST_DIMENSIONS:
        products = LinearOperator((size, size), matvec=lambda x: table @ (table.T @ x), dtype=np.float64)
        start = np.random.default_rng(0).normal(size=size)
        eigenvalues, axes = eigsh(products, MOST_DIMENSIONS, v0=start, tol=TOLERANCE)
    else:
        eigenvalues, axes = np.linalg.eigh((table @ table.T).toarray())
    rows = weights @ axes if is_tall else axes * np.sqrt(np.clip(eigenvalues, 0, None))
    return np.asarray(rows, dtype=np.float64)


def _list_terms(text: str) -> list[str]:
    """The words of the text, and its pairs of neighbours."""
    words = split_words(text)
    return words + [f"{a} {b}" for a, b in pairwise(words)]
