"""Expected precision: against simulations drawn another way, by hand, and by what reports say of the same answers."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats as scipy_stats

from stats import precision
from stats.arrays import FloatArray
from stats.coefficient_precision import expect_coefficients
from stats.intervals import Interval
from stats.planned_answers import (
    AnswerForm,
    Deviations,
    PlannedReadings,
    double_groups,
    double_raters,
    draw_answers,
    latent_deviations,
    latent_effect,
)
from stats.precision import PlannedComparison, expect_contrasts, generalise
from stats.reasons import Incomputable, value_or_reason
from stats.source_contrasts import ComparedSources, OutcomeAnswers, PairContrast

N_SOURCES = 4
N_DRAWN = 100  # studies, simulated and drawn another way
ON_SCALE = Deviations(rater=0.3, rater_source=0.25, story=0.5, rest=0.9)
OF_TOTAL = Deviations(rater=4, rater_source=8, story=12, rest=18)
OF_VERDICT = Deviations(rater=11, rater_source=10, story=18, rest=0)
OF_ORDER = Deviations(rater_source=0.25, story=0.5, rest=1)
FORMS = {
    "scale": (AnswerForm(kind="scale", mean=3, low=1, high=5, step=1), ON_SCALE),
    "total": (AnswerForm(kind="scale", mean=50, low=0, high=100, step=100 / 14), OF_TOTAL),
    "verdict": (AnswerForm(kind="verdict", mean=40), OF_VERDICT),
    "pair": (AnswerForm(kind="preference"), OF_ORDER),
    "ranking": (AnswerForm(kind="rank", low=1, high=N_SOURCES), OF_ORDER),
}


def crossed(n_groups: int, n_raters: int, n_sources: int = N_SOURCES) -> PlannedReadings:
    """Each group holds a story by each source; all raters read all."""
    group, rater, source = (
        axis.ravel() for axis in np.meshgrid(range(n_groups), range(n_raters), range(n_sources), indexing="ij")
    )
    story = group * n_sources + source
    return PlannedReadings(source=source, block=group, cluster=group, group=group, story=story, rater=rater)


def draw_another_way(name: str, n_groups: int, n_raters: int, rng: np.random.Generator) -> FloatArray:
    """Answers of shape (raters, groups, sources), from the parts on their own axes."""
    form, parts = FORMS[name]
    n_sources = 2 if name == "pair" else N_SOURCES
    if name == "verdict":
        # Two verdicts on a story, or by a rater, have the correlations that a search on drawn pairs gives.
        parts = latent_deviations(form.mean, parts)
    worth = (
        parts.rater * rng.normal(size=(n_raters, 1, 1))
        + parts.rater_source * rng.normal(size=(n_raters, 1, n_sources))
        + parts.story * rng.normal(size=(1, n_groups, n_sources))
        + parts.rest * rng.normal(size=(n_raters, n_groups, n_sources))
    )
    if name == "verdict":
        return np.where(worth > scipy_stats.norm.isf(form.mean / 100), 100.0, 0.0)
    if name == "pair":
        return np.where(worth == worth.max(axis=2, keepdims=True), 100.0, 0.0)
    if name == "ranking":
        return np.asarray(scipy_stats.rankdata(-worth, axis=2), dtype=np.float64)
    return np.clip(form.low + form.step * np.round((form.mean + worth - form.low) / form.step), form.low, form.high)


def compare(answers: FloatArray, form: AnswerForm, test: str) -> PairContrast | Incomputable:
    n_raters, _n_groups, n_sources = answers.shape
    ratings = answers.reshape(n_raters, -1)
    group, source = np.divmod(np.arange(ratings.shape[1]), n_sources)
    outcome = OutcomeAnswers(
        values=ratings.mean(axis=0),
        ratings=ratings,
        source=source,
        block=group,
        story=np.arange(ratings.shape[1]),
        cluster=group,
        most=form.width,
    )
    resampling: Callable[[], np.random.Generator] = lambda: np.random.default_rng(1)  # noqa: E731
    return value_or_reason(
        lambda: ComparedSources(outcome, test=test, resampling=resampling, n_resamples=200).between(0, 1)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMS)
def test_expected_widths_are_those_of_studies_drawn_another_way(name: str) -> None:
    # The medians have a Monte Carlo error, which is added three times to the tenth that is promised.
    rng, form, deviations = np.random.default_rng(5), *FORMS[name]
    test = "model" if form.kind in ("scale", "verdict") else "means"
    ratios = []
    for n_groups in (4, 8, 12, 30):
        for n_raters in (3, 5, 10):
            readings = crossed(n_groups, n_raters, 2 if name == "pair" else N_SOURCES)
            expected = expect_contrasts(
                readings,
                form,
                deviations,
                PlannedComparison(test=test, pairs=((0, 1),)),
                effect=1,
                rng=rng,
                n_studies=N_DRAWN,
            )
            whole = [compare(draw_another_way(name, n_groups, n_raters, rng), form, test) for _study in range(N_DRAWN)]
            # Of pairs in four groups all choices can be alike, so that nothing can be compared.
            drawn = [one for one in whole if isinstance(one, PairContrast)]
            ends: list[tuple[float | None, list[Interval | Incomputable]]] = [
                (expected.same_raters, [one.interval for one in drawn]),
                (expected.other_raters, [one.wide for one in drawn]),
            ]
            for value, intervals in ends:
                widths = [precision.half_width(one) for one in intervals if isinstance(one, Interval)]
                error = 1.25 * float(np.std(np.log(widths))) * (2 / N_DRAWN) ** 0.5
                assert value is not None
                ratios.append(value / float(np.median(widths)))
                assert abs(np.log(ratios[-1])) < 0.1 + 3 * error, (n_groups, n_raters)
    assert np.mean(ratios) == pytest.approx(1, abs=0.04)


def test_widths_of_few_complete_ratings_are_those_of_student() -> None:
    # Without rater × source the difference of a crossed design has the error of the stories' means.
    deviations = Deviations(rater=0.4, story=0.5, rest=0.8)
    form = AnswerForm(kind="scale", mean=0, low=-50, high=50)

    expected = expect_contrasts(
        crossed(8, 3, 2), form, deviations, PlannedComparison(pairs=((0, 1),)), effect=1, rng=np.random.default_rng(1)
    )

    error = (2 * (deviations.story**2 + deviations.rest**2 / 3) / 8) ** 0.5
    of_median = scipy_stats.chi2.median(7) / 7
    by_hand = scipy_stats.t.ppf(0.975, 7) * error * of_median**0.5
    assert expected.same_raters == pytest.approx(by_hand, rel=0.06)


def test_no_difference_is_seldom_called_one_and_a_large_one_nearly_always_is() -> None:
    form = AnswerForm(kind="scale", mean=3, low=1, high=5, step=1)
    expected = expect_contrasts(
        crossed(12, 5), form, ON_SCALE, PlannedComparison(), effect=2.0, rng=np.random.default_rng(2), n_studies=100
    )

    assert expected.power is not None
    assert expected.power > 0.9
    assert expected.false_claims is not None
    assert expected.false_claims <= 0.05 + 2 * 0.022


def test_few_pairs_of_a_test_on_ranks_cannot_reach_5_percent() -> None:
    form, deviations = FORMS["pair"]
    five = crossed(5, 3, 2)
    comparison = PlannedComparison(test="default", pairs=((0, 1),))

    expected = expect_contrasts(
        five, form, deviations, comparison, effect=3, rng=np.random.default_rng(3), n_studies=20
    )

    assert expected.least_p == 2**-4
    assert expected.power == 0


def test_a_study_of_one_source_has_agreement_and_no_difference() -> None:
    form, deviations = FORMS["verdict"]
    readings = crossed(12, 3, 1)

    expected = expect_contrasts(
        readings, form, deviations, PlannedComparison(), effect=20, rng=np.random.default_rng(4)
    )
    coefficients = expect_coefficients(readings, form, deviations, rng=np.random.default_rng(4), n_studies=20)

    assert (expected.why, expected.other_raters) == (precision.ONE_SOURCE, None)
    assert [one.name for one in coefficients] == ["kappa", "judge_kappa"]
    assert all(one.half_width and one.half_width > 0.1 for one in coefficients)


def test_one_rater_has_no_width_for_other_raters() -> None:
    form, deviations = FORMS["scale"]
    comparison = PlannedComparison()

    expected = expect_contrasts(
        crossed(8, 1), form, deviations, comparison, effect=1, rng=np.random.default_rng(4), n_studies=10
    )

    assert expected.same_raters is not None
    assert (expected.other_raters, expected.power) == (None, 0)


def test_drawn_verdicts_have_the_variances_that_were_assumed() -> None:
    form, deviations = FORMS["verdict"]
    rng = np.random.default_rng(6)

    answers = np.stack(
        [draw_answers(crossed(1, 3, 2), form, deviations, effects=np.zeros(2), rng=rng) for _study in range(6000)]
    )

    covariance = np.cov(answers.reshape(6000, -1).T)  # rater 1 on both sources' stories, rater 2, rater 3
    same_story = np.mean([covariance[0, 2], covariance[0, 4], covariance[1, 3], covariance[1, 5]])
    same_rater = np.mean([covariance[0, 1], covariance[2, 3], covariance[4, 5]])
    assert answers.mean() == pytest.approx(40, abs=1)
    assert same_story == pytest.approx(deviations.story**2, abs=40)
    assert same_rater == pytest.approx(deviations.rater**2, abs=40)


def test_verdicts_that_vary_more_than_their_share_allows_are_refused() -> None:
    with pytest.raises(ValueError, match="vary more"):
        latent_deviations(10, Deviations(rater=20, story=25, rest=0))


def test_an_order_puts_the_better_first_as_often_as_was_asked_for() -> None:
    rng, effect = np.random.default_rng(7), latent_effect(70, OF_ORDER)
    form = FORMS["pair"][0]

    answers = [
        draw_answers(crossed(1, 1, 2), form, OF_ORDER, effects=np.array([effect, 0.0]), rng=rng)[0, 0]
        for _study in range(4000)
    ]

    assert np.mean(answers) == pytest.approx(70, abs=2.2)


def test_raters_who_read_all_need_fewer_for_the_same_reliability() -> None:
    deviations = Deviations(rater=0.5, rater_source=0.3, story=0.5, rest=0.8)

    crossed_g, nested_g = (generalise(deviations, 3, is_crossed=is_crossed) for is_crossed in (True, False))

    # By Spearman and Brown from the reliability of one rater, .25 / (.25 + .73) and .25 / (.25 + .98).
    one, of_other_raters = 0.25 / 0.98, 0.25 / 1.23
    assert crossed_g.coefficient == pytest.approx(3 * one / (1 + 2 * one))
    assert nested_g.coefficient == pytest.approx(3 * of_other_raters / (1 + 2 * of_other_raters))
    assert (crossed_g.n_needed, nested_g.n_needed) == (12, 16)


def test_twice_the_groups_or_raters_of_a_crossed_plan_is_the_crossed_plan_of_that_size() -> None:
    def cells(readings: PlannedReadings) -> list[tuple[int, ...]]:
        return sorted(zip(*(numbers.tolist() for numbers in readings.labels.values()), strict=True))

    assert cells(double_groups(crossed(4, 3), same_raters=True)) == cells(crossed(8, 3))
    assert cells(double_raters(crossed(4, 3))) == cells(crossed(4, 6))
    assert double_groups(crossed(4, 3), same_raters=False).n_raters == 6


def test_as_many_studies_are_simulated_as_the_size_of_the_plan_allows() -> None:
    comparison = PlannedComparison()

    small, large, larger = (
        precision.count_studies(readings, comparison)
        for readings in (crossed(8, 3), crossed(198, 30), crossed(264, 60))
    )

    assert precision.N_STUDIES > small > large > larger >= precision.FEWEST_STUDIES
    assert precision.count_studies(crossed(198, 30), comparison, share=0.5) == pytest.approx(large / 2, abs=1)
