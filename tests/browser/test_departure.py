"""Leaving a page without a connection: it stays, says why, and goes on once there is one again."""

from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Assignment
from annotation.participation import invitations
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


@pytest.fixture
def consent(page: Page, live_server: Any, committed: None) -> Page:
    """The text to agree to, with its box ticked: a page that saves nothing."""
    page.goto(f"{live_server.url}/r/{invitations.issue(factories.study())[1]}/")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("I have read this and I agree to take part.").check()
    return page


@pytest.mark.parametrize("name", ["Continue", "A copy to print and keep"])
def test_offline_a_page_that_saves_nothing_is_kept_too_and_says_why(
    consent: Page, context: BrowserContext, name: str
) -> None:
    exit = consent.get_by_role("button", name=name).or_(consent.get_by_role("link", name=name))
    context.set_offline(True)

    exit.click()

    expect(consent.locator("#trouble")).to_contain_text(DISCONNECTED)
    assert consent.get_by_role("checkbox").is_checked()
    context.set_offline(False)
    expect(consent.locator("#trouble")).to_be_empty()
    exit.click()
    expect(exit).not_to_be_attached()


@pytest.mark.parametrize(
    ("address", "name"), [("overview/", "Go on where I was"), ("story/A/", "Back to the questions")]
)
def test_offline_the_overview_and_a_story_to_read_again_are_kept_too(
    ranking: Page, context: BrowserContext, address: str, name: str
) -> None:
    ranking.goto(ranking.url.replace("s/ranking/", address))
    title = ranking.locator("h1").inner_text()
    context.set_offline(True)

    ranking.get_by_role("button", name=name).or_(ranking.get_by_role("link", name=name)).first.click()

    expect(ranking.locator("#trouble")).to_contain_text(DISCONNECTED)
    assert ranking.locator("h1").inner_text() == title
