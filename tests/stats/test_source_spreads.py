"""What is said of two sources is no surer than where each has a spread of its own: Welch's test, or the paired one."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from stats.source_contrasts import BY_MODEL, ComparedSources, OutcomeAnswers, PairContrast
from stats.source_model import JointTest, SourceModel
from stats.source_spreads import SourceSpreads, _shares_of_squares


def compare(ratings: np.ndarray, source: np.ndarray, block: np.ndarray | None = None) -> PairContrast:
    """The first two sources. ratings : shape (R, U)"""
    return compared(ratings, source, block).between(0, 1)


def test_with_one_answer_a_story_it_comes_near_welchs_test() -> None:
    rng = np.random.default_rng(3)
    wide, narrow = rng.normal(0, 3, 6), rng.normal(0, 0.5, 30)
    wide += 4 - wide.mean()

    pair = compare(np.concatenate([wide, narrow])[np.newaxis], np.repeat([0, 1], [6, 30]))

    welch = scipy_stats.ttest_ind(wide, narrow, equal_var=False)
    pooled = scipy_stats.ttest_ind(wide, narrow)
    half = (pair.interval.high - pair.interval.low) / 2
    ends = [test.confidence_interval() for test in (welch, pooled)]
    by_welch, by_one_spread = ((end.high - end.low) / 2 for end in ends)
    assert by_one_spread < 0.6 * half
    assert half == pytest.approx(by_welch, rel=0.1)


def test_where_blocks_pair_the_sources_it_stays_the_paired_test() -> None:
    rng = np.random.default_rng(4)
    premises = rng.normal(0, 1, 12)
    wide, narrow = premises + rng.normal(0, 3, 12), premises + rng.normal(0, 0.5, 12)
    blocks = np.tile(np.arange(12), 2)

    pair = compare(np.concatenate([wide, narrow])[np.newaxis], np.repeat([0, 1], 12), blocks)

    assert pair.p_same_raters == pytest.approx(scipy_stats.ttest_rel(wide, narrow).pvalue, rel=1e-4)


def test_shares_of_squares_are_those_of_the_projection_as_a_matrix() -> None:
    rng = np.random.default_rng(5)
    n = rng.integers(0, 4, (7, 3)).astype(float)
    block, source = (np.repeat(place.ravel(), n.ravel().astype(int)) for place in np.indices(n.shape))
    x = np.hstack([np.eye(3)[source], np.eye(7)[block]])
    left = np.eye(len(x)) - x @ np.linalg.pinv(x)
    of_source = np.eye(3)[source]

    shares, degrees = _shares_of_squares(n)

    assert shares == pytest.approx(of_source.T @ left**2 @ of_source)
    assert degrees == pytest.approx(of_source.T @ np.diag(left))


def test_each_source_gets_the_variance_that_its_stories_have() -> None:
    """Of 4 sources on 400 premises, a story of each: sums of squares mix them, variances do not."""
    rng = np.random.default_rng(6)
    deviations = np.array([2.0, 0.8, 1.0, 0.6])
    values = rng.normal(0, deviations, (400, 4)) + rng.normal(0, 1, (400, 1))
    rests = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()

    spreads = SourceSpreads.of(rests.ravel(), np.tile(np.arange(4), 400), np.repeat(np.arange(400), 4))

    assert spreads.variances**0.5 == pytest.approx(deviations, abs=0.15)
    assert spreads.pooled == pytest.approx((deviations**2).mean(), rel=0.1)


@pytest.mark.slow
def test_a_few_stories_that_differ_widely_are_not_called_better_too_often() -> None:
    """Six by one source, thirty alike by another, five raters of both: of 400 null studies 5 %, by one spread 18."""
    rng = np.random.default_rng(7)
    source = np.repeat([0, 1], [6, 30])
    n_found = 0
    for _study in range(400):
        stories = rng.normal(0, np.array([1.2, 0.2])[source])
        raters = rng.normal(0, 0.5, (5, 1)) + rng.normal(0, 0.3, (5, 2))[:, source]
        ratings = 3 + raters + stories + rng.normal(0, np.array([1.1, 0.4])[source], (5, 36))
        p = compare(np.clip(np.round(ratings), 1, 5), source).p
        n_found += p is not None and p < 0.05
    assert n_found <= 400 * 0.05 + 2.6 * (400 * 0.05 * 0.95) ** 0.5


def compared(ratings: np.ndarray, source: np.ndarray, block: np.ndarray | None = None) -> ComparedSources:
    """ratings : shape (R, U); block : of each story its premise, None of one for all"""
    units = np.arange(len(source))
    answers = OutcomeAnswers(
        values=ratings.mean(axis=0),
        ratings=ratings,
        source=source,
        block=np.zeros(len(source), dtype=np.int64) if block is None else block,
        story=units,
        cluster=units,
        most=100.0,
    )
    return ComparedSources(answers, test=BY_MODEL, resampling=lambda: np.random.default_rng(1), n_resamples=10)


def draw(seed: int, n_stories: tuple[int, ...], spreads: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Ratings of six raters and the sources of stories, which do not differ in mean."""
    rng = np.random.default_rng(seed)
    source = np.repeat(np.arange(len(n_stories)), n_stories)
    stories = rng.normal(0, 0.5, source.size) * np.array(spreads)[source]
    return rng.normal(0, 0.4, (6, 1)) + stories + rng.normal(0, 0.8, (6, source.size)), source


def test_of_two_sources_the_test_of_all_is_that_of_their_difference() -> None:
    ratings, source = draw(1, (6, 30), (4.0, 0.5))

    joint = compared(ratings, source).test_all()

    assert joint is not None
    assert joint.p == pytest.approx(compare(ratings, source).p, rel=1e-6)


def test_which_source_is_first_does_not_matter_to_f() -> None:
    ratings, source = draw(2, (18, 6, 6), (1.0, 2.5, 2.5))

    joint, turned = (compared(ratings, numbers).test_all() for numbers in (source, 2 - source))

    assert joint is not None
    assert turned is not None
    assert joint.f == pytest.approx(turned.f, rel=1e-6)


def test_the_denominator_goes_to_two_as_one_contrast_has_no_more_degrees() -> None:
    denominators = [JointTest.of(1.0, [degrees, 6.0, 6.0]).denominator for degrees in (2.01, 2.0001, 2.0, 1.5)]

    assert denominators == pytest.approx([2.0, 2.0, 2.0, 2.0], abs=0.04)
    assert JointTest.of(1.0, [1.5]).denominator == 1.5  # of one contrast its own


@pytest.mark.slow
def test_few_stories_that_differ_widely_are_called_different_in_one_study_of_twenty() -> None:
    """Of 300 studies; 5 % are found to be more than 8.5 % once in 300 times."""
    n_guarded = n_by_one_spread = 0
    for seed in range(300):
        comparison = compared(*draw(seed, (18, 6, 6), (1.0, 2.5, 2.5)))
        model, joint = comparison.model, comparison.test_all()
        assert isinstance(model, SourceModel)
        assert joint is not None
        n_guarded += joint.p < 0.05
        n_by_one_spread += model.test_all().p < 0.05

    assert n_by_one_spread > 30
    assert n_guarded <= 25
