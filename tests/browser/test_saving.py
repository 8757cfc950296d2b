"""Saving that can be trusted, in a real browser: lost connections, ended sessions, closed windows, two windows."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import BrowserContext, Page, Route, expect

from annotation import invitations
from annotation.models import Assignment, Response, ResponseEvent
from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
WORDS = "It turns on a pane of glass."


@pytest.fixture
def link(live_server: Any, committed: None) -> str:
    _, token = invitations.issue(factories.study(n_stories=2))
    return f"{live_server.url}/r/{token}/"


@pytest.fixture
def desk(page: Page, link: str) -> Page:
    """A page at the first question."""
    page.goto(link)
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("I have read this and I agree to take part.").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Begin with a group").click()
    expect(page.get_by_role("heading", name="Item 1")).to_be_visible()
    return page


def reasons(page: Page) -> Any:
    return page.get_by_label("Your reasons")


def status(page: Page) -> Any:
    return page.locator("#status")


def said() -> list[tuple[Any, str]]:
    return list(Response.objects.order_by("pk").values_list("value", "rationale"))


def n_drafts(page: Page) -> int:
    return int(page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('quire-draft')).length"))


def until(page: Page, is_so: Callable[[], bool], what: str) -> None:
    for _ in range(160):
        if is_so():
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{what}; said: {said()}")


def test_the_status_says_what_is_so_and_nothing_stays_on_the_device(desk: Page) -> None:
    reasons(desk).press_sequentially(WORDS)
    assert n_drafts(desk) == 1, "kept from the first letter on"
    expect(status(desk)).to_have_text(re.compile(r"^Saved \d\d:\d\d$"))

    assert said() == [(None, WORDS)]
    until(desk, lambda: n_drafts(desk) == 0, "the draft is still there")


def test_offline_words_are_kept_and_sent_when_the_connection_is_back(desk: Page, context: BrowserContext) -> None:
    context.set_offline(True)
    reasons(desk).press_sequentially(WORDS)
    expect(status(desk)).to_have_text("Offline, kept on this device")
    assert n_drafts(desk) == 1

    context.set_offline(False)

    until(desk, lambda: said() == [(None, WORDS)], "the words were not sent")
    expect(status(desk)).to_have_text(re.compile("^Saved"))
    until(desk, lambda: n_drafts(desk) == 0, "the draft is still there")


def test_words_written_offline_survive_the_window(desk: Page, context: BrowserContext, link: str) -> None:
    context.set_offline(True)
    reasons(desk).press_sequentially(WORDS)
    expect(status(desk)).to_have_text("Offline, kept on this device")
    desk.close()
    context.set_offline(False)
    assert said() == []

    other = context.new_page()
    other.goto(link)
    other.get_by_role("button", name="Continue").click()

    expect(reasons(other)).to_have_value(WORDS)
    assert said() == [(None, WORDS)]
    until(other, lambda: n_drafts(other) == 0, "the draft is still there")


def test_a_server_that_fails_is_asked_again_at_once_by_a_button_and_by_itself(desk: Page) -> None:
    def fail(route: Route) -> None:
        route.fulfill(status=503, body="Busy") if route.request.method == "POST" else route.continue_()

    desk.route("**/s/tests/**", fail)
    desk.get_by_role("radio", name="Yes").check()
    expect(status(desk)).to_have_text("Not saved, retry")
    desk.unroute("**/s/tests/**")

    status(desk).get_by_role("button", name="retry").click()

    until(desk, lambda: said() == [("yes", "")], "it was not saved again")
    expect(status(desk)).to_have_text(re.compile("^Saved"))


def test_a_session_that_ended_in_mid_sentence_loses_nothing(desk: Page, context: BrowserContext, link: str) -> None:
    reasons(desk).press_sequentially("It turns on ")
    until(desk, lambda: said() == [(None, "It turns on ")], "the first words were not saved")
    Session.objects.all().delete()
    reasons(desk).press_sequentially("a pane of glass.")
    expect(desk.locator("#trouble")).to_contain_text("Your session has ended")
    expect(status(desk)).to_have_text("Not saved, retry")
    expect(desk.get_by_role("link", name="How to come in again")).to_have_attribute("href", "/again/")
    assert said() == [(None, "It turns on ")]

    other = context.new_page()
    other.goto(link)
    other.get_by_role("button", name="Continue").click()
    status(desk).get_by_role("button", name="retry").click()

    until(desk, lambda: said() == [(None, WORDS)], "the rest was not saved")
    expect(desk.locator("#trouble")).to_be_empty()


def test_an_answer_whose_receipt_was_lost_is_written_once_and_can_be_continued(desk: Page) -> None:
    """The save arrives, the answer to it does not: the page must not meet itself as a stranger."""

    def lose(route: Route) -> None:
        if route.request.method == "POST":
            route.fetch()
            route.abort()
        else:
            route.continue_()

    desk.route("**/s/tests/**", lose)
    reasons(desk).press_sequentially("It turns")
    expect(status(desk)).to_have_text("Offline, kept on this device")
    assert said() == [(None, "It turns")]
    desk.unroute("**/s/tests/**")
    reasons(desk).press_sequentially(" on a pane of glass.")

    until(desk, lambda: said() == [(None, WORDS)], "what followed was not saved")
    expect(desk.get_by_role("heading", name="Two versions of one answer")).to_have_count(0)
    assert ResponseEvent.objects.count() == 2


def test_next_carries_what_was_just_typed(desk: Page) -> None:
    reasons(desk).press_sequentially(WORDS)
    desk.locator("button[value=next]").click()

    expect(desk.get_by_role("heading", name="Item 2")).to_be_visible()
    assert said() == [(None, WORDS)]


def begin_a_slow_save(page: Page) -> list[Route]:
    """An answer whose save stays on its way until what is returned is let on."""
    held: list[Route] = []
    page.route("**/s/tests/**", lambda route: held.append(route), times=1)
    page.get_by_role("radio", name="Yes").check()
    until(page, lambda: len(held) == 1, "the answer was not sent")
    return held


def test_a_button_that_has_the_focus_is_not_pressed_by_a_save_that_had_to_wait(desk: Page) -> None:
    desk.locator("button[value=next]").click()
    expect(desk.get_by_role("heading", name="Item 2")).to_be_visible()
    (slow,) = begin_a_slow_save(desk)
    reasons(desk).press_sequentially(WORDS)
    desk.locator("button[value=previous]").focus()

    slow.continue_()

    until(desk, lambda: said() == [("yes", WORDS)], "the reasons were not saved")
    expect(status(desk)).to_have_text(re.compile("^Saved"))
    desk.wait_for_timeout(300)
    expect(desk.get_by_role("heading", name="Item 2")).to_be_visible()


def test_going_on_waits_for_a_slow_save_wherever_the_focus_goes(desk: Page) -> None:
    (slow,) = begin_a_slow_save(desk)
    desk.locator("button[value=next]").click()
    desk.locator("#story").focus()

    slow.continue_()

    expect(desk.get_by_role("heading", name="Item 2")).to_be_visible()
    assert said() == [("yes", "")]


def test_a_link_waits_for_what_was_just_typed(desk: Page) -> None:
    reasons(desk).press_sequentially(WORDS)
    desk.locator(".items a", has_text="2").click()

    expect(desk.get_by_role("heading", name="Item 2")).to_be_visible()
    assert said() == [(None, WORDS)]


def test_a_draft_of_a_closed_window_does_not_overwrite_what_was_saved_since(
    desk: Page, context: BrowserContext, link: str
) -> None:
    other = context.new_page()
    other.goto(desk.url)
    desk.route("**/s/tests/**", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    reasons(desk).press_sequentially("Written first, never sent.")
    expect(status(desk)).to_have_text("Offline, kept on this device")
    reasons(other).press_sequentially("Written second.")
    until(other, lambda: said() == [(None, "Written second.")], "the second window did not save")
    desk.evaluate("navigator.sendBeacon = () => true")
    desk.close()

    other.reload()

    conflict = other.get_by_role("alertdialog", name="Two versions of one answer")
    expect(conflict).to_contain_text("Written first, never sent.")
    expect(conflict).to_contain_text("Written second.")
    assert said() == [(None, "Written second.")]
    conflict.get_by_role("button", name="Keep this one").first.click()
    expect(reasons(other)).to_have_value("Written first, never sent.")
    until(other, lambda: said() == [(None, "Written first, never sent.")], "the chosen version was not kept")
    until(other, lambda: n_drafts(other) == 0, "the draft is still there")


def test_a_draft_that_arrives_late_does_not_take_back_a_link_just_followed(desk: Page) -> None:
    """A check of answers that shows older ones reloads itself, unless its reader is on the way to another page."""
    site, code = desk.url.split("/a/")[0], desk.url.split("/a/")[1].split("/")[0]
    desk.evaluate("navigator.sendBeacon = () => true")
    desk.route("**/s/tests/**", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    reasons(desk).press_sequentially(WORDS)
    expect(status(desk)).to_have_text("Offline, kept on this device")
    desk.unroute("**/s/tests/**")
    held: list[Route] = []
    desk.route("**/s/tests/**", lambda route: held.append(route))
    desk.goto(f"{site}/a/{code}/check/")
    until(desk, lambda: len(held) == 1, "the draft was not sent")
    desk.locator("a", has_text="Item 2").first.evaluate("link => link.click()")
    until(desk, lambda: len(held) == 2, "the link was not followed")

    held[0].continue_()
    until(desk, lambda: said() == [(None, WORDS)], "the draft was not saved")
    desk.wait_for_timeout(300)
    held[1].continue_()

    expect(desk.get_by_role("heading", name="Item 2")).to_be_visible()


def test_answers_are_submitted_after_a_draft_that_is_on_its_way(desk: Page) -> None:
    factories.answer_all(Assignment.objects.get(seat__isnull=False))
    desk.reload()
    desk.evaluate("navigator.sendBeacon = () => true")
    desk.route("**/s/tests/**", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    reasons(desk).fill(WORDS)
    expect(status(desk)).to_have_text("Offline, kept on this device")
    desk.unroute("**/s/tests/**")
    held: list[Route] = []
    desk.route("**/s/tests/**", lambda route: held.append(route), times=1)
    desk.goto(f"{desk.url.split('/s/')[0]}/check/")
    until(desk, lambda: len(held) == 1, "the draft was not sent")

    desk.get_by_role("button", name="Submit the group").click()
    desk.wait_for_timeout(200)
    held[0].continue_()

    expect(desk.get_by_role("heading", name="Submitted. Thank you")).to_be_visible()
    assert ("yes", WORDS) in said()


@pytest.mark.parametrize("code", [200, 400])
def test_only_an_answer_of_quire_itself_counts_as_saved(desk: Page, code: int) -> None:
    """A sign-in page of a network, a proxy's apology: neither is taken for a save, nor brought into the page."""
    page = "<title>Hotel</title><body style='color: red'>Please sign in to the network.</body>"
    desk.route("**/s/tests/**", lambda route: route.fulfill(status=code, content_type="text/html", body=page))
    reasons(desk).press_sequentially(WORDS)
    expect(status(desk)).to_have_text("Not saved, retry")
    assert (n_drafts(desk), "Hotel" in desk.title()) == (1, False)
    desk.unroute("**/s/tests/**")

    status(desk).get_by_role("button", name="retry").click()

    until(desk, lambda: said() == [(None, WORDS)], "it was not saved again")
    expect(status(desk)).to_have_text(re.compile("^Saved"))


