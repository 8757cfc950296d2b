"""The model of sources on designs of every kind: numbers that make sense, or the reason why there are none."""

import itertools
from collections import Counter
from functools import partial

import numpy as np
import pytest

from stats.crossed_equations import CrossedInverse
from stats.model_estimates import ModelEstimate
from stats.reasons import Incomputable, value_or_reason
from stats.source_model import CrossedAnswers, SourceModel
from tests.stats.test_source_model import answers, crossed, read

pytestmark = pytest.mark.embedded


def random_answers(rng: np.random.Generator) -> CrossedAnswers:
    """A small design with gaps; premises shared or own, stories in two groups, Yes/No, constants, odd units."""
    n_sources, n_blocks, n_raters = (int(rng.integers(*ends)) for ends in ((2, 6), (1, 7), (1, 9)))
    n_each = int(rng.integers(1, 4))
    stories = np.array([(s, b) for s in range(n_sources) for b in range(n_blocks) for _copy in range(n_each)])
    if rng.random() < 0.1:
        stories = np.array([(source, 0) for source in range(n_sources)])
    is_read = rng.random((n_raters, len(stories))) >= rng.uniform(0, 0.4)
    is_read[0, 0] = True
    if rng.random() < 0.2:
        is_read[1:] &= rng.random(is_read[1:].shape) < 0.3
    rater, story = np.nonzero(is_read)
    source, block = stories[story].T
    if rng.random() < 0.2:
        block = block + 100 * source
    if rng.random() < 0.2:
        again = np.concatenate([np.arange(len(story)), np.flatnonzero(rng.random(len(story)) < 0.3)])
        n_again = len(again) - len(story)
        rater, source, story = rater[again], source[again], story[again]
        block = np.concatenate([block, rng.integers(0, n_blocks, n_again)])
    values = 0.3 * source + rng.choice([0, 0.5, 2]) * rng.normal(size=n_raters)[rater]
    values += rng.choice([0, 0.5]) * rng.normal(size=(n_raters, n_sources))[rater, source]
    values += rng.choice([0, 0.5, 1]) * rng.normal(size=len(stories))[story]
    values += rng.choice([0, 1e-9, 0.3, 1]) * rng.normal(size=len(story))
    match rng.integers(0, 6):
        case 0:
            values = 100.0 * (values > rng.choice([0.2, 1.5]))
        case 1:
            values = np.round(values)
        case 2:
            values = np.full(len(story), rng.choice([0.0, 3.1, 100.0]))
        case 3:
            values = values * rng.choice([1e-6, 1e6])
    return answers(values, source, block, rater, story)


def check_estimate(estimate: ModelEstimate) -> None:
    assert np.isfinite([estimate.value, estimate.error, estimate.degrees]).all()
    assert 0 <= estimate.p <= 1
    assert estimate.degrees >= 1
    assert estimate.error > 0


def check_model(model: SourceModel, made: CrossedAnswers) -> None:
    sources, scale = np.unique(made.source).tolist(), float(np.ptp(made.values))
    for first, second in itertools.combinations(sources, 2):
        for other in (False, True):
            contrast = value_or_reason(partial(model.contrast, first, second, other_raters=other))
            if isinstance(contrast, Incomputable):
                assert not model.is_estimable(first, second)
                continue
            turned = model.contrast(second, first, other_raters=other)
            check_estimate(contrast)
            assert contrast.value == pytest.approx(-turned.value, abs=1e-9 * scale)
            assert [contrast.error, contrast.degrees] == pytest.approx([turned.error, turned.degrees])
            means = [value_or_reason(partial(model.mean, source, other_raters=other)) for source in (first, second)]
            if all(isinstance(mean, ModelEstimate) for mean in means):
                assert means[0].value - means[1].value == pytest.approx(contrast.value, abs=1e-7 * scale)
        if model.is_estimable(first, second):
            these, others = (model.contrast(first, second, other_raters=other) for other in (False, True))
            assert these.error <= others.error * (1 + 1e-9)
    for source in sources:
        both = [value_or_reason(partial(model.mean, source, other_raters=other)) for other in (False, True)]
        if all(isinstance(mean, ModelEstimate) for mean in both):
            assert both[0].error <= both[1].error * (1 + 1e-9)
            for mean in both:
                check_estimate(mean)
    joint = value_or_reason(model.test_all)
    if not isinstance(joint, Incomputable):
        assert np.isfinite([joint.f, joint.denominator]).all()
        assert 0 <= joint.p <= 1


@pytest.mark.filterwarnings("error")
def test_whatever_the_design_numbers_make_sense_or_there_is_a_reason() -> None:
    outcomes: Counter[str] = Counter()
    for seed in range(60):
        made = random_answers(np.random.default_rng(seed))
        model = value_or_reason(partial(SourceModel, made))
        outcomes["" if isinstance(model, SourceModel) else model.code] += 1
        if isinstance(model, SourceModel):
            check_model(model, made)

    assert set(outcomes) == {"", "values_explained", "too_few_stories"}
    assert outcomes[""] > 25


def test_with_these_raters_variance_is_less_by_what_raters_are_drawn_with() -> None:
    """In closed form, gaps or none: what sums of drawn effects add, which are sums of the sources' own columns."""
    made = read("missing")
    model = SourceModel(made)
    n_raters = len(np.unique(made.rater))
    n_readers = [len(np.unique(made.rater[made.source == source])) for source in (0, 1)]
    of_rater, of_both = model.variances["rater"], model.variances["rater_source"]

    for compute, less in (
        (model.mean, of_rater / n_raters + of_both / n_readers[0]),
        (lambda first, **raters: model.contrast(first, 1, **raters), of_both * sum(1 / n for n in n_readers)),
    ):
        these, others = (compute(0, other_raters=other) for other in (False, True))
        assert others.error**2 - these.error**2 == pytest.approx(less)


@pytest.mark.parametrize("n_raters", [3, 60])
def test_what_is_swept_out_changes_no_number(n_raters: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the inverse of all columns. Of few raters stories are swept out, of many what they make of a source."""
    made = crossed(np.random.default_rng(1), effects=(0.0, 0.4, 0.9), n_blocks=4, n_raters=n_raters)
    design = SourceModel(made)._design.columns
    ratio_by_part = {"rater": 0.7, "rater_source": 0.4, "story": 1.1}
    inverse = CrossedInverse(design, ratio_by_part)

    scaled = design.columns.toarray() * inverse.scales
    whole = np.linalg.inv(scaled.T @ scaled + np.diag(design.prior))
    less = np.eye(len(whole)) - whole
    places = [design.place_by_part[name] for name in ratio_by_part]
    squares = inverse.squares(tuple(ratio_by_part))

    assert design.fine.name == ("story" if n_raters == 3 else "rater_source")
    assert np.array([inverse.solve(row) for row in np.eye(len(whole))]) == pytest.approx(whole, abs=1e-10)
    assert inverse.log_determinant == pytest.approx(-np.linalg.slogdet(whole)[1])
    assert squares.traces == pytest.approx([np.trace(less[place, place]) for place in places])
    expected = np.array([[(less[rows, columns] ** 2).sum() for columns in places] for rows in places])
    assert squares.sums == pytest.approx(expected)
    # Sparse columns, as of many raters and stories, give the same.
    for limit in ("FEW", "MOST_DENSE"):
        monkeypatch.setattr(f"stats.crossed_equations.{limit}", 0)
    sparse = CrossedInverse(SourceModel(made)._design.columns, ratio_by_part)
    assert sparse.squares(tuple(ratio_by_part)).sums == pytest.approx(squares.sums)
