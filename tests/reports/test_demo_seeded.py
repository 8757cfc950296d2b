"""The demonstration as it stands once it is seeded: a study of every folder, complete and said to be simulated."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.models import Assignment, Invitation, Rater, Response
from judges.models import Run
from reports import results
from reports.management.commands import demo as seeding
from reports.models import Report
from reports.page.context import notices
from studies.models import Provenance, Story, Study

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def demo() -> None:
    call_command("demo", stdout=StringIO())


@pytest.fixture(scope="module", autouse=True)
def seeded(module_db: None) -> None:
    demo()


def rows() -> dict[str, int]:
    counted = (Study, Story, Rater, Assignment, Response, Invitation, Run, Report)
    return {model.__name__: model._default_manager.count() for model in counted}


def test_the_demo_seeds_a_study_of_every_folder_and_seeds_it_once() -> None:
    first = rows()

    demo()

    assert rows() == first
    state_by_slug = dict(Study.objects.values_list("slug", "state"))
    states = [state_by_slug.pop(slug) for slug in ("harbour", "workshop", "workshop-references")]
    assert states == ["closed", "closed", "draft"]
    assert sorted(state_by_slug) == sorted(seeding.live_slugs())
    assert set(state_by_slug.values()) == {"live"}
    assert first["Invitation"] == 3 + len(state_by_slug) - 1


def test_the_closed_study_is_complete_simulated_and_says_so() -> None:
    study = Study.objects.get(slug="harbour")
    assert "nothing in it is a finding" in study.notice
    of_report = notices(results.read_results(Report.objects.get().result))
    assert "The answers are simulated: no person gave them." in of_report
    assert not study.raters.filter(is_simulated=False).exists()
    people = study.assignments.filter(rater_kind="person")
    assert set(people.values_list("status", flat=True)) == {"submitted"}
    assert people.count() == study.seats.filter(rater_kind="person").count() == 9
    assert study.launched_at < min(people.values_list("started_at", flat=True))
    assert max(people.values_list("ended_at", flat=True)) < study.closed_at < timezone.now()


def test_the_demos_report_recovers_what_was_planted() -> None:
    result = Report.objects.get().result
    tier_by_source = dict(Provenance.objects.values_list("source__name", "factors__tier"))
    means = {row["source"]: row["value"] for row in result["pass_rates"]["mean"]["by_source"]}
    assert tier_by_source[max(means, key=means.__getitem__)] == "upper"
    assert tier_by_source[min(means, key=means.__getitem__)] == "lower"
    assert result["judges"]["compared"]


def test_the_stub_judge_has_finished() -> None:
    run = Run.objects.get()
    assert (run.state, run.study.slug, run.judge.endpoint.is_stub) == ("finished", "harbour", True)
