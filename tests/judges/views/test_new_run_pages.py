"""The page of a new run: what would be asked and what it takes, and approving it, for whoever may and for nonsense."""

import re
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from judges import catalogue, runs
from judges.models import Call, Judge, Run
from judges.views.new_runs import PLAN_CHANGED
from studies import lifecycle
from studies.models import Membership, Study
from tests import factories
from tests.judges.views.pages import act, page, words

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return factories.study(n_stories=2, n_items=1)


@pytest.fixture
def judge() -> Judge:
    return catalogue.make_stub_judge()


@pytest.fixture
def run(study: Study, judge: Judge) -> Run:
    return runs.start(study, judge, by="ann")


def test_a_dry_run_shows_one_call_as_sent_and_writes_nothing(client: Client, study: Study, judge: Judge) -> None:
    html = page(client, "researcher", f"/studies/plums/runs/new/?judge={judge.pk}")

    # Two stories with a test and a guess each, and one ranking.
    assert "stub would be asked 5 times" in words(html)
    assert "Is it good in way 1?" in html
    assert "Approve and start" in html
    assert not Run.objects.exists()
    assert not Call.objects.exists()


def test_a_dry_run_of_a_metric_leaves_no_step_behind(client: Client, study: Study) -> None:
    metric = catalogue.make_metric_judge("length")
    before = list(study.versions.values_list("steps__key", flat=True))

    html = page(client, "researcher", f"/studies/plums/runs/new/?judge={metric.pk}")

    assert "would be asked 2 times" in words(html)
    assert list(study.versions.values_list("steps__key", flat=True)) == before


def test_what_is_in_the_way_is_said_and_there_is_no_button(client: Client, study: Study, judge: Judge) -> None:
    judge.endpoint.__class__.objects.update(is_allowed=False)

    html = page(client, "researcher", f"/studies/plums/runs/new/?judge={judge.pk}")

    assert "an administrator has not allowed its endpoint" in html
    assert "Approve and start" not in html


def test_a_run_is_approved_and_started_by_whoever_may(client: Client, study: Study, judge: Judge) -> None:
    client.force_login(factories.staff("researcher"))

    response = client.post("/studies/plums/runs/new/", {"judge": judge.pk, "n_calls": 5, "budget": "1.5"})

    run = Run.objects.get()
    assert response.headers["Location"] == f"/studies/plums/runs/{run.pk}/"
    assert (run.created_by, run.approved_by, run.n_planned) == ("researcher", "researcher", 5)
    assert (run.state, run.budget, run.resends_unknown) == ("running", Decimal("1.5"), False)
    assert run.estimate["n_calls"] == 5


def test_a_run_is_saved_for_somebody_else_to_approve(client: Client, study: Study, judge: Judge) -> None:
    client.force_login(factories.staff("researcher"))
    client.post("/studies/plums/runs/new/", {"judge": judge.pk, "resends_unknown": "on", "do": "save"})
    run = Run.objects.get()
    assert (run.state, run.resends_unknown, run.approved_by) == ("planned", True, "")
    shown = words(page(client, "coordinator", f"/studies/plums/runs/{run.pk}/"))
    assert "5 calls are waiting for approval" in shown
    assert "Calls to be sent 5" in shown
    assert "Approve and start" not in shown

    assert "The run is approved" in act(client, run, "approve")

    run.refresh_from_db()
    assert (run.state, run.approved_by) == ("running", "researcher")


def test_a_run_that_nobody_approved_is_taken_back(client: Client, study: Study, judge: Judge) -> None:
    run = runs.plan(study, judge, by="ann")

    assert "The run is discarded. Nothing was sent." in act(client, run, "discard")

    assert not Run.objects.exists()
    client.force_login(User.objects.get(username="researcher"))
    assert client.post(f"/studies/plums/runs/{run.pk}/discard/").status_code == 404


