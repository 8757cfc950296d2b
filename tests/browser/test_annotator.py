"""An expert's way through a group, in a real browser."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Assignment, Response, ResponseEvent
from annotation.participation import invitations
from studies.models import Study
from tests import factories
from tests.browser.arriving import begin

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
TEXT = (
    "A man who had bought the greenhouse came on a Saturday. " * 12
    + "\n\n*She* had not put her father in it.\n\n***\n\nThe end."
)


@pytest.fixture
def study(committed: None) -> Study:
    made = factories.study(n_stories=2, n_groups=2, planned=False)
    for story in made.stories.all():
        story.text = TEXT
        story.save()
    factories.plan(made)
    return made


@pytest.fixture
def come_in(live_server: Any, study: Study, page: Page) -> Callable[[], None]:
    """To the first question."""
    return lambda: begin(page, live_server, study)


def answer(page: Page, word: str, why: str) -> None:
    page.get_by_role("radio", name=word).check()
    page.get_by_label("Your reasons").fill(why)


def said() -> list[tuple[Any, str]]:
    return list(Response.objects.order_by("pk").values_list("value", "rationale"))


def until(page: Page, is_so: Callable[[], bool], what: str) -> None:
    """Wait for something on the server. (Waiting in the page would need eval, which the policy forbids.)"""
    for _ in range(100):
        if is_so():
            return
        page.wait_for_timeout(50)
    raise AssertionError(what)


def test_an_expert_finishes_a_group(page, live_server, study):
    _, token = invitations.issue(study)
    page.goto(f"{live_server.url}/r/{token}/")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("I have read this and I agree to take part.").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Begin with a group").click()
    for letter in "AB":
        for item in (1, 2):
            expect(page.locator("h2", has_text=f"Item {item}")).to_be_visible()
            expect(page.locator("h2", has_text=f"Story {letter}")).to_be_visible()
            answer(page, "Yes" if item == 1 else "No", f"Because of {letter}{item}.")
            page.locator("button[value=next]").click()
    expect(page.get_by_role("heading", name="The two stories together")).to_be_visible()
    page.get_by_role("button", name="Move story B up").click()
    for guess in page.get_by_role("radio", name="Written by AI").all():
        guess.check()
    page.get_by_role("button", name="Check your answers").click()
    page.get_by_role("button", name="Submit the group").click()

    expect(page.get_by_role("heading", name="Submitted. Thank you")).to_be_visible()
    assignment = Assignment.objects.get()
    assert assignment.status == "submitted"
    first, second = assignment.seat.order
    about = list(Response.objects.order_by("pk").values_list("step__key", "story__code", "value", "rationale"))
    assert about == [
        ("tests", first, "yes", "Because of A1."),
        ("tests", first, "no", "Because of A2."),
        ("tests", second, "yes", "Because of B1."),
        ("tests", second, "no", "Because of B2."),
        ("ranking", None, [[second], [first]], ""),
        ("guess", first, "ai", ""),
        ("guess", second, "ai", ""),
    ]
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("button", name="Begin another group")).to_be_visible()


def test_an_answer_is_saved_as_it_is_given_and_is_there_after_a_reload(page, come_in):
    come_in()
    expect(page.locator("[data-lacking]")).to_have_text("2 questions open here")

    page.keyboard.press("y")
    page.get_by_label("Your reasons").press_sequentially("It turns on a pane of glass.")
    until(page, lambda: said() == [("yes", "It turns on a pane of glass.")], "the words were not saved while typing")

    expect(page.locator("#status")).to_have_text(re.compile(r"^Saved \d\d:\d\d$"))
    expect(page.locator(".items [aria-current] .mark")).to_have_attribute("data-state", "done")
    expect(page.locator("[data-lacking]")).to_have_text("1 question open here")
    page.reload()
    expect(page.get_by_role("radio", name="Yes")).to_be_checked()
    expect(page.get_by_label("Your reasons")).to_have_value("It turns on a pane of glass.")


def test_an_answer_is_cleared_by_a_button(page, come_in):
    come_in()
    page.get_by_role("radio", name="No").check()
    until(page, lambda: said() == [("no", "")], "the answer was not saved")

    page.get_by_role("button", name="Clear the answer").click()

    until(page, lambda: said() == [(None, "")], "the answer was not cleared")
    expect(page.get_by_role("radio", name="No")).not_to_be_checked()


def test_the_keys_answer_and_turn_over_but_not_within_a_text(page, come_in):
    come_in()
    page.get_by_label("Your reasons").press_sequentially("jny")
    expect(page.get_by_label("Your reasons")).to_have_value("jny")

    page.locator("h2", has_text="Item 1").click()
    page.keyboard.press("n")
    expect(page.get_by_role("radio", name="No")).to_be_checked()
    page.keyboard.press("j")

    expect(page.locator("h2", has_text="Item 2")).to_be_focused()
    assert page.url.endswith("/item-2/")
    page.keyboard.press("k")
    expect(page.get_by_role("radio", name="No")).to_be_checked()
    assert said() == [("no", "jny")]


def test_the_story_stays_where_it_is_while_questions_change(page, come_in):
    page.set_viewport_size({"width": 1200, "height": 500})
    come_in()
    page.evaluate("document.getElementById('story').scrollTop = 200")

    page.locator("button[value=next]").click()
    expect(page.locator("h2", has_text="Item 2")).to_be_focused()
    after_exchange = page.evaluate("document.getElementById('story').scrollTop")
    page.reload()

    assert after_exchange == 200
    assert page.evaluate("document.getElementById('story').scrollTop") == 200


def test_the_button_back_of_the_browser_returns_to_the_question_before(page, come_in):
    come_in()
    page.locator("button[value=next]").click()
    expect(page.locator("h2", has_text="Item 2")).to_be_visible()

    page.go_back()

    expect(page.locator("h2", has_text="Item 1")).to_be_visible()
    expect(page.locator("#story")).to_be_visible()


def test_two_windows_never_overwrite_each_other_silently(page, context, come_in):
    come_in()
    other = context.new_page()
    other.goto(page.url)
    answer(page, "Yes", "Written first.")
    until(page, lambda: said() == [("yes", "Written first.")], "the first window did not save")

    other.get_by_role("radio", name="No").click()  # not check(): the conflict may replace it at once

    expect(other.get_by_role("heading", name="Two versions of one answer")).to_be_visible()
    expect(other.locator("#status")).to_have_text("Not saved")
    assert said() == [("yes", "Written first.")]
    other.locator("div", has=other.get_by_role("heading", name="What you wrote here")).get_by_role(
        "button", name="Keep mine"
    ).first.click()
    expect(other.get_by_role("radio", name="No")).to_be_checked()
    assert said() == [("no", "")]
    assert ResponseEvent.objects.count() >= 2, "what was there before is in the history"


def test_when_the_session_has_ended_the_words_stay_and_the_page_says_so(page, come_in):
    come_in()
    Session.objects.all().delete()

    answer(page, "Yes", "Not to be lost.")
    page.locator("h2", has_text="Item 1").click()

    expect(page.locator("#status")).to_have_text("Not saved, retry")
    expect(page.locator("#trouble")).to_contain_text("What you wrote is kept on this device")
    expect(page.get_by_label("Your reasons")).to_have_value("Not to be lost.")
    assert said() == []


def test_without_a_connection_the_page_says_so_and_saves_when_it_is_back(page, context, come_in):
    come_in()
    context.set_offline(True)
    page.get_by_role("radio", name="Yes").check()
    expect(page.locator("#status")).to_have_text("Offline, kept on this device")

    context.set_offline(False)
    page.get_by_label("Your reasons").press_sequentially("So.")

    until(page, lambda: said() == [("yes", "So.")], "nothing was saved after the connection came back")


def test_a_group_can_be_answered_without_a_script(chromium, live_server, study):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    _, token = invitations.issue(study)
    page.goto(f"{live_server.url}/r/{token}/")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("I have read this and I agree to take part.").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Begin with a group").click()
    for n in range(4):
        page.get_by_role("radio", name="Yes").check()
        page.get_by_label("Your reasons").fill(f"Reason {n}.")
        page.locator("button[value=next]").click()
    page.get_by_label("Position of story A").select_option("2")
    page.get_by_label("Position of story B").select_option("1")
    for n in range(2):
        page.get_by_role("radio", name="Written by AI").nth(n).check()
    page.get_by_role("button", name="Check your answers").click()
    page.get_by_role("button", name="Submit the group").click()

    expect(page.get_by_role("heading", name="Submitted. Thank you")).to_be_visible()
    assert Response.objects.filter(outcome="answered").count() == 7
    context.close()


def turn_to_questions(page: Page) -> None:
    """On a small screen the questions are behind a tab."""
    page.wait_for_load_state()
    tab = page.get_by_role("tab", name="Questions")
    if tab.is_visible():
        tab.click()


def every_page(page: Page, site: str) -> Iterator[str]:
    """All pages of a rater's way, one after another, each in the states that it has. Yields the heading of each."""

    def at(heading: str) -> str:
        expect(page.locator("h1")).to_have_text(heading)
        page.wait_for_load_state()
        return heading

    def press(button: str) -> None:
        page.get_by_role("button", name=button).click()

    _, token = invitations.issue(Study.objects.get())
    page.goto(f"{site}/")
    yield at("Studies of creative writing")
    page.goto(f"{site}/nowhere/")
    yield at("There is nothing here")
    page.goto(f"{site}/r/unknown/")
    yield at("This link does not work")
    page.goto(f"{site}/again/")
    yield at("Please open your link again")
    page.goto(f"{site}/r/{token}/")
    yield at("Fourteen tests of a story")
    press("Continue")
    yield at("Consent")
    press("Continue")
    expect(page.locator(".error-summary")).to_be_focused()
    yield at("Consent") + ", missing"
    page.get_by_role("link", name="A copy to print and keep").click()
    expect(page.get_by_text("Version of this text")).to_be_visible()
    yield at("Consent") + ", a copy"
    page.goto(f"{site}/consent/")
    page.get_by_label("I have read this and I agree to take part.").check()
    press("Continue")
    yield at("Your first group of stories")
    press("Begin with a group")
    yield at("Story A: reading and questions")
    turn_to_questions(page)
    page.get_by_role("radio", name="Yes").check()
    expect(page.locator("#status")).to_have_text(re.compile("Saved"))
    yield at("Story A: reading and questions") + ", begun"
    for heading in ("Item 1", "Item 2", "Item 1", "Item 2"):
        expect(page.locator(".item h2")).to_have_text(heading)
        turn_to_questions(page)
        page.get_by_role("radio", name="No").check()
        page.get_by_label("Your reasons").fill("So.")
        page.locator("button[value=next]").click()
    yield at("The two stories together")
    press("Check your answers")
    at("Check your answers")
    press("Submit the group")
    expect(page.locator(".error-summary")).to_be_focused()
    yield at("Check your answers") + ", incomplete"
    page.locator(".error-summary a").first.click()
    yield at("The two stories together") + ", with what is lacking"
    page.get_by_role("link", name="Read again").first.click()
    yield at("Story A, to read again")
    page.get_by_role("link", name="Back to the questions").first.click()
    at("The two stories together")
    press("Move story B up")
    for guess in page.get_by_role("radio", name="Written by AI").all():
        guess.check()
    press("Check your answers")
    yield at("Check your answers")
    press("Submit the group")
    yield at("Submitted. Thank you")
    press("Go on")
    yield at("Another group of stories?")
    press("I am finished")
    yield at("Thank you")


WIDTHS = (320, 390, 768, 1024, 1440)


def test_no_page_scrolls_sideways_at_any_width_and_each_is_on_the_paper_that_was_chosen(
    page: Page, context: BrowserContext, live_server: Any, study: Study
) -> None:
    """Walked on a telephone; what axe finds on these pages is told by tests/browser/test_accessibility.py."""
    context.add_cookies([{"name": "reading", "value": "sepia.2.on", "url": live_server.url}])
    page.set_viewport_size({"width": 390, "height": 800})
    wide, papers = {}, {}

    for name in every_page(page, live_server.url):
        papers[name] = page.evaluate("document.documentElement.dataset.theme")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            if (n := page.evaluate("document.documentElement.scrollWidth")) > width:
                wide[name, width] = n
        page.set_viewport_size({"width": 390, "height": 800})

    assert wide == {}
    assert set(papers.values()) == {"sepia"}
    assert len(papers) == 19
