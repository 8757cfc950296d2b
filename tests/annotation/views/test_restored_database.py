"""A database was put back to an older copy: pages that know a later revision than it holds are saved all the same."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, Response
from annotation.participation import invitations
from annotation.responses import verification
from tests import factories
from tests.annotation import clozes, walk
from tests.annotation.views.test_cloze import save
from tests.annotation.views.test_posted_page import posted

pytestmark = pytest.mark.django_db
AHEAD = 5


def begin_cloze(client: Client) -> Assignment:
    """The filling of a cloze, begun by whoever holds the link."""
    study = clozes.study()
    client.post(reverse("annotation:invitation", args=[invitations.issue(study)[1]]))
    client.post(reverse("annotation:consent"), {"agrees": "yes"})
    client.post(reverse("annotation:begin"))
    return Assignment.objects.get(seat__isnull=False)


def stored() -> list[tuple[object, int]]:
    assert verification.verify().faults == []
    return [(response.value, response.revision) for response in Response.objects.order_by("pk")]


@pytest.mark.parametrize("htmx", [True, False], ids=["by script", "without scripts"])
def test_the_desk_saves_an_answer_that_is_ahead_of_what_is_stored(client: Client, htmx: bool) -> None:
    work = walk.begin(client, factories.study())

    answer = walk.give(client, work, base=AHEAD, htmx=htmx)
    again = walk.give(client, work, "no", base=AHEAD + 1, htmx=htmx)

    assert [page.status_code for page in (answer, again)] == [200, 200] if htmx else [302, 302]
    assert stored() == [("no", AHEAD + 2)]


def test_a_cloze_saves_a_blank_that_is_ahead_of_what_is_stored(client: Client) -> None:
    work = begin_cloze(client)

    assert save(client, work, 1, "boots", base=AHEAD).status_code == 200

    assert stored() == [("boots", AHEAD + 1)]


def test_a_page_of_several_questions_saves_answers_that_are_ahead_of_what_is_stored(client: Client) -> None:
    work = walk.begin(client, factories.study(n_stories=2))
    for letter in "AB":
        walk.give(client, work, letter=letter)
    url = reverse("annotation:part", args=[work.code, "ranking"])
    fields = posted(client.get(url).text, **{f"answer-guess-{letter}-item-1": "ai" for letter in "AB"})
    bases = [name for name in fields if re.match("base", name)]

    page = client.post(url, fields | dict.fromkeys(bases, AHEAD))

    assert len(bases) == 3
    assert page.url == reverse("annotation:check", args=[work.code])
    assert stored()[-2:] == [("ai", AHEAD + 1)] * 2
