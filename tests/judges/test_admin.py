from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from judges import catalogue, runs
from judges.models import Endpoint, Judge, Price, Prompt, Run
from studies.models import Study
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(admin_client: Client) -> Client:
    return admin_client


def designer(*permissions: str) -> Client:
    user = User.objects.create_user("designer", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


def endpoint_form(endpoint: Endpoint, **changes: Any) -> dict[str, Any]:
    names = ("name", "adapter", "base_url", "key_variable", "n_at_once", "timeout_seconds", "max_body_bytes")
    return {name: getattr(endpoint, name) for name in names} | {"is_outside": "on"} | changes


def test_a_designer_cannot_allow_an_endpoint_or_name_its_key() -> None:
    endpoint = Endpoint.objects.create(name="far", base_url="https://api.example.org/v1")

    designer("change_endpoint", "view_endpoint").post(
        reverse("admin:judges_endpoint_change", args=[endpoint.pk]),
        endpoint_form(endpoint, is_allowed="on", key_variable="FAR_API_KEY", is_outside="", n_at_once=2),
    )

    endpoint.refresh_from_db()
    assert (endpoint.n_at_once, endpoint.is_allowed, endpoint.key_variable, endpoint.is_outside) == (2, False, "", True)


def test_an_administrator_who_changes_the_address_hears_that_the_key_is_forgotten(staff: Client) -> None:
    endpoint = Endpoint.objects.create(
        name="far", base_url="https://api.example.org/v1", key_variable="FAR_API_KEY", is_allowed=True
    )

    page = staff.post(
        reverse("admin:judges_endpoint_change", args=[endpoint.pk]),
        endpoint_form(endpoint, is_allowed="on", base_url="https://elsewhere.example/v1"),
        follow=True,
    )

    endpoint.refresh_from_db()
    assert str(Endpoint.MOVED) in page.content.decode()
    assert (endpoint.base_url, endpoint.key_variable, endpoint.is_allowed) == (
        "https://elsewhere.example/v1",
        "",
        False,
    )


@pytest.mark.parametrize("model", [Judge, Prompt])
def test_what_was_used_can_be_read_and_not_changed(staff: Client, model: Any) -> None:
    judge = catalogue.make_stub_judge()
    row = judge if model is Judge else judge.prompt
    url = reverse(f"admin:judges_{model._meta.model_name}_change", args=[row.pk])
    assert "<textarea" in staff.get(url).content.decode()

    runs.start(factories.study(), judge, by="tests")

    page = staff.get(url)
    assert page.status_code == 200
    assert "<textarea" not in page.content.decode()


def test_runs_are_stopped_and_resumed_from_the_list(staff: Client) -> None:
    run = runs.start(factories.study(), catalogue.make_stub_judge(), by="tests")
    url = reverse("admin:judges_run_changelist")

    staff.post(url, {"action": "stop", "_selected_action": [run.pk]})
    run.refresh_from_db()
    assert (run.state, run.note) == (Run.State.STOPPED, "stopped by admin")

    staff.post(url, {"action": "resume", "_selected_action": [run.pk]})
    run.refresh_from_db()
    assert run.state == Run.State.RUNNING


def test_a_run_that_is_finished_stays_so(staff: Client) -> None:
    run = runs.drain(runs.start(factories.study(), catalogue.make_stub_judge(), by="tests"))

    page = staff.post(
        reverse("admin:judges_run_changelist"), {"action": "resume", "_selected_action": [run.pk]}, follow=True
    )

    assert "is finished" in page.content.decode()


def test_a_run_says_why_calls_have_no_answer_and_escapes_it(staff: Client) -> None:
    run = runs.start(factories.study(), catalogue.make_stub_judge(), by="tests")
    run.calls.update(state="unreadable", reason="there is no answer in “<script>alert(1)</script>”")

    page = staff.get(reverse("admin:judges_run_change", args=[run.pk])).content.decode()

    assert "13 × unreadable: there is no answer" in page
    assert "13 unreadable" in page
    assert "<script>alert(1)" not in page


@pytest.mark.parametrize("n", [1, 3])
def test_the_list_of_runs_takes_as_many_queries_for_one_as_for_three(
    staff: Client, django_assert_num_queries: Any, n: int
) -> None:
    judge = catalogue.make_stub_judge()
    for number in range(n):
        runs.start(factories.study(f"study-{number}"), judge, by="tests")
    assert Study.objects.count() == n

    # Session, user; two counts and the list itself.
    with django_assert_num_queries(5):
        page = staff.get(reverse("admin:judges_run_changelist"))

    assert page.content.decode().count("13 planned") == n


def test_the_admin_offers_the_providers_and_the_metrics_there_are(staff: Client) -> None:
    of_endpoint = staff.get(reverse("admin:judges_endpoint_add")).text
    of_judge = staff.get(reverse("admin:judges_judge_add")).text

    assert '<option value="openai" selected>OpenAI-compatible</option>' in of_endpoint
    assert '<option value="stub">stub: no model, answers drawn by chance</option>' in of_endpoint
    assert '<option value="length">Length 2</option>' in of_judge


def test_the_judge_of_a_metric_is_made_in_the_admin(staff: Client) -> None:
    staff.post(reverse("admin:judges_judge_add"), {"slug": "length", "parameters": "{}", "metric": "length"})

    judge = Judge.objects.get()
    assert (judge.metric, judge.metric_version, judge.endpoint) == ("length", "2", None)


def test_a_judge_that_is_neither_is_refused_in_the_admin(staff: Client) -> None:
    page = staff.post(reverse("admin:judges_judge_add"), {"slug": "nothing", "parameters": "{}", "metric": ""})

    assert page.text.count("This field is required.") == 3
    assert not Judge.objects.exists()


def test_an_administrator_enters_what_a_model_costs(client: Client) -> None:
    client.force_login(factories.staff("administrator"))
    values = {
        "adapter": "openai",
        "model": "gpt-9",
        "usd_per_million_in": "2",
        "usd_per_million_out": "8",
        "valid_from": "2026-01-01",
    }

    assert client.post(reverse("admin:judges_price_add"), values).status_code == 302

    assert (Price.objects.get().adapter, Price.objects.get().usd_per_million_out) == ("openai", 8)
    client.force_login(factories.staff("designer"))
    assert client.get(reverse("admin:judges_price_changelist")).status_code == 200
    assert client.get(reverse("admin:judges_price_add")).status_code == 403


def test_a_private_address_is_saved_as_allowed_only_if_the_operator_named_it(staff: Client, settings: Any) -> None:
    values = {
        "name": "near",
        "adapter": "openai",
        "base_url": "http://10.0.0.5:8000/v1",
        "n_at_once": 1,
        "timeout_seconds": 5,
        "max_body_bytes": 4_000_000,
    }
    add = reverse("admin:judges_endpoint_add")

    refused = staff.post(add, values | {"is_allowed": "on"}).content.decode()
    noted = staff.post(add, values)
    settings.ALLOWED_PRIVATE_ENDPOINTS = ["10.0.0.5:8000"]
    allowed = staff.post(add, values | {"name": "named", "is_allowed": "on"})

    assert "add 10.0.0.5:8000 to QUIRE_ALLOWED_PRIVATE_ENDPOINTS" in refused
    assert (noted.status_code, allowed.status_code) == (302, 302)
    assert set(Endpoint.objects.values_list("name", "is_allowed")) == {("near", False), ("named", True)}
