"""Contrasts of sources in a report: values by hand, and what was planned."""

from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from reports import results
from reports.document.model import DrawnPlot, Head, find_blocks
from reports.page.context import context
from reports.page.statements import statement_lines
from studies import protocol
from studies.documents.analysis_plan import AnalysisPlan
from studies.models import Source, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.reports import given

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

# Of eight groups, three items and two raters: what the first story gets and what the second.
FIRST = ["yyy", "yyn", "yyy", "yny", "yyy", "yyy", "nyy", "yyy"]
SECOND = ["nny", "nnn", "ynn", "nnn", "nyn", "nnn", "nnn", "ynn"]


def planned_study(plan: AnalysisPlan | None = None, stories: tuple[list[str], ...] = (FIRST, SECOND)) -> Study:
    """Eight closed groups with such verdicts, which both raters share."""
    study = factories.study("plums", n_groups=8, n_stories=len(stories), n_items=3, k=2, state="draft", planned=False)
    if plan:
        protocol.save_plan(study, plan)
    factories.freeze(study)
    with triggers.lifted():
        Source.objects.exclude(name="Source 1").update(kind=Source.Kind.MODEL)
    Study.objects.update(state="closed", closed_at=NOON)
    study.refresh_from_db()
    letters = "".join(word for group in zip(*stories, strict=True) for word in group)
    given.verdicts(study, {"E01": letters, "E02": letters})
    return study


def comparisons(study: Study) -> dict[str, Any]:
    return dict(results.compute(study)["comparisons"])


def read(study: Study) -> results.Results:
    return results.read_results(results.compute(study))


def sentences(study: Study) -> list[str]:
    return [line.statement.sentence for line in statement_lines(read(study))]


def changes() -> Any:
    """The percentage of Yes of the first story less that of the second, group by group."""
    return np.array([100 * (a.count("y") - b.count("y")) / 3 for a, b in zip(FIRST, SECOND, strict=True)])


def test_differences_are_those_of_story_means_paired_by_group() -> None:
    result = comparisons(planned_study())

    whole = result["outcomes"][0]
    (row,) = whole["contrasts"]
    expected = scipy_stats.ttest_1samp(changes(), 0).confidence_interval(0.95)
    assert (whole["key"], whole["kind"], whole["reference"]) == ("verdicts", "verdicts", "Source 1")
    assert (row["first"], row["second"], row["n_blocks"], row["n_raters"]) == ("Source 1", "Source 2", 8, 2)
    assert row["value"] == pytest.approx(changes().mean())
    assert (row["interval"]["low"], row["interval"]["high"]) == pytest.approx((expected.low, expected.high))
    assert row["p"] == row["p_adjusted"] == pytest.approx(scipy_stats.ttest_1samp(changes(), 0).pvalue)
    assert [(outcome["kind"], outcome["correction"]) for outcome in result["outcomes"]] == [
        ("verdicts", "holm"),
        *[("verdict", "fdr_bh")] * 3,
    ]


def test_without_a_plan_everything_is_exploratory() -> None:
    study = planned_study()

    result = comparisons(study)

    assert result["is_planned"] is False
    assert not any(row.get("is_planned") for outcome in result["outcomes"] for row in outcome["contrasts"])
    assert not any(outcome["is_primary"] for outcome in result["outcomes"])


def test_a_plan_makes_its_contrasts_confirmatory_and_names_reference_test_and_margin() -> None:
    plan = AnalysisPlan(outcome="tests/item-1", reference="Source 2", test="means", margin=90.0)

    result = comparisons(planned_study(plan))

    primary = next(outcome for outcome in result["outcomes"] if outcome["is_primary"])
    (row,) = primary["contrasts"]
    assert (primary["key"], primary["reference"], primary["margin"]) == ("tests/item-1", "Source 2", 90.0)
    assert (row["is_planned"], row["test"], primary["correction"]) == (True, "paired t-test", "holm")
    # 7 of 8 against 2 of 8: changes of 100 in six groups, 0 in one, -100 in one; the 90 % interval passes 90.
    assert (row["value"], row["is_equivalent"]) == (62.5, False)
    assert all(outcome["margin"] is None for outcome in result["outcomes"] if not outcome["is_primary"])


