"""How much of a text stands in another word for word: sequences of words that both have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from stats.reasons import Incomputable


@dataclass(frozen=True)
class LargestShare:
    """The reference that has most of a text's sequences. index : -1 if none has any; share : of the text's, 0 to 1"""

    index: int
    share: float


def find_largest_shares(
    texts: Sequence[Sequence[str]], references: Sequence[Sequence[str]], *, own: Sequence[int], length: int = 5
) -> list[LargestShare | None]:
    """For each text the reference that has the largest share of its different sequences of words; None if it has none.

    own : for each text its index among the references, -1 for none: nothing is a copy of itself
    length : words of a sequence; a text with fewer has none
    Of references with equal shares the first one counts. Raises Incomputable if there is no other reference.
    """
    if len(references) - bool(any(number >= 0 for number in own)) < 1:
        raise Incomputable("too_few_neighbours", k=1, n=0)
    references_by_sequence: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, words in enumerate(references):
        for sequence in _list_sequences(words, length):
            references_by_sequence[sequence].append(number)
    return [
        _find_largest(_list_sequences(words, length), references_by_sequence, own=number)
        for words, number in zip(texts, own, strict=True)
    ]


def _find_largest(
    sequences: set[tuple[str, ...]], references_by_sequence: dict[tuple[str, ...], list[int]], *, own: int
) -> LargestShare | None:
    if not sequences:
        return None
    counts = Counter(number for sequence in sequences for number in references_by_sequence.get(sequence, ()))
    counts.pop(own, None)
    if not counts:
        return LargestShare(-1, 0.0)
    index, n_shared = min(counts.items(), key=lambda item: (-item[1], item[0]))
    return LargestShare(index, n_shared / len(sequences))


def _list_sequences(words: Sequence[str], length: int) -> set[tuple[str, ...]]:
    return {tuple(words[n : n + length]) for n in range(len(words) - length + 1)}
