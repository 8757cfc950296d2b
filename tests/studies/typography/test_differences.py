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


@pytest.mark.parametrize(
    ("before", "after", "passages"),
    [
        (
            "# The Ferry\n\nThe ferry left.",
            "The ferry left.",
            [("gone", "# The Ferry\n\n"), ("same", "The ferry left.")],
        ),
        ("It left. Done!", "It left.", [("same", "It left."), ("gone", " Done!")]),
        ("One.\nTwo.", "One.\n\nTwo.", [("same", "One."), ("gone", "\n"), ("new", "\n\n"), ("same", "Two.")]),
        # The blank between them is no word that both have.
        ("big red dog", "small green cat", [("gone", "big red dog"), ("new", "small green cat")]),
    ],
)
def test_a_word_that_stays_is_not_marked_for_what_went_before_it(
    before: str, after: str, passages: list[tuple[str, str]]
) -> None:
    assert [(passage.kind, passage.text) for passage in find_differences(before, after)] == passages
