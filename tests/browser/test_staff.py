"""The designer's, the judge's and the researcher's way, in a real browser with a real worker."""

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from annotation import simulation
from judges import catalogue
from judges.models import Run
from studies.loader import load_study
from studies.models import Study
from tests.factories import NOON
from tests.worker import until, working

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]

WIDTHS = "frames => frames.map((frame) => [frame.ariaLabel, frame.scrollWidth, frame.clientWidth])"


@pytest.fixture
def study(committed: None) -> Study:
    return load_study(Path(settings.BASE_DIR) / "studies" / "demo" / "orchard" / "study.toml")


@pytest.fixture
def staff(committed: None, live_server: Any, page: Page) -> Page:
    """Signed in as the administrator, at the admin's first page."""
    User.objects.create_superuser("admin", password="a long enough word")
    page.goto(f"{live_server.url}/admin/")
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill("a long enough word")
    page.get_by_role("button", name="Log in").click()
    return page


def answered(study: Study) -> None:
    """Every seat filled by simulated raters, who find all stories alike."""
    alike = {story.code: simulation.Tendency(quality=0) for story in study.stories.all()}
    simulation.simulate(study, alike, seed=1, begins=NOON)


def run_action(page: Page, label: str) -> None:
    """An action of the study's page, and the page that asks whether it is meant."""
    page.get_by_role("link", name=label, exact=True).click()
    page.locator("form input[type=submit]").last.click()


def test_a_designer_plans_launches_and_issues_a_link_that_opens(staff: Page, study: Study, live_server: Any) -> None:
    staff.goto(f"{live_server.url}/admin/studies/study/{study.pk}/change/")
    run_action(staff, "Plan")
    expect(staff.get_by_text("How many people are to read each group at each position")).to_be_visible()
    run_action(staff, "Launch")
    study.refresh_from_db()
    assert study.state == Study.State.LIVE

    staff.get_by_role("link", name="Issue links").click()
    staff.locator("form input[type=submit]").last.click()
    link = staff.get_by_text(f"{live_server.url}/r/").first.inner_text().split()[-1]
    staff.goto(link)

    expect(staff.get_by_role("heading", name="Orchard stories")).to_be_visible()


def test_a_judge_is_run_by_a_button_and_stands_in_the_report_beside_people(
    staff: Page, study: Study, live_server: Any, broker: None
) -> None:
    staff.goto(f"{live_server.url}/admin/studies/study/{study.pk}/change/")
    run_action(staff, "Plan")
    run_action(staff, "Launch")
    study.refresh_from_db()
    answered(study)
    judge = catalogue.make_stub_judge()

    with working():
        staff.goto(f"{live_server.url}/studies/orchard/runs/new/?judge={judge.pk}")
        staff.get_by_role("button", name="Approve and start").click()
        assert until(lambda: Run.objects.get().state == Run.State.FINISHED)
    staff.goto(f"{live_server.url}/reports/orchard/", timeout=60_000)  # computed when first looked at
    expect(staff.get_by_text("Sealed until the study is closed").first).to_be_visible()
    assert "Manner A" not in staff.content()

    staff.goto(f"{live_server.url}/admin/studies/study/{study.pk}/change/")
    run_action(staff, "Close")
    staff.goto(f"{live_server.url}/reports/orchard/", timeout=60_000)
    expect(staff.get_by_text("Manner A").first).to_be_visible()
    staff.get_by_role("link", name="Judges", exact=True).first.click()
    expect(staff.get_by_role("heading", name="Judges on verdicts")).to_be_visible()
    expect(staff.get_by_role("rowheader", name="stub").first).to_be_visible()


def open_report(page: Page, study: Study, live_server: Any) -> None:
    """The report of the study, answered by simulated raters and closed."""
    page.goto(f"{live_server.url}/admin/studies/study/{study.pk}/change/")
    run_action(page, "Plan")
    run_action(page, "Launch")
    study.refresh_from_db()
    answered(study)
    run_action(page, "Close")
    page.goto(f"{live_server.url}/reports/orchard/figures/all/", timeout=60_000)  # computed when first looked at


@pytest.mark.parametrize("width", [390, 1440])
def test_a_report_fits_the_window_and_axe_finds_nothing(
    staff: Page, study: Study, live_server: Any, width: int
) -> None:
    open_report(staff, study, live_server)
    staff.set_viewport_size({"width": width, "height": 900})

    assert staff.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(staff, options={"preload": False}).response["violations"]
    assert [(v["id"], v["nodes"][0]["html"]) for v in found] == []


def test_no_table_of_a_report_hides_a_column_on_a_screen_of_1024_pixels_or_more(
    staff: Page, study: Study, live_server: Any
) -> None:
    open_report(staff, study, live_server)
    staff.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")

    for width in (1440, 1024):
        staff.set_viewport_size({"width": width, "height": 900})
        frames = staff.locator(".table-frame").evaluate_all(WIDTHS)
        assert len(frames) > 20
        assert [(name, within) for name, within, available in frames if within > available] == [], width
