"""Results by a property of the stories, on values done by hand."""

from typing import Any

import numpy as np
import pytest

from reports import results
from reports.document.model import DrawnPlot, Head, ReportTable, find_blocks
from reports.figures.base import Listing
from reports.figures.sources.factors import FactorOutcome, Factors
from stats import variance_components
from studies.models import Provenance, Study
from tests import triggers
from tests.reports import given

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

# Of six groups the two stories, one by a person and one by a model; long in every other group.
VERDICTS = ["yy", "ny", "yn", "nn", "yy", "nn"]


def study_with_lengths(verdicts: dict[str, str] | None = None) -> Study:
    study = given.closed_study(n_groups=6)
    given.verdicts(study, verdicts or {"E01": "".join(VERDICTS)})
    with triggers.lifted():
        for row in Provenance.objects.filter(story__study=study).select_related("story"):
            number = int(row.story.code[1])
            row.factors = {"length": "long" if number % 2 else "short", "drawn": "yes" if number > 1 else "no"}
            row.factors |= {"serial": row.story.code}
            row.save()
    return study


def factors(study: Study) -> list[dict[str, Any]]:
    return list(results.compute(study)["factors"])


def test_levels_have_means_over_all_sources_and_within_each() -> None:
    (row,) = factors(study_with_lengths())

    assert (row["factor"], row["key"]) == ("length", "tests/item-1")
    assert [(mean["level"], mean["source"], mean["value"], mean["n_stories"]) for mean in row["means"]] == [
        ("long", "", pytest.approx(500 / 6), 6),
        ("short", "", pytest.approx(100 / 6), 6),
        ("long", "Source 1", 100.0, 3),
        ("short", "Source 1", 0.0, 3),
        ("long", "Source 2", pytest.approx(200 / 3), 3),
        ("short", "Source 2", pytest.approx(100 / 3), 3),
    ]
    long = row["means"][0]["interval"]
    # Groups of 100, 50 and 100 %: one of three holds a No, so it is Wilson's with groups, as of the pass rate.
    ends = (pytest.approx(31.00, abs=0.01), pytest.approx(98.23, abs=0.01))
    assert (long["low"], long["high"], long["method"]) == (*ends, "wilson")


def test_levels_have_the_wider_interval_that_variance_components_give() -> None:
    strict = ["yn", "nn", "nn", "nn", "yy", "nn"]
    (row,) = factors(study_with_lengths({"E01": "".join(VERDICTS), "E02": "".join(strict)}))

    long, short = row["means"][:2]
    # Of each rater the means of groups 1, 3 and 5, and of groups 2, 4 and 6.
    ratings = np.array([[100.0, 50, 100], [50, 0, 100]])
    ends = variance_components.mean_interval(ratings, ratings.mean())
    assert long["wide"]["low"] == pytest.approx(max(min(ends.low, long["interval"]["low"]), 0))
    assert short["wide"]["method"] == "crossed"
    (contrast,) = row["contrasts"]
    assert contrast["wide"]["low"] <= contrast["interval"]["low"] < contrast["interval"]["high"]


def test_levels_that_are_numbers_stand_in_their_order_and_words_after_them() -> None:
    study = study_with_lengths()
    with triggers.lifted():
        for row in Provenance.objects.filter(story__study=study).select_related("story"):
            row.factors = {"size": ("70B", "7B", "unknown")[int(row.story.code[1]) % 3]}
            row.save()

    (row_of_size,) = factors(study)

    assert [mean["level"] for mean in row_of_size["means"] if not mean["source"]] == ["7B", "70B", "unknown"]


def test_levels_are_compared_by_the_model_as_sources_are() -> None:
    (row,) = factors(study_with_lengths())

    (contrast,) = row["contrasts"]
    # Of one rater, groups of one level each: nothing but stories, long 100, 50, 100 on average, short 50, 0, 0.
    assert (contrast["first"], contrast["second"], contrast["test"]) == ("long", "short", "t of the mixed model")
    assert (contrast["value"], contrast["n_stories"]) == (pytest.approx(200 / 3), 6)
    assert contrast["p_same_raters_adjusted"] == contrast["p_same_raters"] < 0.5
    assert np.isfinite(contrast["interval"]["low"])


def test_an_outcome_without_a_mean_is_described_without_a_plot() -> None:
    row = FactorOutcome(factor="size", key="scale", title="", is_percent=False, means=(), contrasts=())

    (section,) = Factors().describe(Listing((row,)), Head())

    assert not list(find_blocks([section], DrawnPlot))
    assert [table.name for table in find_blocks([section], ReportTable) if table.name] == [
        "factors",
        "factor-contrasts",
    ]
