"""A cube by its readings: as many rows as a unit has readings, whoever gave them."""

import numpy as np

from reports.dataset.cubes import Cube
from stats import agreement
from stats.arrays import FloatArray
from tests.stats.test_sparse_floors import sparse

NAN = np.nan


def cube(values: FloatArray) -> Cube:
    n_items, n_raters, n_units = values.shape
    return Cube(
        items=tuple(("judging", f"item{n}") for n in range(n_items)),
        raters=tuple(f"R{n}" for n in range(n_raters)),
        units=tuple((f"group{n}", f"story{n}") for n in range(n_units)),
        values=values,
    )


def test_a_reading_keeps_its_answers_to_all_items_together_and_its_gaps() -> None:
    first = [[1, NAN, NAN], [NAN, 0, NAN], [0, NAN, NAN]]
    second = [[NAN, NAN, NAN], [NAN, 1, NAN], [1, NAN, NAN]]

    readings = cube(np.array([first, second], dtype=np.float64)).readings

    np.testing.assert_array_equal(readings.raters, [[0, 1, -1], [2, -1, -1]])
    np.testing.assert_array_equal(readings.values[0], [[1, 0, NAN], [0, NAN, NAN]])
    np.testing.assert_array_equal(readings.values[1], [[NAN, 1, NAN], [1, NAN, NAN]])


def test_coefficients_of_readings_are_those_of_raters() -> None:
    ratings = sparse(40, 90)
    ratings[:, :20] = np.where(ratings[:, :20] == 0, NAN, ratings[:, :20])  # units that have fewer
    readings = cube(ratings[np.newaxis]).readings

    assert readings.values.shape == (1, 3, 90)
    assert agreement.fleiss_kappa(readings.values[0], readings.raters) == agreement.fleiss_kappa(ratings)
    for level in ("nominal", "interval"):
        of_readings = agreement.krippendorff_alpha(readings.values[0], level, readings.raters)
        assert of_readings == agreement.krippendorff_alpha(ratings, level)


def test_without_any_answer_there_is_no_reading() -> None:
    assert cube(np.full((2, 3, 4), NAN)).readings.values.shape == (2, 0, 4)
