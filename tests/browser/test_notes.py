"""Notes of a story open where they are called, and take no word from it."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from annotation.models import Response
from studies.models import Story
from tests import factories, triggers
from tests.browser.arriving import begin, select, until
from tests.browser.test_accessibility import faults

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]

TEXT = (
    "He went down[1] the stairs, and the light went out behind him.[2] "
    + "Nobody had been there for years. " * 6
    + "\n\nHe came up again.\n\n"
    + "It was over. " * 300
    + "\n\n[1] The stairs of the old house.\n[2] It was gaslight."
)


@pytest.fixture
def desk(page: Page, live_server: Any, committed: None) -> Page:
    study = factories.study(n_stories=2)
    with triggers.lifted():
        Story.objects.update(text=TEXT)
    begin(page, live_server, study)
    return page


def test_a_note_opens_below_the_paragraph_that_calls_it_and_closes_again(desk: Page) -> None:
    mark, note = desk.locator("#p1 [data-note]").first, desk.get_by_role("note")
    expect(mark).to_have_attribute("aria-expanded", "false")

    mark.click()

    expect(note).to_have_text("[1] The stairs of the old house.")
    expect(desk.locator("#p1 + .story-note")).to_be_visible()
    assert desk.locator("#story").evaluate("(pane) => pane.scrollTop") == 0
    assert mark.get_attribute("aria-controls") == note.get_attribute("id")
    desk.locator("#p1 [data-note]").nth(1).click()
    expect(note).to_have_text(["[1] The stairs of the old house.", "[2] It was gaslight."])
    assert faults(desk) == []
    mark.click()
    expect(note).to_have_text(["[2] It was gaslight."])


def test_notes_are_opened_and_closed_by_keys(desk: Page) -> None:
    desk.locator("#p1 [data-note]").first.focus()

    desk.keyboard.press("Enter")
    expect(desk.get_by_role("note")).to_be_visible()
    desk.keyboard.press("Escape")

    expect(desk.get_by_role("note")).to_have_count(0)
    expect(desk.locator("#p1 [data-note]").first).to_be_focused()


def test_a_passage_after_an_open_note_is_quoted_at_its_place(desk: Page) -> None:
    for mark in desk.locator("#p1 [data-note]").all():
        mark.click()

    select(desk, ("#p1", "the light"), ("#p1", "behind him."))
    desk.get_by_role("button", name="Quote this passage").click()

    until(
        desk,
        lambda: [quote["text"] for r in Response.objects.all() for quote in r.quotes],
        ["the light went out behind him."],
    )
    (quote,) = Response.objects.get().quotes
    start = TEXT.index("the light")
    assert (quote["paragraph"], quote["start"]) == (1, start)
    select(desk, ("#p1", "went down"), ("#p2", "He came up"))
    desk.get_by_role("button", name="Quote this passage").click()
    desk.reload()
    expect(desk.locator("#p2 mark")).to_have_text("He came up")
    assert desk.locator("#p1 mark a a, #p1 mark [data-note]").count() == 0


def test_an_open_note_makes_no_page_wider(desk: Page) -> None:
    desk.set_viewport_size(ViewportSize(width=320, height=640))
    desk.locator("#p1 [data-note]").first.click()

    expect(desk.get_by_role("note")).to_be_visible()
    assert desk.evaluate("document.documentElement.scrollWidth") == 320


def test_without_scripts_a_mark_leads_to_its_note(desk: Page, chromium: Browser) -> None:
    context = chromium.new_context(java_script_enabled=False)
    context.add_cookies(desk.context.cookies())  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(desk.url)

    page.locator("#p1 [data-note]").first.click()

    assert page.url.endswith("#p4")
    expect(page.locator("#p4")).to_be_in_viewport()
    context.close()
