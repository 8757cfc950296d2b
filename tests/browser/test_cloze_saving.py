"""What somebody writes into a cloze is saved while they type on."""

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page

from annotation import design
from annotation.design import launches
from studies import loader
from tests.browser.arriving import begin, until
from tests.browser.test_cloze import MYSTERY, field, said

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


@pytest.fixture
def sheet(page: Page, live_server: Any, committed: None) -> Page:
    """The page of the cloze."""
    study = loader.load_study(MYSTERY)
    design.plan(study)
    begin(page, live_server, launches.launch(study, by="tests", at=timezone.now()))
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Begin").click()
    return page


def test_words_of_a_blank_are_saved_while_somebody_types_on(sheet: Page) -> None:
    stored: set[int] = set()
    for n in range(50):
        field(sheet, 2).press_sequentially("steady ", delay=20)
        stored.add(len(said().get(2, "")))
        assert n < 45 or max(stored) > 0, "nothing was saved of 300 characters"

    until(sheet, lambda: said().get(2, "").strip(), ("steady " * 50).strip())
