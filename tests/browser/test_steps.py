"""*What is asked* in a browser: cards moved by keys and by dragging, names put in, the real page beside, axe."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from studies.models import Step, Study
from tests import factories
from tests.browser.conftest import enter_as_staff, press
from tests.browser.test_accessibility import in_all_looks

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


@pytest.fixture
def study(committed: None) -> Study:
    return factories.study(n_stories=2, planned=False, state=Study.State.DRAFT)


@pytest.fixture
def path(page: Page, live_server: Any, study: Study) -> Page:
    """The page, signed in."""
    enter_as_staff(page, live_server.url, "/studies/plums/steps/")
    expect(page.locator("h1")).to_have_text("What is asked")
    return page


def titles(page: Page) -> list[str]:
    return page.locator(".path .title").all_inner_texts()


def test_cards_are_moved_by_keys_and_by_dragging(path: Page) -> None:
    assert titles(path) == ["Consent", "The tests", "Put them in order", "Who wrote each one?"]

    path.get_by_role("link", name="Put them in order").press("Alt+ArrowUp")
    expect(path.locator(".path .title").nth(1)).to_have_text("Put them in order")
    expect(path.get_by_role("link", name="Put them in order")).to_be_focused()
    path.get_by_role("link", name="Consent").press("Alt+ArrowDown")
    expect(path.get_by_text("nothing is asked before the rater has agreed")).to_be_visible()
    path.get_by_role("link", name="Who wrote each one?").drag_to(path.get_by_role("link", name="Put them in order"))

    expect(path.locator(".path .title").nth(1)).to_have_text("Who wrote each one?")
    assert titles(path) == ["Consent", "Who wrote each one?", "Put them in order", "The tests"]


def test_the_page_beside_follows_what_is_typed(path: Page, study: Study) -> None:
    path.get_by_role("link", name="Consent").click()

    path.get_by_label("Text", exact=True).fill("Ask us, whenever you like.")

    expect(path.frame_locator("iframe").get_by_text("Ask us, whenever you like.")).to_be_visible()
    assert not Step.objects.filter(text__startswith="Ask us").exists()
    path.get_by_label("Heading", exact=True).fill("Before we begin")
    path.get_by_role("button", name="Preview").click()
    expect(path.frame_locator("iframe").get_by_role("heading", name="Before we begin")).to_be_visible()
    expect(path.get_by_label("Heading", exact=True)).to_have_value("Before we begin")


def test_the_page_beside_is_the_real_one_and_sends_nothing(path: Page) -> None:
    path.get_by_role("link", name="The tests").click()
    frame = path.frame_locator("iframe")
    posted: list[str] = []
    path.on("request", lambda request: posted.append(request.url) if request.method == "POST" else None)

    expect(frame.get_by_text("Is it good in way 1?")).to_be_visible()
    frame.get_by_label("Yes").check(force=True)
    frame.get_by_role("button", name="Next question").click()
    path.wait_for_timeout(1500)

    expect(frame.get_by_label("Yes")).to_be_checked()
    assert posted == []


def test_a_name_is_put_where_the_cursor_stands(path: Page) -> None:
    path.get_by_role("link", name="Consent").click()
    path.get_by_label("Text", exact=True).fill("Ask .")
    path.get_by_label("Text", exact=True).press("ArrowLeft")

    path.get_by_role("button", name="Who raters can write to").click()
    press(path, "Save")

    expect(path.get_by_text("“Consent” is saved.")).to_be_visible()
    assert Step.objects.get(key="consent").text == "Ask {contact}."
    expect(path.frame_locator("iframe").get_by_text("Ask us@example.org.")).to_be_visible()


def test_axe_finds_nothing(path: Page, live_server: Any, study: Study) -> None:
    pk = Step.objects.get(version__study=study, key="tests").pk
    addresses = ("steps/", f"steps/{pk}/", "steps/new/practice/", "steps/new/briefing/", "information/")
    problems = {}
    for address in addresses:
        path.goto(f"{live_server.url}/studies/plums/{address}")
        problems[address] = in_all_looks(path)

    assert {address: looks for address, looks in problems.items() if looks} == {}
