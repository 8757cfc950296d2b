"""The list of studies, a new one and its overview: axe in all looks, and a study made of a template without scripts."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from studies.models import Study
from tests import factories
from tests.browser.conftest import press
from tests.browser.test_accessibility import in_all_looks

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
WORD = "a long enough word"


@pytest.fixture
def staff(page: Page, live_server: Any) -> Page:
    User.objects.create_superuser("root", password=WORD)
    page.goto(f"{live_server.url}/admin/login/")
    page.get_by_label("Username").fill("root")
    page.get_by_label("Password").fill(WORD)
    press(page, "Log in")
    expect(page.locator("h1")).to_have_text("Studies")
    return page


def test_axe_finds_nothing_on_the_pages_on_which_a_study_begins(staff: Page, live_server: Any) -> None:
    problems = {"no study": in_all_looks(staff)}
    factories.study(state=Study.State.DRAFT, planned=False)
    addresses = (
        *("/studies/", "/studies/new/", "/studies/new/?template=cloze", "/studies/plums/"),
        "/studies/plums/delete/",
    )

    for address in addresses:
        staff.goto(f"{live_server.url}{address}")
        problems[address] = in_all_looks(staff)

    assert {address: looks for address, looks in problems.items() if looks} == {}


def test_a_template_becomes_a_draft_in_four_fields_and_two_pages(staff: Page) -> None:
    staff.get_by_role("link", name="Make the first study").click()
    staff.get_by_role("radio", name="The better of two").check()
    staff.get_by_label("Title").fill("Two of a kind")
    staff.get_by_label("Who runs it").fill("Us")
    staff.get_by_label("Who raters can write to").fill("us@example.org")
    press(staff, "Make the draft")

    expect(staff.locator("h1")).to_have_text("Two of a kind")
    assert Study.objects.get().versions.get().steps.count() == 5
