"""Groups that were sampled together: those on one of several premises; one premise for all joins nothing."""

from typing import Any

import pytest

from reports import results
from studies.models import StoryGroup
from studies.premises import name_clusters
from tests import triggers
from tests.reports import given


@pytest.mark.parametrize(
    ("premises", "clusters"),
    [
        ({"g1": "A tide", "g2": "A tide", "g3": "A gull"}, {"g1": "g1", "g2": "g1", "g3": "g3"}),
        ({"g1": "A tide", "g2": " A tide ", "g3": "A tide"}, {"g1": "g1", "g2": "g2", "g3": "g3"}),
        ({"g1": "", "g2": "", "g3": ""}, {"g1": "g1", "g2": "g2", "g3": "g3"}),
        ({"g1": "A tide", "g2": "", "g3": "A tide"}, {"g1": "g1", "g2": "g2", "g3": "g1"}),
        ({"g1": "A tide"}, {"g1": "g1"}),
        ({}, {}),
    ],
)
def test_one_premise_for_all_joins_nothing(premises: dict[str, str], clusters: dict[str, str]) -> None:
    assert name_clusters(premises.items()) == clusters


def intervals_of(value: Any) -> list[Any]:
    """Everything that is called an interval, wherever it stands."""
    if isinstance(value, dict):
        own = [part for key, part in value.items() if key == "interval"]
        return own + [found for part in value.values() for found in intervals_of(part)]
    if isinstance(value, list | tuple):
        return [found for part in value for found in intervals_of(part)]
    return []


@pytest.mark.django_db
@pytest.mark.embedded
def test_a_study_on_one_premise_has_the_intervals_of_one_on_many() -> None:
    study = given.closed_study(n_groups=6, n_items=2)
    letters = "yynn yyny nynn yyyn nnyn ynyn".replace(" ", "")
    given.verdicts(study, {"E01": letters, "E02": letters[::-1]})
    many = results.compute(study)
    with triggers.lifted():
        StoryGroup.objects.update(premise="The same for all.")

    one = results.compute(study)

    for figure in ("pass_rates", "agreement"):
        assert intervals_of(one[figure]) == intervals_of(many[figure])
    contrasts = [row for outcome in one["comparisons"]["outcomes"] for row in outcome["contrasts"]]
    assert all(interval["low"] is not None for interval in intervals_of(one["comparisons"]))
    assert {row["n_blocks"] for row in contrasts} == {1}, "one premise is no block: all stories are compared"
