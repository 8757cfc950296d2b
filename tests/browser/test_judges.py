"""The pages of judges in each of their states: axe on every paper, nothing wider than its window, forms by keyboard.

Each state is asked for; a browser looks at those that show an element, or one within another, that none else shows.
"""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from celery import current_app
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from playwright.sync_api import Page, expect

from judges import catalogue
from judges.endpoints import limits
from judges.settlement import attempts
from tests import factories
from tests.browser import judging
from tests.browser.conftest import enter_as_staff
from tests.browser.kinds import select_unlike
from tests.browser.test_accessibility import DESK, PHONE, RULES, RULES_OF_COLOUR, THEMES, faults, resize

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
# What else a width decides: whether what is pressed is large enough, whether what scrolls is reached by keys.
RULES_OF_WIDTH = ("target-size", "scrollable-region-focusable")


@pytest.fixture
def unqueued(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker is told of anything."""
    monkeypatch.setattr(current_app, "send_task", lambda *args, **more: None)


@pytest.fixture
def addresses(committed: None, unqueued: None, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Pages of judges by what is seen there, each unlike the others; nothing waits."""
    monkeypatch.setattr(attempts, "BACKOFF_SECONDS", 0.001)
    monkeypatch.setattr(limits, "FIRST_REST_SECONDS", 0.001)
    # In a thread of its own: the browser's event loop is at work in this one.
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(_build).result()


def _build() -> dict[str, str]:
    try:
        addresses = judging.build()
        assert len(addresses) == 53
        client = Client()
        client.force_login(User.objects.create_superuser("ann"))
        return select_unlike(client, addresses)
    finally:
        connections.close_all()


@pytest.fixture
def staff(page: Page, live_server: Any) -> Page:
    enter_as_staff(page, live_server.url, "/studies/")
    expect(page.locator("h1")).to_have_text("Studies")
    return page


def at_both_widths(page: Page, *, papers: Sequence[str] = ("light",)) -> dict[str, list[str]]:
    """What axe finds on a desk, on each of these papers, and on a telephone; and whether the page is wider than it."""
    problems: dict[str, list[str]] = {}
    page.wait_for_load_state()  # a page that has just been gone to has no root element yet
    for paper in papers:
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", paper)
        problems[paper] = faults(page, RULES if paper == papers[0] else RULES_OF_COLOUR)
    resize(page, PHONE)
    problems["telephone"] = faults(page, RULES_OF_WIDTH)
    if (wide := page.evaluate("document.documentElement.scrollWidth")) > PHONE:
        problems["telephone"].append(f"{wide} pixels wide")
    resize(page, DESK)
    return {look: broken for look, broken in problems.items() if broken}


def press_by_key(page: Page, name: str) -> None:
    """The button reached by the Tab key from the field that has the focus, and pressed by Enter."""
    button = page.locator("#main").get_by_role("button", name=name, exact=True)
    for _step in range(80):
        if button.evaluate("node => node === document.activeElement"):
            break
        page.keyboard.press("Tab")
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_load_state()


def test_axe_finds_nothing_and_nothing_scrolls_sideways_in_any_state_of_the_pages_of_judges(
    staff: Page, live_server: Any, addresses: dict[str, str]
) -> None:
    problems = {}
    for name, address in addresses.items():
        staff.goto(f"{live_server.url}{address}")
        problems[name] = at_both_widths(staff, papers=THEMES)

    assert {name: looks for name, looks in problems.items() if looks} == {}
    assert {"a run that is paused", "a new judge", "judges", "endpoints"} <= addresses.keys()


def test_no_name_of_a_prompt_runs_into_the_next_column_on_a_telephone(staff: Page, live_server: Any) -> None:
    factories.study()
    with ThreadPoolExecutor(max_workers=1) as pool:
        pool.submit(_load_prompts).result()
    resize(staff, PHONE)
    staff.goto(f"{live_server.url}/studies/plums/prompts/")
    names = staff.locator(".ruled tbody th")
    expect(names.filter(has_text="litbench-reddit-permuted")).to_be_visible()

    wider = names.evaluate_all("cells => cells.filter(c => c.scrollWidth > c.clientWidth).map(c => c.innerText)")

    assert wider == []


def _load_prompts() -> None:
    try:
        catalogue.load_prompts()
    finally:
        connections.close_all()


def test_forms_that_are_not_right_say_so_to_the_keyboard_first(staff: Page, live_server: Any, unqueued: None) -> None:
    texts = dict(judging.releases())["texts to release"]
    problems = {}
    for address, field, button in (
        ("/endpoints/new/", "Name", "Save"),
        ("/studies/gages/judges/new/", "Name", "Save"),
        ("/studies/gages/judges/panel/", "Name of the panel", "Set up the panel"),
        ("/studies/gages/prompts/new/", "Name", "Save"),
        (texts, "Why they may be sent", "Release these texts"),
    ):
        staff.goto(f"{live_server.url}{address}")
        staff.locator("#main").get_by_label(field, exact=True).first.focus()
        press_by_key(staff, button)
        expect(staff.locator(".error-summary")).to_be_focused()
        problems[address] = at_both_widths(staff)
        staff.locator(".error-summary a").first.press("Enter")
        expect(staff.locator(":focus")).to_have_attribute("name", re.compile("."))

    assert {address: looks for address, looks in problems.items() if looks} == {}


def test_a_run_is_approved_paused_and_taken_up_by_keyboard(staff: Page, live_server: Any, unqueued: None) -> None:
    factories.study(n_stories=2, n_items=2)
    staff.goto(f"{live_server.url}/studies/plums/runs/new/?judge={catalogue.make_stub_judge().pk}")
    staff.get_by_label("Spend no more than, in US dollars").focus()
    staff.keyboard.type("2")
    press_by_key(staff, "Approve and start")
    expect(staff.locator("h1")).to_have_text("0 of 7 calls are done")

    staff.locator("#main").focus()
    press_by_key(staff, "Pause")
    expect(staff.locator(".part-head .state")).to_have_text("Paused")
    press_by_key(staff, "Resume the run")
    expect(staff.locator(".part-head .state")).to_have_text("Running")
