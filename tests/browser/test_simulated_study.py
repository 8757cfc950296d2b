"""A simulated study in a browser: from the button to what was found, with scripts and without; no barriers."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from reports import tasks
from reports.simulated_studies import jobs
from studies.models import Study, StudyJob
from tests import factories
from tests.browser.conftest import enter_as_staff, press
from tests.browser.test_accessibility import in_all_looks

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


def ask(page: Page, address: str) -> None:
    """Press the button in Rehearse, with few raters."""
    factories.study(n_groups=4, n_stories=2, k=2, planned=False, state=Study.State.DRAFT)
    enter_as_staff(page, address, "/studies/plums/rehearsal/")
    page.get_by_label("Raters").fill("8")
    press(page, "Simulate the study")
    expect(page.locator("h1")).to_have_text("Simulated study")
    expect(page.locator("progress")).to_be_visible()


def work_off() -> None:
    tasks.simulate_study(StudyJob.objects.get(task=jobs.SIMULATE).pk)


def test_what_was_found_comes_onto_the_waiting_page_which_has_no_barriers(page: Page, live_server: Any) -> None:
    ask(page, live_server.url)
    assert in_all_looks(page) == {}, "while it waits"

    work_off()

    expect(page.get_by_role("heading", name="Planted and found")).to_be_visible()
    expect(page.get_by_text("All tests: planted 10")).to_be_visible()
    assert in_all_looks(page) == {}, "with what was found"
    page.get_by_role("link", name="Open the report of the rehearsal").click()
    expect(page.get_by_text("Rehearsal: no number here is a result.")).to_be_visible()


def test_without_scripts_a_link_looks_again(chromium: Browser, live_server: Any) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    ask(page, live_server.url)

    work_off()
    page.get_by_role("link", name="Refresh").click()

    expect(page.get_by_role("heading", name="Planted and found")).to_be_visible()
    context.close()
