"""Applying and deciding: what applicants, those who run a study, and stewards each see."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from annotation.models import Application, ApplicationCall, Identity, Invitation
from annotation.participation import mails
from annotation.views.rater import doors
from studies.models import Study
from tests import factories
from tests.annotation.participation.test_applications import apply, call_for
from tests.annotation.views.test_people_pages import at, client_of

pytestmark = pytest.mark.django_db
FORM = {"name": "Ada Byron", "email": "ada@example.org", "question-item-1": "yes", "question-item-2": "no"}


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mails.current_app, "send_task", lambda *args, **more: None)
    cache.clear()


@pytest.fixture
def call() -> ApplicationCall:
    return call_for(factories.study(), text="We look for *poets*.")


def test_somebody_applies_and_is_thanked_or_told_kindly(client: Client, call: ApplicationCall) -> None:
    page = f"/join/{call.key}/"
    content = client.get(page).content.decode()
    assert "We look for <" in content, "with emphasis"
    assert "deleted after 90 days" in " ".join(content.split())

    eligible = client.post(page, FORM)
    other = client.post(page, FORM | {"email": "bo@example.org", "question-item-1": "no"}, follow=True)

    assert eligible["Location"] == f"{page}thanks/"
    assert "This study looks for other readers" in " ".join(other.content.decode().split())
    assert list(Application.objects.values_list("number", "state")) == [(1, "waiting"), (2, "ineligible")]
    assert Identity.objects.get().name == "Ada Byron"
    assert "sessionid" not in client.cookies


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"email": "nobody"}, "valid email address"),
        ({"question-item-1": ""}, "Please answer this question."),
        ({"question-item-2": "perhaps"}, "Please answer “Yes” or “No”."),
    ],
)
def test_what_is_missing_is_said_beside_it_and_nothing_is_kept(
    client: Client, call: ApplicationCall, change: dict[str, str], sentence: str
) -> None:
    response = client.post(f"/join/{call.key}/", FORM | change)

    assert response.status_code == 400
    assert response.content.decode().count(sentence) == 2, "above and beside"
    assert not Application.objects.exists()


def test_nobody_applies_where_it_is_switched_off_or_too_often(
    client: Client, call: ApplicationCall, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = f"/join/{call.key}/"
    ApplicationCall.objects.update(is_open=False)
    assert client.post(page, FORM).status_code == 409
    ApplicationCall.objects.update(is_open=True)
    Study.objects.update(state=Study.State.CLOSED)
    assert client.get(page).status_code == 409
    Study.objects.update(state=Study.State.LIVE)
    monkeypatch.setattr(doors, "MOST_ARRIVALS", 1)

    assert [client.post(page, FORM | {"email": f"{n}@example.org"}).status_code for n in range(2)] == [302, 429]
    assert client.get("/join/nowhere/").status_code == 404


def test_a_lead_decides_by_answers_and_only_a_steward_sees_who_it_is(call: ApplicationCall) -> None:
    study = call.study
    lead, steward, researcher = (client_of(study, role) for role in ("lead", "steward", "researcher"))
    for name in ("ada", "bo"):
        apply(call, f"{name}@example.org")
    page = at(study, "applications")

    contents = [lead.get(address).content.decode() for address in (page, at(study, "application", 1))]
    names = steward.get(at(study, "applicants")).content.decode()
    assert researcher.post(at(study, "application", 1), {"act": "accept"}).status_code == 403
    assert lead.post(at(study, "application", 2), {"act": "decline", "words": ""}).status_code == 400
    lead.post(at(study, "application", 1), {"act": "accept"})
    lead.post(at(study, "application", 2), {"act": "decline", "words": "Not this time."})

    assert "Applicant 1" in contents[0]
    assert "Is it good in way 1?" in contents[1]
    assert not any(re.search(r"\bAda\b|ada@|bo@", content) for content in contents)
    assert "ada@example.org" in names
    assert "Is it good" not in names
    assert steward.get(page).status_code == lead.get(at(study, "applicants")).status_code == 403
    assert list(Application.objects.values_list("state", flat=True)) == ["accepted", "declined"]
    assert Invitation.objects.get().label == "Applicant 1"


def test_a_lead_sets_it_up_with_an_instrument_that_asks_about_no_story() -> None:
    study = factories.study()
    lead, asked = client_of(study, "lead"), factories.instrument("eligibility")
    page = at(study, "applications")
    content = lead.get(page).content.decode()
    seen = re.search(r'name="seen" value="(\w+)"', content)
    assert seen is not None
    assert "Eligibility" in content
    assert "Plums-Ranking" not in content, "an instrument that compares stories"

    lead.post(page, {"is_open": "on", "instrument": asked.pk, "text": "Hello.", "kept_days": 30, "seen": seen[1]})

    call = ApplicationCall.objects.get()
    assert (call.is_open, call.instrument, call.kept_days) == (True, asked, 30)
    assert f"/join/{call.key}/" in lead.get(page).content.decode()


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize(("page", "role", "n_queries"), [("applications", "lead", 13), ("applicants", "steward", 8)])
def test_pages_take_a_fixed_number_of_queries(
    call: ApplicationCall,
    django_assert_num_queries: Callable[..., Any],
    page: str,
    role: str,
    n_queries: int,
    n: int,
) -> None:
    client = client_of(call.study, role)
    for number in range(n):
        apply(call, f"{number}@example.org")
    client.get(at(call.study, page))

    with django_assert_num_queries(n_queries):
        assert client.get(at(call.study, page)).status_code == 200
