"""What is not saved yet stays on the device, in a real browser: closed windows, two windows, another page."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, Route, expect

from annotation.models import Assignment, Response, ResponseEvent
from tests import factories, triggers
from tests.browser.conftest import enter_as_staff
from tests.browser.saying import WORDS, n_drafts, press_retry, reasons, said, status, until

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


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
    conflict.get_by_role("button", name="Keep mine").click()
    expect(reasons(other)).to_have_value("Written first, never sent.")
    until(other, lambda: said() == [(None, "Written first, never sent.")], "the chosen version was not kept")
    until(other, lambda: n_drafts(other) == 0, "the draft is still there")


def test_pages_of_the_staff_leave_what_a_rater_wrote_on_the_device(desk: Page) -> None:
    site = desk.url.split("/a/")[0]
    desk.evaluate("navigator.sendBeacon = () => true")
    sent: list[str] = []
    desk.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    desk.route("**/s/tests/**", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    reasons(desk).press_sequentially(WORDS)
    expect(status(desk)).to_have_text("Offline, kept on this device")
    back = desk.url
    desk.goto(f"{site}/admin/login/")
    sent.clear()

    enter_as_staff(desk, site, "/studies/")
    expect(desk.get_by_role("heading", name="Studies", level=1)).to_be_visible()
    desk.evaluate("dispatchEvent(new Event('online'))")
    desk.wait_for_timeout(300)

    assert [url for url in sent if "/s/tests/" in url] == []
    assert n_drafts(desk) == 1
    desk.unroute("**/s/tests/**")
    desk.goto(back)
    until(desk, lambda: said() == [(None, WORDS)], "the draft was not saved")


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


def test_a_draft_that_waited_and_is_then_refused_is_not_called_saved(desk: Page, context: BrowserContext) -> None:
    other = context.new_page()
    other.goto(desk.url)
    desk.route("**/s/tests/**", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    reasons(desk).fill("Written first, never sent.")
    expect(status(desk)).to_have_text("Offline, kept on this device")
    reasons(other).fill("Written second.")
    until(other, lambda: said() == [(None, "Written second.")], "the second window did not save")
    desk.evaluate("navigator.sendBeacon = () => true")
    desk.close()
    other.route("**/s/tests/**", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    other.reload()
    expect(status(other)).to_have_text("Not saved, retry")
    other.unroute("**/s/tests/**")

    press_retry(other)

    expect(other.get_by_role("alertdialog", name="Two versions of one answer")).to_be_visible()
    other.wait_for_timeout(200)
    expect(status(other)).not_to_have_text(re.compile("^Saved"))


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
    press_retry(desk)
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

    other.get_by_role("button", name="Keep the saved one").click()

    expect(reasons(other)).to_have_value("Written first.")
    assert said() == [(None, "Written first.")]
    until(other, lambda: n_drafts(other) == 0, "the draft is still there")


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


def test_the_panel_shows_the_latest_of_what_was_answered_here(desk: Page, context: BrowserContext) -> None:
    other = context.new_page()
    other.goto(desk.url)
    reasons(desk).fill("Written first.")
    until(desk, lambda: said() == [(None, "Written first.")], "the first window did not save")

    def slowly(route: Route) -> None:
        other.wait_for_timeout(300)
        route.continue_()

    other.route("**/s/tests/**", slowly)
    reasons(other).fill("Written second.")
    reasons(other).blur()
    other.get_by_role("radio", name="No").check()
    expect(other.get_by_role("alertdialog")).to_contain_text("Written second.")
    other.get_by_role("button", name="Keep mine").click()

    until(other, lambda: said() == [("no", "Written second.")], "the answer was left out")


def test_the_panel_shows_what_was_typed_while_its_answer_was_on_the_way(desk: Page, context: BrowserContext) -> None:
    other = context.new_page()
    other.goto(desk.url)
    reasons(desk).fill("Written first.")
    until(desk, lambda: said() == [(None, "Written first.")], "the first window did not save")

    def slowly(route: Route) -> None:
        reasons(other).fill("Written second, and more.")  # typed on, in a field that nobody has left
        route.continue_()

    other.route("**/s/tests/**", slowly, times=1)
    reasons(other).fill("Written second.")
    reasons(other).blur()
    expect(other.get_by_role("alertdialog")).to_contain_text("Written second, and more.")
    other.get_by_role("button", name="Keep mine").click()

    until(other, lambda: said() == [(None, "Written second, and more.")], "what was typed last was left out")


def test_words_that_the_server_refuses_stand_in_their_field_again_under_its_reason(
    desk: Page, context: BrowserContext
) -> None:
    words = "word " * 10_001
    address = desk.url
    reasons(desk).fill(words)
    expect(desk.locator(".problem")).to_contain_text("50005 characters, 5 more than can be saved")
    desk.close()

    other = context.new_page()
    posts: list[str] = []
    other.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
    other.goto(address)

    expect(other.locator(".problem")).to_contain_text("50005 characters, 5 more than can be saved")
    assert [url for url in posts if "/s/" in url] == [], "what was refused once is not sent again"
    expect(reasons(other)).to_have_value(words)
    expect(other.locator("#trouble")).to_be_empty()
    assert said() == []
    reasons(other).fill(WORDS)
    until(other, lambda: said() == [(None, WORDS)], "the shortened words were not saved")
    until(other, lambda: n_drafts(other) == 0, "the draft is still there")


def roll_back() -> None:
    """The database as it was before anything was answered, put back under the server."""
    with triggers.lifted():
        ResponseEvent.objects.all().delete()
        Response.objects.all().delete()
    Assignment.objects.update(begun=[])


def test_answers_that_were_acknowledged_come_back_after_a_restore_though_their_page_is_closed(
    desk: Page, context: BrowserContext
) -> None:
    address = desk.url
    reasons(desk).fill(WORDS)
    desk.get_by_role("radio", name="Yes").check()
    desk.get_by_role("button", name="Next", exact=False).first.click()
    expect(desk.get_by_role("heading", name="Item 2")).to_be_visible()
    desk.get_by_role("radio", name="No").check()
    everything = [("yes", WORDS), ("no", "")]
    until(desk, lambda: said() == everything, "the answers were not saved")
    expect(status(desk)).to_have_text(re.compile("^Saved"))
    desk.close()
    roll_back()

    other = context.new_page()
    other.goto(address)

    until(other, lambda: said() == everything, "what the server had acknowledged is lost")
    expect(reasons(other)).to_have_value(WORDS)
    expect(other.locator(".items .mark:not([data-state=open])")).to_have_count(2)
    revisions = Response.objects.order_by("pk").values_list("revision", flat=True)
    before = list(revisions)
    other.reload()
    other.wait_for_load_state("networkidle")
    assert list(revisions) == before, "they are sent once"


def test_a_group_that_is_submitted_leaves_nothing_on_the_device(desk: Page) -> None:
    reasons(desk).fill(WORDS)
    until(desk, lambda: said() == [(None, WORDS)], "the words were not saved")
    expect(status(desk)).to_have_text(re.compile("^Saved"))
    assert n_drafts(desk) == 0
    assert desk.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('quire-saved')).length") == 1
    assignment = Assignment.objects.get(seat__isnull=False)
    Assignment.objects.update(status=Assignment.Status.SUBMITTED, ended_at=timezone.now())

    desk.goto(f"{desk.url.split('/s/')[0]}/receipt/")

    assert assignment.code in desk.url
    kept = "Object.keys(localStorage).filter((name) => name.startsWith('quire-')).length"
    until(desk, lambda: desk.evaluate(kept) == 0, "answers of a submitted group stay on the device")