def test_what_was_answered_before_the_scripts_came_is_saved(desk: Page) -> None:
    held: list[Route] = []
    desk.route("**/quire/saving*.js", lambda route: held.append(route))
    desk.goto(desk.url, wait_until="commit")
    desk.get_by_role("radio", name="Yes").check()
    reasons(desk).fill(WORDS)

    held[0].continue_()

    until(desk, lambda: said() == [("yes", WORDS)], "the early answer was not saved")
    expect(status(desk)).to_have_text(re.compile("^Saved"))


def test_words_that_could_not_be_saved_are_there_when_their_question_is_opened_again(desk: Page) -> None:
    fail = "**/s/tests/A/item-1/"
    desk.route(fail, lambda route: route.fulfill(status=503) if route.request.method == "POST" else route.continue_())
    reasons(desk).press_sequentially(WORDS)
    expect(status(desk)).to_have_text("Not saved, retry")
    desk.locator(".items a", has_text="2").click()
    expect(desk.get_by_role("heading", name="Item 2")).to_be_visible()
    desk.get_by_role("radio", name="Yes").check()
    until(desk, lambda: said() == [("yes", "")], "the second answer was not saved")
    expect(status(desk)).to_have_text("Not saved, retry")

    desk.locator(".items a", has_text="1").click()

    expect(desk.get_by_role("heading", name="Item 1")).to_be_visible()
    expect(desk.locator("textarea")).to_have_value(WORDS)
    assert desk.locator("form.item").evaluate("form => form.inert"), "they cannot be written over"
    desk.unroute(fail)
    expect(status(desk)).to_have_text("Not saved, retry")
    status(desk).get_by_role("button", name="retry").click()
    until(desk, lambda: (None, WORDS) in said(), "they were not saved")
    desk.wait_for_load_state()
    expect(reasons(desk)).to_have_value(WORDS)
    expect(desk.locator("form.item")).not_to_have_attribute("inert", "")


