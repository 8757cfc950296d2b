"""The headings of raters' pages: none is deeper by more than one than the one before it."""

import re
from collections.abc import Callable

import pytest
from django.test import Client

from annotation.models import ApplicationCall, Assignment
from studies.models import Step, Study
from tests import factories
from tests.annotation import clozes, walk
from tests.annotation.arriving import steps_around

HEADING = re.compile(r"<h([1-6])\b")


def levels(page: str) -> list[int]:
    return [int(level) for level in HEADING.findall(page)]


def skips(page: str) -> list[tuple[int, int]]:
    """Levels that follow each other and leave one out."""
    found = levels(page)
    return [(before, after) for before, after in zip([0, *found], found, strict=False) if after > before + 1 > 1]


def test_a_skipped_level_is_found() -> None:
    assert skips("<h1>A</h1><h3>B</h3><h2>C</h2><h3>D</h3>") == [(1, 3)]
    assert skips("<h2>Before the title</h2><h1>A</h1><h2>B</h2>") == []


def asked_once(client: Client) -> str:
    study = factories.study(planned=False)
    steps_around(study)
    Step.objects.filter(version__study=study, key="about").update(instrument=factories.instrument("lives"))
    factories.plan(study)
    walk.come_in(client, study)
    client.post("/consent/", {"agrees": "yes"})
    client.post("/briefing/welcome/")
    return client.get("/once/about/").text


def asked_about_the_group(client: Client, *, n_items: int = 2, shows_stories: bool = False) -> str:
    study = factories.study(n_stories=2, planned=False)
    asked = factories.instrument("whole", n_items=n_items)
    Step.objects.filter(version__study=study, key__in=["guess", "tests"] if shows_stories else ["guess"]).delete()
    Step.objects.filter(version__study=study, key="ranking").update(instrument=asked, scope="group")
    factories.plan(study)
    walk.begin(client, study)
    assignment = Assignment.objects.get()
    if not shows_stories:
        for letter in "AB":
            for item in (1, 2):
                factories.answer(assignment, letter=letter, item=item)
    return client.get(f"/a/{assignment.code}/s/ranking/").text


def compared(client: Client) -> str:
    return asked_about_the_group(client, shows_stories=True)


def ranked(client: Client) -> str:
    study = factories.study(n_stories=2)
    walk.begin(client, study)
    assignment = Assignment.objects.get()
    factories.answer_all(assignment)
    return client.get(f"/a/{assignment.code}/s/ranking/").text


def checked(client: Client) -> str:
    ranked(client)
    return client.get(f"/a/{Assignment.objects.get().code}/check/").text


def desk(client: Client) -> str:
    walk.begin(client, factories.study(n_stories=2))
    return client.get(f"/a/{Assignment.objects.get().code}/", follow=True).text


def practised(client: Client) -> str:
    walk.come_in(client, factories.practising_study())
    client.post("/consent/", {"agrees": "yes"})
    return client.get("/once/practice/").text


def filled(client: Client) -> str:
    walk.begin(client, clozes.study())
    return client.get(f"/a/{Assignment.objects.get().code}/", follow=True).text


def applied(client: Client) -> str:
    study = factories.study()
    call = ApplicationCall.objects.create(study=study, is_open=True, instrument=factories.instrument("eligible"))
    return client.post(f"/join/{call.key}/", {}).text


def ended(client: Client) -> str:
    study: Study = factories.study(planned=False)
    steps_around(study)
    factories.plan(study)
    walk.come_in(client, study)
    client.post("/consent/", {"agrees": "yes"})
    return client.get("/briefing/welcome/").text


@pytest.mark.parametrize(
    "show", [asked_once, asked_about_the_group, compared, ranked, checked, desk, practised, filled, applied, ended]
)
def test_no_page_of_raters_skips_a_level_of_headings(client: Client, db: None, show: Callable[[Client], str]) -> None:
    page = show(client)

    assert 1 in levels(page)
    assert skips(page) == []
