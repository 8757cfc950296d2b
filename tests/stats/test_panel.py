"""Each rater beside the others, and agreement without them: against the plain functions on fewer rows."""

from collections.abc import Callable
from functools import partial
from typing import SupportsFloat, get_args

import numpy as np
import pytest

from stats import agreement, panel
from stats.arrays import FloatArray
from stats.reasons import Incomputable
from stats.sums import Level
from tests.stats.conftest import Ttcw
from tests.stats.examples import NAN


def without_each(ratings: FloatArray, statistic: Callable[[FloatArray], SupportsFloat]) -> list[float]:
    """The plain way: the statistic on the other rows, nan where it has no value."""
    values = []
    for rater in range(len(ratings)):
        try:
            values.append(float(statistic(np.delete(ratings, rater, axis=0))))
        except Incomputable:
            values.append(NAN)
    return values


def random_ratings(seed: int, *, share_missing: float) -> FloatArray:
    rng = np.random.default_rng(seed)
    ratings = rng.integers(1, 5, size=(rng.integers(2, 7), rng.integers(3, 12))).astype(float)
    ratings[rng.random(ratings.shape) < share_missing] = NAN
    return ratings


@pytest.mark.parametrize("share_missing", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("seed", range(8))
def test_agreement_without_each_is_agreement_of_the_others(seed: int, share_missing: float) -> None:
    ratings = random_ratings(seed, share_missing=share_missing)

    kappas = panel.fleiss_without_each(ratings)

    assert kappas == pytest.approx(without_each(ratings, agreement.fleiss_kappa), nan_ok=True)
    for level in get_args(Level):
        plain = without_each(ratings, partial(agreement.krippendorff_alpha, level=level))
        assert panel.alpha_without_each(ratings, level) == pytest.approx(plain, nan_ok=True)
    chosen = panel.brennan_prediger_without_each(ratings, 4)
    assert chosen == pytest.approx(without_each(ratings, lambda rest: agreement.brennan_prediger(rest, 4)), nan_ok=True)


def test_where_only_one_rater_ever_differs_agreement_without_them_has_no_value() -> None:
    ratings = np.array([[1.0, 1, 1, 1], [1, 1, 1, 1], [1, 0, 1, 0]])

    assert np.isnan(panel.fleiss_without_each(ratings)).tolist() == [False, False, True]
    assert np.isnan(panel.alpha_without_each(ratings, "nominal")).tolist() == [False, False, True]


def test_a_difference_is_to_the_mean_of_the_others_on_the_same_units_and_items() -> None:
    # Unit 0: 5, 2, 2; unit 1: the first rater alone; unit 2: no first rater. A second item only on unit 0, two raters.
    first = [[5.0, 4, NAN], [2, NAN, 1], [2, NAN, 3]]
    second = [[3.0, NAN, NAN], [1, NAN, NAN], [NAN, NAN, NAN]]

    rows = panel.differences([first, second])

    assert rows.raters.tolist() == [0, 1, 1, 2, 2]
    assert rows.units.tolist() == [0, 0, 2, 0, 2]
    # Rater 0: (5 - 2) and (3 - 1). Rater 1: (2 - 3.5) and (1 - 3), then 1 - 3. Rater 2: 2 - 3.5, then 3 - 1.
    assert rows.values.tolist() == pytest.approx([2.5, -1.75, -2, -1.5, 2])
    assert rows.others.tolist() == pytest.approx([1.5, 3.25, 3, 3.5, 1])


def test_nobody_beside_anybody_is_no_difference() -> None:
    with pytest.raises(Incomputable, match="Nothing has two ratings"):
        panel.differences([[[1.0, NAN], [NAN, 2.0]]])


def test_renaming_raters_renames_their_differences() -> None:
    ratings = random_ratings(3, share_missing=0.2)[np.newaxis]

    rows, turned = panel.differences(ratings), panel.differences(ratings[:, ::-1])

    last = ratings.shape[1] - 1
    forward = {(r, u): v for r, u, v in zip(rows.raters, rows.units, rows.values, strict=True)}
    backward = {(last - r, u): v for r, u, v in zip(turned.raters, turned.units, turned.values, strict=True)}
    assert forward == pytest.approx(backward)


@pytest.mark.data
def test_severity_and_agreement_without_each_expert_of_the_release(ttcw: Ttcw) -> None:
    rows = panel.differences(ttcw.verdicts)

    severity = {}
    for expert in range(ttcw.verdicts.shape[1]):
        own = ttcw.verdicts[:, expert]
        others = np.delete(ttcw.verdicts, expert, axis=1)
        units = np.isfinite(own[0])
        if units.any():
            severity[expert] = float((own[:, units].mean(axis=0) - np.nanmean(others[:, :, units], axis=(0, 1))).mean())
    assert {int(r): float(rows.values[rows.raters == r].mean()) for r in set(rows.raters.tolist())} == pytest.approx(
        severity
    )
    assert len(severity) == 11
    for test in ttcw.verdicts[:3]:
        assert panel.fleiss_without_each(test) == pytest.approx(without_each(test, agreement.fleiss_kappa))
