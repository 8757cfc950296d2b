"""What is computed at night, and what `manage.py report` prints."""

import io
import json
import re
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Rater, Response
from reports import results, tasks
from reports.models import Report
from studies.models import Study
from tests import factories
from tests.replay import replayed
from tests.reports import given

pytestmark = pytest.mark.django_db


@pytest.fixture
@replayed
def study() -> Study:
    made = given.closed_study()
    given.verdicts(made, {"E01": "ynyn", "E02": "yyyy"})
    given.verdicts(made, {"gpt": "yyd-"}, kind=Rater.Kind.MODEL)
    Study.objects.update(closed_at=timezone.now())
    return made


def test_live_and_recently_closed_studies_get_a_report(study: Study) -> None:
    factories.study("live")
    factories.study("draft", state="draft", planned=False)
    old = given.closed_study("old")
    Study.objects.filter(pk=old.pk).update(closed_at=timezone.now() - timedelta(days=31))

    assert tasks.nightly() == 2

    assert sorted(Report.objects.values_list("study__slug", "made_by")) == [("live", "nightly"), ("plums", "nightly")]


def test_a_study_whose_answers_have_not_changed_is_not_computed_again(study: Study) -> None:
    assert (tasks.nightly(), tasks.nightly(), Report.objects.count()) == (1, 0, 1)

    Response.objects.filter(pk=Response.objects.first().pk).update(revision=2)  # type: ignore[union-attr]

    assert (tasks.nightly(), Report.objects.count()) == (1, 2)


def test_a_study_that_cannot_be_computed_does_not_cost_the_others_theirs(
    study: Study, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    factories.study("broken")
    compute = results.compute

    def fails(one: Study, **more: object) -> dict[str, object]:
        if one.slug == "broken":
            raise ZeroDivisionError
        return compute(one, **more)

    monkeypatch.setattr(results, "compute", fails)

    assert tasks.nightly() == 1
    assert "no nightly report of broken" in caplog.text


def test_the_schedule_names_the_task() -> None:
    from config.celery import app

    app.loader.import_default_modules()

    scheduled = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert "reports.tasks.scheduled" in scheduled
    assert {"reports.tasks.scheduled", "reports.tasks.nightly", "reports.tasks.make_report"} <= set(app.tasks)


def printed(*arguments: str) -> str:
    out = io.StringIO()
    call_command("report", *arguments, stdout=out)
    return out.getvalue()


def test_report_prints_the_results_as_one_document_the_same_every_time(study: Study) -> None:
    first, second = printed("plums", "--json"), printed("plums", "--json")

    assert first == second
    assert json.loads(first) == results.compute(study)


def test_report_prints_the_results_to_read(study: Study) -> None:
    said = printed("plums")

    assert "4 stories in 2 groups, 2 raters" in said
    assert "Pass rate in percent, with 95 % interval and n verdicts." in said
    assert re.search(r"gpt +100\.0 +100\.0 +25\.0 +2\n", said), "points from the share of experts"
    assert "gpt: declined 1, unreadable 0, missing 1" in said


def test_report_of_an_unknown_study_names_those_that_there_are(study: Study) -> None:
    with pytest.raises(CommandError, match="there is no study “pears”; there are: plums"):
        printed("pears")
