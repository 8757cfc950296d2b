"""The page of watched judges: begun and ended by those who may start runs, with what the checks came to."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from judges import catalogue, runs
from judges.laboratory import watches
from judges.models import DriftCheck, DriftWatch, Judge, Run
from studies.models import Membership, Study
from tests import factories
from tests.judges.views.pages import page, words

pytestmark = pytest.mark.django_db
WATCHES = "/studies/plums/runs/drift/"


@pytest.fixture
def study() -> Study:
    return factories.study(n_stories=2, n_items=2)


@pytest.fixture
def judge(study: Study) -> Judge:
    """One that has read in the study."""
    judge = catalogue.make_stub_judge()
    runs.drain(runs.start(study, judge, by="ann"))
    return judge


def watched(study: Study, judge: Judge, distances: list[float]) -> DriftWatch:
    """A watch with a check for each of the distances, the last of which is a move."""
    at = timezone.now()
    watch = watches.begin(study, judge, budget=None, recipient="", site="", by="ann", at=at - timedelta(days=30))
    for day, distance in enumerate(distances):
        made = watches.check(watch, at=at + timedelta(days=day))
        assert made is not None
        Run.objects.filter(pk=made.run_id).update(state=Run.State.FINISHED, created_at=at + timedelta(days=day))
        DriftCheck.objects.filter(pk=made.pk).update(
            compared_at=at, n_answers=6, n_checks=day, distance=distance, floor=0.01, p=0.5
        )
        watch.refresh_from_db()
    DriftCheck.objects.filter(watch=watch, distance=distances[-1]).update(has_moved=True, p=0.0001)
    return watch


def test_whoever_may_start_runs_begins_a_watch_and_ends_it(client: Client, study: Study, judge: Judge) -> None:
    client.force_login(factories.staff("researcher"))

    begun = client.post(WATCHES, {"judge": judge.pk, "recipient": "lab@example.org", "budget": ""}, follow=True)
    watch = DriftWatch.objects.get()
    ended = client.post(WATCHES, {"watch": watch.pk, "do": "end"}, follow=True)

    assert "The judge is watched" in begun.content.decode()
    assert (watch.recipient, watch.created_by, watch.site) == ("lab@example.org", "researcher", "http://testserver")
    assert "no longer asked" in ended.content.decode()
    watch.refresh_from_db()
    assert watch.ended_at is not None


@pytest.mark.parametrize(
    "values",
    [
        {"judge": ""},
        {"judge": "999"},
        {"budget": "-1"},
        {"recipient": "lab"},
    ],
)
def test_what_does_not_fit_is_said_and_stays_typed(
    client: Client, study: Study, judge: Judge, values: dict[str, str]
) -> None:
    client.force_login(factories.staff("researcher"))

    response = client.post(WATCHES, {"judge": str(judge.pk), "recipient": "a@example.org", "budget": ""} | values)

    assert response.status_code == 400
    assert not DriftWatch.objects.exists()


def test_a_judge_that_has_not_read_here_or_is_watched_is_not_offered(
    client: Client, study: Study, judge: Judge
) -> None:
    catalogue.make_stub_judge("stub-elsewhere")
    html = page(client, "researcher", WATCHES)
    watched(study, judge, [0.0])
    then = page(client, "researcher", WATCHES)

    assert f'<option value="{judge.pk}">' in html
    assert "stub-elsewhere" not in html
    assert f'<option value="{judge.pk}">' not in then


def test_the_page_says_what_moved_and_draws_it(client: Client, study: Study, judge: Judge) -> None:
    watched(study, judge, [0.0, 0.02, 0.25])

    html = page(client, "coordinator", WATCHES)

    assert "1 of 3 checks differs from the earlier ones by more than chance." in words(html)
    assert html.count("<circle") == 3
    assert "30 %" in html, "the end of the scale"
    assert "Watch this judge" not in html, "a coordinator starts no runs"


def test_checks_are_no_runs_of_the_list(client: Client, study: Study, judge: Judge) -> None:
    watched(study, judge, [0.0, 0.0])

    client.force_login(factories.staff("researcher"))

    assert len(client.get("/studies/plums/runs/").context["rows"]) == 1
    assert Run.objects.filter(study=study).count() == 3


def test_the_page_takes_a_fixed_number_of_queries(client: Client, study: Study, judge: Judge) -> None:
    client.force_login(factories.staff("researcher"))
    n_queries = []
    for slug in ("stub-a", "stub-b", "stub-c"):
        other = catalogue.make_stub_judge(slug)
        runs.drain(runs.start(study, other, by="ann"))
        watched(study, other, [0.0, 0.1])
        with CaptureQueriesContext(connection) as queries:
            client.get(WATCHES)
        n_queries.append(len(queries))

    assert n_queries == [12, 12, 12]


def test_costs_of_all_checks_are_added_up(client: Client, study: Study, judge: Judge) -> None:
    watch = watched(study, judge, [0.0])
    made = watch.checks.get()
    call = made.run.calls.order_by("pk").first()
    assert call is not None
    call.attempts.create(number=9, sent_at=timezone.now(), outcome="answered", cost=Decimal("0.25"))

    assert "They have cost $ 0.25 so far." in words(page(client, "researcher", WATCHES)).replace(
        "\N{NO-BREAK SPACE}", " "
    )


def test_the_same_model_watched_in_another_study_is_named_to_those_who_see_it(
    client: Client, study: Study, judge: Judge
) -> None:
    watched(study, judge, [0.0])
    elsewhere = factories.study("pears", n_stories=2, n_items=2)
    runs.drain(runs.start(elsewhere, judge, by="ann"))
    watched(elsewhere, judge, [0.0, 0.3])

    assert "1 of 2 checks moved" in words(page(client, "researcher", WATCHES))
    member = factories.staff("")
    Membership.objects.create(study=study, user=member, role="researcher")
    client.force_login(member)
    assert "checks moved" not in words(client.get(WATCHES).content.decode())
