"""Answers to a design that nobody has answered yet, drawn around a known truth.

A reading is one rater's reading of one story. An answer is source + block + rater + rater × source + story + rest, as
in `stats.source_model`. Of a verdict the sum decides on a latent scale whether it is a Yes; of a pair or a ranking the
sums order what stands in a group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

import numpy as np
from scipy import integrate, optimize
from scipy import stats as scipy_stats

from stats.arrays import FloatArray, IntArray, mean_present
from stats.source_contrasts import OutcomeAnswers

AnswerKind: TypeAlias = Literal["verdict", "scale", "preference", "rank"]
PERCENT = 100.0
MOST_CORRELATION = 0.999
PARTS = ("rater", "rater_source", "premise", "story")  # beside the rest


@dataclass(frozen=True, kw_only=True)
class PlannedReadings:
    """Which rater is to read which story in which group: of each reading a number from 0, shape (N,).

    block : what stories share by design, as their premise; the same number everywhere if there is nothing
    cluster : what was sampled with the story, as in `stats.intervals`
    """

    source: IntArray
    block: IntArray
    cluster: IntArray
    group: IntArray
    story: IntArray
    rater: IntArray

    @property
    def labels(self) -> dict[str, IntArray]:
        """The numbers by what they are of, shape (N,) each."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def _units(self) -> tuple[IntArray, IntArray]:
        """The first reading of each story in a group, shape (U,), and of each reading its unit, shape (N,)."""
        keys = self.group * (int(self.story.max()) + 1) + self.story
        _keys, firsts, units = np.unique(keys, return_index=True, return_inverse=True)
        return firsts.astype(np.int64), units.astype(np.int64)

    @property
    def unit(self) -> IntArray:
        return self._units[1]

    @property
    def n_raters(self) -> int:
        return int(self.rater.max()) + 1

    @property
    def n_sources(self) -> int:
        return int(self.source.max()) + 1

    def of_units(self, labels: IntArray) -> IntArray:
        """Labels of readings, shape (N,), as those of units, shape (U,)."""
        return np.asarray(labels[self._units[0]], dtype=np.int64)

    def table(self, values: FloatArray) -> FloatArray:
        """Values of readings, shape (N,), as ratings of shape (R, U), nan where nothing is planned."""
        ratings = np.full((self.n_raters, len(self._units[0])), np.nan)
        ratings[self.rater, self.unit] = values
        return ratings


def double_groups(readings: PlannedReadings, *, same_raters: bool) -> PlannedReadings:
    """The same plan with as many groups again, of other stories: read by the same raters, or by as many new ones."""
    again = {name: numbers + int(numbers.max()) + 1 for name, numbers in readings.labels.items() if name != "source"}
    if same_raters:
        again["rater"] = readings.rater
    if readings.block.max() == 0:  # nothing is shared by design
        again["block"] = readings.block
    return _joined(readings, again)


def double_raters(readings: PlannedReadings) -> PlannedReadings:
    """The same plan with as many raters again, who read what the first ones read."""
    return _joined(readings, {"rater": readings.rater + readings.n_raters})


def _joined(readings: PlannedReadings, again: Mapping[str, IntArray]) -> PlannedReadings:
    both = {name: np.r_[numbers, again.get(name, numbers)] for name, numbers in readings.labels.items()}
    return PlannedReadings(**both)


@dataclass(frozen=True, kw_only=True)
class Deviations:
    """Standard deviations of what answers are made of, in the outcome's unit.

    Of a verdict in percentage points, as variances of Yes counted as 100, where the rest follows from the share of Yes;
    of pairs and rankings on a latent scale.
    """

    rater: float = 0.0
    rater_source: float = 0.0
    premise: float = 0.0
    story: float
    rest: float


@dataclass(frozen=True, kw_only=True)
class AnswerForm:
    """What an answer can be. mean : of all answers; low, high, step : what it is rounded to, of a scale or a total."""

    kind: AnswerKind
    mean: float = 0.0
    low: float = 0.0
    high: float = PERCENT
    step: float = 0.0

    @property
    def width(self) -> float:
        """How far apart two means can be."""
        return self.high - self.low


