"""Keys of one letter, the help sheet, and switching them off; the counter of words, which counts as the server does."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page, expect

from annotation.models import Response
from studies.items.rationale import count_sentences
from studies.models import Item, Study
from tests import factories, triggers
from tests.browser.arriving import begin, until

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
SCALE = {"type": "scale", "settings": {"low": 0, "high": 6}, "rationale": "none", "rationale_least": 0}
CHOICE = {"type": "choice", "options": factories.AUTHORS, "rationale": "none", "rationale_least": 0}


def desk(page: Page, site: Any, **item: Any) -> Page:
    """The desk of a study whose items are as said."""
    made: Study = factories.study(n_stories=2)
    with triggers.lifted():
        Item._base_manager.filter(instrument__step__version__study=made, instrument__step__key="tests").update(**item)
        factories.freeze_anew(made)
    begin(page, site, made)
    return page


def values() -> list[Any]:
    return list(Response.objects.order_by("pk").values_list("value", flat=True))


@pytest.mark.parametrize(("item", "key", "value"), [(SCALE, "0", 0), (SCALE, "6", 6), (CHOICE, "3", "ai")])
def test_a_digit_answers_by_its_point_on_a_scale_or_its_place_in_a_list(page, live_server, item, key, value):
    desk(page, live_server, **item)

    page.keyboard.press(key)

    until(page, values, [value])


def test_a_digit_beyond_the_last_answer_does_nothing(page, live_server):
    desk(page, live_server, **CHOICE)

    page.keyboard.press("9")
    page.keyboard.press("1")

    until(page, values, ["expert"])


def test_brackets_lead_to_the_story_and_to_the_questions(page, live_server):
    desk(page, live_server)

    page.keyboard.press("[")
    expect(page.locator("#story")).to_be_focused()
    page.keyboard.press("]")
    expect(page.locator("#questions")).to_be_focused()

    page.set_viewport_size({"width": 390, "height": 800})
    page.keyboard.press("[")
    expect(page.locator("#story")).to_be_visible()
    page.keyboard.press("]")
    expect(page.get_by_role("tab", name="Questions")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#story")).to_be_hidden()


def test_the_help_sheet_keeps_the_focus_and_gives_it_back(page, live_server):
    desk(page, live_server)
    page.get_by_role("radio", name="Yes").focus()

    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    expect(sheet).to_be_visible()
    expect(sheet.get_by_role("button", name="Close")).to_be_focused()
    assert Axe().run(page, options={"preload": False}).response["violations"] == []
    page.keyboard.press("n")
    page.keyboard.press("Escape")

    expect(sheet).to_be_hidden()
    expect(page.get_by_role("radio", name="Yes")).to_be_focused()
    assert values() == [], "behind an open sheet no key answers"
    page.get_by_role("button", name="? all keys").click()
    expect(sheet).to_be_visible()
    sheet.get_by_role("button", name="Close").click()
    expect(sheet).to_be_hidden()


def test_no_key_does_anything_while_one_writes(page, live_server):
    desk(page, live_server)

    page.get_by_label("Your reasons").press_sequentially("yn jk q? [] 12")

    expect(page.get_by_label("Your reasons")).to_have_value("yn jk q? [] 12")
    until(page, values, [None])
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_keys_can_be_switched_off_for_good_and_their_hints_go(page, live_server):
    desk(page, live_server)
    expect(page.locator(".answer kbd").first).to_be_visible()

    page.locator(".settings summary").click()
    page.get_by_label("Switch off the letter keys").check()
    page.keyboard.press("Escape")
    for _ in range(2):
        page.keyboard.press("y")
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_hidden()
        expect(page.locator(".answer kbd").first).to_be_hidden()
        expect(page.locator(".shortcuts")).to_be_hidden()
        page.reload()
    assert values() == []

    page.locator(".settings summary").click()
    page.get_by_label("Switch off the letter keys").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("y")
    until(page, values, ["yes"])


def test_browser_and_server_count_the_same_words(page, live_server):
    desk(page, live_server)
    counter, field = page.locator("[data-counts]"), page.get_by_label("Your reasons")
    blanks = "\t\n\x0b\x0c\x1c\x1f \x85\xa0\u1680\u180e\u200b\u2003\u2028\u202f\u3000\ufeff"
    counted: list[int] = []

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True)
    @given(
        st.lists(
            st.sampled_from(["a", "’s", "b. ", "c?", "好。", "\n", "中文", "رأيتَه؟", "जाता हूँ।", "🙂", *blanks]),
            min_size=4,
            max_size=12,
        ).map("".join)
    )
    def same(text: str) -> None:
        field.fill(text)
        expect(counter).to_have_text(str(count_sentences(text)))
        counted.append(count_sentences(text))

    same()
    assert set(counted) >= {0, 1, 2}
    field.fill("one")
    expect(page.locator(".count")).to_have_text("1 sentence, at least one sentence")
    field.fill("One. And two")
    expect(page.locator(".count")).to_have_text("2 sentences, at least one sentence")
