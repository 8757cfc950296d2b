"""A study that is paused while somebody is at work in it."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation import responses
from annotation.models import Assignment
from annotation.participation import replacements
from studies import lifecycle
from studies.models import Study
from tests.browser.saying import WORDS, reasons, said, status, until

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


def close(study: Study) -> None:
    lifecycle.close(study, at=timezone.now())


def give_back(study: Study) -> None:
    replacements.give_back(Assignment.objects.get(study=study, seat__isnull=False), at=timezone.now())


def test_whoever_is_at_work_reads_that_the_study_is_paused_and_finds_their_words_afterwards(
    desk: Page, study: Study, link: str, live_server: Any
) -> None:
    lifecycle.pause(study)

    reasons(desk).press_sequentially(WORDS)

    expect(status(desk)).to_have_text("Waiting, kept on this device")
    expect(desk.locator("#trouble")).to_contain_text("The study is paused, so answers cannot be changed just now.")
    expect(desk.locator("#trouble")).to_contain_text("is saved automatically when the study resumes")
    assert reasons(desk).input_value() == WORDS
    desk.goto(link)
    expect(desk.locator("h1")).to_have_text("The study is paused")
    expect(desk.get_by_text("us@example.org").first).to_be_visible()

    lifecycle.resume(study)
    desk.goto(link)
    desk.get_by_role("button", name="Continue").click()
    expect(reasons(desk)).to_have_value(WORDS)
    until(desk, lambda: said() == [(None, WORDS)], "what was written in the pause was not saved")


def test_after_the_pause_a_page_that_was_left_open_saves_by_itself(desk: Page, study: Study) -> None:
    lifecycle.pause(study)
    reasons(desk).press_sequentially(WORDS)
    expect(status(desk)).to_have_text("Waiting, kept on this device")

    lifecycle.resume(study)

    until(desk, lambda: said() == [(None, WORDS)], "what was written in the pause was not saved")
    expect(status(desk)).to_have_text(re.compile("^Saved"))
    expect(desk.locator("#trouble")).to_be_empty()


@pytest.mark.parametrize(
    ("end", "why"),
    [(close, "The study has closed"), (give_back, responses.ENDED)],
    ids=["closed", "given back"],
)
def test_what_a_page_has_not_saved_when_its_work_ends_is_said_not_to_be_saved(
    desk: Page, study: Study, end: Callable[[Study], object], why: str
) -> None:
    reasons(desk).fill("Saved before.")
    until(desk, lambda: said() == [(None, "Saved before.")], "the first words were not saved")
    end(study)

    reasons(desk).fill(WORDS)

    expect(desk.locator("#trouble")).to_contain_text(why)
    expect(desk.locator("#trouble")).to_contain_text("What you wrote since then is not saved")
    expect(status(desk)).to_have_text("Not saved")
    expect(reasons(desk)).to_have_value(WORDS)
