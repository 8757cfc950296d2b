"""Shares of every place, on rankings done by hand."""

import pytest

from reports import results
from reports.figures.sources.places import divide_places
from tests.reports import given

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def test_a_shared_place_is_divided_among_its_stories() -> None:
    assert divide_places([["a"], ["b", "c"]]) == {"a": [1, 0, 0], "b": [0, 0.5, 0.5], "c": [0, 0.5, 0.5]}


def test_shares_of_every_place_add_up_for_each_source() -> None:
    study = given.closed_study(n_groups=2)
    orders = {
        "E01": {"plot1": "p1s1 > p1s2", "plot2": "p2s2 > p2s1"},
        "E02": {"plot1": "p1s1 > p1s2", "plot2": "p2s1 > p2s2"},
    }
    given.bring(study, given.orders(study, orders))

    (row,) = results.compute(study)["places"]

    assert (row["n_rankings"], row["n_places"]) == (4, 2)
    shares = {part["source"]: [share["value"] for share in part["shares"]] for part in row["by_source"]}
    assert shares == {"Source 1": [75.0, 25.0], "Source 2": [25.0, 75.0]}
    assert {part["n"] for part in row["by_source"]} == {4}
