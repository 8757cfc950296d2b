"""The rail beside a study's pages: where one is and the report are in sight, in every state of the study."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from studies.models import Study
from tests import factories
from tests.browser.conftest import enter_as_staff
from tests.browser.test_accessibility import PHONE, resize

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
WINDOW = {"width": 1440, "height": 900}
# Pages of every section, of the longest its first and its last.
PAGES = ("", "steps/", "access/", "people/", "scores/")


@pytest.fixture
def study(committed: None) -> Study:
    return factories.study(n_stories=2, n_items=2)


@pytest.mark.parametrize("state", Study.State.values)
def test_the_page_that_is_open_and_the_report_are_in_sight(
    page: Page, live_server: Any, study: Study, state: str
) -> None:
    page.set_viewport_size(WINDOW)
    enter_as_staff(page, live_server.url, "/studies/")
    Study.objects.filter(pk=study.pk).update(state=state)

    for part in PAGES:
        response = page.goto(f"{live_server.url}/studies/plums/{part}")
        assert response is not None
        assert response.status == 200, part
        rail = page.locator(".rail-open")
        expect(rail.locator("[aria-current]"), part).to_be_in_viewport(ratio=1)
        expect(rail.get_by_role("link", name="Report", exact=True), part).to_be_in_viewport(ratio=1)
        assert page.evaluate("scrollY") == 0, part


def test_a_folded_section_is_opened_by_key(page: Page, live_server: Any, study: Study) -> None:
    page.set_viewport_size(WINDOW)
    enter_as_staff(page, live_server.url, "/studies/plums/")
    runs = page.locator(".rail-open").get_by_role("link", name="Runs")
    expect(runs).to_be_hidden()

    page.locator(".rail-open summary", has_text="Judge").focus()
    page.keyboard.press("Enter")

    expect(runs).to_be_visible()
    resize(page, PHONE)
    expect(page.locator(".rail-open")).to_be_hidden()
