"""From question to question in a real browser: where a reader arrives, whatever happens on the way."""

import re
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import BrowserContext, Page, Route, expect

from annotation.models import Assignment, Response
from annotation.responses import submission
from tests import factories
from tests.browser.arriving import begin, until
from tests.factories import NOON

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
QUESTIONS = "**/s/tests/A/**"


@pytest.fixture
def desk(page: Page, live_server: Any, committed: None) -> Page:
    """A page at the first of six questions."""
    begin(page, live_server, factories.study(n_stories=2, n_items=6))
    return page


def heading(page: Page) -> Any:
    return page.locator("#questions h2")


def press(page: Page, button: str) -> None:
    page.locator(f"button[value={button}]").click()


def test_after_the_button_back_of_the_browser_the_status_line_still_speaks(desk: Page, context: BrowserContext) -> None:
    press(desk, "next")
    expect(heading(desk)).to_have_text("Item 2")
    desk.go_back()
    expect(heading(desk)).to_have_text("Item 1")
    desk.wait_for_load_state()

    context.set_offline(True)
    desk.get_by_label("Your reasons").fill("So.")

    expect(desk.locator("#status")).to_have_text("Offline, kept on this device")


def test_another_language_is_spoken_at_the_question_where_one_is(desk: Page) -> None:
    press(desk, "next")
    expect(heading(desk)).to_have_text("Item 2")

    desk.locator(".settings summary").click()
    desk.locator("#language").select_option("pt-br")
    desk.locator(".settings button[type=submit]").click()

    expect(desk.locator("html")).to_have_attribute("lang", "pt-br")
    expect(heading(desk)).to_have_text("Item 2")


def test_where_the_next_question_cannot_be_fetched_one_can_go_on_answering(desk: Page) -> None:
    is_move = re.compile("go=next").search
    desk.route(QUESTIONS, lambda r: r.abort() if is_move(r.request.post_data or "") else r.continue_())
    desk.get_by_label("Your reasons").fill("So.")
    press(desk, "next")
    expect(desk.locator("#status")).to_have_text("Offline, kept on this device")
    desk.get_by_label("Your reasons").press_sequentially(" And so on.")
    until(desk, lambda: Response.objects.get().rationale, "So. And so on.")
    desk.unroute(QUESTIONS)

    press(desk, "next")

    expect(heading(desk)).to_have_text("Item 2")


def test_a_link_says_that_the_session_has_ended(desk: Page) -> None:
    Session.objects.all().delete()

    desk.locator(".items a", has_text="2").click()

    expect(desk.get_by_role("heading", name="Please open your link again")).to_be_visible()


def test_a_link_leads_to_the_receipt_once_the_group_was_submitted_in_another_window(desk: Page) -> None:
    mine = Assignment.objects.get()
    factories.answer_all(mine)
    submission.submit(mine, at=NOON)

    desk.locator(".items a", has_text="2").click()

    expect(desk.get_by_role("heading", name="Submitted. Thank you")).to_be_visible()
    expect(desk.locator("h1")).to_have_count(1)


def test_of_two_links_the_second_counts_though_the_first_arrives_last(
    context: BrowserContext, live_server: Any, committed: None
) -> None:
    desk = context.new_page()  # htmx reports on the console what was called off
    begin(desk, live_server, factories.study(n_stories=2, n_items=6))
    held: list[Route] = []
    desk.route("**/A/item-3/", lambda route: held.append(route))
    desk.locator(".items a", has_text="3").click()
    until(desk, lambda: len(held), 1)
    desk.locator(".items a", has_text="5").click()
    expect(heading(desk)).to_have_text("Item 5")

    held[0].continue_()
    desk.wait_for_timeout(300)

    expect(heading(desk)).to_have_text("Item 5")
    expect(desk).to_have_url(re.compile("/item-5/$"))


def test_a_double_click_goes_on_by_one_question(desk: Page) -> None:
    box = desk.locator("button[value=next]").bounding_box()
    assert box is not None
    desk.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    desk.mouse.down(click_count=1)
    desk.mouse.up(click_count=1)
    expect(heading(desk)).to_have_text("Item 2")
    desk.mouse.down(click_count=2)
    desk.mouse.up(click_count=2)

    desk.wait_for_timeout(400)
    expect(heading(desk)).to_have_text("Item 2")


def test_a_key_that_is_held_down_goes_on_by_one_question(desk: Page) -> None:
    for _ in range(20):
        desk.keyboard.down("j")
        desk.wait_for_timeout(35)
    desk.keyboard.up("j")

    expect(heading(desk)).to_have_text("Item 2")


def test_a_field_made_larger_by_hand_does_not_break_the_content_policy(desk: Page) -> None:
    """The page fixture looks for what the browser reports."""
    desk.get_by_label("Your reasons").evaluate("field => { field.style.height = '300px' }")
    desk.locator(".items a", has_text="1").first.click()

    expect(heading(desk)).to_be_focused()
    expect(desk.get_by_label("Your reasons")).not_to_have_attribute("style", re.compile("."))
