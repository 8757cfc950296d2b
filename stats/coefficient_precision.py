"""How wide the intervals of coefficients will be in a planned study: of agreement, of a judge beside people, strengths.

The judge is one more rater, drawn as the people are: it is what a judge looks like that is as good as one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from stats import intervals, judge_orders, judge_scores, judgements, precision, rankings, strengths, table_scores
from stats.arrays import BoolArray, FloatArray, IntArray, mean_present
from stats.intervals import Interval
from stats.planned_answers import PERCENT, AnswerForm, Deviations, PlannedReadings, draw_answers
from stats.reasons import Incomputable
from stats.sums import Level

N_STUDIES, FEWEST_STUDIES, N_RESAMPLES = 200, 6, 400
SECONDS = 0.5  # on one core
# Seconds that a reading takes with all resamples of its study.
PER_READING = {"verdict": 1e-6, "scale": 6e-6, "preference": 2e-5, "rank": 2e-5}
COEFFICIENTS = {
    "verdict": ("kappa", "judge_kappa"),
    "scale": ("alpha", "judge_spearman"),
    "preference": ("strength", "judge_accuracy"),
    "rank": ("concordance", "strength", "judge_tau"),
}


@dataclass(frozen=True)
class CoefficientPrecision:
    """One coefficient, by its name in COEFFICIENTS.

    value, half_width : the middle of its interval and half of it, of the median study
    why : the reason if no study has an interval
    """

    name: str
    value: float | None
    half_width: float | None
    n_studies: int
    why: str = ""


def expect_coefficients(
    readings: PlannedReadings,
    form: AnswerForm,
    deviations: Deviations,
    *,
    rng: np.random.Generator,
    n_studies: int | None = None,
    share: float = 1.0,
    on_step: Callable[[], None] = lambda: None,
) -> list[CoefficientPrecision]:
    """What the coefficients of an outcome will be like; n_studies, share : as `precision.expect_contrasts` takes them.

    Raises ValueError as `draw_answers` does.
    """
    seconds = 0.01 + PER_READING[form.kind] * len(readings.rater)
    n = n_studies or int(np.clip(share * SECONDS / seconds, FEWEST_STUDIES, N_STUDIES))
    ends_by_name: dict[str, list[tuple[float, float]]] = {name: [] for name in COEFFICIENTS[form.kind]}
    reasons: dict[str, str] = {}
    with_judge = _with_judge(readings)
    for _study in range(n):
        drawn = draw_answers(with_judge, form, deviations, effects=np.zeros(readings.n_sources), rng=rng)
        study = _Answered(readings, drawn[:-1], drawn[-1], form, int(rng.integers(2**32)))
        for name, ends in ends_by_name.items():
            try:
                ends.append(study.measure(name))
            except Incomputable as error:
                reasons[name] = error.code
        on_step()
    return [_median(name, ends, n, reasons.get(name, "")) for name, ends in ends_by_name.items()]


def _median(name: str, ends: list[tuple[float, float]], n_studies: int, why: str) -> CoefficientPrecision:
    if not ends:
        return CoefficientPrecision(name, None, None, n_studies, why)
    value, half = np.median(np.array(ends), axis=0).tolist()
    return CoefficientPrecision(name, value, half, n_studies)


def _with_judge(readings: PlannedReadings) -> PlannedReadings:
    """The same with one more rater, who reads every story."""
    labels = {name: readings.of_units(numbers) for name, numbers in readings.labels.items()}
    labels["rater"] = np.full(len(labels["story"]), readings.n_raters, dtype=np.int64)
    return replace(readings, **{name: np.r_[getattr(readings, name), more] for name, more in labels.items()})


@dataclass(frozen=True)
class _Answered:
    """One simulated study. people : shape (R, U); judge : shape (U,)"""

    readings: PlannedReadings
    people: FloatArray
    judge: FloatArray
    form: AnswerForm
    seed: int

    @property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    @property
    def clusters(self) -> IntArray:
        return self.readings.of_units(self.readings.cluster)

    @property
    def groups(self) -> IntArray:
        return self.readings.of_units(self.readings.group)

    def measure(self, name: str) -> tuple[float, float]:
        """The middle of the coefficient's interval and its half width. Raises Incomputable."""
        interval: Interval = getattr(self, f"_{name}")()
        return (interval.high + interval.low) / 2, precision.half_width(interval)

    def _kappa(self) -> Interval:
        return intervals.fleiss_kappa_interval(self.people, self.clusters, rng=self.rng, n_resamples=N_RESAMPLES)

    def _alpha(self) -> Interval:
        level: Level = "ordinal" if self.form.step == 1 else "interval"
        return intervals.alpha_interval(self.people, level, self.clusters, rng=self.rng, n_resamples=N_RESAMPLES)

    def _judge_kappa(self) -> Interval:
        tables = table_scores.tables_by_cluster(
            self.judge[np.newaxis], judgements.majority_option(self.people)[np.newaxis], self.clusters
        )
        return table_scores.score_interval(table_scores.KAPPA, tables, rng=self.rng, n_resamples=N_RESAMPLES)

    def _judge_spearman(self) -> Interval:
        return judge_scores.score_interval(
            judge_scores.SPEARMAN,
            self.judge[np.newaxis],
            mean_present(self.people, axis=0)[np.newaxis],
            self.clusters,
            rng=self.rng,
            n_resamples=N_RESAMPLES,
        )

    def _of_groups(self, value: Callable[[BoolArray], float]) -> tuple[FloatArray, IntArray]:
        """A value of each group's units, nan where it has none, and the group's cluster."""
        groups, clusters = self.groups, self.clusters
        masks = [groups == group for group in np.unique(groups)]
        values = [value(mask) for mask in masks]
        return np.array(values), np.array([clusters[mask][0] for mask in masks], dtype=np.int64)

    def _mean_over_groups(self, value: Callable[[BoolArray], float], *, low: float, high: float) -> Interval:
        values, clusters = self._of_groups(value)
        if not np.isfinite(values).any():
            raise Incomputable("no_unit_with_judge_and_people")
        return intervals.mean_interval(values, clusters, rng=self.rng, n_resamples=N_RESAMPLES).clipped(low, high)

    def _judge_accuracy(self) -> Interval:
        """The percentage of groups of which the judge chooses what more than half of the people do."""

        def is_right(mask: BoolArray) -> float:
            shares = mean_present(self.people[:, mask], axis=0)
            if shares.max() <= PERCENT / 2:
                return np.nan
            return PERCENT * float(self.judge[mask].argmax() == shares.argmax())

        return self._mean_over_groups(is_right, low=0, high=PERCENT)

    def _judge_tau(self) -> Interval:
        def tau(mask: BoolArray) -> float:
            return judge_orders.group_tau(self.judge[mask], rankings.mean_ranks(self.people[:, mask]))

        return self._mean_over_groups(tau, low=-1, high=1)

    def _concordance(self) -> Interval:
        def w(mask: BoolArray) -> float:
            ranks = self.people[:, mask]
            try:
                return rankings.kendall_w(ranks[np.isfinite(ranks).any(axis=1)]).value
            except Incomputable:
                return np.nan

        return self._mean_over_groups(w, low=0, high=1)

    def _strength(self) -> Interval:
        """Of all sources the strength whose interval has the median width."""
        orders = list(self._orders())
        material = strengths.decisions(
            [order for order, _cluster in orders], [cluster for _order, cluster in orders], self.readings.n_sources
        )
        ends = strengths.strength_intervals(material, rng=self.rng, n_resamples=N_RESAMPLES)
        by_width = sorted((interval for interval in ends if isinstance(interval, Interval)), key=precision.half_width)
        if not by_width:
            raise next(error for error in ends if isinstance(error, Incomputable))
        return by_width[len(by_width) // 2]

    def _orders(self) -> Iterator[tuple[strengths.Order, int]]:
        """What each rater said of each group, by sources, with the group's cluster."""
        source, groups, clusters = self.readings.of_units(self.readings.source), self.groups, self.clusters
        for group in np.unique(groups):
            units = np.flatnonzero(groups == group)
            people, cluster = self.people[:, units], int(clusters[units[0]])
            for answers in people[np.isfinite(people).any(axis=1)]:
                yield self._order(source[units], answers), cluster

    def _order(self, source: IntArray, answers: FloatArray) -> strengths.Order:
        if self.form.kind == "rank":
            return strengths.Order([[name] for name in source[np.argsort(answers)].tolist()])
        first = int(answers.argmax())
        return strengths.Order([[int(source[first])]], [int(s) for n, s in enumerate(source) if n != first])
