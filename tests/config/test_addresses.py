"""Addresses that nobody of ours made are refused, and nothing breaks."""

import pytest
from django.test import Client
from django.urls import reverse

from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.services]
ADDRESSES = ["/p/%00/", "/join/%00/", "/join/%00/thanks/", "/join/a%00b/sorry/", "/r/%00/", "/a/%00/", "/studies/%00/"]


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_with_what_no_key_can_hold_is_not_there(client: Client, address: str) -> None:
    assert client.get(address).status_code == 404


def test_a_question_of_an_instrument_is_not_there_either(admin_client: Client) -> None:
    instrument = factories.instrument()

    assert admin_client.get(f"/instruments/{instrument.pk}/questions/%00/").status_code == 404


@pytest.mark.parametrize("outside", ["https://elsewhere.example/", "//elsewhere.example", ""])
def test_signing_in_with_a_way_on_that_leads_outside_leads_to_the_front_of_the_staff(
    client: Client, admin_user: object, outside: str
) -> None:
    posted = {"username": "admin", "password": "password", "next": outside}

    answer = client.post(reverse("admin:login"), posted)

    assert (answer.status_code, answer["Location"]) == (302, reverse("admin:index"))
