"""Saving that can be trusted, in a real browser: lost connections, ended sessions, slow servers."""

import re
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, Route, expect

from annotation.models import Assignment, ResponseEvent
from annotation.participation import invitations
from annotation.responses import holds
from studies.models import Study
from tests.browser.saying import WORDS, n_drafts, press_retry, reasons, said, status, until

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


def test_the_status_says_what_is_so_and_nothing_stays_on_the_device(desk: Page) -> None:
    reasons(desk).press_sequentially(WORDS)
    assert n_drafts(desk) == 1, "kept from the first letter on"
    expect(status(desk)).to_have_text(re.compile(r"^Saved \d\d:\d\d$"))

    assert said() == [(None, WORDS)]
    until(desk, lambda: n_drafts(desk) == 0, "the draft is still there")


def test_words_are_saved_while_somebody_types_on(desk: Page) -> None:
    stored: set[int] = set()
    states: set[str] = set()
    for n in range(50):
        reasons(desk).press_sequentially("steady ", delay=20)
        stored.add(len(said()[0][1]) if said() else 0)
        states.add(re.sub(r"\d\d:\d\d", "…", status(desk).inner_text()))
        assert n < 45 or max(stored) > 0, "nothing was saved of 300 characters"

    assert "Kept on this device" in states
    until(desk, lambda: said() == [(None, "steady " * 50)], "the last words were not saved")


def test_offline_words_are_kept_and_sent_when_the_connection_is_back(desk: Page, context: BrowserContext) -> None:
    context.set_offline(True)
    reasons(desk).press_sequentially(WORDS)
    expect(status(desk)).to_have_text("Offline, kept on this device")
    assert n_drafts(desk) == 1

    context.set_offline(False)

    until(desk, lambda: said() == [(None, WORDS)], "the words were not sent")
    expect(status(desk)).to_have_text(re.compile("^Saved"))
    until(desk, lambda: n_drafts(desk) == 0, "the draft is still there")


def test_a_server_that_fails_is_asked_again_at_once_by_a_button_and_by_itself(desk: Page) -> None:
    def fail(route: Route) -> None:
        route.fulfill(status=503, body="Busy") if route.request.method == "POST" else route.continue_()

    desk.route("**/s/tests/**", fail)
    desk.get_by_role("radio", name="Yes").check()
    expect(status(desk)).to_have_text("Not saved, retry")
    expect(desk.locator("#trouble")).to_contain_text("It stays here and is sent again by itself")
    desk.unroute("**/s/tests/**")

    press_retry(desk)

    until(desk, lambda: said() == [("yes", "")], "it was not saved again")
    expect(status(desk)).to_have_text(re.compile("^Saved"))
    expect(desk.locator("#trouble")).to_be_empty()


def test_when_somebody_else_has_come_in_the_page_says_so_and_what_to_do(
    desk: Page, context: BrowserContext, link: str, live_server: Any
) -> None:
    _, token = invitations.issue(Study.objects.get())
    theirs = context.new_page()
    theirs.goto(f"{live_server.url}/r/{token}/")
    theirs.get_by_role("button", name="Continue").click()

    reasons(desk).press_sequentially(WORDS)

    expect(status(desk)).to_have_text("Not saved, retry")
    expect(desk.locator("#trouble")).to_contain_text("Someone else has opened the study in this browser")
    desk.set_viewport_size({"width": 1024, "height": 500})
    desk.locator("#questions .pane-foot button").first.scroll_into_view_if_needed()
    expect(desk.locator("#trouble")).to_be_in_viewport()

    theirs.goto(link)
    theirs.get_by_role("button", name="Continue").click()
    until(desk, lambda: said() == [(None, WORDS)], "it was not saved after coming in again")


