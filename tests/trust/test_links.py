"""Invitations: looking starts nothing, and the token stays between the person and us."""

import logging
from html.parser import HTMLParser

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from annotation.models import Consent, Rater
from annotation.participation import invitations
from config.logs import LinkFilter
from tests import factories
from tests.trust import world as worlds

pytestmark = pytest.mark.django_db


@pytest.fixture
def link() -> str:
    _, token = invitations.issue(factories.study())
    return reverse("annotation:invitation", args=[token])


class Addresses(HTMLParser):
    """Every address that a page names, with the tag and what is said about its referrer."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        for name in ("href", "src", "action", "formaction", "poster", "srcset", "ping"):
            if name in said:
                self.found.append((tag, said[name], said.get("rel", "")))


def test_fifty_prefetches_start_no_session_and_make_no_rater(link: str) -> None:
    manners = [{}, {"Purpose": "prefetch"}, {"Sec-Purpose": "prefetch;prerender"}, {"X-Moz": "prefetch"}]
    before = worlds.digests()

    clients = [Client(headers=manners[n % 4]) for n in range(50)]
    answers = [(client.head if n % 5 == 0 else client.get)(link) for n, client in enumerate(clients)]

    assert {answer.status_code for answer in answers} == {200}
    assert (Session.objects.count(), Rater.objects.count()) == (0, 0)
    assert not [client for client in clients if "sessionid" in client.cookies]
    assert worlds.digests() == before


def test_continue_starts_one_session_of_one_rater_however_often_it_is_pressed(link: str) -> None:
    client = Client()

    for _ in range(3):
        assert client.post(link).status_code == 302

    assert (Session.objects.count(), Rater.objects.count()) == (1, 1)


def test_the_page_of_a_link_is_kept_by_nobody(link: str) -> None:
    response = Client().get(link)

    assert "no-store" in response.headers["Cache-Control"]
    assert response.headers["Referrer-Policy"] == "same-origin"


def test_the_page_of_a_link_leads_to_no_other_site(link: str) -> None:
    page = Addresses()
    page.feed(Client().get(link).content.decode())

    assert ("form", link, "") in page.found, "the page was not read"
    foreign = [each for each in page.found if "//" in each[1] and "noreferrer" not in each[2]]
    assert foreign == []
    assert {address.split(":")[0] for _, address, _ in page.found if ":" in address} <= {"mailto"}


def test_a_link_to_another_site_would_be_seen() -> None:
    page = Addresses()

    page.feed('<a href="https://example.org/">out</a><img src="//example.org/i.png">')

    assert [tag for tag, address, _ in page.found if "//" in address] == ["a", "img"]


def test_the_token_is_told_to_no_later_page(link: str) -> None:
    client, token = Client(), link.split("/")[2]
    client.post(link)

    pages = [client.get(address, follow=True) for address in ("/", "/consent/", "/withdraw/", "/again/", "/nowhere/")]

    assert not [page for page in pages if token in page.content.decode() or token in str(page.headers)]
    assert token not in str(client.session.items())


def test_the_token_is_not_logged(link: str, caplog: pytest.LogCaptureFixture) -> None:
    client, token = Client(enforce_csrf_checks=True), link.split("/")[2]

    with caplog.at_level(logging.DEBUG):
        answers = [
            client.get(link + "?utm_source=mail").status_code,
            client.put(link).status_code,
            client.post(link).status_code,
            client.get(link.replace("/r/", "/r/x")).status_code,
            client.get(link, headers={"Host": "example.net"}).status_code,
        ]

    assert answers == [400, 405, 403, 404, 400]
    assert "/r/…" in caplog.text
    assert token not in caplog.text


def test_without_the_filter_it_would_be(link: str, caplog: pytest.LogCaptureFixture) -> None:
    token, logger = link.split("/")[2], logging.getLogger("django.request")
    kept = list(logger.filters)
    assert any(isinstance(each, LinkFilter) for each in kept)
    logger.filters.clear()

    try:
        Client().get(link + "?utm_source=mail")
    finally:
        logger.filters.extend(kept)

    assert token in caplog.text


def test_another_persons_link_in_the_same_browser_begins_as_that_person() -> None:
    study, client = factories.study(), Client()
    for _ in range(2):
        _, token = invitations.issue(study)
        client.post(reverse("annotation:invitation", args=[token]))
        client.post(reverse("annotation:consent"), {"agrees": "yes"})

    assert list(Consent.objects.order_by("rater__code").values_list("rater__code", flat=True)) == ["E01", "E02"]
