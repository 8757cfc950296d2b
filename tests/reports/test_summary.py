"""What the summary of a report says of judges."""

import pytest

from annotation.models import Rater, Response
from reports import results
from reports.page.summary import ReportSummary
from studies.models import Study
from tests.reports import given
from tests.reports.figures.test_judge_costs import run_of

pytestmark = pytest.mark.django_db


def summarised(study: Study, *, blind: bool = False) -> tuple[ReportSummary, set[str]]:
    """The summary, and the keys of the figures that are shown."""
    document = results.read_results(results.compute(study, blind=blind))
    return ReportSummary.of(document, document.head), {figure.key for figure, _result in document.visible}


@pytest.fixture
def study() -> Study:
    made = given.closed_study(n_groups=1, n_items=1)
    given.verdicts(made, {"E01": "yn"})
    run_of(made, "gpt", [["0.01"], ["0.01"]])
    return made


def test_a_judge_that_has_answered_is_spoken_of(study: Study) -> None:
    summary, _shown = summarised(study)

    assert summary.has_judges
    assert summary.judge is None


def test_a_judge_whose_replies_cost_something_and_came_to_nothing_is_not_spoken_of(study: Study) -> None:
    Response.objects.filter(assignment__rater__kind=Rater.Kind.MODEL).update(
        outcome=Response.Outcome.UNREADABLE, value=None
    )

    summary, shown = summarised(study)

    assert "judge_costs" in shown
    assert not summary.has_judges


def test_while_sealed_it_is_not_said_that_no_judge_was_tested(study: Study) -> None:
    summary, shown = summarised(study, blind=True)

    assert "judge_costs" in shown
    assert not summary.has_judges
