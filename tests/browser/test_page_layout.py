"""How the pages beside the desk stand in their windows: edges that belong together are in line."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from annotation.models import ApplicationCall, Assignment
from annotation.participation import invitations
from studies.models import Study
from tests import factories, triggers
from tests.annotation.arriving import steps_around
from tests.browser.arriving import begin

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


def box(page: Page, selector: str) -> dict[str, float]:
    place = page.locator(selector).first.bounding_box()
    assert place is not None
    return {**place, "right": place["x"] + place["width"]}


@pytest.fixture
def work(page: Page, live_server: Any, committed: None) -> str:
    """The address of an assignment in which everything is answered."""
    study = factories.study(n_stories=2, n_items=14)
    with triggers.lifted():
        Study.objects.update(asks_recognition=True, shows_premise=True)
    begin(page, live_server, study)
    assignment = Assignment.objects.get()
    Assignment.objects.update(read_before=False)
    factories.answer_all(assignment)
    factories.answer(assignment, why="It waits:\n    it says so twice, and means it once. " * 4)
    return f"{live_server.url}/a/{assignment.code}"


@pytest.mark.parametrize("width", [1440, 320])
def test_the_flag_under_a_story_read_again_begins_where_the_story_does(page: Page, work: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{work}/story/A/")

    assert box(page, ".recognised")["x"] == pytest.approx(box(page, ".story")["x"], abs=1)


def test_the_rule_above_going_on_is_as_wide_as_what_is_asked(page: Page, live_server: Any, committed: None) -> None:
    study = factories.study(planned=False)
    steps_around(study)
    factories.plan(study)
    page.goto(f"{live_server.url}/r/{invitations.issue(study)[1]}/")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("I have read this and I agree to take part.").check()
    for _ in ("consent", "welcome"):
        page.get_by_role("button", name="Continue").click()

    assert page.url.endswith("/once/about/")
    assert box(page, ".form-end")["right"] == pytest.approx(box(page, ".column")["right"], abs=1)


@pytest.mark.parametrize("width", [1440, 1366, 1024, 390, 320])
def test_reasons_are_in_full_and_at_least_half_as_wide_as_the_page_on_every_screen(
    page: Page, work: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{work}/check/")

    reasons, table = box(page, ".review-reasons blockquote"), box(page, ".review table")
    assert reasons["width"] > table["width"] / 2
    assert reasons["right"] <= table["right"] + 1
    assert page.locator(".review-reasons blockquote").first.evaluate(
        "(words) => words.scrollHeight <= words.clientHeight + 1"
    )
    assert box(page, ".review .given")["height"] < 30, "a verdict is not broken"
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("width", [390, 320])
def test_without_scripts_no_tab_is_offered_that_would_do_nothing_and_all_fits(
    chromium: Browser, live_server: Any, committed: None, width: int
) -> None:
    study = factories.study(n_stories=2)
    context = chromium.new_context(java_script_enabled=False, viewport={"width": width, "height": 800})
    page = context.new_page()
    page.goto(f"{live_server.url}/r/{invitations.issue(study)[1]}/")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("I have read this and I agree to take part.").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Begin with a group").click()

    assert page.get_by_role("tab").count() == 0
    assert box(page, ".answers")["right"] <= width
    assert all(
        answer.bounding_box()["x"] + answer.bounding_box()["width"] <= width
        for answer in page.locator(".answers .answer").all()
    )
    context.close()


@pytest.mark.parametrize("width", [1440, 1024, 390, 320])
def test_without_scripts_a_ranking_shows_each_title_in_one_line_beside_its_position(
    chromium: Browser, page: Page, work: str, width: int
) -> None:
    context = chromium.new_context(java_script_enabled=False, viewport={"width": width, "height": 800})
    context.add_cookies(page.context.cookies())
    plain = context.new_page()
    plain.goto(f"{work}/s/ranking/")

    title, position, row = (box(plain, selector) for selector in (".ranked h3", ".moves select", ".ranking > li"))
    assert title["height"] < 30
    assert title["right"] <= position["x"]
    assert position["right"] == pytest.approx(row["right"], abs=20)
    assert plain.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_an_answer_that_is_locked_does_not_look_like_a_link(page: Page, work: str) -> None:
    Assignment.objects.update(locked_before=99)
    page.goto(f"{work}/check/")

    assert page.locator(".review td:last-child", has_text="Locked").count() > 1
    assert page.locator(".review a").count() == 0


def test_questions_of_an_application_are_all_equally_wide(page: Page, live_server: Any, committed: None) -> None:
    study = factories.study()
    several = [{"value": str(n), "label": "Another " * n} for n in range(1, 5)]
    questions = factories.instrument("eligible", n_items=2, type="choice", options=several)
    call = ApplicationCall.objects.create(study=study, is_open=True, instrument=questions)
    page.goto(f"{live_server.url}/join/{call.key}/")

    widths = {item.bounding_box()["width"] for item in page.locator(".application .item").all()}
    assert widths == {480}
