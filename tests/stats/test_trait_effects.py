"""What a judge gives for a trait at equal worth to people: planted sizes come back, and what is no bias shows none."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from stats import trait_effects
from stats.arrays import FloatArray
from stats.intervals import Interval
from stats.reasons import Incomputable
from stats.trait_effects import EffectPart, TraitEffect

U = 60
CLUSTERS = np.arange(U) // 4
OWN: FloatArray = np.asarray(np.arange(U) % 2, dtype=np.float64)


def worth(seed: int = 1, *, by_trait: float = 0.0) -> FloatArray:
    """Of two items, shape (2, U); more for the trait."""
    rng = np.random.default_rng(seed)
    return rng.normal(0, 1, U) + rng.normal(0, 0.5, (2, U)) + by_trait * OWN


def raters(worth: FloatArray, *, error: float = 0.0, n: int = 3, seed: int = 2) -> FloatArray:
    return worth[:, np.newaxis] + error * np.random.default_rng(seed).normal(0, 1, (len(worth), n, U))


def part(effect: TraitEffect) -> EffectPart:
    assert isinstance(effect.effect, EffectPart)
    return effect.effect


def compute(judge: FloatArray, people: FloatArray, trait: FloatArray = OWN, **options: Any) -> TraitEffect:
    return trait_effects.trait_effect(judge, people, trait, CLUSTERS, **options)


@pytest.mark.parametrize("always", [0.0, 1.0])
def test_a_judge_that_always_says_the_same_has_exactly_nothing(always: float) -> None:
    people = (raters(worth(by_trait=1), error=0.5) > 0.5).astype(float)

    effect = compute(np.full((2, U), always), people, are_verdicts=True)

    for of_judge in (effect.effect, effect.at_equal_ratings, effect.among_yes, effect.among_no):
        assert isinstance(of_judge, EffectPart)
        assert of_judge.value == 0
        assert isinstance(of_judge.interval, Incomputable)
        assert of_judge.interval.code == "judge_constant"
    assert effect.p is None


@pytest.mark.parametrize("planted", [0.0, 0.5])
def test_on_a_narrower_scale_what_people_prefer_is_no_bias_and_a_planted_one_keeps_its_size(planted: float) -> None:
    stories = worth(by_trait=1)

    effect = compute(3 + 0.3 * (stories - 3) + planted * OWN, raters(stories))

    assert part(effect).value == pytest.approx(planted)
    assert isinstance(effect.at_equal_ratings, EffectPart)
    assert effect.at_equal_ratings.value == pytest.approx(planted)
    assert effect.people == pytest.approx(stories[:, 1::2].mean() - stories[:, ::2].mean())


def test_a_slope_on_length_is_what_the_judge_has_beyond_that_of_people() -> None:
    doublings = np.random.default_rng(3).normal(9, 0.7, U)
    stories = worth() + 0.4 * doublings

    effect = compute(0.5 * stories + 0.2 * doublings, raters(stories), doublings)

    assert part(effect).value == pytest.approx(0.2)


def test_a_fair_judge_seems_biased_at_equal_ratings_of_three_who_err_and_is_not_once_their_error_is_off() -> None:
    effects = []
    for seed in range(40):
        stories = worth(seed, by_trait=1)
        effects.append(compute(stories, raters(stories, error=1.0, seed=1000 + seed)))

    # The mean of three has a reliability of 1.25 / (1.25 + 1 / 3): .21 of the difference of 1 leaks.
    held = [effect.at_equal_ratings.value for effect in effects if isinstance(effect.at_equal_ratings, EffectPart)]
    assert np.mean(held) == pytest.approx(0.21, abs=0.05)
    values = [effect.effect.value for effect in effects if isinstance(effect.effect, EffectPart)]
    assert len(values) > 30
    assert np.mean(values) == pytest.approx(0, abs=0.05)


def test_how_severe_raters_are_and_in_which_order_they_stand_changes_nothing() -> None:
    stories = worth()
    people = raters(stories, error=0.7)
    before = compute(stories + 0.3 * OWN, people)

    after = compute(stories + 0.3 * OWN, (people + np.array([[[2.0], [0], [-1]]]))[:, ::-1])

    assert part(after).value == pytest.approx(part(before).value)


def test_the_interval_leaves_out_0_where_p_is_below_5_percent() -> None:
    stories = worth()
    judge = stories + np.random.default_rng(5).normal(0, 0.5, stories.shape)
    for planted in np.linspace(0, 0.6, 13):
        of_effect = part(compute(judge + planted * OWN, raters(stories, error=0.7)))
        assert isinstance(of_effect.interval, Interval)
        assert of_effect.p is not None
        assert (of_effect.interval.low > 0 or of_effect.interval.high < 0) == (of_effect.p < 0.05)


def test_it_is_claimed_only_where_both_numbers_point_the_same_way() -> None:
    stories = worth()
    effect = compute(stories + 0.5 * OWN + 0.1 * np.sin(np.arange(U)), raters(stories, error=0.3))
    held = effect.at_equal_ratings
    assert isinstance(held, EffectPart)
    assert effect.p is not None
    assert effect.p == max(p for p in (part(effect).p, held.p) if p is not None)

    assert replace(effect, at_equal_ratings=replace(held, value=-held.value)).p == 1


def test_among_yes_and_no_of_most_people_by_hand() -> None:
    # Of eight stories most say Yes to the first four; the judge says Yes to both with the trait and one without.
    people = np.repeat([[[1.0, 1, 1, 1, 0, 0, 0, 0]]], 3, axis=1)
    own = np.array([1.0, 1, 0, 0, 1, 1, 0, 0])
    judge = np.array([[1.0, 1, 1, 0, 1, 0, 0, 0]])

    effect = trait_effects.trait_effect(judge, people, own, np.arange(8), are_verdicts=True)

    among = (effect.among_yes, effect.among_no, effect.at_equal_ratings)
    assert [(row.value, row.n_with, row.n_without) for row in among if isinstance(row, EffectPart)] == [
        (0.5, 2, 2),
        (0.5, 2, 2),
        (0.5, 0, 0),
    ]


def test_what_cannot_be_told_says_why() -> None:
    stories = worth()
    people = raters(stories)
    noise = np.random.default_rng(7).normal(0, 1, (2, 3, U))

    with pytest.raises(Incomputable) as alike:
        compute(stories, people, np.ones(U))
    with pytest.raises(Incomputable) as few:
        compute(stories, people, (np.arange(U) < 3).astype(float))
    reasons = [compute(stories, two_or_noise).effect for two_or_noise in (people[:, :2], noise)]

    assert (alike.value.code, few.value.code) == ("stories_alike_in_it", "too_few_to_compare")
    codes = [reason.code for reason in reasons if isinstance(reason, Incomputable)]
    assert codes == ["too_few_raters_for_error", "people_agree_too_little"]


def test_a_trait_that_varies_between_items_alone_is_no_difference() -> None:
    # The first item is about the stories with the trait, the second about those without.
    people = raters(worth())
    people[0, :, OWN == 0] = people[1, :, OWN == 1] = np.nan

    for judge in (worth(), np.full((2, U), 3.0)):
        with pytest.raises(Incomputable) as error:
            compute(judge, people)
        assert error.value.code == "stories_alike_in_it"


@pytest.mark.parametrize("by_trait", [0.0, 1.0])
def test_people_who_rate_all_alike_but_for_the_trait_are_not_said_to_disagree(by_trait: float) -> None:
    people = raters(np.tile(3 + by_trait * OWN, (2, 1)))

    effect = compute(worth(), people).effect

    assert isinstance(effect, Incomputable)
    assert effect.code == "people_rate_alike"


@pytest.mark.parametrize(("n", "method", "words"), [(2, "jackknife", "for these raters alone"), (3, "crossed", "and")])
def test_an_interval_is_for_other_raters_only_where_they_are_left_out(n: int, method: str, words: str) -> None:
    effect = compute(worth(8), raters(worth(), error=0.5, n=n)).at_equal_ratings

    assert isinstance(effect, EffectPart)
    assert isinstance(effect.interval, Interval)
    assert effect.interval.method == method
    assert words in effect.interval.note


def test_a_story_that_stands_in_several_groups_counts_once() -> None:
    twice = np.arange(U) // 4 * 2 + OWN  # of every four units two are of each story
    effect = compute(worth(8), raters(worth(), error=0.5), stories=twice)
    assert (effect.n_stories, effect.n_with) == (U // 2, U // 4)

    with pytest.raises(Incomputable) as few:
        compute(worth(8), raters(worth()), stories=np.arange(U) % 6)  # three with the trait
    assert few.value.code == "too_few_to_compare"