def test_of_two_versions_the_saved_one_can_be_kept(desk: Page, context: BrowserContext) -> None:
    other = context.new_page()
    other.goto(desk.url)
    reasons(desk).press_sequentially("Written first.")
    until(desk, lambda: said() == [(None, "Written first.")], "the first window did not save")
    reasons(other).press_sequentially("Written second.")
    expect(other.get_by_role("alertdialog")).to_be_visible()

    other.get_by_role("button", name="Keep this one").last.click()

    expect(reasons(other)).to_have_value("Written first.")
    assert said() == [(None, "Written first.")]
    until(other, lambda: n_drafts(other) == 0, "the draft is still there")


def test_where_the_device_keeps_nothing_the_page_says_so(desk: Page, context: BrowserContext) -> None:
    desk.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('full') } }")
    context.set_offline(True)
    desk.get_by_role("radio", name="Yes").check()

    expect(status(desk)).to_have_text("Offline, not saved")


def test_where_a_browser_refuses_all_storage_answers_are_saved_all_the_same(desk: Page) -> None:
    for kind in ("localStorage", "sessionStorage"):
        desk.add_init_script(f"Object.defineProperty(window, '{kind}', {{ get() {{ throw new DOMException('no') }} }})")
    desk.reload()
    reasons(desk).press_sequentially(WORDS)

    expect(status(desk)).to_have_text(re.compile("^Saved"))
    assert said() == [(None, WORDS)]


