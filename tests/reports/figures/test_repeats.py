"""What raters read a second time shows how far they agree with themselves, and changes nothing else."""

from pathlib import Path
from typing import Any

import pytest

from annotation.models import Assignment, Rater
from annotation.participation import claims
from annotation.responses import submission
from reports.dataset import Dataset
from reports.export import long_table
from reports.figures import all_figures
from studies.models import Study
from tests import factories
from tests.factories import NOON
from tests.independent.comparison import recomputed
from tests.reports.test_packages import issued

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def read(rater: Rater, verdicts: str) -> Assignment:
    """The next group of the rater, one verdict on each of its stories."""
    assignment = claims.claim(Rater.objects.get(pk=rater.pk))
    for letter, verdict in zip("AB", verdicts, strict=True):
        factories.answer(assignment, letter=letter, value={"y": "yes", "n": "no"}[verdict])
    submission.submit(assignment, at=NOON)
    return assignment


@pytest.fixture
def raters() -> list[Rater]:
    """Two people who have read three groups of two stories each."""
    study = factories.study(n_groups=3, n_stories=2, k=2, n_items=1, comparative=False, planned=False)
    Study.objects.filter(pk=study.pk).update(n_repeats=1, groups_per_sitting=4)
    factories.plan(Study.objects.get(pk=study.pk))
    raters = [factories.rater(Study.objects.get(pk=study.pk), code) for code in ("E01", "E02")]
    for rater, verdicts in zip(raters, ("yn yy nn", "yn ny ny"), strict=True):
        for of_group in verdicts.split():
            read(rater, of_group)
    return raters


def closed() -> Study:
    Study.objects.update(state="closed", closed_at=NOON, launched_at=NOON)
    return Study.objects.get()


def computed() -> dict[str, Any]:
    """Every figure of the study as if it were closed."""
    dataset = Dataset.of(closed())
    results = {key: repr(figure.compute(dataset)) for key, figure in all_figures().items()}
    Study.objects.update(state="live")
    return results


@pytest.mark.usefixtures("few_shuffles")
def test_a_second_reading_changes_no_other_figure(raters: list[Rater]) -> None:
    before = computed()

    for rater, verdicts in zip(raters, ("yy", "yn"), strict=True):
        assert read(rater, verdicts).repeats

    after = computed()
    assert {key for key in before if before[key] != after[key]} == {"repeats"}


@pytest.mark.usefixtures("few_shuffles")
def test_of_four_answers_given_twice_three_are_the_same(raters: list[Rater]) -> None:
    for rater, verdicts in zip(raters, ("yy", "yn"), strict=True):
        read(rater, verdicts)

    (everybody, first, second) = all_figures()["repeats"].compute(Dataset.of(closed())).rows

    assert (everybody.n, everybody.n_raters, everybody.percent_same) == (4, 2, 75.0)
    assert (first.rater, first.percent_same) == ("E01", 50.0)
    assert (second.rater, second.percent_same) == ("E02", 100.0)


def test_a_second_reading_that_is_not_submitted_is_compared_with_nothing(raters: list[Rater]) -> None:
    factories.answer(claims.claim(raters[0]), letter="A", value="no")

    assert not all_figures()["repeats"].compute(Dataset.of(closed())).rows


def test_the_long_file_marks_second_readings(raters: list[Rater]) -> None:
    read(raters[0], "yy")

    rows = list(long_table.rows(closed(), with_sources=True))

    assert [row["status"] for row in rows if row["rater"] == "E01"].count("repeat") == 2
    assert {row["group_position"] for row in rows if row["status"] == "repeat"} == {4}


@pytest.mark.slow
def test_a_package_with_second_readings_is_computed_again_to_the_same_numbers(
    raters: list[Rater], tmp_path: Path
) -> None:
    for rater, verdicts in zip(raters, ("yy", "yn"), strict=True):
        read(rater, verdicts)

    result = recomputed(issued(closed())[1], tmp_path)

    assert result["differences"] == []
