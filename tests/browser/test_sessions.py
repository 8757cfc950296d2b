"""Sessions that end in mid-sentence: the trial in its short form, and cookies that are gone altogether."""

import re
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotation.models import Invitation, Rater, Response
from annotation.participation import invitations, withdrawal
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
    why = "Your session has ended" if are_cookies_gone else "A new link was made for you"
    expect(page.locator("#trouble")).to_contain_text(why)
    expect(page.locator("#status")).to_have_text("Not saved, retry")

    other = context.new_page()
    other.goto(f"{live_server.url}/r/{link}/")
    other.get_by_role("button", name="Continue").click()
    expect(other.locator("#questions")).to_be_visible()
    press_retry(page)

    until(page, lambda: [each.rationale for each in Response.objects.all()], ["It turns on a pane of glass."])
    expect(page.locator("#status")).to_have_text(re.compile("^Saved"))
    expect(page.locator("#trouble")).to_be_empty()


def test_a_rater_who_was_withdrawn_is_told_so_and_no_word_of_theirs_stays_on_the_device(
    page: Page, live_server: Any, committed: None
) -> None:
    begin(page, live_server, factories.study(n_stories=2))
    withdrawal.withdraw(Rater.objects.get(), at=timezone.now())

    page.get_by_label("Your reasons").fill("It turns on a pane of glass.")

    expect(page.get_by_role("heading", name="You have withdrawn")).to_be_visible()
    until(page, lambda: page.evaluate("Object.keys(localStorage).filter(k => k.startsWith('quire-draft'))"), [])
    assert not Response.objects.exists()


def test_whose_part_was_ended_is_told_so_once_and_can_copy_what_is_not_saved(
    page: Page, live_server: Any, committed: None
) -> None:
    begin(page, live_server, factories.study(n_stories=2))
    Invitation.objects.update(revoked_at=timezone.now())
    posts: list[str] = []
    page.on("request", lambda request: posts.append(request.url) if "/s/" in request.url else None)

    page.get_by_label("Your reasons").fill("It turns on a pane of glass.")

    expect(page.locator("#trouble")).to_contain_text("have ended your part in it")
    expect(page.locator("#status")).to_have_text("Not saved")
    page.wait_for_timeout(3000)  # longer than until the first further try
    assert len(posts) == 1
    expect(page.get_by_label("Your reasons")).to_have_value("It turns on a pane of glass.")
