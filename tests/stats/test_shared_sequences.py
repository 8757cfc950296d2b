"""Sequences of words that two texts share, by hand."""

import pytest

from stats.reasons import Incomputable
from stats.shared_sequences import LargestShare, find_largest_shares

TEXTS = [line.split() for line in ("a b c d", "x a b c", "a b c d e f", "q r", "q r s t")]


def test_the_largest_share_is_of_the_texts_own_sequences() -> None:
    shares = find_largest_shares(TEXTS, TEXTS, own=range(5), length=3)

    # abc bcd: both in the third. xab abc: abc is in the first and the third. abc bcd cde def: two in the first.
    # Two words make no sequence of three, and what nobody shares is 0.
    assert shares == [LargestShare(2, 1.0), LargestShare(0, 0.5), LargestShare(0, 0.5), None, LargestShare(-1, 0.0)]


def test_a_second_copy_is_found_and_a_text_is_none_of_itself() -> None:
    texts = [TEXTS[0], TEXTS[0]]

    assert find_largest_shares(texts, texts, own=[0, 1]) == [None, None]
    assert find_largest_shares(texts, texts, own=[0, 1], length=3) == [LargestShare(1, 1.0), LargestShare(0, 1.0)]
    assert find_largest_shares(texts[:1], texts[:1], own=[-1], length=3) == [LargestShare(0, 1.0)]


def test_one_text_alone_has_nothing_to_be_compared_with() -> None:
    with pytest.raises(Incomputable, match="near to: 0, and 1 are asked for"):
        find_largest_shares(TEXTS[:1], TEXTS[:1], own=[0])