def test_the_panel_of_two_versions_never_stands_under_a_sign_without_words(desk: Page, context: BrowserContext) -> None:
    desk.route("**/s/tests/**", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    reasons(desk).press_sequentially(WORDS)
    expect(status(desk)).to_have_text("Offline, kept on this device")
    other = context.new_page()
    other.goto(desk.url)
    other.get_by_role("radio", name="No").check()
    expect(status(other)).to_have_text(re.compile("^Saved"))
    other.close()
    desk.unroute("**/s/tests/**")

    desk.reload()

    expect(desk.get_by_role("heading", name="Two versions of one answer")).to_be_visible()
    expect(status(desk)).to_have_text("Not saved")


def test_what_comes_too_fast_is_kept_and_sent_again_when_the_server_said(desk: Page) -> None:
    Assignment.objects.update(saves_until=timezone.now().timestamp() + holds.BURST / holds.SAVES_PER_SECOND + 4)

    reasons(desk).press_sequentially(WORDS)
    reasons(desk).blur()

    expect(status(desk)).to_have_text("Waiting, kept on this device")
    expect(desk.locator("#trouble")).to_contain_text("sent again by itself")
    assert (said(), n_drafts(desk)) == ([], 1)
    expect(status(desk)).to_have_text(re.compile("^Saved"))
    expect(desk.locator("#trouble")).to_be_empty()
    assert said() == [(None, WORDS)]
    until(desk, lambda: n_drafts(desk) == 0, "the draft is still there")


def test_a_session_that_ended_in_mid_sentence_loses_nothing(desk: Page, context: BrowserContext, link: str) -> None:
    reasons(desk).press_sequentially("It turns on ")
    until(desk, lambda: said() == [(None, "It turns on ")], "the first words were not saved")
    Session.objects.all().delete()
    reasons(desk).press_sequentially("a pane of glass.")
    expect(desk.locator("#trouble")).to_contain_text("Your session has ended")
    expect(status(desk)).to_have_text("Not saved, retry")
    expect(desk.get_by_role("link", name="How to continue")).to_have_attribute("href", "/again/")
    assert said() == [(None, "It turns on ")]

    other = context.new_page()
    other.goto(link)
    other.get_by_role("button", name="Continue").click()
    press_retry(desk)

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


@pytest.mark.parametrize("code", [200, 400])
def test_only_an_answer_of_quire_itself_counts_as_saved(desk: Page, code: int) -> None:
    """A sign-in page of a network, a proxy's apology: neither is taken for a save, nor brought into the page."""
    page = "<title>Hotel</title><body style='color: red'>Please sign in to the network.</body>"
    desk.route("**/s/tests/**", lambda route: route.fulfill(status=code, content_type="text/html", body=page))
    reasons(desk).press_sequentially(WORDS)
    expect(status(desk)).to_have_text("Not saved, retry")
    assert (n_drafts(desk), "Hotel" in desk.title()) == (1, False)
    desk.unroute("**/s/tests/**")

    press_retry(desk)

    until(desk, lambda: said() == [(None, WORDS)], "it was not saved again")
    expect(status(desk)).to_have_text(re.compile("^Saved"))


def test_what_was_answered_before_the_scripts_came_is_saved(desk: Page) -> None:
    held: list[Route] = []
    desk.route("**/quire/autosave/index.js", lambda route: held.append(route))
    desk.goto(desk.url, wait_until="commit")
    desk.get_by_role("radio", name="Yes").check()
    reasons(desk).fill(WORDS)

    held[0].continue_()

    until(desk, lambda: said() == [("yes", WORDS)], "the early answer was not saved")
    expect(status(desk)).to_have_text(re.compile("^Saved"))


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
        const field = document.querySelector('textarea[name^=rationale-]');
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


def test_thirty_thousand_characters_pasted_are_saved_whole(desk: Page) -> None:
    words = "\n".join(f"{n:05} words and more — 本 🙂" for n in range(1, 1201))
    assert len(words) > 30_000
    assert len(words.encode()) < 50_000
    reasons(desk).focus()
    desk.evaluate("(words) => document.execCommand('insertText', false, words)", words)

    expect(status(desk)).to_have_text(re.compile("^Saved"))
    is_whole = said() == [(None, words)]
    assert is_whole, "it is too long to be shown"
    desk.reload()
    is_there = reasons(desk).input_value() == words
    assert is_there


# What an extension that translates does: each text node becomes others, within elements of its own.
TRANSLATE = """() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) if (walker.currentNode.textContent.trim()) nodes.push(walker.currentNode);
    for (const node of nodes) {
        if (node.parentElement.closest('script, style, template, textarea')) continue;
        const font = document.createElement('font');
        font.textContent = node.textContent.split('').reverse().join('');
        node.replaceWith(font);
    }
}"""


def test_on_a_page_that_an_extension_has_translated_everything_is_saved(desk: Page) -> None:
    desk.evaluate(TRANSLATE)
    desk.locator("input[type=radio][value=yes]").check()
    desk.locator("textarea[name^=rationale]").fill(WORDS)
    until(desk, lambda: said() == [("yes", WORDS)], "the answer was not saved")

    desk.locator("#p1").evaluate("(p) => getSelection().selectAllChildren(p)")
    desk.locator("#quoting button:visible").first.click()
    desk.locator("button[name=go][value=next]").first.click()

    desk.wait_for_url("**/item-2/")
    assert said() == [("yes", WORDS)]
