"""Nobody meets what they may not: the crawl in its short form, what it would find, and that it looks everywhere.

`make trials` runs the long form.
"""

import logging
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.http import HttpRequest, HttpResponse

from annotation.progress import places
from annotation.views.rater.presenters import pages
from config.headers import MethodMiddleware
from judges import catalogue, runs
from judges.prompts import StoryText
from judges.requests import planned_calls
from reports import results
from reports.api import rows as api
from reports.export import long_table
from studies.access import Access
from studies.admin.studies import StoryAdmin
from studies.models import Provenance
from studies.typography import paragraphs
from tests.trust import crawl
from tests.trust import world as worlds
from tests.trust.addresses import patterns
from tests.trust.crawl import Ask
from tests.trust.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def met(world: World, who: str) -> set[str]:
    """The kinds of secrets that stand on the pages of the whole site for that visitor."""
    found = [
        crawl.made(world, Ask(who, each, each.address(values), "get"), forbidden=worlds.secrets(hidden_from=""))
        for each in patterns()
        for values in crawl.values(world, each, who)[:1]
    ]
    return {hit.kind for _, hits in found for hit in hits}


# ── it is there to leak ────────────────────────────────────────────────────────────────────────────────────────────


def test_every_secret_stands_on_some_page_of_a_superuser(world: World) -> None:
    assert met(world, "root") == set(worlds.MAY_SEE)


@pytest.mark.parametrize("role", ["designer", "coordinator", "researcher", "steward", "administrator"])
def test_each_role_meets_just_what_it_may_see(world: World, role: str) -> None:
    assert met(world, role) == {kind for kind, who in worlds.MAY_SEE.items() if role in who}


# ── and does not ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_crawl_finds_nothing(world: World) -> None:
    found = crawl.crawl(world, 900)

    assert (found["hits"], found["failed"], found["patterns left out"]) == ([], [], [])
    assert found["responses"] == 900
    assert found["prompts"] > 0
    assert set(found["by status"]) >= {200, 302, 400, 401, 403, 404, 405, 409}


def test_no_error_page_tells_more(world: World, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    def breaks(*args: Any, **more: Any) -> None:
        raise RuntimeError(a_title())

    def told() -> list[tuple[int, set[str]]]:
        """The status and where it says the title; but for the log, which is for those who look for the fault."""
        return [
            (status, {hit.place for hit in hits if hit.kind == "title"} - {"log"})
            for name, who in [("annotation:story_item", "reading"), ("reports:show", "coordinator")]
            for each in patterns()
            if each.name == name
            for manner in ("get", "htmx")
            for ask in [Ask(who, each, each.address(crawl.values(world, each, who)[0]), manner)]
            for status, hits in [crawl.made(world, ask)]
        ]

    monkeypatch.setattr(pages, "desk_context", breaks)
    monkeypatch.setattr(results, "ensure_report", breaks)

    settings.DEBUG = True
    assert told() == [(500, {"body"})] * 4
    settings.DEBUG = False
    assert told() == [(500, set())] * 4


def test_a_request_of_the_crawl_leaves_nothing_behind(world: World) -> None:
    before = worlds.digests()

    crawl.crawl(world, 120, only="annotation:")

    assert worlds.digests() == before


# ── and would be found ─────────────────────────────────────────────────────────────────────────────────────────────


def a_title() -> str:
    return Provenance.objects.exclude(title="").earliest("pk").title


def in_the_text(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pages, "number_paragraphs", lambda text: paragraphs.number_paragraphs(f"{text}\n\n{a_title()}"))


def in_a_header(patch: pytest.MonkeyPatch) -> None:
    after(patch, lambda response: response.headers.setdefault("X-Story", a_title()))


def in_a_cookie(patch: pytest.MonkeyPatch) -> None:
    after(patch, lambda response: response.set_cookie("story", a_title()))


def after(patch: pytest.MonkeyPatch, change: Callable[[HttpResponse], object]) -> None:
    call = MethodMiddleware.__call__

    def changed(self: MethodMiddleware, request: HttpRequest) -> HttpResponse:
        response = call(self, request)
        change(response)
        return response

    patch.setattr(MethodMiddleware, "__call__", changed)


def in_the_log(patch: pytest.MonkeyPatch) -> None:
    before(patch, lambda: logging.getLogger("annotation").info("shown: %s", a_title()))


def in_a_mail(patch: pytest.MonkeyPatch) -> None:
    from django.core.mail import send_mail

    before(patch, lambda: send_mail("shown", a_title(), None, ["us@example.org"]))


def before(patch: pytest.MonkeyPatch, do: Callable[[], object]) -> None:
    remember_page = places.remember_page

    def noisy(*args: Any, **more: Any) -> None:
        do()
        remember_page(*args, **more)

    patch.setattr(places, "remember_page", noisy)


def in_the_api(patch: pytest.MonkeyPatch) -> None:
    rows = long_table.rows
    patch.setattr(api, "FIELDS", (*api.FIELDS, "source"))
    patch.setattr(
        long_table,
        "rows",
        lambda study, with_sources, **more: ({"source": ""} | row for row in rows(study, with_sources=True, **more)),
    )


def in_a_blind_report(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Access, "is_blind", False)


def in_a_list_of_stories(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(StoryAdmin, "list_display", (*StoryAdmin.list_display, "provenance__licence"))


def in_a_role(patch: pytest.MonkeyPatch) -> None:
    Group.objects.get(name="steward").permissions.add(Permission.objects.get(codename="view_response"))


N_ASKED = 80  # each of some forty addresses of reports by somebody, then by everybody
LEAKS: list[tuple[Callable[[pytest.MonkeyPatch], None], str, str, str]] = [
    (in_the_text, "annotation:story_item", "title", "body"),
    (in_a_header, "annotation:home", "title", "headers"),
    (in_a_cookie, "annotation:again", "title", "cookies"),
    (in_the_log, "annotation:story_item", "title", "log"),
    (in_a_mail, "annotation:story_item", "title", "mail"),
    (in_the_api, "api:responses", "source", "body"),
    (in_a_blind_report, "reports:", "source", "body"),
    (in_a_list_of_stories, "admin:studies_story_changelist", "licence", "body"),
    (in_a_role, "admin:annotation_response", "answer", "body"),
]


def test_every_kind_of_leak_would_be_found(world: World) -> None:
    for where in dict.fromkeys(where for _, where, _, _ in LEAKS):
        assert crawl.crawl(world, N_ASKED, only=where)["hits"] == [], where

    for leak, where, kind, place in LEAKS:
        with pytest.MonkeyPatch.context() as patch:
            leak(patch)
            hits = " ".join(crawl.crawl(world, N_ASKED, only=where)["hits"])

        assert f"kind='{kind}', place='{place}'" in hits, leak.__name__


def test_a_code_in_a_prompt_would_be_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert crawl.in_prompts(world) == []

    monkeypatch.setattr(
        planned_calls, "StoryText", lambda letter, text: StoryText(letter, text + worlds.secret("story", 1))
    )
    world.run = runs.start(world.studies["pears"], catalogue.make_stub_judge("stub-2"), by="tests")

    assert {hit.kind for hit in crawl.in_prompts(world)} == {"story"}


def test_a_parameter_that_the_crawl_does_not_know_is_an_error(world: World) -> None:
    strange = crawl.Pattern("new:page", "new/<slug:unheard_of>/")

    with pytest.raises(KeyError, match="unheard_of"):
        crawl.values(world, strange, "anonymous")
