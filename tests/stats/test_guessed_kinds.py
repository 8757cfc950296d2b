"""Who tells stories of persons from those of models: raters who guess blindly seldom, whatever they like to say."""

import numpy as np
import pytest

from stats.guessed_kinds import told_kinds
from stats.intervals import Interval
from stats.reasons import Incomputable
from stats.source_model import CrossedAnswers, SourceModel

NARROW = Interval(0.55, 0.6, 24)


def guesses(
    rng: np.random.Generator, *, n_raters: int, of_source: float, told: float = 0.0
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Of 12 premises with a story of a person and three models', read by all: whose are of models, which are called so.

    of_source : how much raters differ in what they make of a source; the first always says "a person"
    told : the share of guesses that are right whatever else
    """
    block, source = np.repeat(np.arange(12), 4), np.tile(np.arange(4), 12)
    bias = np.concatenate([[-9.0], rng.normal(0, 0.7, n_raters - 1)])
    worth = bias[:, None] + rng.normal(0, of_source, (n_raters, 4))[:, source] + rng.normal(0, 0.5, 48)
    says_model = worth + rng.normal(size=worth.shape) > 0
    is_model = np.tile(source > 0, (n_raters, 1))
    says_model = np.where(rng.random(worth.shape) < told, is_model, says_model)
    rater = np.repeat(np.arange(n_raters), 48)
    labels = {"block": np.tile(block, n_raters), "rater": rater, "story": np.tile(np.arange(48), n_raters)}
    return is_model.ravel(), says_model.ravel(), labels


@pytest.mark.parametrize(("n_raters", "of_source"), [(3, 0.5), (5, 0.5), (5, 0.0)])
def test_raters_who_cannot_tell_are_seldom_said_to(n_raters: int, of_source: float) -> None:
    rng = np.random.default_rng(8)
    drawn = [guesses(rng, n_raters=n_raters, of_source=of_source) for _study in range(120)]

    found = [told_kinds(m, s, **labels, narrow=NARROW) for m, s, labels in drawn]

    # One side of 95 %: with 120 studies 2.5 % has an upper end of 6.
    assert np.mean([said.p < 0.05 and 2 * said.interval.low > 1 for said in found]) <= 0.06


def test_raters_who_can_tell_are_said_to() -> None:
    rng = np.random.default_rng(9)
    drawn = [guesses(rng, n_raters=6, of_source=0.3, told=0.5) for _study in range(20)]

    found = [told_kinds(m, s, **labels, narrow=NARROW) for m, s, labels in drawn]

    assert np.mean([said.interval.low > 0.5 for said in found]) > 0.8


def test_the_interval_is_half_of_the_contrast_about_chance_and_holds_that_for_the_same_raters() -> None:
    is_model, says_model, labels = guesses(np.random.default_rng(10), n_raters=6, of_source=0.3, told=0.5)
    ends = SourceModel(CrossedAnswers(says_model * 1.0, is_model * 1, **labels)).contrast(1, 0, other_raters=True)
    by_model = ends.interval(12)

    within = told_kinds(is_model, says_model, **labels, narrow=Interval(0.75, 0.76, 12)).interval
    beyond = told_kinds(is_model, says_model, **labels, narrow=Interval(0.1, 0.99, 12)).interval

    assert (within.low, within.high) == (pytest.approx(0.5 + by_model.low / 2), pytest.approx(0.5 + by_model.high / 2))
    assert (beyond.low, beyond.high) == (0.1, 0.99)


def test_one_rater_says_nothing_of_others() -> None:
    is_model, says_model, labels = guesses(np.random.default_rng(11), n_raters=2, of_source=0.0)
    alone = labels["rater"] == 1
    with pytest.raises(Incomputable) as refusal:
        told_kinds(is_model[alone], says_model[alone], **{k: v[alone] for k, v in labels.items()}, narrow=NARROW)

    assert refusal.value.code == "raters_not_crossed"


def test_of_raters_who_read_one_kind_each_nothing_is_said() -> None:
    # Who reads people's stories says "a person" oftener: their habit, or their stories?
    is_model = np.repeat([False, True], 60)
    says_model = np.arange(120) % np.repeat([3, 2], 60) == 0
    with pytest.raises(Incomputable) as refusal:
        told_kinds(
            *(is_model, says_model),
            block=np.arange(120) // 10,
            rater=np.arange(120) // 20,
            story=np.arange(120) // 2,
            narrow=NARROW,
        )

    assert refusal.value.code in {"no_shared_premise", "sources_not_linked"}
