"""A linear preference model on planted rewards: order, accuracy, calibration, and controls that know nothing."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from stats import preference_model
from stats.arrays import FloatArray, IntArray
from stats.intervals import Interval
from stats.reasons import Incomputable

N_DIMENSIONS = 12


def planted(
    n_prompts: int, *, a_prompt: int = 4, strength: float = 4.0, seed: int = 1
) -> tuple[FloatArray, IntArray, FloatArray, FloatArray]:
    """Differences of unit vectors, preferred first by Bradley–Terry; their prompts; all texts, and the true weights."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=N_DIMENSIONS)
    weights *= strength / np.linalg.norm(weights) * np.sqrt(N_DIMENSIONS)
    texts = rng.normal(size=(n_prompts * a_prompt, 2, N_DIMENSIONS))
    texts /= np.linalg.norm(texts, axis=2, keepdims=True)
    differences = texts[:, 0] - texts[:, 1]
    is_first = rng.random(len(differences)) < 1 / (1 + np.exp(-differences @ weights))
    differences[~is_first] *= -1
    return differences, np.repeat(np.arange(n_prompts), a_prompt), texts.reshape(-1, N_DIMENSIONS), weights


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_planted_rewards_are_recovered_and_controls_stay_at_a_half() -> None:
    differences, prompts, texts, weights = planted(250)
    lengths = np.random.default_rng(2).normal(size=len(differences))

    trained = preference_model.train(differences, lengths, prompts, rng=rng())

    rewards = texts @ trained.model.weights
    assert scipy_stats.spearmanr(rewards, texts @ weights).statistic > 0.95
    best = 100 * np.mean(differences[trained.is_held_out] @ weights > 0)
    assert trained.held_out.accuracy == pytest.approx(best, abs=4)
    assert trained.held_out.accuracy > 80
    assert trained.held_out.auc == pytest.approx(auc_by_hand(trained, differences), abs=1e-9)
    assert trained.held_out.auc > 0.9
    assert isinstance(trained.held_out.interval, Interval)
    assert trained.held_out.interval.low < trained.held_out.accuracy < trained.held_out.interval.high
    assert isinstance(trained.length, preference_model.HeldOut)
    assert trained.shuffled.mean == pytest.approx(50, abs=6)
    assert trained.length.accuracy == pytest.approx(50, abs=8)
    assert trained.length.auc == pytest.approx(0.5, abs=0.08)
    assert trained.held_out.log_loss < 0.5 < trained.length.log_loss


def auc_by_hand(trained: preference_model.TrainedPreference, differences: FloatArray) -> float:
    """How often a pair as it is has a larger margin than a mirrored one, over all such pairs of pairs."""
    margins = trained.model.margins(differences[trained.is_held_out])
    return float(np.mean(margins[:, np.newaxis] > -margins))


def test_no_prompt_is_on_both_sides_and_a_fifth_is_held_out() -> None:
    differences, prompts, _texts, _weights = planted(40)

    trained = preference_model.train(differences, np.zeros(len(prompts)) + prompts % 3, prompts, rng=rng())

    held = set(prompts[trained.is_held_out])
    assert len(held) == 8
    assert not held & set(prompts[~trained.is_held_out])
    with pytest.raises(ValueError, match="in training and held out"):
        preference_model.train(
            differences, np.ones(len(prompts)), prompts, rng=rng(), is_held_out=np.arange(len(prompts)) % 2 == 0
        )


def test_probabilities_are_calibrated() -> None:
    differences, prompts, _texts, _weights = planted(600, strength=1.5)

    trained = preference_model.train(differences, np.ones(len(prompts)), prompts, rng=rng())

    assert sum(part.n for part in trained.held_out.bins) == trained.held_out.n_pairs
    for part in trained.held_out.bins:
        assert 100 * part.low <= part.confidence <= 100 * part.high
        assert part.right == pytest.approx(part.confidence, abs=300 / np.sqrt(part.n) / 2)


