"""By keyboard alone, by ear, without motion, in forced colours."""

import pytest
from playwright.sync_api import Locator, Page, expect

from annotation.models import Assignment
from studies.models import Study
from tests import factories
from tests.browser.conftest import press

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


def tab_to(page: Page, wanted: Locator) -> None:
    """By the Tab key alone."""
    for _ in range(60):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the keyboard does not reach {wanted}")


def enter(page: Page, button: Locator) -> None:
    tab_to(page, button)
    page.keyboard.press("Enter")


def test_a_whole_study_can_be_done_by_keyboard_alone(page: Page, study: Study, link: str) -> None:
    def button(name: str) -> Locator:
        return page.get_by_role("button", name=name)

    page.goto(link)
    enter(page, button("Continue"))
    expect(page.locator("h1")).to_have_text("Consent")
    tab_to(page, page.get_by_role("checkbox"))
    page.keyboard.press("Space")
    enter(page, button("Continue"))
    expect(page.locator("h1")).to_have_text("Your first group of stories")
    enter(page, button("Begin with a group"))
    for letter in "AB":
        for item in (1, 2):
            expect(page.locator("#questions h2")).to_have_text(f"Item {item}")
            expect(page.locator("h1")).to_contain_text(f"Story {letter}")
            tab_to(page, page.get_by_role("radio", name="Yes"))
            page.keyboard.press("Space")
            if item == 2:
                page.keyboard.press("ArrowRight")
            tab_to(page, page.get_by_label("Your reasons"))
            page.keyboard.type(f"Of {letter}{item}.")
            enter(page, page.locator("button[value=next]"))
    expect(page.locator("h1")).to_have_text("Before you go on")
    enter(page, button("Lock these answers and go on"))
    expect(page.locator("h1")).to_have_text("The two stories together")
    enter(page, button("Move story B up"))
    for guess in page.get_by_role("radio", name="An experienced writer").all():
        tab_to(page, guess)
        page.keyboard.press("Space")
        page.keyboard.press("ArrowDown")
    enter(page, button("Check your answers"))
    expect(page.locator("h1")).to_have_text("Check your answers")
    enter(page, button("Submit the group"))
    expect(page.locator("h1")).to_have_text("Submitted. Thank you")

    mine = Assignment.objects.get()
    first, second = mine.seat.order
    said = mine.responses.order_by("step__position", "story__code", "item__position")
    tests = said.filter(step__key="tests").order_by("pk").values_list("story__code", "value", "rationale")
    assert list(tests) == [
        (first, "yes", "Of A1."),
        (first, "no", "Of A2."),
        (second, "yes", "Of B1."),
        (second, "no", "Of B2."),
    ]
    assert said.get(step__key="ranking").value == [[second], [first]]
    assert set(said.filter(step__key="guess").values_list("value", flat=True)) == {"amateur"}


def test_the_skip_link_is_the_first_stop_and_leads_to_the_questions(desk: Page) -> None:
    desk.reload()

    desk.keyboard.press("Tab")
    expect(desk.get_by_role("link", name="Skip to the questions")).to_be_focused()
    desk.keyboard.press("Enter")

    expect(desk.locator("#questions")).to_be_focused()


def test_one_status_line_says_what_becomes_of_an_answer(desk: Page) -> None:
    status = desk.locator("header [role=status]")  # other live regions are for the ear only, and empty until asked
    expect(status).to_have_count(1)
    assert [each.inner_text() for each in desk.locator("main [role=status]:visible").all() if each.inner_text()] == []
    expect(status).to_have_text("")

    desk.get_by_role("radio", name="Yes").check()

    expect(status).to_contain_text("Saved")
    expect(status).to_have_count(1)


def test_a_moved_story_is_announced(desk: Page, study: Study) -> None:
    mine = Assignment.objects.get()
    for letter in "AB":
        for item in (1, 2):
            factories.answer(mine, letter=letter, item=item)
    desk.goto(desk.url.split("/s/")[0] + "/s/ranking/")
    press(desk, "Lock these answers and go on")

    press(desk, "Move story B up")

    expect(desk.locator("[data-announces]")).to_have_text("Story B is now at position 1 of 2.")
    assert desk.locator("[data-announces]").get_attribute("role") == "status"


MOVING = """() => [...document.querySelectorAll("*")].flatMap((element) =>
    [null, "::before", "::after"].map((part) => getComputedStyle(element, part))
        .filter((style) => [style.transitionDuration, style.animationDuration]
            .some((time) => time.split(",").some((each) => parseFloat(each) > 0)))
        .map(() => element.tagName))"""


def test_nothing_moves_for_whoever_asks_for_that(desk: Page) -> None:
    desk.emulate_media(reduced_motion="no-preference")
    assert desk.evaluate(MOVING) != [], "there is something to stop"

    desk.emulate_media(reduced_motion="reduce")

    assert desk.evaluate(MOVING) == []


def style(element: Locator, name: str, part: str | None = None) -> str:
    return str(element.evaluate("(e, [name, part]) => getComputedStyle(e, part)[name]", [name, part]))


def test_states_can_be_told_apart_in_forced_colours(desk: Page) -> None:
    desk.emulate_media(forced_colors="active")
    desk.get_by_role("radio", name="Yes").check()
    desk.get_by_label("Your reasons").fill("So.")
    desk.locator("#questions h2").click()
    expect(desk.locator("#status")).to_contain_text("Saved")

    chosen, other = desk.locator(".answer").nth(0), desk.locator(".answer").nth(1)
    assert (style(chosen, "outlineStyle"), style(other, "outlineStyle")) == ("solid", "none")
    here, there = desk.locator(".stories li > *").nth(0), desk.locator(".stories li > *").nth(1)
    assert (style(here, "borderBottomWidth"), style(there, "borderBottomWidth")) == ("3px", "0px")
    done, open_ = desk.locator(".items .mark").nth(0), desk.locator(".items .mark").nth(1)
    assert float(style(done, "borderBottomWidth", "::after").removesuffix("px")) >= 1
    assert style(open_, "borderBottomWidth", "::after") == "0px"
    thumb, next_thumb = desk.locator(".items a").nth(0), desk.locator(".items a").nth(1)
    assert (style(thumb, "borderLeftWidth"), style(next_thumb, "borderLeftWidth")) == ("4px", "0px")
