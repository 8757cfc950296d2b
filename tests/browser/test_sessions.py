"""Sessions that end in mid-sentence: the trial in its short form, and cookies that are gone altogether."""

import re
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotation.models import Invitation, Response
from annotation.participation import invitations
from tests import factories
from tests.browser.arriving import begin, until
from tests.browser.saying import press_retry
from tools.trials import sessions

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


def test_every_text_is_kept_whichever_way_its_writer_comes_back(chromium: Browser) -> None:
    found = sessions.run(chromium, 4)

    assert set(found["ways back"].values()) == {1}
    assert found["lost"] == []


def test_without_drafts_the_texts_of_those_who_left_the_page_are_lost(chromium: Browser) -> None:
    found = sessions.run(chromium, 2, keeps_drafts=False)

    assert found["kept"] == 1, "only that of the page that was left open"


@pytest.mark.parametrize("are_cookies_gone", [True, False])
def test_a_link_that_was_lost_is_replaced_and_its_holder_goes_on_in_the_page_left_open(
    page: Page, context: BrowserContext, live_server: Any, committed: None, are_cookies_gone: bool
) -> None:
    study = factories.study(n_stories=2)
    begin(page, live_server, study)
    link = invitations.replace_link(Invitation.objects.get(), at=timezone.now())
    if are_cookies_gone:
        context.clear_cookies()
    page.get_by_label("Your reasons").fill("It turns on a pane of glass.")
    expect(page.locator("#trouble")).to_contain_text("Your session has ended")
    expect(page.locator("#status")).to_have_text("Not saved, retry")

    other = context.new_page()
    other.goto(f"{live_server.url}/r/{link}/")
    other.get_by_role("button", name="Continue").click()
    expect(other.locator("#questions")).to_be_visible()
    press_retry(page)

    until(page, lambda: [each.rationale for each in Response.objects.all()], ["It turns on a pane of glass."])
    expect(page.locator("#status")).to_have_text(re.compile("^Saved"))
    expect(page.locator("#trouble")).to_be_empty()
