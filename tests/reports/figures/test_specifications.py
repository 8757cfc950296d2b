"""The specification curve: which choices there are, which is the plan's, and that it only describes."""

from dataclasses import replace
from typing import Any

import pytest

from reports import results
from reports.document.model import DrawnPlot, Head, find_blocks
from reports.figures import all_figures
from reports.figures.sources import planned_contrasts, specification_rows
from reports.page.statements import statement_lines
from studies.documents.analysis_plan import AnalysisPlan
from studies.models import Study
from tests.reports import excluded

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
CHOICES = ("rule", "measure", "analysis", "raters", "stories")
WITHOUT_RULES = AnalysisPlan(outcome="tests/scales/1-7", reference="Source 1", test="model")


def specifications(study: Study) -> list[dict[str, Any]]:
    return list(results.compute(study)["specifications"])


def of_first_pair(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if (row["first"], row["second"]) == ("Source 1", "Source 2")]


def test_every_combination_stands_there_once_and_the_plans_is_the_planned_contrast() -> None:
    document = results.compute(excluded.study())

    rows = of_first_pair(document["specifications"])
    rules = ("all", "none", "fast", "straight_lining", "recognised", "raters")
    assert {tuple(row[choice] for choice in CHOICES) for row in rows} == {
        (rule, "outcome", analysis, raters, "all")
        for rule in rules
        for analysis in ("model", "story_means")
        for raters in ("drawn", "fixed")
    }
    assert len(rows) == 24
    (planned,) = [row for row in rows if row["is_planned"]]
    assert tuple(planned[choice] for choice in CHOICES) == ("all", "outcome", "model", "drawn", "all")
    (contrast,) = [
        row
        for outcome in document["comparisons"]["outcomes"]
        if outcome["is_primary"]
        for row in outcome["contrasts"]
        if row["second"] == "Source 2"
    ]
    assert (planned["value"], planned["interval"]) == (contrast["value"], contrast["wide"])


def test_story_means_with_all_answers_are_means_of_groups() -> None:
    rows = of_first_pair(specifications(excluded.study(WITHOUT_RULES)))

    means = excluded.ratings().mean(axis=(0, 2))
    (row,) = [row for row in rows if (row["rule"], row["analysis"], row["raters"]) == ("none", "story_means", "fixed")]
    assert row["value"] == pytest.approx((means[0::3] - means[1::3]).mean())


def test_a_plan_without_rules_has_those_that_might_have_been_planned() -> None:
    rows = of_first_pair(specifications(excluded.study(WITHOUT_RULES)))

    assert {row["rule"] for row in rows} == {"none", "fast", "straight_lining", "recognised", "all"}
    assert {row["rule"] for row in rows if row["is_planned"]} == {"none"}


def test_a_score_with_weights_can_be_the_plain_mean_of_its_scales_in_the_unit_of_the_score() -> None:
    weighted = {"key": "sum", "title": "Sum", "how": "sum", "items": ["item-1", "item-2"], "weights": {"item-1": 3}}
    study = excluded.study(replace(WITHOUT_RULES, outcome="tests/scores/sum"), scores=[weighted])

    rows = of_first_pair(specifications(study))

    ratings = excluded.ratings().astype(float)
    means = (4 + (ratings[:, :, :2].mean(axis=2) - 1) / 6 * 24).mean(axis=0)  # of 4 to 28
    (row,) = [
        row
        for row in rows
        if (row["rule"], row["measure"], row["analysis"], row["raters"])
        == ("none", "mean_of_scales", "story_means", "fixed")
    ]
    assert row["value"] == pytest.approx((means[0::3] - means[1::3]).mean())


def test_many_raters_have_fewer_fits_of_the_model_but_the_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    study = excluded.study()
    monkeypatch.setattr(planned_contrasts, "MOST_WORK", 0)

    document = results.compute(study)

    by_model = [row for row in of_first_pair(document["specifications"]) if row["analysis"] == "model"]
    assert {row["rule"] for row in by_model} == {"all"}
    assert {row["rule"] for row in document["exclusions"]} == {"none", "all"}


def test_of_very_many_answers_only_the_plans_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    study = excluded.study()
    monkeypatch.setattr(specification_rows, "MOST_CELLS", 0)

    rows = of_first_pair(specifications(study))

    assert {row["rule"] for row in rows} == {"all"}
    assert [row["analysis"] for row in rows if row["is_planned"]] == ["model"]


def test_it_describes_and_claims_nothing() -> None:
    read = results.read_results(results.compute(excluded.study()))
    lines = [line.statement for line in statement_lines(read)]

    (first, second) = [one for one in lines if "specifications" in one.sentence]
    assert first.sentence == (
        "In 24 of 24 specifications Source 1 is ahead of Source 2; in 16 the 95 % interval leaves out 0."
    )
    assert (first.claims, first.is_planned, second.claims) == ((), False, ())


def test_the_curve_goes_from_the_smallest_difference_to_the_largest_with_a_disc_for_the_plan() -> None:
    result = results.read_results(results.compute(excluded.study())).figures["specifications"]

    (drawn,) = find_blocks(all_figures()["specifications"].describe(result, Head()), DrawnPlot)
    panel = drawn.plot.panels[0]
    values = [point.y for point in panel.points]
    assert values == sorted(values)
    (planned,) = [row for row in result.rows if row.is_planned and row.second == "Source 2"]
    assert [(point.y, point.low, point.high) for point in panel.points if not point.is_open] == [
        (planned.value, planned.interval.low, planned.interval.high)
    ]


def test_without_a_plan_there_is_no_curve() -> None:
    assert specifications(excluded.study(None)) == []
