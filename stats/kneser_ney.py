"""How likely a text is: a trigram model with interpolated Kneser–Ney smoothing.

Source: Kneser & Ney 1995, in the interpolated form of Chen & Goodman 1999 with one discount an order: what is taken
from every count goes to the shorter context, where a word counts as often as it has different words before it, down to
the uniform distribution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from stats.arrays import FloatArray, IntArray
from stats.reasons import Incomputable

UNKNOWN = 0  # the number of every word that is not in the vocabulary
N_CONTEXT = 2
MOST_UNKNOWN = 0.5


@dataclass(frozen=True)
class Surprise:
    """How unexpected the words of a text are.

    mean : negative log-likelihood a word, in nats; n_words : scored; n_unknown : of them not in the vocabulary
    """

    mean: float
    n_words: int
    n_unknown: int

    @property
    def perplexity(self) -> float:
        return float(np.exp(self.mean))


@dataclass(frozen=True)
class _Order:
    """The n-grams of one order, sorted, as numbers to the base of the vocabulary.

    counts : of each n-gram, less than which nothing is taken; totals, n_following : of each context, sorted as well
    """

    grams: IntArray
    counts: FloatArray
    contexts: IntArray
    totals: FloatArray
    n_following: FloatArray
    discount: float

    def interpolate(self, grams: IntArray, contexts: IntArray, lower: FloatArray) -> FloatArray:
        """The probability of each n-gram's last word after its context, given that of the shorter context."""
        counts, totals = _look_up(self.grams, self.counts, grams), _look_up(self.contexts, self.totals, contexts)
        n_following = _look_up(self.contexts, self.n_following, contexts)
        is_seen = totals > 0
        safe = np.where(is_seen, totals, 1.0)
        discounted, spread = np.maximum(counts - self.discount, 0) / safe, self.discount * n_following / safe
        return np.where(is_seen, discounted + spread * lower, lower)


@dataclass(frozen=True)
class TrigramModel:
    """A fitted model. number_by_word : of the vocabulary without the unknown word, whose number is 0"""

    number_by_word: dict[str, int]
    trigrams: _Order
    bigrams: _Order
    unigrams: FloatArray

    @property
    def n_vocabulary(self) -> int:
        """How many words it gives a probability, the unknown one among them."""
        return len(self.unigrams)

    def probabilities(self, words: Sequence[str], *, context: Sequence[str] = ()) -> FloatArray:
        """The probability of each word after the two before it, shape (n,).

        context : what stands before the first word, such as a prompt; its last two words count
        """
        return self._probabilities(self._number([*context[-N_CONTEXT:]]), self._number(words))

    def surprise(self, words: Sequence[str], *, context: Sequence[str] = ()) -> Surprise:
        """The mean negative log-likelihood of the words.

        Raises Incomputable without words, or if more than half of them are not in the vocabulary: the mean would say
        little but that, as of a text in another language.
        """
        if not words:
            raise Incomputable("no_words")
        numbers = self._number(words)
        n_unknown = int((numbers == UNKNOWN).sum())
        if n_unknown > MOST_UNKNOWN * len(words):
            raise Incomputable("language_unknown", n=n_unknown, n_words=len(words))
        logs = np.log(self._probabilities(self._number([*context[-N_CONTEXT:]]), numbers))
        return Surprise(mean=float(-logs.mean()), n_words=len(words), n_unknown=n_unknown)

    def surprise_of_single_words(self, words: Sequence[str]) -> float:
        """The mean negative log-likelihood of the words whatever stands before them, in nats. Raises as `surprise`."""
        self.surprise(words)
        return float(-np.log(self.unigrams[self._number(words)]).mean())

    def _number(self, words: Sequence[str]) -> IntArray:
        return np.array([self.number_by_word.get(word, UNKNOWN) for word in words], dtype=np.int64)

    def _probabilities(self, context: IntArray, numbers: IntArray) -> FloatArray:
        start = self.n_vocabulary  # a word of its own that stands before every text and is never predicted
        padded = np.concatenate([np.full(N_CONTEXT, start), context, numbers])
        first, second = (padded[len(context) + n : len(padded) - N_CONTEXT + n] for n in range(N_CONTEXT))
        base = start + 1
        bigrams, trigrams = second * base + numbers, (first * base + second) * base + numbers
        lower = self.bigrams.interpolate(bigrams, second, self.unigrams[numbers])
        return self.trigrams.interpolate(trigrams, first * base + second, lower)


