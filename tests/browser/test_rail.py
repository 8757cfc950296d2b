"""The rail beside a study's pages: where one is is in sight in every state of the study, of a closed one the report."""

from itertools import product
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from studies.models import Study
from tests import factories
from tests.browser.conftest import enter_as_staff
from tests.browser.test_accessibility import PHONE, resize

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
WINDOWS = ((1440, 900), (1280, 720))
# Pages of every section, of the longest its first and its last.
PAGES = ("", "steps/", "access/", "people/", "scores/")


@pytest.fixture
def study(committed: None) -> Study:
    return factories.study(n_stories=2, n_items=2)


@pytest.mark.parametrize("state", Study.State.values)
def test_the_page_that_is_open_is_in_sight_and_the_report_of_a_closed_study(
    page: Page, live_server: Any, study: Study, state: str
) -> None:
    enter_as_staff(page, live_server.url, "/studies/")
    Study.objects.filter(pk=study.pk).update(state=state)

    for (width, height), part in product(WINDOWS, PAGES):
        page.set_viewport_size({"width": width, "height": height})
        response = page.goto(f"{live_server.url}/studies/plums/{part}")
        assert response is not None
        assert response.status == 200, part
        rail = page.locator(".rail-open")
        expect(rail.locator("[aria-current]"), part).to_be_in_viewport(ratio=1)
        if state == Study.State.CLOSED:
            expect(rail.get_by_role("link", name="Report", exact=True), part).to_be_in_viewport(ratio=1)
        assert page.evaluate("scrollY") == 0, part


def test_the_report_of_a_closed_study_is_one_press_away_on_a_telephone(
    page: Page, live_server: Any, study: Study
) -> None:
    enter_as_staff(page, live_server.url, "/studies/")
    Study.objects.filter(pk=study.pk).update(state=Study.State.CLOSED)
    page.goto(f"{live_server.url}/studies/plums/steps/")

    resize(page, PHONE)
    page.locator(".rail-folded > summary").focus()
    page.keyboard.press("Tab")

    report = page.locator(".rail").get_by_role("link", name="Report", exact=True)
    expect(report).to_be_in_viewport(ratio=1)
    expect(report).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{live_server.url}/reports/plums/")


def test_a_folded_section_is_opened_by_key_and_all_of_them_are_in_reach(
    page: Page, live_server: Any, study: Study
) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    enter_as_staff(page, live_server.url, "/studies/plums/")
    runs = page.locator(".rail-open").get_by_role("link", name="Runs")
    expect(runs).to_be_hidden()

    page.locator(".rail-open summary", has_text="Judge").focus()
    page.keyboard.press("Enter")

    expect(runs).to_be_visible()
    for name in ("Make", "Read"):
        page.locator(".rail-open summary", has_text=name).focus()
        page.keyboard.press("Enter")
    methods = page.locator(".rail-open").get_by_role("link", name="Methods")
    methods.focus()
    expect(methods).to_be_in_viewport(ratio=1)
    resize(page, PHONE)
    expect(page.locator(".rail-open")).to_be_hidden()
