"""Quoting from the story into the reasons, in a real browser: by mouse, by keys, across a reload, without a script."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotation.models import Response
from studies.models import Study
from tests import factories
from tests.browser.arriving import begin, select, until

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
TEXT = (
    "A man who had bought the greenhouse came on a Saturday 🙂 and *took* it down. He was kind. It rained.\n\n"
    "*She* had not put her father in it. There was the whole of indoors to do.\n\n***\n\nThe end."
)
FIRST = "A man who had bought the greenhouse came on a Saturday 🙂 and took it down. He was kind. It rained."


@pytest.fixture
def study(committed: None) -> Study:
    made = factories.study(n_stories=2, planned=False)
    for story in made.stories.all():
        story.text = TEXT
        story.save()
    factories.plan(made)
    return made


@pytest.fixture
def desk(page: Page, live_server: Any, study: Study) -> Page:
    begin(page, live_server, study)
    return page


def kept() -> list[list[tuple[int, int, int, str]]]:
    """What is quoted by each response, as (paragraph, start, end, text)."""
    said = Response.objects.order_by("pk").values_list("quotes", flat=True)
    return [[(q["paragraph"], q["start"], q["end"], q["text"]) for q in quotes] for quotes in said]


def marks(page: Page) -> list[str]:
    return page.locator(".story mark").all_inner_texts()


def test_a_selected_passage_is_quoted_by_a_button_kept_and_there_after_a_reload(desk):
    select(desk, ("#p1", "Saturday"), ("#p1", " it down."))
    desk.get_by_role("button", name="Quote this passage").click()

    quote = "Saturday 🙂 and took it down."
    until(desk, kept, [[(1, 46, 75, quote)]])
    expect(desk.locator("figure.quote blockquote")).to_have_text(quote)
    assert marks(desk) == [quote]
    expect(desk.locator("#quoting")).to_be_hidden()
    expect(desk.locator("#quoting-said")).to_have_text("Quoted from paragraph 1.")

    desk.reload()
    expect(desk.locator("figure.quote blockquote")).to_have_text(quote)
    assert marks(desk) == [quote]
    assert desk.locator("#p1").inner_text() == FIRST


def test_a_selection_over_two_paragraphs_becomes_a_passage_in_each(desk):
    select(desk, ("#p1", "It rained."), ("#p2", "She"))
    desk.keyboard.press("q")

    until(desk, kept, [[(1, 89, 99, "It rained."), (2, 0, 3, "She")]])
    assert marks(desk) == ["It rained.", "She"]


def test_the_same_passage_is_quoted_once_and_overlapping_ones_are_marked_once(desk):
    for _ in range(2):
        select(desk, ("#p1", "He was"), ("#p1", "kind."))
        desk.keyboard.press("q")
    expect(desk.locator("#quoting-said")).to_have_text("This passage is quoted already.")
    select(desk, ("#p1", "kind."), ("#p1", "rained."))
    desk.keyboard.press("q")

    until(desk, kept, [[(1, 76, 88, "He was kind."), (1, 83, 99, "kind. It rained.")]])
    drawn = marks(desk)
    desk.reload()
    assert drawn == marks(desk) == ["He was kind.", " It rained."], "script and server draw them alike"


def test_a_quote_is_removed_and_its_mark_with_it(desk):
    select(desk, ("#p1", "He was"), ("#p1", "kind."))
    desk.keyboard.press("q")
    select(desk, ("#p3", "The"), ("#p3", "end."))
    desk.keyboard.press("q")
    until(desk, kept, [[(1, 76, 88, "He was kind."), (3, 0, 8, "The end.")]])

    desk.get_by_role("button", name="Remove this passage").first.click()

    until(desk, kept, [[(3, 0, 8, "The end.")]])
    assert marks(desk) == ["The end."]
    expect(desk.get_by_role("button", name="Remove this passage")).to_be_focused()


def test_the_quote_leads_to_its_paragraph_and_the_passage_to_its_quote(desk):
    select(desk, ("#p3", "The"), ("#p3", "end."))
    desk.keyboard.press("q")

    desk.get_by_role("link", name="To paragraph ¶ 3").click()
    expect(desk.locator("#p3")).to_be_focused()
    desk.locator(".story mark a").click()

    expect(desk.locator("figure.quote")).to_be_focused()
    assert "#" not in desk.url


def test_without_a_mouse_a_sentence_is_chosen_by_the_arrow_keys(desk):
    n_stops = desk.locator(".story p[tabindex]").count()
    desk.get_by_role("radio", name="Yes").focus()
    desk.keyboard.press("q")
    expect(desk.locator("#p1")).to_be_focused()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        desk.keyboard.press(key)
    expect(desk.locator("#p2")).to_be_focused()
    desk.keyboard.press("Enter")

    until(desk, kept, [[(2, 34, 71, "There was the whole of indoors to do.")]])
    expect(desk.get_by_role("radio", name="Yes")).to_be_focused()
    assert desk.locator(".story p[tabindex]").count() == n_stops == 0, "paragraphs are no stops for Tab"


def test_the_bar_of_a_selection_stands_at_the_foot_of_a_long_story_as_wide_as_its_text(desk: Page) -> None:
    desk.evaluate("document.getElementById('p1').style.marginBlockEnd = '2000px'")
    select(desk, ("#p1", "Saturday"), ("#p1", " it down."))
    expect(desk.locator("#quoting")).to_be_visible()

    bar, text, pane = (desk.locator(place).bounding_box() for place in ("#quoting", "#p1", ".story-pane"))
    assert bar
    assert text
    assert pane
    assert bar["y"] + bar["height"] == pytest.approx(pane["y"] + pane["height"], abs=1)
    assert (bar["x"], bar["width"]) == (pytest.approx(text["x"], abs=1), pytest.approx(text["width"], abs=1))


@pytest.mark.parametrize("size", [(320, 640), (390, 844), (1024, 768), (1440, 900)])
def test_what_is_chosen_by_keys_never_stands_under_the_bar_or_the_tabs(desk: Page, size: tuple[int, int]) -> None:
    for paragraph in ("p1", "p2"):
        desk.evaluate("(id) => { document.getElementById(id).style.marginBlockEnd = '45vh' }", paragraph)
    desk.set_viewport_size({"width": size[0], "height": size[1]})
    if size[0] < 1024:
        desk.get_by_role("tab", name="Questions").click()
    desk.get_by_role("button", name="Quote from the story").click()

    for key, paragraph in (("ArrowDown", "#p2"), ("ArrowDown", "#p3"), ("ArrowUp", "#p2"), ("ArrowUp", "#p1")):
        desk.keyboard.press(key)
        chosen, bar = (desk.locator(place).bounding_box() for place in (paragraph, "#quoting"))
        assert chosen
        assert bar
        assert chosen["y"] + chosen["height"] <= bar["y"] + 1, paragraph
        assert chosen["y"] >= 48, paragraph


def test_choosing_a_passage_can_be_left_without_quoting(desk):
    desk.get_by_role("button", name="Quote from the story").click()
    expect(desk.locator("#p1")).to_be_focused()

    desk.keyboard.press("Escape")

    expect(desk.get_by_role("button", name="Quote from the story")).to_be_focused()
    expect(desk.locator("#quoting")).to_be_hidden()
    assert kept() == []


def test_whoever_goes_on_with_the_question_has_ended_choosing(desk):
    desk.get_by_role("button", name="Quote from the story").click()
    expect(desk.locator("#p1")).to_be_focused()
    expect(desk.get_by_text("↑ ↓ paragraph")).to_be_visible()

    desk.get_by_role("radio", name="Yes").focus()

    expect(desk.locator("#p1")).not_to_have_attribute("tabindex", "-1")
    expect(desk.get_by_role("radio", name="Yes")).to_be_focused()
    select(desk, ("#p1", "He was"), ("#p1", "kind."))
    expect(desk.get_by_role("button", name="Quote this passage")).to_be_visible()
    expect(desk.get_by_text("↑ ↓ paragraph")).to_be_hidden()
    expect(desk.get_by_role("button", name="Back to the question")).to_be_hidden()


def test_the_next_question_has_quotes_of_its_own(desk):
    select(desk, ("#p3", "The"), ("#p3", "end."))
    desk.keyboard.press("q")
    until(desk, kept, [[(3, 0, 8, "The end.")]])

    desk.keyboard.press("j")
    expect(desk.locator("h2", has_text="Item 2")).to_be_focused()
    assert marks(desk) == []
    desk.keyboard.press("k")
    expect(desk.locator("h2", has_text="Item 1")).to_be_focused()
    assert marks(desk) == ["The end."]


def test_two_windows_show_both_versions_with_their_quotes(desk, context: BrowserContext):
    other = context.new_page()
    other.goto(desk.url)
    select(desk, ("#p3", "The"), ("#p3", "end."))
    desk.keyboard.press("q")
    until(desk, kept, [[(3, 0, 8, "The end.")]])

    select(other, ("#p1", "He was"), ("#p1", "kind."))
    other.keyboard.press("q")

    expect(other.get_by_role("heading", name="Two versions of one answer")).to_be_visible()
    expect(other.locator(".versions q")).to_have_text(["He was kind.", "The end."])
    other.get_by_role("button", name="Keep mine").click()
    until(desk, kept, [[(1, 76, 88, "He was kind.")]])


def test_on_a_telephone_the_story_comes_up_to_choose_from(page, live_server, study):
    page.set_viewport_size({"width": 390, "height": 800})
    begin(page, live_server, study)
    page.get_by_role("tab", name="Questions").click()
    page.get_by_role("button", name="Quote from the story").click()
    expect(page.locator("#p1")).to_be_visible()

    select(page, ("#p3", "The"), ("#p3", "end."))
    page.get_by_role("button", name="Quote this passage").click()

    expect(page.locator("figure.quote blockquote")).to_be_visible()
    until(page, kept, [[(3, 0, 8, "The end.")]])
    page.get_by_role("link", name="To paragraph ¶ 3").click()
    expect(page.locator("#p3")).to_be_focused()


def test_without_a_script_quotes_are_shown_marked_kept_and_given_up(chromium: Browser, desk, live_server):
    select(desk, ("#p1", "He was"), ("#p1", "kind."))
    desk.keyboard.press("q")
    select(desk, ("#p3", "The"), ("#p3", "end."))
    desk.keyboard.press("q")
    until(desk, lambda: len(kept()[0]) if kept() else 0, 2)
    context = chromium.new_context(java_script_enabled=False)
    context.add_cookies(desk.context.cookies())
    plain = context.new_page()
    plain.goto(desk.url)

    assert marks(plain) == ["He was kind.", "The end."]
    expect(plain.get_by_role("button", name="Remove this passage")).to_have_count(0)
    plain.get_by_label("Keep").first.uncheck()
    plain.locator("button[value=next]").click()

    assert kept()[0] == [(3, 0, 8, "The end.")]
    context.close()


@pytest.mark.parametrize("width", [320, 390, 1440])
def test_axe_finds_nothing_with_a_quote_and_nothing_scrolls_sideways(page, live_server, study, width):
    page.set_viewport_size({"width": width, "height": 800})
    begin(page, live_server, study)
    page.locator("#p1").evaluate("p => getSelection().selectAllChildren(p)")
    axe, found = Axe(), []
    states = {
        "selected": lambda: None,
        "quoted": lambda: page.get_by_role("button", name="Quote this passage").click(),
        "choosing": lambda: page.keyboard.press("q"),
        "led to the quote": lambda: (page.keyboard.press("Escape"), page.locator(".story mark a").click()),
    }
    for state, arrive in states.items():
        arrive()
        found += [
            (state, v["id"], v["nodes"][0]["html"])
            for v in axe.run(page, options={"preload": False}).response["violations"]
        ]
        found += [state] if page.evaluate("document.documentElement.scrollWidth") > width else []
    assert found == []