def draw_answers(
    readings: PlannedReadings,
    form: AnswerForm,
    deviations: Deviations,
    *,
    effects: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """The answers of one study, ratings of shape (R, U).

    effects : how much better each source is, shape (sources,): in the outcome's unit, or on the latent scale
    Raises ValueError if raters and stories vary more than a Yes of that share can.
    """
    if form.kind == "verdict":
        latent = latent_deviations(form.mean, deviations)
        middle = scipy_stats.norm.ppf(np.clip((form.mean + effects) / PERCENT, 1e-6, 1 - 1e-6))
        worth = middle[readings.source] + _varied(readings, latent, rng)
        return readings.table(np.where(worth > 0, PERCENT, 0.0))
    worth = form.mean + effects[readings.source] + _varied(readings, deviations, rng)
    if form.kind == "scale":
        return readings.table(_rounded(worth, form))
    return readings.table(_ordered(readings, worth, form.kind))


def answers_of(readings: PlannedReadings, form: AnswerForm, ratings: FloatArray) -> OutcomeAnswers:
    """The answers as sources are compared by them."""
    return OutcomeAnswers(
        values=mean_present(ratings, axis=0),
        ratings=ratings,
        source=readings.of_units(readings.source),
        block=readings.of_units(readings.block),
        story=readings.of_units(readings.story),
        cluster=readings.of_units(readings.cluster),
        most=form.width,
    )


def _varied(readings: PlannedReadings, deviations: Deviations, rng: np.random.Generator) -> FloatArray:
    """What everything but the source adds to each reading, shape (N,)."""
    labels = {
        "rater": readings.rater,
        "rater_source": readings.rater * readings.n_sources + readings.source,
        "premise": readings.block,
        "story": readings.story,
    }
    worth = rng.normal(0.0, deviations.rest, len(readings.rater))
    for part in PARTS:
        numbers = labels[part]
        worth += rng.normal(0.0, getattr(deviations, part), int(numbers.max()) + 1)[numbers]
    return worth


def _rounded(worth: FloatArray, form: AnswerForm) -> FloatArray:
    if form.step:
        worth = form.low + form.step * np.round((worth - form.low) / form.step)
    return np.clip(worth, form.low, form.high)


def _ordered(readings: PlannedReadings, worth: FloatArray, kind: AnswerKind) -> FloatArray:
    """Of each reading the story's place in its group by that rater, or 100 where it is chosen, shape (N,)."""
    sets = readings.group * readings.n_raters + readings.rater
    order = np.lexsort((-worth, sets))
    begins = np.r_[True, np.diff(sets[order]) != 0]
    starts = np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
    places = np.empty(len(order))
    places[order] = np.arange(len(order)) - starts + 1
    return places if kind == "rank" else np.where(places == 1, PERCENT, 0.0)


@lru_cache(maxsize=32)
def latent_deviations(percent: float, deviations: Deviations) -> Deviations:
    """The standard deviations on a latent normal scale, of variance 1 in all, of verdicts with that percentage of Yes.

    Two verdicts that share some parts have the covariance of these parts: on the latent scale the (tetrachoric)
    correlation that gives it.
    Raises ValueError if there is none, as parts vary more than verdicts can.
    """
    variances = {part: (getattr(deviations, part) / PERCENT) ** 2 for part in PARTS}
    share = percent / PERCENT
    rater, premise = _correlation(share, variances["rater"]), _correlation(share, variances["premise"])
    own_rater = _correlation(share, variances["rater"] + variances["rater_source"])
    story = _correlation(share, variances["premise"] + variances["story"])
    rest = 1 - own_rater - story
    if rest <= 0:
        raise ValueError("Raters and stories vary more than verdicts can.")
    return Deviations(
        rater=rater**0.5,
        rater_source=max(own_rater - rater, 0.0) ** 0.5,
        premise=premise**0.5,
        story=max(story - premise, 0.0) ** 0.5,
        rest=rest**0.5,
    )


def _correlation(share: float, covariance: float) -> float:
    """Of two normal variables, of which each passes a threshold with that probability, and both with that covariance.

    Source: Plackett 1954, Biometrika 41(3/4), pp. 351-360: the probability of both grows with the correlation as the
    density at the thresholds.
    """
    if covariance <= 0:
        return 0.0
    threshold = float(scipy_stats.norm.ppf(share))

    def excess(correlation: float) -> float:
        within = integrate.quad(
            lambda angle: np.exp(-(threshold**2) / (1 + np.sin(angle))) / (2 * np.pi), 0, np.arcsin(correlation)
        )
        return float(within[0]) - covariance

    if not 0 < share < 1 or excess(MOST_CORRELATION) <= 0:
        raise ValueError("Raters and stories vary more than verdicts can.")
    return float(optimize.brentq(excess, 0.0, MOST_CORRELATION))


def latent_effect(percent: float, deviations: Deviations) -> float:
    """How much better a source is on the latent scale whose stories are put first in that percentage of pairs."""
    spread = deviations.rater_source**2 + deviations.story**2 + deviations.rest**2
    return float(scipy_stats.norm.ppf(percent / PERCENT) * (2 * spread) ** 0.5)
