"""The difference between two wordings, word by word."""

import random

import pytest

from studies.typography.differences import find_differences, shorten

WORDS = ["the", "order", "means", "nothing.\n\n", "Please", "use", "no", "help"]


@pytest.mark.parametrize("seed", range(20))
def test_both_wordings_can_be_read_from_the_passages(seed: int) -> None:
    rng = random.Random(seed)
    before, after = (" ".join(rng.choices(WORDS, k=rng.randrange(30))) for _n in range(2))

    passages = find_differences(before, after)

    assert "".join(p.text for p in passages if p.kind != "new") == before
    assert "".join(p.text for p in passages if p.kind != "gone") == after


def test_what_stays_is_cut_down_to_the_words_around_what_does_not() -> None:
    passages = find_differences("one two three four five six seven", "one two three X five six seven")

    assert [p.text for p in shorten(passages, n_words=1)] == ["… three", " four", " X", " five …"]
