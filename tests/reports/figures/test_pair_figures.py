"""Lengths of pairs and who names what most prefer, on three pairs done by hand."""

import math
from typing import Any

import pytest

from annotation.models import Rater
from annotation.responses import Answer
from reports import results
from reports.figures.pairs.explained_choices import find_bounds
from reports.figures.pairs.lengths import _bins
from studies.models import Story, Study
from tests import triggers
from tests.reports import given
from tests.reports.test_preferences import CHOSEN, FIRST, choices, paired

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

WORDS = {"p1s1": 300, "p1s2": 100, "p2s1": 120, "p2s2": 200, "p3s1": 150, "p3s2": 150}


@pytest.fixture
def report() -> dict[str, Any]:
    """Most prefer the first story of pairs 1 and 3; of pair 2 two of four do."""
    study: Study = paired()
    choices(study, CHOSEN, FIRST)
    with triggers.lifted():
        for code, n_words in WORDS.items():
            Story.objects.filter(study=study, code=code).update(n_words=n_words)
    return results.compute(study)


def test_the_longer_story_is_counted_where_lengths_differ(report: dict[str, Any]) -> None:
    (row,) = report["pair_lengths"]

    assert (row["n_pairs"], row["n_undecided"], row["n_alike"]) == (2, 1, 1)
    assert (row["median_chosen"], row["median_rejected"]) == (225.0, 125.0)
    assert (row["longer"]["value"], row["longer"]["n"]) == (100.0, 1)
    assert row["difference"]["value"] == 100.0
    assert sum(part["n"] for part in row["bins"]) == 2


def test_one_of_the_people_is_held_against_the_others_of_the_pair(report: dict[str, Any]) -> None:
    (row,) = report["pair_accuracies"]

    # Pair 1, three to one: the three have two of three others with them, and the one has three against it: 3 of 4.
    # Pair 2, two to two: each has two of three others against it, so 0 of 4. Pair 3, all alike: 4 of 4.
    person, longer = row["accuracies"]
    assert (person["who"], person["n"], person["value"]) == ("person", 12, pytest.approx(100 * 7 / 12))
    assert (longer["who"], longer["n"], longer["value"]) == ("longer", 2, 75.0)


@pytest.mark.parametrize("differences", [[0.0], [3.0, -4.0], [999.0, -1000.0, 12.0], [17.0, 480.0]])
def test_bins_are_the_same_to_both_sides_and_hold_every_pair(differences: list[float]) -> None:
    bins = list(_bins(differences))

    assert sum(part.n for part in bins) == len(differences)
    assert math.isclose(bins[0].start, -bins[-1].end)


def test_bounds_are_quarters_of_all_explanations_and_fewer_where_many_are_of_one_length() -> None:
    assert find_bounds(range(10, 90, 10)) == [(10, 20), (21, 40), (41, 60), (61, 80)]
    assert find_bounds([5, 5, 5, 5, 5, 9]) == [(5, 5), (6, 9)]
    assert find_bounds([7]) == [(7, 7)]


def test_explained_choices_are_held_against_most_people_by_words_of_the_explanation() -> None:
    study: Study = paired()
    choices(study, CHOSEN, FIRST)
    said = {"plot1": ("p1s1", 2), "plot2": ("p2s1", 30), "plot3": ("p3s2", 40)}  # of pair 2 no story is preferred
    rows = [
        given.Row(
            *("test", "terse", group, "", "ranking", "item-1"),
            Answer(value=story, rationale="so " * n_words),
            kind=Rater.Kind.MODEL,
        )
        for group, (story, n_words) in said.items()
    ]
    given.bring(study, rows)

    (row,) = results.compute(study)["explained_choices"]

    assert row["n"] == 2
    assert [(b["judge"], b["least_words"], b["most_words"], b["n"], b["value"]) for b in row["bins"]] == [
        ("terse", 2, 2, 1, 100.0),
        ("terse", 3, 40, 1, 0.0),
    ]


def test_choices_without_an_explanation_are_not_told_of(report: dict[str, Any]) -> None:
    assert report["explained_choices"] == []
