"""From a pilot's answers to whether a study is large enough, in a browser: with scripts and without; no barriers."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from annotation import tasks as design_tasks
from annotation.design import pilots, precision
from reports import tasks as report_tasks
from studies.models import Step, Study, StudyJob
from tests import factories
from tests.browser.conftest import enter_as_staff, press
from tests.browser.test_accessibility import in_all_looks
from tests.reports.test_pilots import answered_pilot

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
ADDRESS = "/studies/next/reading-plan/precision/"


@pytest.fixture
def draft() -> Study:
    answered_pilot()
    made = factories.study("next", n_groups=6, planned=False, state=Study.State.DRAFT)
    tests = Step.objects.get(version__study__slug="pilot", key="tests").instrument
    Step.objects.filter(version__study=made, key="tests").update(instrument=tests)
    return made


def read_pilot() -> None:
    report_tasks.read_pilot(StudyJob.objects.get(task=pilots.TASK).pk)


def simulate() -> None:
    design_tasks.compute_precision(StudyJob.objects.get(task=precision.TASK).pk)


def test_a_designer_comes_from_a_pilot_to_the_answer_without_barriers(
    page: Page, live_server: Any, draft: Study
) -> None:
    enter_as_staff(page, live_server.url, ADDRESS)
    page.get_by_role("link", name="Take the numbers from a pilot").click()
    press(page, "Read its answers")
    expect(page.locator("progress")).to_be_visible()
    read_pilot()
    expect(page.get_by_role("link", name="Use these numbers")).to_be_visible()
    assert in_all_looks(page) == {}, "with the pilot's numbers"

    page.get_by_role("link", name="Use these numbers").click()
    press(page, "Simulate the study")
    simulate()

    expect(page.get_by_role("heading", name="Is the study large enough?")).to_be_visible()
    assert in_all_looks(page) == {}, "with the answer"


@pytest.mark.parametrize("width", [1440, 390])
def test_the_answer_stands_on_the_first_screen_and_comes_without_scripts(
    chromium: Browser, live_server: Any, draft: Study, width: int
) -> None:
    height = 900
    context = chromium.new_context(java_script_enabled=False, viewport={"width": width, "height": height})
    page = context.new_page()
    enter_as_staff(page, live_server.url, ADDRESS)
    press(page, "Simulate the study")
    simulate()

    page.get_by_role("link", name="Refresh").click()

    advice = page.locator("#found strong").nth(1)
    expect(advice).to_contain_text("More")
    box = advice.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < height
    context.close()
