"""The pages of endpoints: presets, refused addresses, and a worker that tries whether a model answers."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from judges import catalogue, tasks
from judges.endpoints.presets import LOCAL, all_presets
from judges.models import ConnectionTest, Endpoint
from studies.models import Membership
from tests import factories
from tests.judges.conftest import judge_at
from tests.judges.standin import StandIn

pytestmark = pytest.mark.django_db


@pytest.fixture
def administrator(client: Client) -> Client:
    client.force_login(factories.staff("administrator"))
    return client


def form(**fields: Any) -> dict[str, Any]:
    complete = {"name": "far", "adapter": "openai", "base_url": "https://93.184.215.14/v1", "n_at_once": 4}
    return complete | {"timeout_seconds": 60, "is_outside": "on"} | fields


def test_a_preset_fills_in_the_form_and_says_what_to_do_first(administrator: Client) -> None:
    html = administrator.get("/endpoints/new/?preset=openai").content.decode()

    assert 'value="https://api.openai.com/v1"' in html
    assert 'value="OPENAI_API_KEY"' in html
    assert 'name="n_at_once" value="32"' in html
    assert 'name="n_at_once" value="4"' in administrator.get("/endpoints/new/?preset=vllm").content.decode()
    assert "Make a key at" in html
    assert administrator.get("/endpoints/new/?preset=nonsense").status_code == 200


def test_the_presets_own_model_is_the_one_to_test(administrator: Client, settings: Any) -> None:
    preset = all_presets()[LOCAL]
    settings.ALLOWED_PRIVATE_ENDPOINTS = ["127.0.0.1:8135"]
    assert 'name="timeout_seconds" value="600"' in administrator.get(f"/endpoints/new/?preset={LOCAL}").content.decode()

    page = administrator.post("/endpoints/new/", preset.fields | {"is_allowed": "on"}, follow=True)

    assert (Endpoint.objects.get().n_at_once, Endpoint.objects.get().is_outside) == (1, False)
    assert f'value="{preset.model}"' in page.content.decode()


def test_an_endpoint_is_saved(administrator: Client) -> None:
    administrator.post("/endpoints/new/", form(is_allowed="on", requests_per_minute="60"))

    endpoint = Endpoint.objects.get()
    assert (endpoint.name, endpoint.is_allowed, endpoint.requests_per_minute) == ("far", True, 60)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:11434/v1", "http://169.254.169.254/", "ftp://example.org/", "http://user:pw@8.8.8.8/v1"]
)
def test_an_address_that_no_call_would_reach_is_refused_on_saving(administrator: Client, url: str) -> None:
    response = administrator.post("/endpoints/new/", form(base_url=url))

    assert response.status_code == 400
    assert 'aria-invalid="true"' in response.content.decode()
    assert not Endpoint.objects.exists()


def test_a_new_address_takes_key_and_permission_away_and_says_so(administrator: Client) -> None:
    endpoint = Endpoint.objects.create(
        name="far", base_url="https://93.184.215.14/v1", key_variable="FAR_API_KEY", is_allowed=True
    )
    fields = form(base_url="https://93.184.215.14/v2", key_variable="FAR_API_KEY", is_allowed="on")

    html = administrator.post(f"/endpoints/{endpoint.pk}/", fields, follow=True).content.decode()

    endpoint.refresh_from_db()
    assert (endpoint.key_variable, endpoint.is_allowed) == ("", False)
    assert str(Endpoint.MOVED) in html


def test_researchers_of_all_studies_or_of_one_see_endpoints_and_change_none(client: Client) -> None:
    study = factories.study(planned=False)
    endpoint = catalogue.make_stub_judge().required_endpoint
    member = User.objects.create_user("cy", is_staff=True)
    Membership.objects.create(study=study, user=member, role="researcher")

    for user in (factories.staff("researcher"), member):
        client.force_login(user)
        assert client.get("/endpoints/").status_code == 200
        assert (
            "<form"
            not in client.get(f"/endpoints/{endpoint.pk}/")
            .content.decode()
            .partition("<main")[2]
            .partition("</main>")[0]
        )
        assert client.get("/endpoints/new/").status_code == 403
        assert client.post(f"/endpoints/{endpoint.pk}/test/", {"model": "x"}).status_code == 403


def try_out(client: Client, endpoint: Endpoint) -> str:
    """What the page says after a worker has tried the model."""
    client.post(f"/endpoints/{endpoint.pk}/test/", {"model": "standin"})
    test = ConnectionTest.objects.get()
    assert "has not answered yet" in client.get(f"/endpoints/{endpoint.pk}/").content.decode()
    tasks.test_connection(test.pk)
    return client.get(f"/endpoints/{endpoint.pk}/").content.decode()


def test_a_worker_tries_whether_a_model_answers(administrator: Client, standin: StandIn) -> None:
    html = try_out(administrator, judge_at(standin).required_endpoint)

    assert "The model answers." in html
    assert "Another model answered" not in html
    assert "hx-trigger" not in html


def test_a_key_that_is_not_set_where_workers_run_is_said(
    administrator: Client, standin: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = judge_at(standin).required_endpoint
    monkeypatch.delenv("STANDIN_API_KEY")

    html = try_out(administrator, endpoint)

    assert "the environment variable STANDIN_API_KEY is not set where judges run" in html
    assert 'data-kind="error"' in html


def test_a_message_that_comes_twice_asks_once(administrator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = catalogue.make_stub_judge().required_endpoint
    administrator.post(f"/endpoints/{endpoint.pk}/test/", {"model": "stub"})
    test = ConnectionTest.objects.get()
    tasks.test_connection(test.pk)
    monkeypatch.setattr("judges.providers.check", None)

    tasks.test_connection(test.pk)
    tasks.test_connection(0)

    test.refresh_from_db()
    assert test.ended_at is not None


def test_a_test_needs_a_model(administrator: Client) -> None:
    endpoint = catalogue.make_stub_judge().required_endpoint

    html = administrator.post(f"/endpoints/{endpoint.pk}/test/", follow=True).content.decode()

    assert "Enter the model to test." in html
    assert not ConnectionTest.objects.exists()


@pytest.mark.parametrize("n_rows", [1, 3])
def test_the_list_costs_the_same_for_one_row_as_for_three(
    administrator: Client, n_rows: int, django_assert_num_queries: Any
) -> None:
    for n in range(n_rows):
        Endpoint.objects.create(name=f"far-{n}", base_url="https://example.org/v1")

    with django_assert_num_queries(5):
        administrator.get("/endpoints/")
