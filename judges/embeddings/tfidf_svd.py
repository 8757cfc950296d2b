"""Texts by the words that they share, in few dimensions (latent semantic analysis): offline, without any model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from judges.embeddings.base import Embedding
from studies.typography.words import split_words

if TYPE_CHECKING:
    from stats.arrays import FloatArray

MOST_DIMENSIONS = 256


class TfidfSvd(Embedding):
    """TF-IDF of words (`split_words`) and of pairs of neighbours, reduced by a truncated singular value decomposition.

    Fitted on the texts that are given, and on nothing else: a text's vector depends on the others, and two calls with
    other texts are not comparable. No chunks: a text's words are counted as a whole. Term frequency 1 + log(tf), smooth
    idf, rows of length 1; d = min(256, n texts, size of the vocabulary), so that up to 256 texts keep their cosines
    exactly. The same texts give the same vectors.
    """

    kind = "tfidf-svd"
    is_fitted = True
    takes_model = False

    @property
    def version(self) -> str:
        return "1"

    def embed(self, texts: Sequence[str]) -> FloatArray:
        import numpy as np
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.utils.extmath import randomized_svd

        weights = TfidfVectorizer(analyzer=_list_terms, sublinear_tf=True).fit_transform(texts)
        n_dimensions = min(MOST_DIMENSIONS, *weights.shape)
        axes, singular_values, _terms = randomized_svd(weights, n_dimensions, n_iter=7, random_state=0)
        return np.asarray(axes * singular_values, dtype=np.float64)


def _list_terms(text: str) -> list[str]:
    """The words of the text, and its pairs of neighbours."""
    words = split_words(text)
    return words + [f"{a} {b}" for a, b in pairwise(words)]
