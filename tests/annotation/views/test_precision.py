"""Expected precision: asked for with assumptions, simulated by a worker, said to be outdated once the plan changes."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation import tasks
from annotation.design import precision
from studies import jobs
from studies.models import Membership, Study, StudyJob
from tests import factories

pytestmark = pytest.mark.django_db
ADDRESS = "/studies/plums/reading-plan/precision/"
OUTCOME = {"alpha", "strength", "kappa", "judge_kappa", "judge_spearman", "judge_tau", "concordance"}


@pytest.fixture
def study() -> Study:
    return factories.study(n_groups=6, planned=False, state=Study.State.DRAFT)


@pytest.fixture
def designer(client: Client, study: Study) -> Client:
    client.force_login(factories.staff("designer"))
    return client


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulations of few studies, which take a second."""
    for module in ("stats.precision", "stats.coefficient_precision"):
        monkeypatch.setattr(f"{module}.SECONDS", 0.05)


def simulate(designer: Client, values: dict[str, Any] | None = None) -> Any:
    answer = designer.post(ADDRESS, values or {"typical": "yes"})
    assert answer.status_code == 302
    job = StudyJob.objects.get(task=precision.TASK, ended_at=None)
    tasks.compute_precision(job.pk)
    job.refresh_from_db()
    return job


def filled(designer: Client, **changed: Any) -> dict[str, Any]:
    form = designer.get(ADDRESS).context["form"]
    return {name: form[name].value() for name in form.fields} | changed


def test_every_kind_of_outcome_is_simulated_of_the_readings_that_are_planned(
    designer: Client, study: Study, short: None
) -> None:
    job = simulate(designer)

    assert job.problem == ""
    assert designer.get(ADDRESS).context["size"].is_enough is False, "six groups find no difference of 15 points"
    rows = job.outcome["rows"]
    assert [row["key"] for row in rows] == ["o1", "o2", "o3"]
    assert (job.outcome["n_readings"], job.outcome["n_sources"]) == (6 * 4 * 3, 4)
    assert {one["name"] for row in rows for one in row["coefficients"]} <= OUTCOME
    assert all(row["contrasts"]["other_raters"] > row["contrasts"]["same_raters"] > 0 for row in rows)


def test_what_was_assumed_is_shown_again_and_simulated(designer: Client, study: Study, short: None) -> None:
    narrow = simulate(designer, filled(designer, **{"o2-story": 5, "o2-rater_source": 2})).outcome["rows"][1]
    wide = simulate(designer, filled(designer, **{"o2-story": 30, "o2-rater_source": 20})).outcome["rows"][1]

    assert wide["contrasts"]["other_raters"] > narrow["contrasts"]["other_raters"]
    assert designer.get(ADDRESS).context["form"]["o2-story"].value() == 30


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"o2-story": 45}, "o2-story"),
        ({"o2-mean": 95}, "o2-effect"),
        ({"o1-rest": 0}, "o1-rest"),
        ({"o3-effect": 40}, "o3-effect"),
        ({"o1-story": "much"}, "o1-story"),
    ],
)
def test_what_cannot_be_is_refused_at_its_field(designer: Client, changed: dict[str, Any], field: str) -> None:
    answer = designer.post(ADDRESS, filled(designer, **changed))

    assert answer.status_code == 400
    assert list(answer.context["form"].errors) == [field]
    assert not StudyJob.objects.exists()


def test_a_plan_that_changes_makes_the_result_outdated_until_it_is_simulated_again(
    designer: Client, study: Study, short: None
) -> None:
    simulate(designer)
    before = designer.get(ADDRESS)
    Study.objects.update(seats_per_group=5)

    after = designer.get(ADDRESS)

    assert (before.context["is_outdated"], after.context["is_outdated"]) == (False, True)
    assert after.context["outcomes"], "the last result stays"
    assert "Computed for the plan as of" in designer.get("/studies/plums/reading-plan/").content.decode()
    simulate(designer)
    assert designer.get(ADDRESS).context["is_outdated"] is False


def test_the_same_is_not_simulated_twice_and_the_result_outlasts_a_day(
    designer: Client, study: Study, short: None
) -> None:
    job = simulate(designer)
    StudyJob.objects.update(asked_at=timezone.now() - timedelta(days=3))
    StudyJob.objects.create(
        study=study,
        user=job.user,
        task="x",
        inputs="y",
        asked_at=job.asked_at - timedelta(days=3),
        queued_at=job.queued_at,
    )

    jobs.forget_old(at=timezone.now())
    designer.post(ADDRESS, {"typical": "yes"})

    assert StudyJob.objects.get().outcome == job.outcome


def test_coordinators_who_may_not_know_sources_see_none_of_it(client: Client, study: Study) -> None:
    user = factories.staff("")
    Membership.objects.create(study=study, user=user, role="coordinator")
    client.force_login(user)

    assert client.get(ADDRESS).status_code == 403
    assert "Expected precision" not in client.get("/studies/plums/reading-plan/").content.decode()


def test_a_study_without_stories_says_what_is_missing(client: Client) -> None:
    factories.study(n_groups=0, planned=False, state=Study.State.DRAFT)
    client.force_login(factories.staff("designer"))

    page = client.get(ADDRESS)

    assert page.status_code == 200
    assert "Nothing to simulate yet" in page.content.decode()


def test_the_analysis_plan_shows_what_it_can_find_of_its_primary_outcome(
    designer: Client, study: Study, short: None
) -> None:
    plan = {"outcome": "verdicts", "reference": "Source 1", "test": "ranks"}
    Study.objects.update(analysis_plan=plan)
    job = simulate(designer)

    (primary,) = [row for row in job.outcome["rows"] if row["key"] == "primary"]
    page = designer.get("/studies/plums/analysis-plan/").content.decode()

    # Wilcoxon's test of six groups reaches 2 in 2⁶, after Holm over three pairs .094.
    assert primary["contrasts"]["least_p"] == pytest.approx(3 * 2 / 2**6)
    assert primary["contrasts"]["power"] == 0
    assert "What this plan can find" in page
    assert "nothing can be found" in page
