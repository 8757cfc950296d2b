"""Who is ahead in a comparison: told by what it was computed from, also where all stories together say otherwise."""

from dataclasses import replace

import pytest

from reports.figures.sources.contrast_words import contrast_statements
from reports.figures.sources.headline_words import headline
from studies.models import Study
from tests.reports import given
from tests.reports.figures.test_comparisons import comparisons, planned_study, read, sentences
from tests.reports.figures.test_contrast_words import OUTCOME, ROW

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


@pytest.fixture
def study() -> Study:
    """Eight groups on hard prompts hold both sources, of which the second is better; seven on easy ones hold the first
    alone, which passes all tests there."""
    study = given.closed_study(n_groups=15, n_items=3)
    hard = ["nnnynn", "nnnyny", "ynnyyn", "nnnnyn", "nnnnyy", "nnnynn", "nnynyy", "nnnnny"]
    letters = "".join(hard) + "yyy---" * 7
    given.verdicts(study, {"E01": letters, "E02": letters})
    return study


def test_a_finding_puts_the_source_first_that_is_better_where_both_were_compared(study: Study) -> None:
    whole = comparisons(study)["outcomes"][0]

    (row,) = whole["contrasts"]
    levels = {level["source"]: level["value"] for level in whole["sources"]}
    (words,) = (words for words in sentences(study) if "pass the tests" in words and "apart" not in words)
    assert levels["Source 1"] > levels["Source 2"], "over all stories the first is ahead"
    assert row["n_blocks"] == 8
    assert row["value"] == pytest.approx(row["first_value"] - row["second_value"])
    assert row["value"] < 0
    assert words.startswith("Stories by Source 2 pass the tests ")
    assert f"than those by Source 1: {row['second_value']:.1f} against {row['first_value']:.1f} %." in words
    assert f"Source 1 is ahead of Source 2: {levels['Source 1']:.1f} against {levels['Source 2']:.1f} %." in words


def test_the_interval_of_a_finding_holds_its_difference(study: Study) -> None:
    statements = [
        statement
        for outcome in results_of(study)
        for statement in contrast_statements(outcome, n_outcomes=1)
        if statement.interval is not None
    ]

    assert statements
    for statement in statements:
        assert statement.value is not None
        assert statement.value >= 0
        assert statement.interval.low <= statement.value <= statement.interval.high


def results_of(study: Study):
    (result,) = (result for figure, result in read(study).visible if figure.key == "comparisons")
    return result.outcomes


def test_the_head_of_a_report_says_where_the_order_of_all_stories_is_that_of_other_groups() -> None:
    rating = replace(OUTCOME, kind="rating", title="Wit", is_percent=False)
    behind = replace(ROW, value=-12.0, first_value=38.0, second_value=50.0)

    assert "the other way" not in headline([rating])
    assert "the other way" in headline([replace(rating, contrasts=(behind,))])


def test_values_that_are_those_of_all_stories_are_said_once() -> None:
    study = planned_study()

    assert not any("Over all of their stories" in words for words in sentences(study))
