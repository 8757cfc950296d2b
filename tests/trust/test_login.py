"""Signing in as staff: five wrong passwords and the name has to wait; everybody else goes on."""

from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client, RequestFactory

from config.headers import client_address

pytestmark = pytest.mark.django_db
LOGIN = "/admin/login/"
PASSWORD = "a-long-and-quiet-password"


@pytest.fixture(autouse=True)
def _staff() -> None:
    for name in ("ann", "bob"):
        User.objects.create_superuser(name, password=PASSWORD)


def try_to_sign_in(client: Client, password: str, *, name: str = "ann", **more: Any) -> HttpResponse:
    return client.post(LOGIN, {"username": name, "password": password}, **more)


def lock(client: Client) -> list[int]:
    """Five wrong passwords in a row, and what each was answered with."""
    return [try_to_sign_in(client, f"wrong {n}").status_code for n in range(5)]


def test_the_fifth_wrong_password_locks_the_name(client: Client) -> None:
    answers = lock(client)

    locked = try_to_sign_in(client, PASSWORD)
    assert (answers, locked.status_code) == ([200, 200, 200, 200, 429], 429)
    assert "Please try again in 15 minutes." in locked.content.decode()
    assert "sessionid" not in client.cookies


def test_four_wrong_passwords_and_the_right_one_let_in(client: Client) -> None:
    for n in range(4):
        try_to_sign_in(client, f"wrong {n}")

    assert try_to_sign_in(client, PASSWORD).status_code == 302
    assert not AccessAttempt.objects.exists()


def test_other_names_and_other_addresses_are_not_locked(client: Client) -> None:
    lock(client)

    assert try_to_sign_in(client, PASSWORD, name="bob").status_code == 302
    assert try_to_sign_in(Client(), PASSWORD, REMOTE_ADDR="192.0.2.7").status_code == 302


def test_many_names_from_one_address_are_slowed_and_so_is_one_name_from_many_addresses(client: Client) -> None:
    of_address = [try_to_sign_in(client, "wrong", name=f"name{n}").status_code for n in range(40)]
    AccessAttempt.objects.all().delete()
    of_name = [try_to_sign_in(client, "wrong", REMOTE_ADDR=f"192.0.2.{n}").status_code for n in range(40)]

    assert of_address == of_name == [200] * 30 + [429] * 10
    assert try_to_sign_in(Client(), PASSWORD, REMOTE_ADDR="192.0.2.99").status_code == 429


@pytest.mark.parametrize("guess", [{"name": "ann"}, {"REMOTE_ADDR": "192.0.2.1"}])
def test_nobody_is_locked_out_by_others_where_they_have_signed_in_before(guess: dict[str, str]) -> None:
    own = Client(REMOTE_ADDR="192.0.2.1")
    assert try_to_sign_in(own, PASSWORD).status_code == 302
    del own.cookies["sessionid"]
    for n in range(40):
        name, address = guess.get("name", f"name{n}"), guess.get("REMOTE_ADDR", f"198.51.100.{n}")
        try_to_sign_in(Client(), "wrong", name=name, REMOTE_ADDR=address)

    assert try_to_sign_in(Client(), PASSWORD, **guess).status_code == 429
    assert try_to_sign_in(own, PASSWORD).status_code == 302


def test_the_wait_ends_after_a_quarter_of_an_hour_and_knocking_does_not_prolong_it(client: Client) -> None:
    lock(client)
    attempt = AccessAttempt.objects.get()
    AccessAttempt.objects.update(attempt_time=attempt.attempt_time - timedelta(minutes=14))
    still = try_to_sign_in(client, PASSWORD).status_code
    AccessAttempt.objects.update(attempt_time=attempt.attempt_time - timedelta(minutes=16))

    assert (still, try_to_sign_in(client, PASSWORD).status_code) == (429, 302)


def test_no_password_is_kept_of_an_attempt(client: Client) -> None:
    try_to_sign_in(client, "nearly-" + PASSWORD)

    kept = str(AccessAttempt.objects.values().get())
    assert "ann" in kept
    assert PASSWORD not in kept


def test_nothing_is_limited_without_the_library(client: Client, settings: Any) -> None:
    settings.AXES_ENABLED = False

    assert lock(client) == [200] * 5
    assert try_to_sign_in(client, PASSWORD).status_code == 302


@pytest.mark.parametrize(
    ("behind_proxy", "forwarded", "address"),
    [
        (False, "", "192.0.2.1"),
        (False, "203.0.113.9", "192.0.2.1"),  # anybody can send that header
        (True, "203.0.113.9, 198.51.100.4", "198.51.100.4"),  # the first one is what the visitor claims
        (True, "", "192.0.2.1"),
    ],
)
def test_an_address_is_believed_only_from_our_own_proxy(
    settings: Any, behind_proxy: bool, forwarded: str, address: str
) -> None:
    settings.BEHIND_PROXY = behind_proxy
    headers = {"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {}

    request = RequestFactory().get("/", REMOTE_ADDR="192.0.2.1", **headers)

    assert client_address(request) == address
