"""Interpolated Kneser–Ney: a case by hand, sums to 1, unknown words, and that it is quick enough to be used."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stats import kneser_ney
from stats.reasons import Incomputable

TEXTS = ["a b a b c".split(), "a b".split()]  # noqa: SIM905
words_of = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=30)


def test_a_case_by_hand() -> None:
    model = kneser_ney.fit(TEXTS, least=1, discount=0.5)

    # Trigrams: ..a 2, .ab 2, aba 1, bab 1, abc 1. Different words before: .a 1, ab 2, ba 1, bc 1; a 2, b 1, c 1.
    # Vocabulary a, b, c and the unknown word. Of 4 pairs: p(a) = 1.5/4 + (.5 · 3/4)/4.
    uniform = 0.5 * 3 / 4 / 4
    p_a, p_b, p_c = 1.5 / 4 + uniform, 0.5 / 4 + uniform, 0.5 / 4 + uniform
    # After b: two pairs, ba and bc, one each. After a: one pair, ab, with 2.
    p_a_after_b, p_c_after_b = (0.5 / 2 + 0.5 * 2 / 2 * p for p in (p_a, p_c))
    p_b_after_a = 1.5 / 2 + 0.5 * 1 / 2 * p_b
    # After "a b": a and c once each. After "b a": b once.
    assert model.probabilities(["a"], context=["a", "b"])[0] == pytest.approx(0.5 / 2 + 0.5 * 2 / 2 * p_a_after_b)
    assert model.probabilities(["c"], context=["a", "b"])[0] == pytest.approx(0.5 / 2 + 0.5 * 2 / 2 * p_c_after_b)
    assert model.probabilities(["b"], context=["b", "a"])[0] == pytest.approx(0.5 / 1 + 0.5 * 1 / 1 * p_b_after_a)
    # "c c" was never seen, nor was anything after c: what is left is how many words a word follows.
    assert model.probabilities(["b"], context=["c", "c"])[0] == pytest.approx(p_b)
    assert model.probabilities(["new"], context=["c", "c"])[0] == pytest.approx(uniform)


def test_the_mean_over_a_text_is_that_of_its_words() -> None:
    model = kneser_ney.fit(TEXTS, least=1)

    surprise = model.surprise(["a", "b", "d"])

    parts = [model.probabilities([w], context=c)[0] for w, c in (("b", ["a"]), ("d", ["a", "b"]))]
    start = model.probabilities(["a"])[0]
    assert surprise.mean == pytest.approx(-np.log([start, model.probabilities(["a", "b"])[1], parts[1]]).mean())
    assert (surprise.n_words, surprise.n_unknown) == (3, 1)
    assert surprise.perplexity == pytest.approx(np.exp(surprise.mean))


@given(st.lists(words_of, min_size=1, max_size=5), words_of, st.integers(1, 3))
def test_what_may_come_next_sums_to_one_after_any_context(
    texts: list[list[str]], context: list[str], least: int
) -> None:
    model = kneser_ney.fit(texts, least=least)

    vocabulary = [*model.number_by_word, "unknown"]
    total = sum(model.probabilities([word], context=context)[0] for word in vocabulary)
    assert len(vocabulary) == model.n_vocabulary
    assert total == pytest.approx(1)


def test_rare_words_are_unknown_before_anything_is_counted() -> None:
    model = kneser_ney.fit([["a", "b", "a", "x"], ["a", "b", "a", "y"]])

    assert set(model.number_by_word) == {"a", "b"}
    after = model.probabilities(["x"], context=["b", "a"])[0]
    assert after == model.probabilities(["never seen"], context=["b", "a"])[0] > 0.5


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "There are no words."),
        (["une", "autre", "a"], "2 of its 3 words .* another language. Compare it with texts in its own."),
    ],
)
def test_no_words_and_another_language_have_no_surprise(words: list[str], sentence: str) -> None:
    with pytest.raises(Incomputable, match=sentence):
        kneser_ney.fit(TEXTS, least=1).surprise(words)


def test_a_model_of_nothing_and_a_discount_outside_its_range_are_refused() -> None:
    with pytest.raises(Incomputable, match=r"There are no words\."):
        kneser_ney.fit([[]])
    with pytest.raises(ValueError, match="between 0 and 1"):
        kneser_ney.fit(TEXTS, discount=1.0)


def test_what_was_read_surprises_less_than_the_same_words_shuffled() -> None:
    rng = np.random.default_rng(1)
    line = [f"w{n}" for n in rng.integers(0, 50, 400)]

    model = kneser_ney.fit([line])

    assert model.surprise(line).mean < model.surprise(list(rng.permutation(line))).mean
