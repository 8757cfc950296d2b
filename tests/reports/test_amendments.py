"""Amendments where results are read: in the report, in the long file, in the package and in the API."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.design import amendments
from annotation.design.amendments import HoldsFor, Wish
from annotation.models import Response
from annotation.responses import submission
from reports import results
from reports.export import documents, long_table
from reports.export.content import PackageContent
from studies.models import Study
from studies.protocol.amendments import AmendableState, state_of
from tests import factories
from tests.replay import replayed

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
@replayed
def study() -> Study:
    """Somebody answered one question before an amendment for everybody and all others after it."""
    study = factories.study(n_stories=2, n_items=1, comparative=False)
    assignment = factories.assignment(study)
    early = factories.answer(assignment)
    Response.objects.filter(pk=early.pk).update(first_answered_at=NOW - timedelta(days=2))
    state, _protocol = state_of(study)
    wish = Wish(AmendableState(state.values | {"notice": "Pilot."}, state.words), "Asked for.", HoldsFor.EVERYBODY)
    amendments.amend(study, wish, by="lead", at=NOW - timedelta(days=1))
    assignment.refresh_from_db()
    late = factories.answer(assignment, letter="B")
    Response.objects.filter(pk=late.pk).update(first_answered_at=NOW)
    submission.submit(assignment, at=NOW)
    return study


def test_the_report_says_what_changed_and_how_many_answers_were_given_under_each_version(study: Study) -> None:
    launched, amended = results.compute(study)["amendments"]

    assert (launched["version"], launched["n_answers"]) == (1, 1)
    assert (amended["version"], amended["n_answers"], amended["reason"]) == (2, 1, "Asked for.")
    assert amended["changes"] == [{"place": "notice", "before": "", "after": "Pilot."}]


def test_both_answers_are_to_one_question_and_each_has_its_version(study: Study) -> None:
    rows = list(long_table.rows(study, with_sources=False))

    assert [row["protocol_version"] for row in rows] == [1, 2]
    assert len({(row["step"], row["item"]) for row in rows}) == 1


def test_an_amendment_that_leaves_the_protocol_makes_another_report(study: Study) -> None:
    before = results.fingerprint(study)
    state, _protocol = state_of(study)
    wish = Wish(
        AmendableState(state.values | {"closes_at": NOW + timedelta(days=9)}, state.words), "Exams.", "everybody"
    )
    amendments.amend(study, wish, by="lead", at=NOW)

    assert results.fingerprint(study) != before
    assert results.compute(study)["amendments"][-1]["version"] is None


def test_package_and_api_list_it(client: Client, study: Study) -> None:
    client.force_login(factories.staff("researcher"))

    (of_package,) = documents.protocols(PackageContent(study))["amendments"]
    (of_api,) = client.get("/api/studies/plums/amendments/").json()

    assert of_package["digest"] == study.amendments.get().digest
    shown = ("number", "version", "reason", "holds_for", "changes")
    assert {name: of_api[name] for name in shown} == {name: of_package[name] for name in shown}
