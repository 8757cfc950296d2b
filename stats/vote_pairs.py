"""Pairs of stories from votes: on one prompt, the one with more votes chosen, filtered as LitBench's pairs are.

Stories are numbers here: shape (S,) for each property. Pairs are indices into them.
Source: Fein et al. 2025, LitBench, section 3.2, figures 1 and 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from stats.arrays import BoolArray, FloatArray, IntArray

N_BUCKETS = 100
STORY_FILTERS = ("upvotes", "tokens", "words")
PAIR_FILTERS = ("margin", "later", "balance")
FILTERS = (*STORY_FILTERS, *PAIR_FILTERS)
MOST_CELLS = 1_000_000  # of one comparison of all with all; more are compared in parts

Indices = npt.NDArray[np.int32]


@dataclass(frozen=True)
class VoteFilters:
    """What is asked of stories and pairs.

    margin : the least (chosen − rejected) / chosen of votes
    left_out : names of filters that are not applied, to see what each does
    """

    least_upvotes: int = 10
    most_tokens: int = 2048
    least_words: int = 50
    margin: float = 0.25
    left_out: frozenset[str] = frozenset()

    def without(self, name: str) -> VoteFilters:
        return replace(self, left_out=self.left_out | {name})


@dataclass(frozen=True)
class RatedStories:
    """Stories with their votes. prompts : number of the prompt; posted : in seconds. All of shape (S,)."""

    prompts: IntArray
    upvotes: IntArray
    posted: FloatArray
    n_words: IntArray
    n_tokens: IntArray


@dataclass(frozen=True)
class LengthBalance:
    """A histogram of length differences, chosen − rejected, pruned until it is symmetric.

    is_kept : of the pairs, shape (P,)
    edges : of the buckets, ascending, shape (101,); empty if no two lengths differ
    before, after : pairs in each bucket, shape (100,); those of one length stand in none and are all kept
    """

    is_kept: BoolArray
    edges: FloatArray
    before: IntArray
    after: IntArray


@dataclass(frozen=True)
class VotePairs:
    """The pairs of some stories that pass the filters.

    chosen, rejected : indices of stories, shape (P,)
    counts : what is left after each filter in turn, stories first: "stories" and "pairs" are those before any
    n_longer, n_shorter : pairs whose chosen story is the longer, the shorter one, before the lengths are balanced
    balance : None if that filter is left out
    """

    chosen: Indices
    rejected: Indices
    counts: Mapping[str, int]
    n_longer: int
    n_shorter: int
    balance: LengthBalance | None


def find_pairs(stories: RatedStories, filters: VoteFilters, *, rng: np.random.Generator) -> VotePairs:
    """Every pair of stories on one prompt that passes the filters, of which the one with more votes is chosen.

    The filters come in the order of `FILTERS`; which pairs go for the balance of lengths is drawn.
    """
    is_kept = np.ones(len(stories.prompts), dtype=np.bool_)
    counts = {"stories": len(is_kept)}
    for name, passes in _story_tests(stories, filters).items():
        if name not in filters.left_out:
            is_kept &= passes
            counts[name] = int(is_kept.sum())
    chosen, rejected, of_pairs = _collect(stories, np.flatnonzero(is_kept), filters)
    counts |= of_pairs
    differences = stories.n_words[chosen] - stories.n_words[rejected]
    balance = None
    if "balance" not in filters.left_out:
        balance = balance_lengths(differences, rng=rng)
        chosen, rejected = chosen[balance.is_kept], rejected[balance.is_kept]
        counts["balance"] = len(chosen)
    return VotePairs(chosen, rejected, counts, int((differences > 0).sum()), int((differences < 0).sum()), balance)


def _story_tests(stories: RatedStories, filters: VoteFilters) -> dict[str, BoolArray]:
    return {
        "upvotes": stories.upvotes >= filters.least_upvotes,
        "tokens": stories.n_tokens <= filters.most_tokens,
        "words": stories.n_words >= filters.least_words,
    }


def _collect(stories: RatedStories, members: IntArray, filters: VoteFilters) -> tuple[Indices, Indices, dict[str, int]]:
    """The pairs of these stories, and how many there are after each filter of pairs but the last."""
    names = [name for name in ("margin", "later") if name not in filters.left_out]
    counts = dict.fromkeys(["pairs", *names], 0)
    parts: list[tuple[Indices, Indices]] = []
    for first, second in _comparisons(stories, members):
        counts["pairs"] += len(first)
        tests = {
            # As a product: where the chosen story has no votes at all there is no share of them.
            "margin": stories.upvotes[first] - stories.upvotes[second] >= filters.margin * stories.upvotes[first],
            "later": stories.posted[first] > stories.posted[second],
        }
        is_kept = np.ones(len(first), dtype=np.bool_)
        for name in names:
            is_kept &= tests[name]
            counts[name] += int(is_kept.sum())
        parts.append((first[is_kept], second[is_kept]))
    nothing = np.array([], dtype=np.int32)
    chosen = np.concatenate([part for part, _other in parts]) if parts else nothing
    rejected = np.concatenate([part for _other, part in parts]) if parts else nothing
    return chosen, rejected, counts


def _comparisons(stories: RatedStories, members: IntArray) -> Iterator[tuple[Indices, Indices]]:
    """Stories on one prompt with more and with fewer votes, prompt by prompt, so that not all are held at once."""
    ordered = members[np.argsort(stories.prompts[members], kind="stable")].astype(np.int32)
    if not len(ordered):
        return
    begins = np.flatnonzero(np.diff(stories.prompts[ordered], prepend=-1))
    for begin, end in zip(begins, [*begins[1:], len(ordered)], strict=True):
        group = ordered[begin:end]
        votes = stories.upvotes[group]
        n_rows = max(1, MOST_CELLS // len(group))
        for start in range(0, len(group), n_rows):
            rows, columns = np.nonzero(votes[start : start + n_rows, np.newaxis] > votes)
            yield group[start + rows], group[columns]


def balance_lengths(differences: npt.ArrayLike, *, rng: np.random.Generator) -> LengthBalance:
    """Which pairs are kept so that as many chosen stories are longer by so much as are shorter by so much.

    The buckets mirror one another at 0: of each two that do, the fuller one is thinned out by chance.

    differences : chosen − rejected, in whole units, shape (P,)
    Source: Fein et al. 2025, section 3.2, which says no more than: 100 buckets, pruned until symmetric.
    """
    lengths = np.asarray(differences, dtype=np.int64)
    half, largest = N_BUCKETS // 2, int(np.abs(lengths).max(initial=0))
    if not largest:
        empty = np.zeros(N_BUCKETS, dtype=np.int64)
        return LengthBalance(np.ones(len(lengths), dtype=np.bool_), np.array([]), empty, empty)
    # In whole numbers, so that a difference and its opposite never fall into buckets that are no mirror images.
    distances = np.minimum(np.abs(lengths) * half // largest, half - 1)
    is_kept = np.ones(len(lengths), dtype=np.bool_)
    for distance in range(half):
        of_bucket = distances == distance
        sides = [np.flatnonzero(of_bucket & (lengths > 0)), np.flatnonzero(of_bucket & (lengths < 0))]
        n_kept = min(map(len, sides))
        for side in sides:
            is_kept[rng.permutation(side)[n_kept:]] = False
    buckets = np.where(lengths > 0, half + distances, half - 1 - distances)
    differs = lengths != 0
    return LengthBalance(
        is_kept=is_kept,
        edges=np.linspace(-largest, largest, N_BUCKETS + 1),
        before=np.bincount(buckets[differs], minlength=N_BUCKETS).astype(np.int64),
        after=np.bincount(buckets[differs & is_kept], minlength=N_BUCKETS).astype(np.int64),
    )
