"""A form that has lost its token, as when cookies were cleared: nothing is changed, and the words come back."""

import pytest
from django.test import Client

from annotation.models import Response
from tests import factories
from tests.annotation import walk

pytestmark = pytest.mark.django_db
REASONS = "The frost on the pane is the only thing that moves."


def post_without_token(client: Client, origin: str) -> tuple[int, str]:
    work = walk.begin(client, factories.study())
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = client.cookies
    form = {"answer-tests-A-item-1": "yes", "rationale-tests-A-item-1": REASONS}
    page = strict.post(f"/a/{work.code}/s/tests/A/item-1/", form, headers={"Origin": origin})
    return page.status_code, page.content.decode()


def test_words_come_back_and_nothing_is_saved(client):
    status, page = post_without_token(client, "http://testserver")

    assert (status, REASONS in page) == (403, True)
    assert not Response.objects.exists()


def test_words_of_another_site_are_not_shown(client):
    status, page = post_without_token(client, "https://example.net")

    assert (status, REASONS in page) == (403, False)
    assert not Response.objects.exists()