def test_named_pairs_are_confirmatory_beside_the_reference_and_corrected_with_its_contrasts() -> None:
    third = ["nnn", "yny", "nyn", "nnn", "yyn", "nnn", "nyy", "nnn"]
    fourth = ["ynn", "nny", "nyn", "nyn", "nyn", "nnn", "nny", "nyn"]
    plan = AnalysisPlan(outcome="verdicts", reference="Source 1", pairs=(("Source 3", "Source 2"),), margin=40.0)

    study = planned_study(plan, (FIRST, SECOND, third, fourth))
    whole = comparisons(study)["outcomes"][0]

    rows = {(row["first"][-1], row["second"][-1]): row for row in whole["contrasts"]}
    planned = [pair for pair, row in rows.items() if row.get("is_planned")]
    assert planned == [("1", "2"), ("1", "3"), ("1", "4"), ("2", "3")]
    assert [pair for pair, row in rows.items() if row.get("is_equivalent") is not None] == planned
    smallest = sorted(rows[pair]["p"] for pair in planned)
    # Holm over the four that are planned, the others over the two that are not.
    assert rows["2", "3"]["p_adjusted"] == pytest.approx(min(1, rows["2", "3"]["p"]))
    assert rows["2", "3"]["p"] == smallest[-1]
    assert min(rows[pair]["p_adjusted"] for pair in planned) == pytest.approx(4 * smallest[0])
    exploratory = sorted(rows[pair]["p"] for pair in (("2", "4"), ("3", "4")))
    assert min(rows["2", "4"]["p_adjusted"], rows["3", "4"]["p_adjusted"]) == pytest.approx(min(1, 2 * exploratory[0]))
    assert [mark.label for mark in plots_of(study)[-1].marks] == ["Source 2 − Source 3"]


def test_no_interval_of_a_difference_ends_beyond_what_is_possible() -> None:
    # Of three groups all, all and none: Student's t reaches from -77 to 210.
    study = factories.study("plums", n_groups=3, n_stories=2, n_items=1, k=2, state="draft", planned=False)
    factories.freeze(study)
    Study.objects.update(state="closed", closed_at=NOON)
    study.refresh_from_db()
    given.verdicts(study, {"E01": "ynynnn", "E02": "ynynnn"})

    (row,) = comparisons(study)["outcomes"][0]["contrasts"]

    plot = plots_of(study)[0]
    (mark,) = plot.marks
    assert row["value"] == pytest.approx(200 / 3)
    assert row["interval"]["low"] == pytest.approx(200 / 3 - scipy_stats.t.ppf(0.975, 2) * 100 / 3)
    assert (row["interval"]["high"], row["wide"]["high"], row["high_90"]) == (100.0, 100.0, 100.0)
    assert (mark.low, plot.axis.low) == (-100.0, -100.0), "the second less the first, as it is drawn"
    assert any("to 100.0." in sentence for sentence in sentences(study))


def test_the_report_opens_with_what_was_planned() -> None:
    plan = AnalysisPlan(outcome="tests/item-1", reference="Source 2")

    first, *others = sentences(planned_study(plan))

    assert first.startswith("Stories by Source 1 ")
    assert "“Item 1”" in first
    assert any(sentence.startswith("Stories by Source 1 pass the tests") for sentence in others)


def test_a_sealed_study_says_nothing_by_source() -> None:
    study = planned_study()
    Study.objects.update(state="live", closed_at=None)
    study.refresh_from_db()

    assert comparisons_of_sealed(study) is None
    assert not any("Source" in sentence for sentence in sentences(study))


def plots_of(study: Study) -> list[Any]:
    """The plots of the section, the outcome's against the reference first."""
    figure, result = next(pair for pair in read(study).visible if pair[0].key == "comparisons")
    return [drawn.plot for drawn in find_blocks(figure.describe(result, Head()), DrawnPlot)]


def comparisons_of_sealed(study: Study) -> Any:
    return results.compute(study)["comparisons"]


@pytest.mark.parametrize(("n_stories", "is_said"), [(2, False), (3, True)])
def test_that_only_neighbours_are_compared_is_said_where_there_are_others(n_stories: int, is_said: bool) -> None:
    study = planned_study(stories=tuple([FIRST, SECOND, FIRST][:n_stories]))

    assert context(read(study))["has_neighbours"] is is_said
