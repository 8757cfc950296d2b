"""How the shipped cloze stands in its window."""

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page

from annotation import design
from annotation.design import launches
from studies import loader
from tests.browser.arriving import begin
from tests.browser.test_cloze import MYSTERY

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


@pytest.fixture
def sheet(page: Page, live_server: Any, committed: None) -> Page:
    """The page of the cloze, with a phrase of several lines that has the focus."""
    study = loader.load_study(MYSTERY)
    design.plan(study)
    begin(page, live_server, launches.launch(study, by="tests", at=timezone.now()))
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Begin").click()
    page.set_viewport_size({"width": 1024, "height": 768})
    page.locator("#answer-fill-blank-02").fill("a door, two windows and whatever else had been left there " * 3)
    return page


def test_seven_sections_stand_in_two_rows_at_1024_pixels(sheet: Page) -> None:
    tops = sheet.locator(".sections li").evaluate_all("rows => rows.map((row) => Math.round(row.offsetTop))")

    assert [tops.count(top) for top in sorted(set(tops))] == [4, 3]


def test_the_ring_of_a_field_does_not_cover_the_hint_below_it(sheet: Page) -> None:
    ring = sheet.evaluate("""() => {
      const field = document.querySelector("#answer-fill-blank-02:focus");
      const { outlineOffset, outlineWidth } = getComputedStyle(field);
      return field.getBoundingClientRect().bottom + parseFloat(outlineOffset) + parseFloat(outlineWidth);
    }""")

    hint = sheet.locator("#item-fill-blank-02 .blank-hint").bounding_box()
    assert hint is not None
    assert hint["y"] + 2 >= ring, "above its letters it has some leading"
