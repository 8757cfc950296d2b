"""Leaving a page without a connection: it stays, says why, and goes on once there is one again."""

from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Assignment
from tests import factories
from tests.browser.arriving import begin
from tests.browser.saying import WORDS, reasons, status

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
DISCONNECTED = "You are offline, so no other page can be opened."


@pytest.fixture
def ranking(page: Page, live_server: Any, committed: None) -> Page:
    """The page on which stories are put in order, with everything else answered."""
    begin(page, live_server, factories.study(n_stories=2))
    assignment = Assignment.objects.get()
    factories.answer_all(assignment)
    page.goto(f"{live_server.url}/a/{assignment.code}/s/ranking/")
    return page


@pytest.mark.parametrize("name", ["Check your answers", "Overview"])
def test_offline_a_button_and_a_link_that_lead_on_keep_the_page_and_say_why(
    ranking: Page, context: BrowserContext, name: str
) -> None:
    address, title = ranking.url, ranking.locator("h1").inner_text()
    exit = ranking.get_by_role("button", name=name).or_(ranking.get_by_role("link", name=name, exact=True)).first
    context.set_offline(True)
    ranking.get_by_role("button", name="Move Story A down").click()

    exit.click()

    expect(ranking.locator("#trouble")).to_contain_text(DISCONNECTED)
    expect(status(ranking)).to_have_text("Offline, kept on this device")
    assert (ranking.url, ranking.locator("h1").inner_text()) == (address, title)
    context.set_offline(False)
    expect(ranking.locator("#trouble")).to_be_empty()
    exit.click()
    ranking.wait_for_url(lambda url: url != address)
    expect(ranking.locator("h1")).not_to_have_text(title)


def test_offline_the_next_question_is_not_opened_and_the_page_says_why(desk: Page, context: BrowserContext) -> None:
    context.set_offline(True)
    reasons(desk).press_sequentially(WORDS)

    desk.locator("button[value=next]").click()

    expect(desk.locator("#trouble")).to_contain_text(DISCONNECTED)
    expect(desk.get_by_role("heading", name="Item 1")).to_be_visible()
    assert reasons(desk).input_value() == WORDS


def test_offline_what_stands_on_the_same_page_is_reached_all_the_same(desk: Page, context: BrowserContext) -> None:
    context.set_offline(True)

    desk.locator(".skip").press("Enter")

    expect(desk.locator("#questions")).to_be_focused()
    expect(desk.locator("#trouble")).to_be_empty()


def test_a_server_on_the_same_machine_is_reached_though_there_is_no_network(ranking: Page) -> None:
    address = ranking.url
    ranking.evaluate("Object.defineProperty(navigator, 'onLine', { get: () => false })")

    ranking.get_by_role("button", name="Check your answers").click()

    ranking.wait_for_url(lambda url: url != address)
