"""Who reads what and Launch in a browser: figures follow each choice, and axe finds nothing, wide and narrow."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from studies.models import Study
from tests import factories
from tests.browser.conftest import enter_as_staff, press
from tests.browser.test_accessibility import in_all_looks

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


@pytest.fixture
def staff(page: Page, live_server: Any) -> Page:
    factories.study("other")
    factories.study(n_groups=3, planned=False, state=Study.State.DRAFT)
    enter_as_staff(page, live_server.url, "/studies/plums/reading-plan/")
    expect(page.locator("h1")).to_have_text("Who reads what")
    return page


def test_a_plan_follows_its_choices_is_saved_and_launched(staff: Page, live_server: Any) -> None:
    figures = staff.locator("#prospect .figures dd")
    expect(figures.nth(0)).to_have_text("9")

    staff.get_by_role("spinbutton", name="Raters for each group").fill("4")
    expect(figures.nth(0)).to_have_text("12")
    staff.get_by_label("Groups that one person may read").select_option("1")
    expect(figures.nth(1)).to_have_text("12")
    expect(staff.get_by_text("Within its group, every story is at every position equally often.")).to_be_visible()
    staff.get_by_label("Everybody reads everything").check()
    expect(staff.get_by_label("Groups that one person may read")).to_be_hidden()
    expect(figures.nth(1)).to_have_text("4")
    staff.locator("summary", has_text="Details").click()
    press(staff, "Draw new orders")
    expect(staff.get_by_text("seeds: sources are most evenly")).to_be_visible()
    assert Study.objects.get(slug="plums").seats_per_group == 3, "nothing is written by looking"
    assert in_all_looks(staff) == {}

    press(staff, "Save the plan")
    expect(staff.get_by_text("Saved.")).to_be_visible()
    staff.goto(f"{live_server.url}/studies/plums/launch/")
    assert in_all_looks(staff) == {}
    staff.get_by_label("I have read this page").check()
    press(staff, "Launch Fourteen tests of a story")
    expect(staff.get_by_text("The study is live.")).to_be_visible()
    assert in_all_looks(staff) == {}
    launched = Study.objects.get(slug="plums")
    assert (launched.seats_per_group, launched.groups_per_sitting, launched.seats.count()) == (4, 3, 12)
