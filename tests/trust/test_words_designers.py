"""What designers read is words of the field: no page of theirs shows how a study is stored."""

import re
from html.parser import HTMLParser

import pytest
from django.test import Client
from django.urls import reverse

from studies.models import Study
from tests import factories
from tests.trust import crawl
from tests.trust.addresses import Pattern, patterns
from tests.trust.marked import VOID
from tests.trust.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
UNWANTED = re.compile(r"\bJSON\b|Constraint “|\bslugs?\b|Traceback|\brun `", re.IGNORECASE)
# Named by the file that it is: a table as JSON lines is one of the kinds that can be brought in.
KINDS_OF_FILES = "JSON lines"
PAGES = ("studies:", "designer:", "instruments:")
FILES = ("studies:preregistration", "designer:protocol_text")


class _VisibleText(HTMLParser):
    """Collects the text outside of the folds called Details and of what no page shows; also what fields say."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []  # tag, whether what is inside is not looked at
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        is_fold = tag == "details" and "details" in (values.get("class") or "").split()
        if tag not in VOID:
            self.open.append((tag, is_fold or tag in ("script", "style", "template")))
        if not self._is_left_out():
            self.texts += [values[name] or "" for name in ("aria-label", "title", "placeholder") if name in values]

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not self._is_left_out():
            self.texts.append(data)

    def _is_left_out(self) -> bool:
        return any(is_left_out for _tag, is_left_out in self.open)


def find_unwanted(html: str) -> list[str]:
    """The unwanted words that somebody reads on the page, with what stands around them."""
    reader = _VisibleText()
    reader.feed(html)
    text = " ".join(" ".join(reader.texts).split()).replace(KINDS_OF_FILES, "")
    return [text[max(match.start() - 40, 0) : match.end() + 40] for match in UNWANTED.finditer(text)]


def designers_pages() -> list[Pattern]:
    return [each for each in patterns() if each.name.startswith(PAGES) and each.name not in FILES]


def addresses(world: World) -> list[str]:
    """Every page with every value that the crawl knows for it, and a step and a story of each study with it."""
    found = {each.address(values) for each in designers_pages() for values in crawl.values(world, each, "root")}
    for study in Study.objects.all():
        for step in study.versions.latest("number").steps.all():
            found |= {reverse(f"designer:{page}", args=[study.slug, step.pk]) for page in ("step", "step_preview")}
        found |= {reverse("studies:story", args=[study.slug, story.pk]) for story in study.stories.all()[:1]}
    return sorted(found)


def seen_words(client: Client, address: str) -> tuple[bool, list[str]]:
    """Whether there is such a page, and what should not stand on it."""
    response = client.get(address)
    is_page = response.headers.get("Content-Type", "").startswith("text/html")
    return response.status_code == 200, find_unwanted(response.content.decode()) if is_page else []


def test_no_page_of_the_designers_shows_how_a_study_is_stored(world: World) -> None:
    factories.study("empty", n_groups=0, planned=False, state=Study.State.DRAFT)
    unready = factories.study("unready", n_groups=1, n_stories=1, planned=False, state=Study.State.DRAFT)
    unready.versions.get().steps.filter(kind="consent").update(text="{organiser} pays {pay}.")
    unready.groups.create(code="zz")  # a group without stories
    paused = factories.study("paused", n_stories=2)
    Study.objects.filter(pk=paused.pk).update(state=Study.State.PAUSED)

    seen = {address: seen_words(world.visitors["root"], address) for address in addresses(world)}

    opened = [address for address, (is_there, _words) in seen.items() if is_there]
    assert len(opened) > 100
    for slug in ("empty", "unready", "paused"):
        for page in ("", "stories/", "launch/", "changes/", "reading-plan/", "people/", "steps/", "information/"):
            address = f"/studies/{slug}/{page}"
            seen[address] = seen_words(world.visitors["root"], address)
            assert seen[address][0], address
    assert {address: words for address, (_is_there, words) in seen.items() if words} == {}


def test_what_is_refused_is_said_without_such_words(world: World) -> None:
    root = world.visitors["root"]
    refused = {}
    for address in addresses(world):
        response = root.post(address, {"title": "", "act": "none", "action": "none"})
        if response.headers.get("Content-Type", "").startswith("text/html"):
            refused[address] = find_unwanted(response.content.decode())

    assert len(refused) > 50
    assert {address: words for address, words in refused.items() if words} == {}


def test_such_words_are_met_outside_of_the_details_only() -> None:
    html = '<p>The slug.</p><details class="details"><p>JSON</p></details><p title="JSON">JSON lines<br>run `make`</p>'

    assert len(find_unwanted(html)) == 3
