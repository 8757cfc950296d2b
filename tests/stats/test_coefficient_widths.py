"""Expected widths of coefficients: against studies drawn another way, each measured as reports measure it."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
import pytest

from stats import intervals, judge_orders, judge_scores, judgements, rankings, strengths, table_scores
from stats.arrays import FloatArray
from stats.coefficient_precision import COEFFICIENTS, N_RESAMPLES, expect_coefficients
from stats.intervals import Interval
from stats.planned_answers import AnswerForm
from stats.precision import half_width
from stats.reasons import Incomputable
from stats.sums import Level
from tests.stats.test_precision import FORMS, N_SOURCES, crossed, draw_another_way

Measures: TypeAlias = dict[str, Callable[[], Interval]]
N_RATERS = (3, 5, 10)
# Widths of few groups differ most from study to study. With so many the standard error of a ratio is 4.5 % at most.
N_STUDIES_BY_GROUPS = {4: 600, 8: 240, 12: 140, 30: 80}


def list_measures(people: FloatArray, judge: FloatArray, form: AnswerForm) -> Measures:
    """Of each coefficient what computes its interval. people : (raters, groups, sources); judge : (groups, sources)"""
    n_raters, n_groups, n_sources = people.shape
    ratings, clusters = people.reshape(n_raters, -1), np.repeat(np.arange(n_groups), n_sources)
    rng = np.random.default_rng(1)
    if form.kind == "verdict":
        majority = judgements.majority_option(ratings)
        tables = table_scores.tables_by_cluster(judge.reshape(1, -1), majority[np.newaxis], clusters)
        return {
            "kappa": lambda: intervals.fleiss_kappa_interval(ratings, clusters, rng=rng, n_resamples=N_RESAMPLES),
            "judge_kappa": lambda: table_scores.score_interval(
                table_scores.KAPPA, tables, rng=rng, n_resamples=N_RESAMPLES
            ),
        }
    if form.kind == "scale":
        level: Level = "ordinal" if form.step == 1 else "interval"
        means = ratings.mean(axis=0)[np.newaxis]
        score = judge_scores.SPEARMAN
        return {
            "alpha": lambda: intervals.alpha_interval(ratings, level, clusters, rng=rng, n_resamples=N_RESAMPLES),
            "judge_spearman": lambda: judge_scores.score_interval(
                score, judge.reshape(1, -1), means, clusters, rng=rng, n_resamples=N_RESAMPLES
            ),
        }

    def mean_over_groups(values: Iterator[float], low: float, high: float) -> Interval:
        return intervals.mean_interval(
            np.array(list(values)), np.arange(n_groups), rng=rng, n_resamples=N_RESAMPLES
        ).clipped(low, high)

    if form.kind == "rank":
        taus = (judge_orders.group_tau(judge[group], people[:, group].mean(axis=0)) for group in range(n_groups))
        ws = (rankings.kendall_w(people[:, group]).value for group in range(n_groups))
        return {
            "concordance": lambda: mean_over_groups(ws, 0, 1),
            "judge_tau": lambda: mean_over_groups(taus, -1, 1),
            "strength": lambda: strength_interval(people, lambda row: strengths.Order([[s] for s in row.argsort()])),
        }
    shares = people.mean(axis=0)
    has_majority = shares.max(axis=1) > 50
    is_right = np.where(has_majority, 100.0 * (judge.argmax(axis=1) == shares.argmax(axis=1)), np.nan)
    return {
        "judge_accuracy": lambda: mean_over_groups(iter(is_right), 0, 100),
        "strength": lambda: strength_interval(
            people, lambda row: strengths.Order([[int(row.argmax())]], [int(row.argmin())])
        ),
    }


def strength_interval(people: FloatArray, order: Callable[[FloatArray], strengths.Order]) -> Interval:
    """That of the median width over sources."""
    n_raters, n_groups, n_sources = people.shape
    orders = [order(people[rater, group]) for group in range(n_groups) for rater in range(n_raters)]
    clusters = np.repeat(np.arange(n_groups), n_raters).tolist()
    material = strengths.decisions(orders, clusters, n_sources)
    ends = strengths.strength_intervals(material, rng=np.random.default_rng(1), n_resamples=N_RESAMPLES)
    present = sorted((interval for interval in ends if isinstance(interval, Interval)), key=half_width)
    if not present:
        raise Incomputable("no_resample_with_value")
    return present[len(present) // 2]


def measure_widths(name: str, n_groups: int, n_raters: int, rng: np.random.Generator) -> dict[str, list[float]]:
    """Half widths of each coefficient over studies whose last rater is the judge."""
    form, widths = FORMS[name][0], {key: list[float]() for key in COEFFICIENTS[FORMS[name][0].kind]}
    for _study in range(N_STUDIES_BY_GROUPS[n_groups]):
        answers = draw_another_way(name, n_groups, n_raters + 1, rng)
        for key, measure in list_measures(answers[:-1], answers[-1], form).items():
            # Where all answers of four groups are alike, there is no interval.
            try:
                widths[key].append(half_width(measure()))
            except Incomputable:
                continue
    return widths


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMS)
def test_expected_widths_of_coefficients_are_those_of_studies_drawn_another_way(name: str) -> None:
    form, deviations = FORMS[name]
    ratio_by_cell: dict[tuple[str, int, int], float] = {}
    rng = np.random.default_rng(5)
    for n_groups, n_studies in N_STUDIES_BY_GROUPS.items():
        for n_raters in N_RATERS:
            readings = crossed(n_groups, n_raters, 2 if name == "pair" else N_SOURCES)
            expected = expect_coefficients(readings, form, deviations, rng=rng, n_studies=n_studies)
            widths = measure_widths(name, n_groups, n_raters, rng)
            for one in expected:
                assert one.half_width is not None
                ratio_by_cell[one.name, n_groups, n_raters] = one.half_width / float(np.median(widths[one.name]))

    assert len(ratio_by_cell) == len(COEFFICIENTS[form.kind]) * len(N_STUDIES_BY_GROUPS) * len(N_RATERS)
    too_far = {cell: ratio for cell, ratio in ratio_by_cell.items() if not 0.9 < ratio < 1.1}
    assert not too_far
    for key in COEFFICIENTS[form.kind]:
        ratios = [ratio for cell, ratio in ratio_by_cell.items() if cell[0] == key]
        assert np.mean(ratios) == pytest.approx(1, abs=0.04)
