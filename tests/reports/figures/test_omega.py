"""McDonald's omega in a report: of declared scores alone, of their items as they count."""

import numpy as np
import pytest

from reports import results
from reports.document.model import Head
from reports.figures import all_figures
from stats.one_factor import fit_one_factor
from tests.reports import composed
from tests.reports.composed import ITEMS, RATERS, Composed

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def counted(made: Composed) -> list[list[float]]:
    """Complete readings, with the second item twice and the third turned."""
    stories = sorted({story for _rater, story, _item in made.said})
    readings = [[made.said.get((rater, story, item)) for item in ITEMS[:3]] for rater in RATERS for story in stories]
    return [[row[0], 2 * row[1], 6 - row[2]] for row in readings if None not in row]  # type: ignore[operator,list-item]


def test_omega_is_of_the_items_as_they_count_and_two_items_have_a_reason() -> None:
    made = composed.plant()
    result = results.read_results(results.compute(made.study)).figures["item_analysis"]
    rows = {row.title: row for row in result.rows}
    text = "\n".join(all_figures()["item_analysis"].lines(result, Head(title="T")))

    omega, of_two = rows["Craft in all"].omega, rows["The first two"].omega

    assert omega.coefficient.value == pytest.approx(fit_one_factor(np.cov(np.array(counted(made)).T)).omega, abs=1e-6)
    assert omega.floor.mean < omega.coefficient.value
    assert (omega.interval.low, omega.interval.why.code) == (None, "no_interval_of_omega")
    assert (of_two.coefficient.value, of_two.coefficient.why.code) == (None, "two_items_no_factor")
    assert [row.omega for row in result.rows if row.kind != "score"] == [None] * (len(rows) - 2)
    assert "Simulated intervals of omega held the truth too seldom" in text
    assert "McDonald’s omega is not given. McDonald’s omega needs three items or more." in text
