"""What was sampled together: groups on one of several premises; one premise for all, or one group, joins nothing."""

from typing import Any

import pytest

from reports import results
from studies.models import Provenance, Source, StoryGroup
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
@pytest.mark.parametrize(("n_groups", "premise"), [(6, "The same for all."), (1, "The same for all."), (1, "")])
def test_stories_on_one_premise_or_in_one_group_are_what_varies(n_groups: int, premise: str) -> None:
    study = given.closed_study(n_groups=n_groups, n_stories=24 // n_groups)
    letters = "yynnyynynynnyyynnnynynyn"
    given.verdicts(study, {"E01": letters, "E02": letters[::-1]})
    with triggers.lifted():
        StoryGroup.objects.update(premise=premise)
        for number, provenance in enumerate(Provenance.objects.order_by("story__code")):
            provenance.source = Source.objects.get(name=f"Source {1 + number % 2}")
            provenance.save()

    computed = results.compute(study)

    verdicts, _guess = computed["agreement"]["items"]
    assert (verdicts["coefficient"]["n_units"], verdicts["interval"]["n_resampled"]) == (24, 24)
    assert all(interval["low"] is not None for interval in intervals_of(computed["comparisons"]))
    contrasts = [row for outcome in computed["comparisons"]["outcomes"] for row in outcome["contrasts"]]
    assert {row["n_blocks"] for row in contrasts} == {1}, "one premise is no block: all stories are compared"
