"""The staff's pages in the study's shell: axe in all looks, the rail by keyboard and folded, a run renewed."""

from typing import Any

import pytest
from celery import current_app
from playwright.sync_api import Page, expect

from judges import catalogue, runs
from judges.models import Call, Run
from studies.models import Study
from tests import factories
from tests.browser.conftest import enter_as_staff
from tests.browser.test_accessibility import PHONE, in_all_looks, resize

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


@pytest.fixture
def study(committed: None) -> Study:
    return factories.study(n_stories=2, n_items=2)


@pytest.fixture
def run(study: Study, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run that no worker takes up: one call answered, one that cannot be read, the others open."""
    monkeypatch.setattr(current_app, "send_task", lambda *args, **more: None)
    run = runs.start(study, catalogue.make_stub_judge(), by="ann")
    keys = list(run.calls.order_by("pk").values_list("pk", flat=True))
    Call.objects.filter(pk=keys[0]).update(state="ok")
    Call.objects.filter(pk=keys[1]).update(state="unreadable", reason="no verdict stands alone on a line")
    return run


@pytest.fixture
def staff(page: Page, live_server: Any) -> Page:
    enter_as_staff(page, live_server.url, "/studies/")
    expect(page.locator("h1")).to_have_text("Studies")
    return page


def test_axe_finds_nothing_on_the_overview_and_on_who_may_see_it(staff: Page, live_server: Any, run: Run) -> None:
    """Pages of judges, stories, people and steps are looked at in each of their states where these are tested."""
    addresses = ["/studies/plums/", "/studies/plums/access/"]

    problems = {}
    for address in addresses:
        response = staff.goto(f"{live_server.url}{address}")
        assert response is not None
        assert response.status == 200, address
        problems[address] = in_all_looks(staff)

    assert {address: looks for address, looks in problems.items() if looks} == {}


def test_the_rail_is_folded_on_a_telephone_and_opened_by_key(staff: Page, live_server: Any, run: Run) -> None:
    staff.goto(f"{live_server.url}/studies/plums/")
    expect(staff.get_by_role("link", name="Overview")).to_have_attribute("aria-current", "page")

    resize(staff, PHONE)
    expect(staff.get_by_role("link", name="Monitor")).to_be_hidden()
    staff.locator(".rail-folded > summary").focus()
    staff.keyboard.press("Enter")
    expect(staff.get_by_role("link", name="Monitor")).to_be_visible()
    staff.keyboard.press("Tab")
    expect(staff.get_by_role("link", name="Overview")).to_be_focused()


def test_a_run_renews_itself_until_it_is_over(staff: Page, live_server: Any, run: Run) -> None:
    staff.goto(f"{live_server.url}/studies/plums/runs/{run.pk}/")
    expect(staff.locator("h1")).to_contain_text("2 of 7 calls are done")

    run.calls.update(state="ok")
    Run.objects.filter(pk=run.pk).update(state="finished")

    expect(staff.locator("h1")).to_contain_text("Finished: 7 of 7 questions have an answer")
    expect(staff.locator("#live")).not_to_have_attribute("hx-trigger", "every 2s")


def test_a_prompt_is_previewed_as_it_is_written(staff: Page, live_server: Any, run: Run) -> None:
    staff.goto(f"{live_server.url}/studies/plums/prompts/new/")

    staff.get_by_label("What is asked").fill("{{ stories }}\nThe canary asks: {{ question }}\n{{ words }}")

    expect(staff.locator("#preview")).to_contain_text("The canary asks: Is it good in way 1?")