def test_the_temperature_is_that_by_which_margins_were_multiplied() -> None:
    generator = np.random.default_rng(3)
    margins = generator.normal(size=20_000)
    margins = np.where(generator.random(20_000) < 1 / (1 + np.exp(-margins)), margins, -margins)

    temperature = preference_model.fit_temperature(5 * margins, np.ones(20_000))

    assert temperature == pytest.approx(5, rel=0.05)


def test_a_mirrored_pair_is_the_same_pair() -> None:
    differences, prompts, _texts, _weights = planted(30)
    votes = np.full(len(prompts), 0.7)

    model = preference_model.fit(differences, prompts, votes, rng=rng())
    mirrored = preference_model.fit(-differences, prompts, 1 - votes, rng=rng())

    assert mirrored.weights == pytest.approx(model.weights, abs=1e-3)
    assert model.margins(-differences) == pytest.approx(-model.margins(differences))


def test_length_alone_is_found_where_the_longer_is_preferred() -> None:
    differences, prompts, _texts, _weights = planted(40)
    lengths = np.abs(np.random.default_rng(4).normal(size=len(prompts)))

    trained = preference_model.train(differences, lengths, prompts, rng=rng())

    assert isinstance(trained.length, preference_model.HeldOut)
    assert (trained.length.accuracy, trained.length.auc) == (100, 1)
    of_one_length = preference_model.train(differences, np.zeros(len(prompts)), prompts, rng=rng())
    assert isinstance(of_one_length.length, Incomputable)
    assert of_one_length.length.code == "pairs_of_one_length"


def test_a_score_is_a_half_for_the_average_text_of_its_prompt() -> None:
    model = preference_model.LinearPreference(np.ones(1), 2.0, 1.0)

    scores = preference_model.score(model, np.array([1.0, 3.0, 2.0, 100.0]), np.array([0, 0, 0, 1]))

    assert scores == pytest.approx([1 / (1 + np.exp(0.5)), 1 / (1 + np.exp(-0.5)), 0.5, 0.5])


@pytest.mark.parametrize(("n_prompts", "code"), [(5, "too_few_prompts"), (0, "too_few_prompts")])
def test_too_few_prompts_are_refused(n_prompts: int, code: str) -> None:
    differences, prompts, _texts, _weights = planted(n_prompts)

    with pytest.raises(Incomputable) as error:
        preference_model.train(differences, np.ones(len(prompts)), prompts, rng=rng())

    assert error.value.code == code


def test_texts_that_are_all_alike_are_refused() -> None:
    with pytest.raises(Incomputable) as error:
        preference_model.train(np.zeros((40, 3)), np.ones(40), np.arange(40), rng=rng())

    assert error.value.code == "no_differences"


@pytest.mark.slow
def test_a_hundred_pairs_tell_little_more_than_a_coin_where_thousands_tell_more() -> None:
    """Vectors of 256 numbers with a falling spectrum, as texts have; the best linear model is right in two of three."""

    def simulate(n_pairs: int, *, repeat: int, n_tries: int = 3000) -> float:
        generator = np.random.default_rng([repeat, n_pairs])
        texts = generator.normal(size=(n_pairs + n_tries, 2, 256)) / np.sqrt(np.arange(1, 257))
        texts /= np.linalg.norm(texts, axis=2, keepdims=True)
        differences = texts[:, 0] - texts[:, 1]
        rewards = differences @ generator.normal(size=256)
        differences[generator.random(len(rewards)) > 1 / (1 + np.exp(-rewards / rewards.std()))] *= -1
        seen, tried = differences[:n_pairs], differences[n_pairs:]
        model = preference_model.fit(seen, np.arange(n_pairs), np.ones(n_pairs), rng=generator)
        return float(np.mean(model.margins(tried) > 0))

    hundred, thousand = (np.mean([simulate(n, repeat=repeat) for repeat in range(6)]) for n in (100, 1000))

    assert 0.53 < hundred < 0.61 < thousand < 0.67


def test_one_pair_alone_has_both_classes_since_it_is_mirrored() -> None:
    rng = np.random.default_rng(0)

    held_out = preference_model.evaluate(np.array([0.3]), np.array([0]), rng=rng)

    assert (held_out.accuracy, held_out.auc) == (100, 1)
