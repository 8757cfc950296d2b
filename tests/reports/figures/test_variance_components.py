"""What varies in a report, and intervals for other raters, on verdicts whose table is done by hand."""

from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from reports import results
from reports.page import csv
from studies.models import Study
from tests.reports import given

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

# Of four groups, four items and two raters: what the first story gets and what the second, in turn.
LETTERS = {
    "E01": ["yyyy", "ynnn", "yyyn", "nnnn", "yyyy", "yynn", "yynn", "nnnn"],
    "E02": ["ynnn", "nnnn", "yynn", "nnnn", "ynnn", "ynnn", "nnnn", "nnnn"],
}


def study() -> Study:
    made = given.closed_study(n_groups=4, n_stories=2, n_items=4)
    given.verdicts(made, {rater: "".join(letters) for rater, letters in LETTERS.items()})
    return made


def percent() -> Any:
    """The percentage of Yes of each rater for each of the eight stories."""
    return np.array([[100 * word.count("y") / 4 for word in words] for words in LETTERS.values()])


def table(ratings: Any) -> tuple[Any, Any]:
    """Mean squares of raters, columns and the rest, and their degrees of freedom, of complete ratings."""
    n_raters, n_columns = ratings.shape
    rows, columns, mean = ratings.mean(axis=1), ratings.mean(axis=0), ratings.mean()
    rest = ratings - rows[:, None] - columns + mean
    degrees = np.array([n_raters - 1, n_columns - 1, (n_raters - 1) * (n_columns - 1)])
    sums = [n_columns * ((rows - mean) ** 2).sum(), n_raters * ((columns - mean) ** 2).sum(), (rest**2).sum()]
    return np.array(sums) / degrees, degrees


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson 1927, in percent."""
    z = scipy_stats.norm.ppf(0.975)
    centre, spread = share + z**2 / (2 * n), z * (share * (1 - share) / n + z**2 / (4 * n**2)) ** 0.5
    return 100 * (centre - spread) / (1 + z**2 / n), 100 * (centre + spread) / (1 + z**2 / n)


def margin(ratings: Any) -> float:
    """Half the interval for other raters, from the table."""
    squares, degrees = table(ratings)
    signed = squares * [1, 1, -1] / ratings.size
    freedom = signed.sum() ** 2 / (signed**2 / degrees).sum()
    return float(scipy_stats.t.ppf(0.975, max(freedom, 1.0)) * signed.sum() ** 0.5)


def test_variances_are_those_of_the_table_and_means_have_both_intervals() -> None:
    (whole, *_others) = results.compute(study())["variance_components"]

    squares, _degrees = table(percent())
    expected = ((squares[0] - squares[2]) / 8, (squares[1] - squares[2]) / 2, squares[2])
    assert (whole["key"], whole["n_raters"], whole["n_stories"], whole["n_ratings"]) == ("verdicts", 2, 8, 16)
    assert (whole["rater"], whole["story"], whole["residual"]) == pytest.approx(expected)
    assert min(expected) > 0
    second = whole["sources"][1]
    of_source = percent()[:, 1::2]
    assert (second["source"], second["value"], second["n_stories"]) == ("Source 2", of_source.mean(), 4)
    wide, narrow = second["wide"], second["interval"]
    # Fewer than three of its four stories have a Yes, so it is Wilson's interval with stories, as of the pass rate.
    assert ((of_source > 0).any(axis=0).sum(), narrow["method"]) == (2, "wilson")
    assert (narrow["low"], narrow["high"]) == pytest.approx(wilson(of_source.mean() / 100, 4))
    assert wide["low"] <= narrow["low"] < narrow["high"] <= wide["high"]


def test_a_difference_has_the_interval_of_each_raters_own_differences() -> None:
    (row,) = results.compute(study())["comparisons"]["outcomes"][0]["contrasts"]

    changes = percent()[:, ::2] - percent()[:, 1::2]
    spread = scipy_stats.t.ppf(0.975, 3) * changes.mean(axis=0).std(ddof=1) / 2
    squares, _degrees = table(changes)
    assert min(squares[:2]) > squares[2] > 0
    assert row["value"] == pytest.approx(changes.mean())
    assert row["interval"]["high"] == pytest.approx(changes.mean() + spread)
    assert row["wide"]["method"] == "crossed"
    assert margin(changes) > spread
    assert 100 - changes.mean() < margin(changes) > 100 + changes.mean()
    assert (row["wide"]["low"], row["wide"]["high"]) == (-100, 100), "where differences of percentages end"


def test_both_tables_hold_every_outcome_and_source() -> None:
    computed = results.read_results(results.compute(study()))

    header, rows = csv.find_table(computed, "variance-components")
    _header, means = csv.find_table(computed, "means-for-other-raters")

    outcomes = {row["outcome"] for row in rows}
    assert "verdicts" in outcomes
    assert {"rater_variance", "story_variance", "residual_variance"} <= set(header)
    assert {(row["outcome"], row["source"]) for row in means} == {
        (outcome, source) for outcome in outcomes for source in ("Source 1", "Source 2")
    }


def test_a_rater_of_one_group_each_is_said_to_cross_with_nobody() -> None:
    made = given.closed_study(n_groups=2, n_stories=2, n_items=1)
    given.verdicts(made, {"E01": "yn--", "E02": "--ny"})

    (row, *_others) = results.compute(made)["variance_components"]

    assert {mean["wide"]["why"]["code"] for mean in row["sources"]} == {"raters_not_crossed"}
