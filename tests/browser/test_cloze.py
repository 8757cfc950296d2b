"""Filling the shipped cloze in a real browser: by keyboard alone, with changes upstream, and with an end half-way."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, Route, expect

from annotation import design
from annotation.design import launches
from annotation.models import Assignment, Fill, Response, Timing
from annotation.participation import invitations
from studies import loader
from studies.models import Cloze, Study
from tests.annotation import clozes
from tests.browser.arriving import until
from tests.browser.measuring import HIDDEN, NOTE_MEASURED
from tests.browser.test_accessibility import faults
from tests.studies.cloze import fills

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
MYSTERY = Path(__file__).parents[2] / "studies" / "demo" / "mystery"


@pytest.fixture
def study(committed: None) -> Study:
    made = loader.load_study(MYSTERY)
    design.plan(made)
    return launches.launch(made, by="tests", at=timezone.now())


@pytest.fixture
def solution(study: Study) -> dict[int, str]:
    return fills.read(MYSTERY / "solution.toml", Cloze.objects.get().parsed)


@pytest.fixture
def sheet(page: Page, live_server: Any, study: Study) -> Page:
    """The page of the cloze, reached by link, consent, briefing and offer."""
    _, token = invitations.issue(study)
    page.goto(f"{live_server.url}/r/{token}/")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("I have read this and I agree to take part.").check()
    for name in ("Continue", "Continue", "Begin"):
        with page.expect_navigation():  # the next page may have a button of the same name
            page.get_by_role("button", name=name).first.click()
    expect(page.get_by_role("heading", name="Lost Property", level=1)).to_be_visible()
    page.wait_for_load_state()
    return page


def field(page: Page, blank: int) -> Any:
    return page.locator(f"#answer-fill-blank-{blank:02}")


def write(page: Page, blank: int, text: str) -> None:
    """Write into a blank and leave it; what it says is then on the server."""
    field(page, blank).fill(text)
    field(page, blank).press("Tab")
    until(page, lambda: said().get(blank), text)


def said() -> dict[int, str]:
    """What is stored, by blank."""
    found = Response.objects.filter(outcome="answered").values_list("item__key", "value")
    return {int(key.removeprefix("blank-")): value for key, value in found}


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id"))


def marked(page: Page) -> list[int]:
    """The blanks that are marked, as the page shows them."""
    blanks = page.locator(".blank:has(.check-note)").evaluate_all("found => found.map((each) => each.id)")
    return [int(name.rsplit("-", 1)[1]) for name in blanks]


def test_the_whole_cloze_is_filled_and_submitted_by_keyboard_alone(sheet: Page, solution: dict[int, str]) -> None:
    filled = 0
    for _ in range(400):
        sheet.keyboard.press("Tab")
        here = focused(sheet)
        if here.startswith("answer-fill-blank-"):
            # A person takes longer over a blank than its save does over the line.
            until(sheet, lambda n=filled: len(said()) >= n, True)
            filled += 1
            assert here == f"answer-fill-blank-{filled:02}", "the fields come in the order of the text"
            sheet.keyboard.insert_text(solution[filled])
        if filled == 44:
            break
    sheet.keyboard.press("Tab")
    until(sheet, said, solution)
    for _ in range(10):
        if sheet.evaluate("document.activeElement.textContent").strip() == "Check your answers":
            break
        sheet.keyboard.press("Tab")
    sheet.keyboard.press("Enter")
    expect(sheet.get_by_role("heading", name="Check your answers")).to_be_visible()
    sheet.get_by_role("button", name="Submit the text").focus()
    sheet.keyboard.press("Enter")

    expect(sheet.get_by_role("heading", name="Submitted. Thank you")).to_be_visible()
    assert (Fill.objects.get().state, Assignment.objects.get().status) == ("submitted", "submitted")
    assert clozes.filling(Study.objects.get()).writers[0].order == tuple(range(1, 45))


def test_the_order_of_filling_is_the_writers_even_where_a_save_is_slow(sheet: Page, study: Study) -> None:
    held: list[Route] = []
    sheet.route("**/s/fill/blank-01/", lambda route: held.append(route), times=1)
    for blank, text in ((1, "one"), (2, "two"), (3, "three")):
        field(sheet, blank).fill(text)
        field(sheet, blank).press("Tab")
    until(sheet, lambda: len(held), 1)
    sheet.wait_for_timeout(300)

    held[0].continue_()

    until(sheet, said, {1: "one", 2: "two", 3: "three"})
    assert clozes.filling(study).writers[0].order == (1, 2, 3)


def test_nothing_is_called_saved_while_another_blank_is_not(sheet: Page) -> None:
    sheet.route("**/s/fill/blank-01/", lambda route: route.fulfill(status=503))
    field(sheet, 1).fill("one")
    field(sheet, 1).press("Tab")
    expect(sheet.locator("#status")).to_have_text("Not saved, retry")

    write(sheet, 2, "two")

    for _ in range(10):
        assert "Saved" not in sheet.locator("#status").inner_text()
        sheet.wait_for_timeout(50)


def test_what_was_saved_in_a_pause_is_off_the_device_and_stays_so(sheet: Page) -> None:
    field(sheet, 2).press_sequentially("a door")
    until(sheet, lambda: said().get(2), "a door")
    expect(sheet.locator("#status")).to_have_text(re.compile("^Saved"))
    field(sheet, 2).press("Tab")
    sheet.wait_for_timeout(500)

    expect(sheet.locator("#status")).to_have_text(re.compile("^Saved"))
    assert sheet.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('quire-draft'))") == []


def test_the_return_key_keeps_a_word_and_sends_nothing_else(sheet: Page) -> None:
    field(sheet, 2).fill("a door")
    field(sheet, 2).press("Enter")

    until(sheet, said, {2: "a door"})
    expect(field(sheet, 2)).to_be_focused()
    expect(sheet.locator("#status")).to_contain_text("Saved")


def test_a_phrase_that_is_longer_than_a_line_is_shown_whole(sheet: Page, solution: dict[int, str]) -> None:
    assert len(solution[1]) > 100
    for width in (1440, 390):
        sheet.set_viewport_size({"width": width, "height": 900})
        field(sheet, 1).fill(solution[1])

        assert field(sheet, 1).evaluate(HIDDEN) <= 1


def test_what_is_pasted_into_a_phrase_runs_on(sheet: Page) -> None:
    field(sheet, 2).fill("a door \n and a lamp")
    field(sheet, 2).press("Tab")

    until(sheet, said, {2: "a door and a lamp"})
    expect(field(sheet, 2)).to_have_value("a door and a lamp")


@pytest.fixture
def old_page(page: Page) -> Page:
    """A browser that does not know field-sizing, as WebKit did not in 2026."""
    page.add_init_script("CSS.supports = (name) => name !== 'field-sizing'")
    for name in ("desk", "cloze"):
        page.route(f"**/{name}*.css", _serve_without_field_sizing)
    return page


def _serve_without_field_sizing(route: Route) -> None:
    style = route.fetch()
    assert "field-sizing: content;" in style.text()
    route.fulfill(response=style, body=style.text().replace("field-sizing: content;", ""))


def test_without_field_sizing_a_script_makes_fields_as_large_as_what_they_say(
    old_page: Page, sheet: Page, solution: dict[int, str]
) -> None:
    for blank in (1, 2, 24, 25):
        write(sheet, blank, solution[blank])
    for width in (1440, 390):
        sheet.set_viewport_size({"width": width, "height": 900})
        for blank in (1, 2, 24, 25):
            until(sheet, lambda n=blank: field(sheet, n).evaluate(HIDDEN) <= 1, True)
    sheet.set_viewport_size({"width": 1440, "height": 900})
    sheet.reload()
    for blank in (1, 2, 24, 25):
        until(sheet, lambda n=blank: field(sheet, n).evaluate(HIDDEN) <= 1, True)
    hint = "field => field.closest('.blank').querySelector('.blank-hint').offsetWidth"
    width = field(sheet, 2).evaluate("field => field.closest('.field').offsetWidth")
    assert width <= field(sheet, 2).evaluate(hint) + 1, "a short phrase is no wider than its hint"


def test_without_field_sizing_a_save_measures_no_field_but_its_own(old_page: Page, sheet: Page) -> None:
    sheet.evaluate(NOTE_MEASURED)

    write(sheet, 1, "counted everything")

    until(sheet, lambda: sheet.evaluate("isSettled"), True)
    assert sheet.evaluate("[...measured]") == ["answer-fill-blank-01"]


def test_a_change_of_the_first_blanks_marks_what_follows_until_it_is_looked_at(
    sheet: Page, solution: dict[int, str]
) -> None:
    for blank in (1, 2, 3, 4, 12, 36):
        write(sheet, blank, solution[blank])
    assert marked(sheet) == []

    write(sheet, 1, "counted everything")
    expect(sheet.locator("#mark-fill-blank-12")).to_have_text("please check")
    assert marked(sheet) == [12, 36]
    write(sheet, 2, "a tuba")
    expect(sheet.locator("#mark-fill-blank-03")).to_have_text("please check")
    assert marked(sheet) == [3, 4, 12, 36]
    assert said()[12] == solution[12], "nothing is deleted"

    checks = sheet.locator("#check-fill-blank-12")
    expect(checks).to_contain_text("to “counted everything”. Does this still fit?")
    checks.get_by_role("button", name="It still fits").click()
    expect(sheet.locator("#mark-fill-blank-12")).to_be_empty()
    expect(field(sheet, 12)).to_be_focused()
    write(sheet, 36, "she counted the steps")
    expect(sheet.locator("#mark-fill-blank-36")).to_be_empty()
    write(sheet, 2, solution[2])
    expect(sheet.locator("#mark-fill-blank-03")).to_be_empty()
    assert marked(sheet) == []
    sheet.reload()
    assert marked(sheet) == []


def test_a_link_leads_from_the_mark_to_the_reason_and_back(sheet: Page, solution: dict[int, str]) -> None:
    write(sheet, 1, solution[1])
    write(sheet, 12, solution[12])
    write(sheet, 1, "counted everything")

    sheet.locator("#mark-fill-blank-12 a").click()
    expect(sheet.locator("#check-fill-blank-12")).to_be_in_viewport()
    sheet.locator("#check-fill-blank-12").get_by_role("link", name="Change it").click()
    expect(field(sheet, 12)).to_be_in_viewport()
    sheet.keyboard.press("Tab")
    assert focused(sheet) == "answer-fill-blank-12", "the next stop of the keyboard is the blank"


def test_somebody_stops_at_section_four_and_it_is_reported_so(
    sheet: Page, study: Study, solution: dict[int, str]
) -> None:
    for blank in (1, 2, 15, 21):
        write(sheet, blank, solution[blank])
    sheet.get_by_role("link", name="I can’t go on from here").click()
    field(sheet, 22).fill("two brass hinges")  # left in the middle of a word, as it were
    sheet.get_by_label("The section from which I cannot go on").select_option("4")
    sheet.get_by_role("button", name="Stop here").click()

    expect(sheet.get_by_role("heading", name="Thank you for saying so")).to_be_visible()
    expect(sheet.get_by_text("You stopped at section 4, The Constable’s Case.")).to_be_visible()
    assert said()[22] == "two brass hinges"
    result = clozes.filling(study)
    assert [row.n_stopped for row in result.sections] == [0, 0, 0, 1, 0, 0, 0]
    (writer,) = result.writers
    assert (writer.outcome, writer.stopped_at, writer.n_filled) == ("dropped_out", 4, 5)
    assert Assignment.objects.get().last_page == "fill/section-4"
    sheet.get_by_role("button", name="Go on").click()
    expect(sheet.get_by_text("You have stopped, and everything that you wrote is kept")).to_be_visible()


def test_coming_back_shows_the_blank_that_was_written_last(sheet: Page, solution: dict[int, str]) -> None:
    write(sheet, 33, "He is at the stairs again")
    home = sheet.url.split("/a/")[0]

    sheet.goto(f"{home}/")

    expect(field(sheet, 33)).to_be_in_viewport()
    expect(field(sheet, 33)).to_have_value("He is at the stairs again")


def test_two_windows_at_one_blank_are_shown_both_versions(sheet: Page) -> None:
    other = sheet.context.new_page()
    other.goto(sheet.url)
    write(other, 2, "a tuba")

    field(sheet, 2).fill("a door")
    field(sheet, 2).press("Tab")
    problem = sheet.locator("#problem-fill-blank-02")
    expect(problem).to_contain_text("it now says “a tuba”. Nothing has been overwritten.")
    assert said() == {2: "a tuba"}
    problem.get_by_role("button", name="Keep what is written here").click()

    until(sheet, said, {2: "a door"})
    expect(problem).to_be_empty()


def test_time_at_work_is_counted_for_the_section_that_has_the_focus(sheet: Page) -> None:
    field(sheet, 34).focus()
    for _ in range(5):
        sheet.mouse.move(300, 300)
        sheet.wait_for_timeout(700)
    sheet.goto(sheet.url.split("#")[0])  # leaving reports it

    until(sheet, lambda: Timing.objects.filter(section=6).exists(), True)
    assert 1 <= Timing.objects.get(section=6).active_seconds <= 10


def test_without_scripts_the_cloze_is_filled_marked_and_checked(
    chromium: Browser, live_server: Any, study: Study, solution: dict[int, str]
) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    _, token = invitations.issue(study)
    page.goto(f"{live_server.url}/r/{token}/")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("I have read this and I agree to take part.").check()
    for name in ("Continue", "Continue", "Begin"):
        with page.expect_navigation():  # the next page may have a button of the same name
            page.get_by_role("button", name=name).first.click()
    for blank, text in solution.items():
        field(page, blank).fill(text)
    page.get_by_role("button", name="Save").last.click()
    assert said() == solution
    field(page, 1).fill("counted everything")
    page.get_by_role("button", name="Save").first.click()
    expect(page.locator("#mark-fill-blank-12")).to_have_text("please check")
    page.locator("#check-fill-blank-12").get_by_role("button", name="It still fits").click()
    expect(page.locator("#mark-fill-blank-12")).to_be_empty()
    page.get_by_role("button", name="Check your answers").click()

    expect(page.get_by_role("heading", name="Check your answers")).to_be_visible()
    expect(page.get_by_text("Nothing is lacking.")).to_be_visible()
    context.close()


def states(page: Page, solution: dict[int, str]) -> Iterator[str]:
    """The page as it comes, with a mark, with a conflict, with what is lacking, and after stopping."""
    yield "as it comes"
    for blank in (1, 2, 3, 4, 12):
        write(page, blank, solution[blank])
    write(page, 1, "counted everything")
    write(page, 2, "a tuba")
    expect(page.locator("#mark-fill-blank-04")).to_have_text("please check")
    yield "marked"
    Response.objects.filter(item__key="blank-07").delete()
    other = page.context.new_page()
    other.goto(page.url.split("#")[0])
    write(other, 7, "Pavel")
    other.close()
    page.bring_to_front()  # a page behind another one is not drawn, and nothing in it comes to rest
    field(page, 7).fill("the guard")
    field(page, 7).press("Tab")
    expect(page.get_by_role("button", name="Take that")).to_be_visible()
    yield "in conflict"
    page.get_by_role("button", name="Take that").click()
    until(page, lambda: said().get(7), "Pavel")
    page.get_by_role("button", name="Check your answers").click()
    expect(page.get_by_role("heading", name="Check your answers")).to_be_visible()
    page.get_by_role("button", name="Submit the text").click()
    expect(page.locator(".error-summary")).to_be_focused()
    page.get_by_role("link", name="Answer Lost Property, Blank 5", exact=True).click()
    expect(page.locator("#problem-fill-blank-05")).to_have_text("This has not been answered yet.")
    yield "lacking"
    page.get_by_role("button", name="Stop here").click()
    expect(page.get_by_role("heading", name="Thank you for saying so")).to_be_visible()
    yield "stopped"


def test_the_pages_pass_axe_in_every_state_on_a_desk_and_a_phone(sheet: Page, solution: dict[int, str]) -> None:
    seen = []
    for name in states(sheet, solution):
        for width in (1440, 1100, 390, 320):
            sheet.set_viewport_size({"width": width, "height": 900})
            assert width in (1100, 320) or faults(sheet) == [], f"{name} at {width}"
            assert sheet.evaluate("document.documentElement.scrollWidth") <= width, f"{name} at {width}"
        sheet.set_viewport_size({"width": 1440, "height": 900})
        seen.append(name)

    assert seen == ["as it comes", "marked", "in conflict", "lacking", "stopped"]


@pytest.mark.parametrize("theme", ["sepia", "dark"])
def test_the_page_passes_axe_on_other_papers(sheet: Page, solution: dict[int, str], theme: str) -> None:
    write(sheet, 2, "a door")
    write(sheet, 4, solution[4])
    write(sheet, 2, "a tuba")
    sheet.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)

    assert faults(sheet) == []
