"""A study that is paused while somebody is at work in it."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from studies import lifecycle
from studies.models import Study
from tests.browser.saying import WORDS, reasons, said, status, until

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


def test_whoever_is_at_work_reads_that_the_study_is_paused_and_finds_their_words_afterwards(
    desk: Page, study: Study, link: str, live_server: Any
) -> None:
    lifecycle.pause(study)

    reasons(desk).press_sequentially(WORDS)

    expect(status(desk)).to_have_text("Not saved")
    expect(desk.locator("#trouble")).to_contain_text("The study is paused, so answers cannot be changed just now.")
    assert reasons(desk).input_value() == WORDS
    desk.goto(link)
    expect(desk.locator("h1")).to_have_text("The study is paused")
    expect(desk.get_by_text("us@example.org").first).to_be_visible()

    lifecycle.resume(study)
    desk.goto(link)
    desk.get_by_role("button", name="Continue").click()
    expect(reasons(desk)).to_have_value(WORDS)
    until(desk, lambda: said() == [(None, WORDS)], "what was written in the pause was not saved")