def fit(texts: Iterable[Sequence[str]], *, least: int = 2, discount: float | None = None) -> TrigramModel:
    """The model of these texts, each a sequence of words.

    least : words that stand in all texts together less often are mapped to one unknown word, before anything is counted
    discount : what is taken from every count, between 0 and 1; if None, of each order n1 / (n1 + 2 n2), with n1 and n2
        the numbers of n-grams that were counted once and twice (Ney et al. 1994), or .75 where either is 0
    Raises Incomputable unless there are words; ValueError for another discount.
    """
    if discount is not None and not 0 < discount < 1:
        raise ValueError(f"A discount lies between 0 and 1, not at {discount}.")
    rows = [list(words) for words in texts if words]
    if not rows:
        raise Incomputable("no_words")
    n_by_word = Counter(word for words in rows for word in words)
    vocabulary = sorted(word for word, n in n_by_word.items() if n >= least)
    number_by_word = {word: number for number, word in enumerate(vocabulary, UNKNOWN + 1)}
    base = len(vocabulary) + 2  # the unknown word, and the start of a text
    trigrams = np.concatenate([_list_trigrams(words, number_by_word, base) for words in rows])
    grams, counts = np.unique(trigrams, return_counts=True)
    # Lower orders count in how many different contexts an n-gram stands, not how often.
    pairs, n_before = np.unique(grams % base**2, return_counts=True)
    words, n_before_word = np.unique(pairs % base, return_counts=True)
    unigrams = np.zeros(base - 1)
    unigrams[words] = n_before_word
    return TrigramModel(
        number_by_word,
        _order(grams, counts, base, discount),
        _order(pairs, n_before, base, discount),
        _with_uniform(unigrams, discount),
    )


def _list_trigrams(words: Sequence[str], number_by_word: dict[str, int], base: int) -> IntArray:
    numbers = np.array([number_by_word.get(word, UNKNOWN) for word in words], dtype=np.int64)
    padded = np.concatenate([np.full(N_CONTEXT, base - 1), numbers])
    return np.asarray((padded[:-2] * base + padded[1:-1]) * base + numbers, dtype=np.int64)


def _order(grams: IntArray, counts: IntArray, base: int, discount: float | None) -> _Order:
    contexts, of_context, n_following = np.unique(grams // base, return_inverse=True, return_counts=True)
    return _Order(
        grams=grams,
        counts=counts.astype(np.float64),
        contexts=contexts,
        totals=np.bincount(of_context, weights=counts).astype(np.float64),
        n_following=n_following.astype(np.float64),
        discount=_estimate_discount(counts) if discount is None else discount,
    )


def _with_uniform(counts: FloatArray, discount: float | None) -> FloatArray:
    """The lowest order, interpolated with the uniform distribution over the vocabulary."""
    amount = _estimate_discount(counts[counts > 0]) if discount is None else discount
    spread = amount * (counts > 0).sum() / counts.sum()
    return np.asarray(np.maximum(counts - amount, 0) / counts.sum() + spread / len(counts), dtype=np.float64)


def _estimate_discount(counts: IntArray | FloatArray) -> float:
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    return once / (once + 2 * twice) if once and twice else 0.75


def _look_up(keys: IntArray, values: FloatArray, wanted: IntArray) -> FloatArray:
    """The value of each key that is wanted, 0 where there is none. keys : sorted"""
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, values[places], 0.0)
