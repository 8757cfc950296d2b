"""A rehearsal in a browser: by keyboard alone from the draft to an answer and back; axe finds nothing, at any width."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Response
from studies.models import Study
from tests import factories
from tests.browser.conftest import enter_as_staff, press
from tests.browser.test_accessibility import in_all_looks

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


@pytest.fixture
def staff(page: Page, live_server: Any) -> Page:
    factories.study(planned=False, state=Study.State.DRAFT)
    enter_as_staff(page, live_server.url, "/studies/plums/rehearsal/")
    expect(page.locator("h1")).to_have_text("Rehearse")
    return page


def reach(page: Page, words: str) -> None:
    """Go on with the tabulator until the control that says so has the focus."""
    said = "document.activeElement.innerText + document.activeElement.value"
    for _ in range(80):
        page.keyboard.press("Tab")
        if words in page.evaluate(said):
            return
    raise AssertionError(f"{words} cannot be reached")


def test_a_rehearsal_by_keyboard_to_an_answer_and_back(staff: Page) -> None:
    reach(staff, "Begin as a rater")
    staff.keyboard.press("Enter")
    expect(staff.get_by_text("nothing here is kept for the study")).to_be_visible()

    reach(staff, "Go to a step")
    staff.keyboard.press("Enter")
    step = staff.get_by_label("Step", exact=True)
    step.focus()
    step.press_sequentially("The tests")
    reach(staff, "Go there")
    staff.keyboard.press("Enter")
    expect(staff.get_by_role("heading", name="Item 1")).to_be_visible()
    staff.wait_for_load_state()  # a heading is there before the scripts that know the keys
    staff.keyboard.press("y")
    expect(staff.get_by_role("radio", name="Yes")).to_be_checked()
    expect(staff.locator("#status, .status").first).to_contain_text("Saved")
    answer = Response.objects.select_related("assignment__study").get()
    assert (answer.value, answer.assignment.study.is_rehearsal) == ("yes", True)

    staff.get_by_role("link", name="Back to the study").press("Enter")
    expect(staff.locator("h1")).to_have_text("Rehearse")


def test_its_pages_have_no_barriers(staff: Page) -> None:
    assert in_all_looks(staff) == {}, "before it is made"

    staff.locator(".stops button").nth(1).click()
    expect(staff.get_by_role("heading", name="Item 1")).to_be_visible()
    staff.locator(".rehearsal-bar summary").click()
    assert in_all_looks(staff) == {}, "on the desk"

    staff.get_by_role("link", name="Back to the study").click()
    press(staff, "Fill with simulated raters")
    expect(staff.get_by_text("simulated raters have answered")).to_be_visible()
    assert in_all_looks(staff) == {}, "once it is filled"
