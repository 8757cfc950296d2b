"""Figures that no study of the demo has: the script of a package computes each of their numbers again."""

from collections.abc import Callable
from pathlib import Path

import pytest

from studies.models import Provenance, Study
from tests import triggers
from tests.reports import given, planted
from tests.reports.figures import test_judge_biases, test_measures, test_personas, test_prediction_powered
from tests.reports.given import Row
from tests.reports.test_packages import issued, recomputed

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.embedded]


def drawn_study() -> Study:
    """Pairs of which people read a part, drawn at random; a judge reads all and leaves one out."""
    return test_prediction_powered.planted(missing=True)[0]


def twice_read_study() -> Study:
    """Two stories that stand in two groups, which two raters read both."""
    study = given.closed_study(n_groups=2)
    with triggers.lifted():
        study.groups.get(code="plot2").stories.add(study.stories.get(code="p1s1"), study.stories.get(code="p1s2"))
    places = [("plot1", "p1s1"), ("plot1", "p1s2"), ("plot2", "p1s1"), ("plot2", "p1s2")]
    given.bring(
        study,
        [
            Row("test", rater, group, story, "tests", "item-1", given.ANSWERS[letter])
            for rater, letters in {"E1": "ynyy", "E2": "nnnn"}.items()
            for (group, story), letter in zip(places, letters, strict=True)
        ],
    )
    return study


def study_of_families() -> Study:
    """A judge of a family that wrote some of the stories."""
    study = planted.empty_study()
    with triggers.lifted():
        for name, family in (("Model one", "beta"), ("Model two", "alpha")):
            Provenance.objects.filter(source__name=name).update(factors={"family": family})
    test_judge_biases.plant(study, ("alpha-9",))
    return study


def study_of_personas() -> Study:
    """A judge that reads as five personas; another, asked the same, reads as nobody."""
    return test_personas.Said(nobody="judge-bare").study


@pytest.mark.parametrize(
    ("figure", "make", "least"),
    [
        ("people_and_judge", drawn_study, 20),
        ("measures", test_measures.measured_study, 30),
        ("repeats", twice_read_study, 15),
        ("judge_biases", study_of_families, 30),
        ("personas", study_of_personas, 40),
    ],
    ids=["people and judge", "measures", "repeats", "own family", "personas"],
)
def test_the_script_finds_every_number_of_the_figure(
    figure: str, make: Callable[[], Study], least: int, tmp_path: Path
) -> None:
    _package, archive = issued(make(), with_sources=True, reason="To compute them anew.")

    result = recomputed(archive, tmp_path)

    assert result["differences"] == []
    numbers = result["figures"][figure]  # type: ignore[index]
    assert (numbers["n_computed"], numbers["others"]) == (numbers["n"], {})
    assert numbers["n"] >= least
