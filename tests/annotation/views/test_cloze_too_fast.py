"""A cloze posted as a whole faster than is taken: nothing is lost, and nothing is taken for saved."""

import pytest
from django.utils import timezone

from annotation import responses
from annotation.models import Assignment
from tests.annotation import clozes, walk
from tests.annotation.views.test_cloze import address, form, said

pytestmark = pytest.mark.django_db


def test_without_scripts_a_mark_confirmed_too_fast_is_not_taken_for_confirmed(client):
    work = walk.begin(client, clozes.study())
    client.post(address(work), form({1: "the cobbler", 2: "a boot"}))
    Assignment.objects.update(saves_until=timezone.now().timestamp() + 11)

    refused = client.post(address(work), form({1: "the cobbler", 2: "a boot"}, base=1, confirm="blank-02"))

    assert refused.status_code == 429
    assert refused.text.count(responses.TOO_FAST) == 1


def test_without_scripts_a_page_that_comes_too_fast_keeps_what_stands_in_its_blanks(client):
    work = walk.begin(client, clozes.study())
    Assignment.objects.update(saves_until=timezone.now().timestamp() + 11)

    refused = client.post(address(work), form({1: "the cobbler", 2: "a boot"}))

    assert (refused.status_code, said(work)) == (429, {})
    assert 1 <= int(refused.headers["Retry-After"]) <= 6
    assert "the cobbler" in refused.text
    assert refused.text.count(responses.TOO_FAST) == 2

    Assignment.objects.update(saves_until=0)
    client.post(address(work), form({1: "the cobbler", 2: "a boot"}))

    assert said(work) == {"blank-01": "the cobbler", "blank-02": "a boot"}
