"""What reports, their methods and the package say of who failed a comprehension check that ends their way, or flags."""

from typing import Any

import pytest
from django.test import Client

from annotation.models import StepTaken
from annotation.participation import withdrawal
from reports import results
from reports.methods.paragraph import write_paragraphs
from reports.methods.sampled_units import find_sampled
from tests import factories
from tests.annotation import arriving
from tests.factories import NOON
from tests.reports.test_packages import issued, table

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


@pytest.mark.parametrize(
    ("options", "attempts", "way", "outcomes", "sentence"),
    [
        (
            {},
            2,
            "end",
            ["again", "ended", "again", "passed"],
            "in up to 2 attempts; who did not pass it went no further",
        ),
        (
            {"attempts": 1, "on_failure": "continue"},
            1,
            "continue",
            ["flagged", "flagged"],
            "in one attempt; who did not pass it went on",
        ),
    ],
    ids=["gate", "flag"],
)
def test_reports_and_files_say_who_failed_and_what_became_of_them(
    client: Client, options: dict[str, Any], attempts: int, way: str, outcomes: list[str], sentence: str
) -> None:
    study = arriving.check(client, options=options).study
    step = study.versions.get().steps.get(key="about")
    wrong_by_rater = {"X1": [["item-1"], ["item-1"]], "X2": [["item-1"], []], "X3": [["item-1"], ["item-2"]]}
    for code, wrong in wrong_by_rater.items():
        rater = factories.rater(study, code)
        for attempt, keys in enumerate(wrong[:attempts], start=1):
            StepTaken.objects.create(rater=rater, step=step, attempt=attempt, wrong=keys)
    withdrawal.withdraw(study.raters.get(code="X3"), at=NOON)
    n_failed = 1 if attempts == 2 else 2

    report = results.ensure_report(study, at=NOON, by="ann")
    shown = results.read_results(report.result)
    methods = " ".join(p.text for p in write_paragraphs(study, shown, report, find_sampled(study, shown)))
    _package, archive = issued(study)

    rows = report.result["checks"]
    assert [(row["n_failed"], row["attempts"], row["on_failure"]) for row in rows] == [(n_failed, attempts, way)] * 2
    assert f"“About” was a comprehension check {sentence}: {n_failed} rater{'s' * (n_failed > 1)}." in methods
    assert [row["outcome"] for row in table(archive, "check_attempts.csv")] == outcomes