def test_a_large_paste_is_noted_and_a_small_one_is_not(desk: Page) -> None:
    paste = """(text) => {
        const field = document.querySelector('textarea[name=rationale]');
        const data = new DataTransfer();
        data.setData('text', text);
        field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }));
        field.value += text;
        field.dispatchEvent(new Event('input', { bubbles: true }));
    }"""
    desk.evaluate(paste, "short ")
    until(desk, lambda: len(said()) == 1, "the short paste was not saved")
    desk.evaluate(paste, "long " * 60)
    until(desk, lambda: ResponseEvent.objects.count() == 2, "the long paste was not saved")
    reasons(desk).press_sequentially("More.")
    until(desk, lambda: ResponseEvent.objects.count() == 3, "the words after it were not saved")

    assert list(ResponseEvent.objects.order_by("pk").values_list("n_pasted", flat=True)) == [0, 300, 0]


def test_withdrawing_leaves_nothing_on_the_device(desk: Page, context: BrowserContext) -> None:
    context.set_offline(True)
    reasons(desk).press_sequentially(WORDS)
    expect(status(desk)).to_have_text("Offline, kept on this device")
    desk.evaluate("navigator.sendBeacon = () => false")
    desk.route("**/s/tests/**", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    context.set_offline(False)

    desk.goto(desk.url.split("/a/")[0] + "/withdraw/")
    assert n_drafts(desk) == 1
    desk.get_by_role("button", name="Withdraw and erase my answers").click()

    expect(desk.get_by_role("heading", name="You have withdrawn")).to_be_visible()
    until(desk, lambda: n_drafts(desk) == 0, "the draft is still on the device")
