"""Which of two texts is preferred, learnt from pairs: a linear Bradley–Terry model on differences of embeddings.

A text has the reward r = w · e, and of two the first is preferred with probability σ((r₁ − r₂) / T). Differences are
those of the preferred text less the other, shape (P, d); the model has no intercept and sees every pair mirrored, so
that it cannot learn a side. Prompts are whole: no prompt is in training and held out, nor in two folds.
Sources: Bradley & Terry 1952; Fein et al. 2025, LitBench, section 4.1; Guo et al. 2017 for the temperature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stats.arrays import BoolArray, FloatArray, IntArray
from stats.intervals import Interval
from stats.rates import pass_rate_interval
from stats.reasons import Incomputable, value_or_reason

LENIENCES = tuple(10.0**exponent for exponent in range(-3, 4))  # 1 / ridge penalty, of differences of mean length 1
N_FOLDS = 5
N_SHUFFLES = 20
N_BINS = 5  # of confidence, from .5 to 1
HELD_OUT = 0.2
TEMPERATURES = (0.01, 100.0)
ALIKE = 1e-9  # a margin below is rounding, and no choice


@dataclass(frozen=True)
class LinearPreference:
    """A fitted model. weights : of the embedding, shape (d,); leniency : 1 / ridge penalty, chosen by folds"""

    weights: FloatArray
    temperature: float
    leniency: float

    def margins(self, differences: FloatArray) -> FloatArray:
        """How much more reward the first text of each pair has, in units of the temperature, shape (P,)."""
        return np.asarray(differences @ self.weights / self.temperature, dtype=np.float64)


@dataclass(frozen=True)
class CalibrationBin:
    """Held-out pairs of like confidence. confidence : the mean probability of the side it takes; right : in percent"""

    low: float
    high: float
    n: int
    confidence: float
    right: float


@dataclass(frozen=True)
class HeldOut:
    """How a model does on pairs that it has not seen.

    accuracy : percent of pairs whose preferred text has the higher reward; a tie is half right
    interval : of the accuracy over prompts, or why there is none
    auc : of the pairs and their mirror images
    log_loss : mean, in nats; .693 is a coin
    """

    n_pairs: int
    n_prompts: int
    accuracy: float
    interval: Interval | Incomputable
    auc: float
    log_loss: float
    bins: tuple[CalibrationBin, ...]


@dataclass(frozen=True)
class ShuffledControl:
    """Held-out accuracies, in percent, of models that learnt from preferences drawn by chance."""

    mean: float
    low: float
    high: float
    n_shuffles: int


@dataclass(frozen=True)
class TrainedPreference:
    """A model with what it was held against.

    is_held_out : of the pairs, shape (P,)
    length : the same model, but of the difference of log words alone; why there is none where lengths do not differ
    """

    model: LinearPreference
    is_held_out: BoolArray
    held_out: HeldOut
    length: HeldOut | Incomputable
    shuffled: ShuffledControl


def train(
    differences: npt.ArrayLike,
    log_lengths: npt.ArrayLike,
    prompts: Sequence[str] | IntArray,
    *,
    rng: np.random.Generator,
    shares: npt.ArrayLike | None = None,
    is_held_out: npt.ArrayLike | None = None,
) -> TrainedPreference:
    """A model fitted on most prompts and held against the others, with both controls.

    log_lengths : of the preferred text less the other, shape (P,)
    shares : of votes for the preferred text, shape (P,), above .5; None: all of them
    is_held_out : shape (P,); None: a fifth of the prompts, drawn
    Raises Incomputable if there are too few prompts, ValueError if a prompt is on both sides.
    """
    rows, labels = np.asarray(differences, dtype=np.float64), np.unique(np.asarray(prompts), return_inverse=True)[1]
    words = np.asarray(log_lengths, dtype=np.float64).reshape(-1, 1)
    votes = np.ones(len(rows)) if shares is None else np.asarray(shares, dtype=np.float64)
    is_tried = split_prompts(labels, rng=rng) if is_held_out is None else np.asarray(is_held_out, dtype=np.bool_)
    if np.intersect1d(labels[is_tried], labels[~is_tried]).size:
        raise ValueError("A prompt is in training and held out; put all of its pairs on one side.")
    if is_tried.all() or not is_tried.any():
        raise Incomputable("too_few_prompts", least=N_FOLDS)
    model = fit(rows[~is_tried], labels[~is_tried], votes[~is_tried], rng=rng)
    return TrainedPreference(
        model=model,
        is_held_out=is_tried,
        held_out=evaluate(model.margins(rows[is_tried]), labels[is_tried], rng=rng),
        length=value_or_reason(lambda: _by_length(words, labels, votes, is_tried, rng=rng)),
        shuffled=_shuffle(rows, votes, is_tried, leniency=model.leniency, rng=rng),
    )


def _by_length(
    words: FloatArray, prompts: IntArray, shares: FloatArray, is_held_out: BoolArray, *, rng: np.random.Generator
) -> HeldOut:
    """What is held out, by a model that knows lengths alone."""
    if not words[~is_held_out].any():
        raise Incomputable("pairs_of_one_length")
    model = fit(words[~is_held_out], prompts[~is_held_out], shares[~is_held_out], rng=rng)
    return evaluate(model.margins(words[is_held_out]), prompts[is_held_out], rng=rng)


def split_prompts(prompts: IntArray, *, rng: np.random.Generator, share: float = HELD_OUT) -> BoolArray:
    """Which pairs are held out, shape (P,): those of about that share of the prompts, at least one.

    Raises Incomputable if fewer prompts are left than there are folds.
    """
    names = np.unique(prompts)
    n_held_out = max(1, round(share * len(names)))
    if len(names) - n_held_out < N_FOLDS:
        raise Incomputable("too_few_prompts", least=N_FOLDS + 1)
    return np.isin(prompts, rng.permutation(names)[:n_held_out])


def fit(
    differences: FloatArray, prompts: IntArray, shares: FloatArray, *, rng: np.random.Generator
) -> LinearPreference:
    """The model of these pairs: penalty and temperature by folds over prompts, weights on all.

    The temperature is fitted to margins of pairs that their fold had not seen, since those of seen ones are too sure.
    Raises Incomputable if there are fewer prompts than folds, or if no two texts differ.
    """
    scale = float(np.sqrt(np.mean(np.sum(differences**2, axis=1)))) if differences.size else 0.0
    if scale == 0.0:
        raise Incomputable("no_differences")
    scaled = differences / scale
    folds = _folds(prompts, rng=rng)
    margins = {leniency: _unseen_margins(scaled, shares, folds, leniency) for leniency in LENIENCES}
    leniency = min(LENIENCES, key=lambda leniency: _log_loss(margins[leniency], shares))
    weights = _fit_weights(scaled, shares, leniency) / scale
    return LinearPreference(weights, fit_temperature(margins[leniency], shares), leniency)


def cross_fit(
    differences: FloatArray,
    prompts: IntArray,
    vectors: FloatArray,
    text_prompts: IntArray,
    *,
    shares: FloatArray,
    leniency: float,
    rng: np.random.Generator,
) -> FloatArray:
    """w · e of each text by the model of the pairs of other prompts, so that no model has seen it, shape (S,).

    prompts, shares : of the pairs, as in `train`
    vectors, text_prompts : of the texts, shapes (S, d) and (S,), all of prompts that have pairs
    Raises Incomputable if there are fewer prompts than folds.
    """
    scale = float(np.sqrt(np.mean(np.sum(differences**2, axis=1))))
    folds = _folds(prompts, rng=rng)
    fold_by_prompt = dict(zip(prompts.tolist(), folds.tolist(), strict=True))
    fold_of_text = np.array([fold_by_prompt[prompt] for prompt in text_prompts.tolist()])
    rewards = np.empty(len(vectors))
    for fold in range(N_FOLDS):
        is_seen = folds != fold
        weights = _fit_weights(differences[is_seen] / scale, shares[is_seen], leniency) / scale
        rewards[fold_of_text == fold] = vectors[fold_of_text == fold] @ weights
    return rewards


def _folds(prompts: IntArray, *, rng: np.random.Generator) -> IntArray:
    """The fold of each pair, shape (P,); all pairs of a prompt are in one."""
    names, numbers = np.unique(prompts, return_inverse=True)
    if len(names) < N_FOLDS:
        raise Incomputable("too_few_prompts", least=N_FOLDS)
    return np.asarray((rng.permutation(len(names)) % N_FOLDS)[numbers], dtype=np.int64)


def _unseen_margins(differences: FloatArray, shares: FloatArray, folds: IntArray, leniency: float) -> FloatArray:
    """The margin of every pair by the model of the other folds, shape (P,)."""
    margins = np.empty(len(differences))
    for fold in range(N_FOLDS):
        is_seen = folds != fold
        weights = _fit_weights(differences[is_seen], shares[is_seen], leniency)
        margins[~is_seen] = differences[~is_seen] @ weights
    return margins


def _fit_weights(differences: FloatArray, shares: FloatArray, leniency: float) -> FloatArray:
    """Ridge-logistic weights of the pairs and their mirror images, without an intercept, shape (d,)."""
    from sklearn.linear_model import LogisticRegression

    is_split = shares < 1
    rows = np.concatenate([differences, -differences, differences[is_split], -differences[is_split]])
    n, n_split = len(differences), int(is_split.sum())
    labels = np.repeat([1, 0, 0, 1], [n, n, n_split, n_split])
    weights = np.concatenate([shares, shares, 1 - shares[is_split], 1 - shares[is_split]])
    # A pair and its mirror image say the same, so that each counts half.
    model = LogisticRegression(C=leniency, fit_intercept=False, max_iter=1000)
    return np.asarray(model.fit(rows, labels, sample_weight=weights / 2).coef_[0], dtype=np.float64)


def fit_temperature(margins: FloatArray, shares: FloatArray) -> float:
    """By what margins are divided so that their probabilities are most likely, between .01 and 100."""
    from scipy.optimize import minimize_scalar

    bounds = (float(np.log(TEMPERATURES[0])), float(np.log(TEMPERATURES[1])))
    fitted = minimize_scalar(lambda log: _log_loss(margins / np.exp(log), shares), bounds=bounds, method="bounded")
    return float(np.exp(fitted.x))


def _log_loss(margins: FloatArray, shares: FloatArray) -> float:
    """Mean loss in nats of the votes for either text."""
    losses = shares * np.logaddexp(0, -margins) + (1 - shares) * np.logaddexp(0, margins)
    return float(losses.mean())


def evaluate(margins: FloatArray, prompts: IntArray, *, rng: np.random.Generator) -> HeldOut:
    """How margins of the preferred texts over the others do, shape (P,). Raises Incomputable if there is no pair."""
    from sklearn.metrics import roc_auc_score

    if not len(margins):
        raise Incomputable("nothing_compared")
    right = _score_choices(margins)
    sides = np.repeat([1, 0], len(margins))
    try:
        interval: Interval | Incomputable = pass_rate_interval(right, prompts, rng=rng)
    except Incomputable as reason:
        interval = reason
    return HeldOut(
        n_pairs=len(margins),
        n_prompts=len(np.unique(prompts)),
        accuracy=float(100 * right.mean()),
        interval=interval,
        auc=float(roc_auc_score(sides, np.concatenate([margins, -margins]))),
        log_loss=_log_loss(margins, np.ones(len(margins))),
        bins=_calibrate(margins, right),
    )


def _score_choices(margins: FloatArray) -> FloatArray:
    """1 where the preferred text has the higher reward, 0 where the other has, .5 where they are even."""
    return np.where(np.abs(margins) < ALIKE, 0.5, np.where(margins > 0, 1.0, 0.0))


def _calibrate(margins: FloatArray, right: FloatArray) -> tuple[CalibrationBin, ...]:
    """Pairs by the probability of the side that the model takes; bins without a pair are left out."""
    confidence = 1 / (1 + np.exp(-np.abs(margins)))
    edges = np.linspace(0.5, 1.0, N_BINS + 1)
    bins = np.minimum(((confidence - 0.5) * 2 * N_BINS).astype(np.int64), N_BINS - 1)
    return tuple(
        CalibrationBin(
            low=float(edges[number]),
            high=float(edges[number + 1]),
            n=int((bins == number).sum()),
            confidence=float(100 * confidence[bins == number].mean()),
            right=float(100 * right[bins == number].mean()),
        )
        for number in np.unique(bins)
    )


def _shuffle(
    differences: FloatArray, shares: FloatArray, is_held_out: BoolArray, *, leniency: float, rng: np.random.Generator
) -> ShuffledControl:
    """What is held out, by models of pairs in which a coin says which text is preferred."""
    rows, others = differences[~is_held_out], differences[is_held_out]
    scaled = rows / np.sqrt(np.mean(np.sum(rows**2, axis=1)))
    accuracies = []
    for _time in range(N_SHUFFLES):
        coins = rng.choice([-1.0, 1.0], len(rows))
        margins = others @ _fit_weights(scaled * coins[:, np.newaxis], shares[~is_held_out], leniency)
        accuracies.append(float(100 * _score_choices(margins).mean()))
    return ShuffledControl(float(np.mean(accuracies)), min(accuracies), max(accuracies), N_SHUFFLES)


def score(model: LinearPreference, rewards: FloatArray, prompts: IntArray) -> FloatArray:
    """g in [0, 1] of each text, shape (S,): σ((r − mean r of its prompt) / T), .5 for the average text of its prompt.

    Pairs within a prompt do not say how prompts stand to one another, so each is centred on its own texts.
    rewards : w · e, shape (S,)
    """
    numbers = np.unique(prompts, return_inverse=True)[1]
    means = np.bincount(numbers, rewards) / np.bincount(numbers)
    return np.asarray(1 / (1 + np.exp(-(rewards - means[numbers]) / model.temperature)), dtype=np.float64)
