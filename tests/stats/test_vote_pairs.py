"""Pairs from votes, against a plain count of all pairs, and the symmetry of their lengths."""

from itertools import permutations

import numpy as np
import pytest

from stats.vote_pairs import FILTERS, RatedStories, VoteFilters, balance_lengths, find_pairs


def generated(n: int, *, seed: int = 5) -> RatedStories:
    """Stories near every limit of the filters, of which the longer ones get more votes."""
    rng = np.random.default_rng(seed)
    n_words = rng.integers(40, 2200, n)
    return RatedStories(
        prompts=rng.integers(0, max(1, n // 15), n),
        upvotes=rng.integers(5, 25, n) + n_words // 200,
        posted=rng.integers(0, 50, n).astype(np.float64),
        n_words=n_words,
        n_tokens=n_words + n_words // 8,
    )


def counted_plainly(stories: RatedStories, left_out: str = "") -> tuple[dict[str, int], set[tuple[int, int]]]:
    """What is left after each filter, story by story and pair by pair; and the pairs before the balance."""
    members = range(len(stories.prompts))
    counts = {"stories": len(members)}
    for name, passes in {
        "upvotes": lambda s: stories.upvotes[s] >= 10,
        "tokens": lambda s: stories.n_tokens[s] <= 2048,
        "words": lambda s: stories.n_words[s] >= 50,
    }.items():
        if name != left_out:
            members = [story for story in members if passes(story)]
            counts[name] = len(members)
    up, posted = stories.upvotes.tolist(), stories.posted.tolist()
    pairs = {(c, r) for c, r in permutations(members, 2) if stories.prompts[c] == stories.prompts[r] and up[c] > up[r]}
    counts["pairs"] = len(pairs)
    for name, passes in {
        "margin": lambda c, r: (up[c] - up[r]) / up[c] >= 0.25,
        "later": lambda c, r: posted[c] > posted[r],
    }.items():
        if name != left_out:
            pairs = {pair for pair in pairs if passes(*pair)}
            counts[name] = len(pairs)
    return counts, pairs


@pytest.mark.parametrize("left_out", ["", *FILTERS])
def test_pairs_and_counts_are_those_of_a_plain_count(left_out: str) -> None:
    stories = generated(400)
    filters = VoteFilters().without(left_out) if left_out else VoteFilters()

    pairs = find_pairs(stories, filters, rng=np.random.default_rng(0))

    counts, expected = counted_plainly(stories, left_out)
    assert {name: n for name, n in pairs.counts.items() if name != "balance"} == counts
    listed = set(zip(pairs.chosen.tolist(), pairs.rejected.tolist(), strict=True))
    assert len(listed) == len(pairs.chosen) > 100
    assert listed == expected if left_out == "balance" else listed < expected
    longer = sum(stories.n_words[c] > stories.n_words[r] for c, r in expected)
    assert pairs.n_longer == longer > pairs.n_shorter


def test_a_prompt_that_is_compared_in_parts_gives_the_same_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    stories = generated(200)
    whole = find_pairs(stories, VoteFilters(), rng=np.random.default_rng(0))

    monkeypatch.setattr("stats.vote_pairs.MOST_CELLS", 7)
    in_parts = find_pairs(stories, VoteFilters(), rng=np.random.default_rng(0))

    assert in_parts.counts == whole.counts
    assert np.array_equal(in_parts.chosen, whole.chosen)


def test_lengths_are_balanced_bucket_by_bucket_and_by_the_seed() -> None:
    differences = np.random.default_rng(1).normal(60, 300, 5000).astype(np.int64).clip(-1000, 1000)

    first, again = (balance_lengths(differences, rng=np.random.default_rng(7)) for _time in range(2))
    other = balance_lengths(differences, rng=np.random.default_rng(8))

    kept = differences[first.is_kept]
    assert (kept > 0).sum() == (kept < 0).sum() > 1000
    assert (first.after == first.after[::-1]).all()
    assert (first.after == np.minimum(first.before, first.before[::-1])).all()
    assert np.allclose(first.edges, -first.edges[::-1])
    assert len(first.edges) == 101
    for side in (kept[kept > 0], -kept[kept < 0]):
        assert (np.histogram(side, first.edges[50:])[0] == first.after[50:]).all()
    assert (differences == 0).sum() == (kept == 0).sum() > 0
    assert np.array_equal(first.is_kept, again.is_kept)
    assert not np.array_equal(first.is_kept, other.is_kept)


def test_pairs_of_one_length_are_all_kept() -> None:
    balance = balance_lengths([0, 0, 0], rng=np.random.default_rng(0))

    assert balance.is_kept.all()
    assert not balance.before.any()


def test_stories_that_all_fail_make_no_pairs() -> None:
    pairs = find_pairs(generated(50), VoteFilters(least_upvotes=1000), rng=np.random.default_rng(0))

    assert len(pairs.chosen) == 0
    assert pairs.counts["balance"] == 0
