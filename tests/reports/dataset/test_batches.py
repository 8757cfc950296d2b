"""Batches, which only bundle what is read at a time: their stories are clusters of their own."""

from pathlib import Path
from typing import Any

import pytest

from annotation.models import Assignment
from reports import results
from reports.dataset import Dataset
from reports.methods.paragraph import to_text, write_paragraphs
from reports.methods.sampled_units import find_sampled
from studies.models import Provenance, Source, StoryGroup, Study
from studies.premises import repeat_sources
from tests import triggers
from tests.factories import NOON
from tests.independent.comparison import recomputed
from tests.reports import batched, given
from tests.reports.test_packages import issued, table

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def n_clusters(study: Study, *, blind: bool = False) -> int:
    dataset = Dataset.of(study, blind=blind)
    return len(set(dataset.clusters_of_units(dataset.units)))


def test_stories_in_batches_that_all_raters_read_are_clusters() -> None:
    assert n_clusters(batched.plant()) == batched.N_BATCHES * batched.N_STORIES


def test_batches_read_by_raters_of_their_own_are_clusters() -> None:
    study = batched.plant()
    with triggers.lifted():
        # Each batch keeps one of the five raters.
        for b, rater in enumerate(batched.RATERS, start=1):
            Assignment.objects.filter(rater__code=rater).exclude(group__code=f"batch{b}").update(status="given_up")

    assert n_clusters(study) == batched.N_BATCHES


def test_groups_on_premises_of_their_own_are_clusters() -> None:
    study = batched.plant()
    with triggers.lifted():
        for group in StoryGroup.objects.all():
            group.premise = f"Premise of {group.code}"
            group.save()

    assert n_clusters(study) == batched.N_BATCHES


def test_groups_are_clusters_while_sources_are_hidden() -> None:
    study = batched.plant()

    assert n_clusters(study, blind=True) == batched.N_BATCHES


def test_blocks_without_a_premise_stay_clusters() -> None:
    study = given.closed_study(n_groups=6, n_items=2)
    given.verdicts(study, {"E01": "yynn" * 6, "E02": "ynny" * 6})
    with triggers.lifted():
        StoryGroup.objects.update(premise="")

    assert n_clusters(study) == 6


def test_groups_whose_stories_are_ranked_stay_clusters() -> None:
    study = given.closed_study(n_groups=6, n_items=2)
    given.verdicts(study, {"E01": "yynn" * 6, "E02": "ynny" * 6})
    with triggers.lifted():
        StoryGroup.objects.update(premise="")
        Provenance.objects.update(source=Source.objects.first())  # so that every group holds two by it

    assert n_clusters(study) == 6


@pytest.mark.parametrize(
    ("sources_by_group", "repeats"),
    [
        ({"g1": "AB", "g2": "AB", "g3": "A"}, False),
        ({"g1": "AAB", "g2": "ABB", "g3": "AB"}, True),
        ({"g1": "AAB", "g2": "AB", "g3": "AB"}, False),
        ({"g1": "A", "g2": "A"}, False),
        ({}, False),
    ],
)
def test_batches_are_told_by_several_stories_of_one_source(sources_by_group: dict[str, str], repeats: bool) -> None:
    units = [(group, f"{group}{n}") for group, names in sources_by_group.items() for n, _name in enumerate(names)]
    names = "".join(sources_by_group.values())
    sources = {story: name for (_group, story), name in zip(units, names, strict=True)}

    assert repeat_sources([*units, (None, "alone")], sources) is repeats


def test_sources_in_batches_are_compared_over_stories() -> None:
    study = batched.plant()

    outcomes = results.compute(study)["comparisons"]["outcomes"]

    rows = [row for outcome in outcomes for row in outcome["contrasts"]]
    n = batched.N_BATCHES * batched.N_STORIES // len(batched.SOURCES)
    assert {(row["n_stories"], row["n_stories_second"], row.get("n_left_out", 0)) for row in rows} == {(n, n, 0)}
    scales: list[dict[str, Any]] = [outcome for outcome in outcomes if outcome["kind"] == "rating"]
    widths = [row["interval"]["high"] - row["interval"]["low"] for outcome in scales for row in outcome["contrasts"]]
    assert max(widths) < 2


def test_the_package_has_stories_of_batches_as_clusters_and_gives_the_same_numbers(tmp_path: Path) -> None:
    _kept, package = issued(batched.plant(with_judge=True), with_sources=True, reason="To compute again.")

    assert all(row["cluster"] == row["story"] for row in table(package, "stories.csv"))
    said: dict[str, Any] = recomputed(package, tmp_path)
    assert said["differences"] == []
    assert said["n_computed"] >= 4222


@pytest.mark.parametrize(
    ("premise", "reason"),
    [("", "stories (groups were batches"), ("One prompt for all.", "stories (all on one prompt")],
)
def test_the_methods_say_that_intervals_are_over_stories_and_why(premise: str, reason: str) -> None:
    study = batched.plant(premise=premise)
    report = results.ensure_report(study, at=NOON, by="tests")

    shown = results.read_results(report.result)
    text = to_text(write_paragraphs(study, shown, report, find_sampled(study, shown)))

    assert f"over {reason}" in text
