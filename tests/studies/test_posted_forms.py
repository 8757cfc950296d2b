"""Forms that make something: clicked twice, or sent again, they make it once."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.utils import timezone

from annotation.models import Invitation
from annotation.participation import invitations
from studies import instrument_drafts
from studies.documents.instrument import discover, read_instrument, write_instrument
from studies.models import Instrument, Item, PostedForm, Step, Study
from studies.views import posted_forms
from tests import factories
from tests.threads import at_once

TITLE = {"title": "How it ends", "language": "en"}
NEW_STUDY = {"template": "pairs", "title": "Two of a kind", "organiser": "Us"}


def page_of(client: Client, address: str) -> str:
    """What tells a page's last form from the same of another page."""
    return re.findall(r'name="once" value="(\w+)"', client.get(address).content.decode())[-1]


@pytest.fixture
def administrator(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.fixture
def draft() -> Study:
    return factories.study(planned=False, state=Study.State.DRAFT)


@pytest.fixture
def instrument() -> Instrument:
    return instrument_drafts.begin_draft("How it ends")


def forms(draft: Study, instrument: Instrument) -> list[tuple[str, str, dict[str, str], Callable[[], int]]]:
    """Of each form its page, where it is posted, what is filled in, and how many there are of what it makes."""
    questions, study = f"/instruments/{instrument.pk}/", f"/studies/{draft.slug}/"
    question = {"question": "Is it sad?", "type": "binary", "rationale": "none", "act": "save"}
    reading = {"title": "Read this", "text": "Read this first."}
    return [
        ("/studies/new/", "/studies/new/", NEW_STUDY, Study.objects.count),
        ("/instruments/new/", "/instruments/new/", TITLE, Instrument.objects.count),
        (f"{questions}copy/", f"{questions}copy/", {"title": "How it ends"}, Instrument.objects.count),
        (f"{questions}?new=yes", f"{questions}new-question/", question, Item.objects.count),
        (f"{study}steps/new/briefing/", f"{study}steps/new/briefing/", reading, Step.objects.count),
        (f"{study}people/new/", f"{study}people/new/", {"lines": "An expert"}, Invitation.objects.count),
    ]


@pytest.mark.django_db
def test_each_form_that_is_posted_twice_makes_one_and_leads_there_again(
    administrator: Client, draft: Study, instrument: Instrument
) -> None:
    for page, address, fields, count in forms(draft, instrument):
        posted = fields | {"once": page_of(administrator, page), "seen": seen_of(administrator, page)}
        before = count()

        first, second = administrator.post(address, posted), administrator.post(address, posted)

        assert (first.status_code, second.status_code) == (302, 302), address
        assert second.headers["Location"] == first.headers["Location"], address
        assert count() == before + 1, address


def seen_of(client: Client, address: str) -> str:
    return (re.findall(r'name="seen" value="(\w*)"', client.get(address).content.decode()) or [""])[-1]


@pytest.mark.django_db
def test_what_was_changed_is_another_form_and_so_is_that_of_a_new_page(administrator: Client) -> None:
    page, new_page = (page_of(administrator, "/instruments/new/") for _ in range(2))
    for other in ({"once": page}, {"once": page, "title": "How it begins"}, {"once": new_page}):
        administrator.post("/instruments/new/", TITLE | other)

    titles = Instrument.objects.filter(status="draft").order_by("pk").values_list("title", flat=True)
    assert list(titles) == ["How it ends", "How it begins", "How it ends"]


@pytest.mark.django_db
def test_a_form_that_was_refused_can_be_posted_again(administrator: Client, draft: Study) -> None:
    (noted,) = invitations.note(draft, ["An expert"])
    address = f"/studies/{draft.slug}/people/new/"
    fields = {"lines": "An expert", "once": page_of(administrator, address)}
    assert administrator.post(address, fields).status_code == 400

    noted.delete()

    assert administrator.post(address, fields).status_code == 302


@pytest.mark.django_db
def test_forms_are_forgotten_after_an_hour(administrator: Client) -> None:
    administrator.post("/instruments/new/", TITLE | {"once": "a"})
    PostedForm.objects.update(posted_at=timezone.now() - posted_forms.KEPT)

    administrator.post("/instruments/new/", TITLE | {"once": "b"})

    assert PostedForm.objects.count() == 1


def test_of_two_clicks_at_once_the_second_waits_for_the_first(committed: None) -> None:
    user: Any = factories.staff("designer")
    clients = [Client(), Client()]
    for each in clients:
        each.force_login(user)
    fields = NEW_STUDY | {"once": page_of(clients[0], "/studies/new/")}
    connection.close()

    first, second = at_once(*(lambda each=each: each.post("/studies/new/", fields) for each in clients))

    assert {first.headers["Location"], second.headers["Location"]} == {"/studies/two-of-a-kind/"}
    assert Study.objects.count() == 1


@pytest.mark.django_db
def test_another_file_of_the_same_name_and_length_is_another_form(administrator: Client) -> None:
    page = page_of(administrator, "/instruments/new/")
    first = write_instrument(read_instrument(discover()["pds"])).encode().replace(b'version = "', b'version = "8')
    second = first.replace(b'version = "8', b'version = "9')

    for content in (first, second, first):
        file = SimpleUploadedFile("pds.toml", content)
        administrator.post("/instruments/new/", {"from_file": "yes", "file": file, "once": page})

    assert sorted(Instrument.objects.values_list("version", flat=True)) == ["83", "93"]