def test_what_is_chosen_is_shown_dry_and_goes_along_with_the_approval(
    client: Client, study: Study, judge: Judge
) -> None:
    chosen = f"judge={judge.pk}&stories=p1s1&orders=planned&orders=reversed&n_repeats=2"

    html = page(client, "researcher", f"/studies/plums/runs/new/?{chosen}")

    # A test and a guess of one story, in both orders, twice.
    assert "stub would be asked 8 times" in words(html)
    hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', html)
    client.post("/studies/plums/runs/new/", _listed(hidden))
    run = Run.objects.get()
    assert (run.n_planned, run.selection, run.orders, run.n_repeats) == (8, ["p1s1"], ["planned", "reversed"], 2)


def _listed(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        if name != "csrfmiddlewaretoken":
            values.setdefault(name, []).append(value)
    return values


def test_posted_twice_a_run_is_started_once(client: Client, study: Study, judge: Judge) -> None:
    client.force_login(factories.staff("researcher"))
    client.post("/studies/plums/runs/new/", {"judge": judge.pk})

    response = client.post("/studies/plums/runs/new/", {"judge": judge.pk})

    assert response.status_code == 400
    assert Run.objects.count() == 1


def test_a_judge_that_has_read_everything_has_nothing_in_its_dry_run(client: Client, run: Run, judge: Judge) -> None:
    runs.drain(run)

    html = page(client, "researcher", f"/studies/plums/runs/new/?judge={judge.pk}")
    more = page(client, "researcher", f"/studies/plums/runs/new/?judge={judge.pk}&n_repeats=2")

    assert "has been asked all of this in plums" in html
    assert "Approve and start" not in html
    assert "stub would be asked 5 times" in words(more)


def test_an_approval_of_something_else_than_was_shown_is_refused(client: Client, study: Study, judge: Judge) -> None:
    client.force_login(factories.staff("researcher"))

    response = client.post("/studies/plums/runs/new/", {"judge": judge.pk, "n_calls": 4})

    assert response.status_code == 400
    assert str(PLAN_CHANGED) in response.content.decode()
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    "nonsense",
    [
        {"judge": "12345"},
        {"judge": "x\x00"},
        {"n_repeats": "-1"},
        {"n_repeats": "99999999999"},
        {"orders": "sideways"},
        {"budget": "NaN"},
        {"budget": "1e400"},
        {"n_calls": "many"},
        {"stories": "nowhere"},
        {"stories": "x\x00y"},
    ],
)
def test_nonsense_starts_nothing(client: Client, study: Study, judge: Judge, nonsense: dict[str, str]) -> None:
    client.force_login(factories.staff("researcher"))

    response = client.post("/studies/plums/runs/new/", {"judge": str(judge.pk)} | nonsense)

    assert response.status_code == 400
    assert not Run.objects.exists()


def test_a_metric_takes_no_selection(client: Client, study: Study) -> None:
    metric = catalogue.make_metric_judge("length")

    html = page(client, "researcher", f"/studies/plums/runs/new/?judge={metric.pk}&stories=p1s1")

    assert "A metric measures every story once" in html


def test_a_closed_study_may_still_be_judged(client: Client, study: Study, judge: Judge) -> None:
    lifecycle.close(study, at=timezone.now())
    client.force_login(factories.staff("researcher"))

    assert client.post("/studies/plums/runs/new/", {"judge": judge.pk}).status_code == 302


def test_a_member_of_the_study_alone_starts_a_run_there_and_nowhere_else(
    client: Client, study: Study, judge: Judge
) -> None:
    user = User.objects.create_user("cy", is_staff=True)
    Membership.objects.create(study=study, user=user, role="researcher")
    Study.objects.create(slug="pears", title="Pears")
    client.force_login(user)

    assert client.post("/studies/pears/runs/new/", {"judge": judge.pk}).status_code == 403
    assert client.post("/studies/plums/runs/new/", {"judge": judge.pk}).status_code == 302
