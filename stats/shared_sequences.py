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


def find_near_copies(
    texts: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    *,
    own: Sequence[int],
    near: float,
    length: int = 5,
) -> list[bool]:
    """Which references have more than that share of their sequences, or of its, with a text or an earlier reference.

    own : for each text its index among the references, -1 for none: a reference is no copy of itself
    Of several references that are near-copies of one another the first stays, unless it is a near-copy of a text.
    """
    sequences = [_list_sequences(words, length) for words in texts]
    members: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, of_text in enumerate(sequences):
        for sequence in of_text:
            members[sequence].append(number)
    texts_of: dict[int, set[int]] = defaultdict(set)
    for number, reference in enumerate(own):
        texts_of[reference].add(number)
    is_copy = []
    for place, words in enumerate(references):
        of_reference = _list_sequences(words, length)
        counts = Counter(number for sequence in of_reference for number in members.get(sequence, ()))
        others = [number for number in counts if number not in texts_of[place]]
        is_copy.append(any(counts[n] > near * min(len(of_reference), len(sequences[n])) for n in others))
        if not is_copy[-1] and not texts_of[place]:
            sequences.append(of_reference)
            for sequence in of_reference:
                members[sequence].append(len(sequences) - 1)
    return is_copy


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
