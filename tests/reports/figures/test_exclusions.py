"""Exclusion rules of a plan: whom each leaves out, and what is said with and without."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from reports import results
from reports.dataset import Dataset
from reports.methods.sampled_units import Sampled
from reports.methods.tables import write_tables
from reports.page.context import headline
from reports.page.statements import statement_lines
from stats import outlying_raters
from studies.documents.analysis_plan import AnalysisPlan
from studies.models import Study
from tests.reports import excluded

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def left_out(study: Study) -> dict[str, set[tuple[str, str]]]:
    """Rater and story of what each rule leaves out."""
    dataset = Dataset.of(study)
    return {
        exclusion.rule: {
            (dataset.raters[row], dataset.units[column][1]) for row, column in np.argwhere(exclusion.readings)
        }
        for exclusion in dataset.exclusions
    }


def of_rater(study: Study, code: str) -> set[tuple[str, str]]:
    return {(code, story) for story in study.stories.values_list("code", flat=True)}


def test_each_rule_leaves_out_whom_it_is_about() -> None:
    study = excluded.study(replace(excluded.PLAN, exclude_stories=("p6s3",)))

    assert left_out(study) == {
        "fast": of_rater(study, excluded.FAST),
        "straight_lining": of_rater(study, excluded.CONSTANT),
        "recognised": {(excluded.KNOWING, excluded.KNOWN)},
        "raters": of_rater(study, excluded.NAMED),
        "stories": {(f"E{n:02}", "p6s3") for n in range(1, 7)},
    }


def test_straight_lining_of_a_story_is_of_three_scales_or_more_that_got_the_same() -> None:
    study = excluded.study(replace(excluded.PLAN, exclude_straight_lining="story"))
    stories = list(study.stories.order_by("code").values_list("code", flat=True))
    is_same = (excluded.ratings() == excluded.ratings()[:, :, :1]).all(axis=2)

    expected = {(f"E{rater + 1:02}", stories[story]) for rater, story in np.argwhere(is_same)}
    assert left_out(study)["straight_lining"] == expected
    assert expected > of_rater(study, excluded.CONSTANT)


def test_same_answers_need_three_items() -> None:
    nan = np.nan
    cube = np.array([[[2, 2, 1]], [[2, 2, 1]], [[2, nan, 2]]])  # three items, one rater, three units

    assert outlying_raters.same_answers(cube).tolist() == [[True, False, False]]


def test_planned_contrasts_are_those_without_what_the_rules_leave_out_and_others_are_not() -> None:
    document = results.compute(excluded.study())

    means = excluded.ratings().mean(axis=2)
    kept = means[[1, 2]]  # the second and the third rater; the first left one story out
    outcomes = {outcome["key"]: outcome for outcome in document["comparisons"]["outcomes"]}
    rows = {(row["rule"], row["outcome"], row["second"]): row for row in document["exclusions"]}
    of_all = rows["none", "tests/scales/1-7", "Source 2"]
    assert of_all["value"] == pytest.approx((means[:, 0::3] - means[:, 1::3]).mean())
    planned = rows["all", "tests/scales/1-7", "Source 2"]
    assert (planned["n"], planned["n_left_out"], planned["n_raters_left_out"]) == (53, 55, 3)
    assert planned["value"] == pytest.approx((kept[:, 0::3] - kept[:, 1::3]).mean(), abs=0.35)
    primary = outcomes["tests/scales/1-7"]
    assert (primary["is_primary"], primary["is_after_exclusions"]) == (True, True)
    assert primary["contrasts"][0]["value"] == planned["value"]
    assert "is_after_exclusions" not in outcomes["tests/item-3"] or not outcomes["tests/item-3"]["is_after_exclusions"]
    assert outcomes["tests/item-3"]["contrasts"][0]["n_raters"] == 6


def test_secondary_outcomes_are_a_family_of_their_own() -> None:
    document = results.compute(excluded.study())

    outcomes = {outcome["key"]: outcome for outcome in document["comparisons"]["outcomes"]}
    n_family = {
        key: {row["n_family"] for row in outcome["contrasts"] if row.get("is_planned")}
        for key, outcome in outcomes.items()
    }
    assert n_family == {"tests/scales/1-7": {2}, "tests/item-1": {4}, "tests/item-2": {4}, "tests/item-3": set()}
    ps = [row["p"] for key in ("tests/item-1", "tests/item-2") for row in planned_rows(outcomes[key])]
    least = min(planned_rows(outcomes["tests/item-2"]), key=lambda row: row["p"])
    assert least["p_adjusted"] == pytest.approx(4 * min(ps))


def planned_rows(outcome: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for row in outcome["contrasts"] if row.get("is_planned")]


def test_a_finding_says_that_it_is_after_exclusions_and_what_they_change() -> None:
    read = results.read_results(results.compute(excluded.study()))
    sentences = [line.statement.sentence for line in statement_lines(read)]

    assert sum("After the planned exclusions." in sentence for sentence in sentences) == 6
    expected = (
        "Without correction, the 95 % interval of the difference between Source 1 and Source 2 holds 0 after the "
        "exclusions, and leaves it out with all answers."
    )
    assert expected in sentences
    assert headline(read).endswith("; after the planned exclusions")


def test_the_table_of_differences_says_what_is_after_exclusions() -> None:
    shown = results.read_results(results.compute(excluded.study()))

    (table,) = write_tables("differences", shown, Sampled.GROUPS)

    assert "confirmatory; after the planned exclusions)" in table.text
    assert "secondary; after the planned exclusions)" in table.text


def test_without_rules_nothing_is_left_out_and_nothing_is_said() -> None:
    plan = AnalysisPlan(outcome="tests/scales/1-7", reference="Source 1", test="model")

    document = results.compute(excluded.study(plan))

    assert document["exclusions"] == []
    assert document["comparisons"]["outcomes"][0]["contrasts"][0]["n_raters"] == 6
