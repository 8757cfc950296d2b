"""Named procedures for published figures of pairs that votes decide; see `reports.replications.procedures`."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import numpy as np

from reports.replications.procedures import Evidence, Figures, figure_or_reason
from reports.replications.voted_pairs import VotedPairs
from stats import intervals
from stats.arrays import FloatArray
from stats.judge_orders import PairChoices, pair_choices
from stats.reasons import Incomputable


def n_pairs(evidence: Evidence) -> Figures:
    """Pairs of which votes chose a story."""
    return {(): float(np.isfinite(_pairs(evidence).preferred).sum())}


def n_pair_stories(evidence: Evidence) -> Figures:
    """Stories in pairs, each once."""
    return {(): float(len(_pairs(evidence).n_words))}


def n_pair_texts(evidence: Evidence) -> Figures:
    """Those of them that have a text."""
    return {(): float(np.isfinite(_pairs(evidence).n_words).sum())}


def n_prompts(evidence: Evidence) -> Figures:
    """Prompts of pairs, those that are known."""
    prompts = _pairs(evidence).prompts
    return {(): float(len(np.unique(prompts[prompts >= 0])))}


def story_length(evidence: Evidence, *, words: int) -> Figures:
    """The mean length of a story, in so many words."""
    return {(): figure_or_reason(_mean, _pairs(evidence).n_words / words)}


def longer_chosen(evidence: Evidence) -> Figures:
    """Of the pairs of two lengths, the share in which the chosen story is the longer one."""
    pairs = _pairs(evidence)
    chosen, rejected = pairs.by_side(pairs.n_words).T
    differences = (chosen - rejected)[np.isfinite(chosen - rejected) & (chosen != rejected)]
    return {(): figure_or_reason(_mean, (differences > 0).astype(np.float64))}


def least_upvotes(evidence: Evidence) -> Figures:
    """The fewest votes of a chosen story and of a rejected one."""
    pairs = _pairs(evidence)
    sides = pairs.by_side(pairs.upvotes).T
    return {
        (name,): figure_or_reason(_least, upvotes) for name, upvotes in zip(("chosen", "rejected"), sides, strict=True)
    }


def stories_before(evidence: Evidence, *, year: int) -> Figures:
    """Stories that were posted before that year, in UTC."""
    posted = _pairs(evidence).posted
    if not np.isfinite(posted).any():
        return {(): Incomputable("nothing_to_average")}
    return {(): float((posted < datetime(year, 1, 1, tzinfo=UTC).timestamp()).sum())}


def outside_filters(
    evidence: Evidence, *, least_upvotes: int, most_tokens: int, least_words: int, margin: float
) -> Figures:
    """Pairs that do not pass each filter, of those of which it is known."""
    pairs = _pairs(evidence)
    upvotes, n_words, n_tokens, posted = (
        pairs.by_side(of) for of in (pairs.upvotes, pairs.n_words, pairs.n_tokens, pairs.posted)
    )
    fails = {
        "upvotes": (upvotes < least_upvotes).any(axis=1),
        "tokens": (n_tokens > most_tokens).any(axis=1),
        "words": (n_words < least_words).any(axis=1),
        "margin": upvotes[:, 0] - upvotes[:, 1] < margin * upvotes[:, 0],
        "later": posted[:, 0] <= posted[:, 1],
    }
    rests_on = {"upvotes": upvotes, "tokens": n_tokens, "words": n_words, "margin": upvotes, "later": posted}
    return {
        (name,): float(failing.sum())
        if np.isfinite(rests_on[name]).all(axis=1).any()
        else Incomputable("nothing_to_average")
        for name, failing in fails.items()
    }


def judge_pair_accuracy(evidence: Evidence, *, trained: Sequence[str], is_trained: bool) -> Figures:
    """The share of pairs in which a judge chooses what votes chose, the mean over both orders.

    trained : names of judges that were trained on such pairs; is_trained : whether it is these, or all others
    """
    figures = _by_judge(evidence, lambda choices: choices.right)
    return {at: figure for at, figure in figures.items() if (at[0] in trained) == is_trained}


def judge_pair_interval(evidence: Evidence, *, seed: int) -> Figures:
    """The 95 % interval of that share over prompts."""
    pairs = _pairs(evidence)
    figures: Figures = {}
    for name, judge in pairs.judges.items():
        right = pair_choices(judge.chosen, pairs.preferred).right
        try:
            ends = intervals.mean_interval(right, pairs.prompts, rng=np.random.default_rng(seed)).clipped(0, 1)
            figures |= {(name, "low"): ends.low, (name, "high"): ends.high}
        except Incomputable as reason:
            figures |= {(name, "low"): reason, (name, "high"): reason}
    return figures


def judge_flip_rate(evidence: Evidence) -> Figures:
    """Of the pairs that a judge chose from in both orders, the share in which its choice changes with the order."""
    return _by_judge(evidence, lambda choices: choices.changed, has_orders=True)


def judge_first_rate(evidence: Evidence) -> Figures:
    """The share of choices that are of the story shown first."""
    return _by_judge(evidence, lambda choices: choices.first, has_orders=True)


def judge_pairs_chosen(evidence: Evidence) -> Figures:
    """Pairs with a choice that can be read, in one order or in both."""
    pairs = _pairs(evidence)
    return {(name,): float(np.isfinite(of.chosen).any(axis=1).sum()) for name, of in pairs.judges.items()}


def judge_pair_answers_lost(evidence: Evidence) -> Figures:
    """Answers from which no choice can be read; of rewards, pairs of two equal ones."""
    return {(name,): float(judge.n_lost) for name, judge in _pairs(evidence).judges.items()}


def _by_judge(evidence: Evidence, shares: Callable[[PairChoices], FloatArray], *, has_orders: bool = False) -> Figures:
    """The mean share of every judge; with has_orders of those alone that were shown pairs in an order."""
    pairs = _pairs(evidence)
    return {
        (name,): figure_or_reason(_mean, shares(pair_choices(judge.chosen, pairs.preferred)))
        for name, judge in pairs.judges.items()
        if judge.has_orders or not has_orders
    }


def _pairs(evidence: Evidence) -> VotedPairs:
    if evidence.pairs is None:
        raise ValueError("The step asks for no choice in pairs.")
    return evidence.pairs


def _mean(values: FloatArray) -> float:
    present = values[np.isfinite(values)]
    if not present.size:
        raise Incomputable("nothing_to_average")
    return float(present.mean())


def _least(values: FloatArray) -> float:
    present = values[np.isfinite(values)]
    if not present.size:
        raise Incomputable("nothing_to_average")
    return float(present.min())


PROCEDURES: dict[str, Callable[..., Figures]] = {
    procedure.__name__: procedure
    for procedure in (
        n_pairs,
        n_pair_stories,
        n_pair_texts,
        n_prompts,
        story_length,
        longer_chosen,
        least_upvotes,
        stories_before,
        outside_filters,
        judge_pair_accuracy,
        judge_pair_interval,
        judge_flip_rate,
        judge_first_rate,
        judge_pairs_chosen,
        judge_pair_answers_lost,
    )
}
