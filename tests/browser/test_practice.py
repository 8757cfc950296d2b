"""Practising on a story, as a rater meets it on a desk and on a phone."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation import design
from annotation.design import launches
from annotation.models import Response
from annotation.participation import invitations
from reports.management.commands.demo import FOLDER
from studies import loader

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
WIDTHS = (1440, 1024, 390, 320)


@pytest.fixture
def practice(page: Page, live_server: Any, committed: None) -> Page:
    """The page on which the demonstration's study of depth lets its raters practise."""
    study = loader.load_study(FOLDER / "depth")
    design.plan(study)
    launches.launch(study, by="tests", at=timezone.now())
    page.goto(f"{live_server.url}/r/{invitations.issue(study)[1]}/")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("I have read this and I agree to take part.").check()
    for heading in ("About you", "Before you read", "A story to practise on"):
        page.get_by_role("button", name="Continue").click()
        expect(page.locator("h1")).to_have_text(heading)
    return page


def check(page: Page) -> None:
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"scrolls sideways at {width}"
        found = Axe().run(page, options={"preload": False}).response["violations"]
        assert [each["id"] for each in found] == [], f"at {width}"


def test_a_story_is_practised_on_and_compared(practice: Page) -> None:
    check(practice)
    practice.get_by_role("button", name="Compare with sample answers").click()
    expect(practice.get_by_role("region", name="6 answers still open")).to_be_focused()
    for radios in practice.get_by_role("group").all():
        if radios.get_by_role("radio").count():
            radios.get_by_role("radio").nth(2).check()
            # What was said to be lacking goes when it is saved, and what stands below moves up.
            expect(radios.locator(".problem")).to_be_empty()
    practice.get_by_role("button", name="Compare with sample answers").click()

    told = practice.get_by_text("Below each of your answers is now a sample answer")
    expect(told).to_be_focused()
    expect(practice.locator(".sample-answer")).to_have_count(6)
    expect(practice.locator(".sample-answer").first).to_contain_text("She sweeps and unlocks before")
    check(practice)
    practice.get_by_role("button", name="Continue").click()

    expect(practice.get_by_role("button", name="Begin with a group")).to_be_visible()
    assert Response.objects.filter(step__key="practice", outcome="answered").count() == 6
