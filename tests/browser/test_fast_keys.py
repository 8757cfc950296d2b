"""Keys pressed faster than the network answers: what was pressed, in its order, is what is stored and shown."""

from typing import Any

import pytest
from playwright.sync_api import expect

from annotation.models import Response
from tests import factories
from tests.browser.arriving import begin, until
from tools.trials.keys import NOTE_KEYS, compare, slow_down

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
KEYS = ["y", "j", "n", "j", "y", "n", "j", "n", "k", "y", "j", "j", "n", "y", "j", "y"]


def saved() -> dict[int, Any]:
    return dict(Response.objects.exclude(value=None).values_list("item__position", "value"))


@pytest.mark.parametrize(("gap", "latency"), [(60, 0), (60, 400), (200, 150), (400, 600)])
def test_keys_faster_than_the_network_are_what_is_stored(page, live_server, gap, latency):
    begin(page, live_server, factories.study(n_stories=2, n_items=12, comparative=False))
    slow_down(page, latency)
    page.evaluate(NOTE_KEYS)

    for key in KEYS:
        page.keyboard.press(key)
        page.wait_for_timeout(gap)

    pressed = page.evaluate("window.pressed")

    def count_wrong() -> int:
        form = page.evaluate("document.querySelector('.reading form[data-saves]').id")
        counts = compare(pressed, form, saved())
        return counts["answers other than the key"] + counts["moves lost"]

    until(page, count_wrong, 0)


def test_keys_pressed_on_the_way_to_a_question_that_never_comes_answer_nothing(page, live_server):
    begin(page, live_server, factories.study(n_stories=2, n_items=3, comparative=False))
    page.keyboard.press("y")
    until(page, saved, {1: "yes"})
    page.route("**/s/tests/**", lambda route: route.abort() if route.request.method == "POST" else route.continue_())

    # Both before the connection can be lost, which is at once.
    page.evaluate("""() => ["j", "n"].forEach((key) =>
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })))""")

    expect(page.locator("#status")).not_to_contain_text("Saving")
    page.unroute("**/s/tests/**")
    page.keyboard.press("j")
    expect(page.locator("h2", has_text="Item 2")).to_be_focused()
    assert saved() == {1: "yes"}


def test_ctrl_and_enter_save_the_reasons_and_go_on(page, live_server):
    begin(page, live_server, factories.study(n_stories=2, n_items=3, comparative=False))

    page.get_by_label("Your reasons").press_sequentially("Because.")
    page.keyboard.press("Control+Enter")

    expect(page.locator("h2", has_text="Item 2")).to_be_focused()
    assert list(Response.objects.values_list("rationale", flat=True)) == ["Because."]


def test_a_question_that_is_gone_to_takes_one_request(page, live_server):
    begin(page, live_server, factories.study(n_stories=2, comparative=False))
    requests: list[str] = []
    page.on("request", lambda request: requests.append(f"{request.method} {request.url}"))

    page.keyboard.press("j")

    expect(page.locator("h2", has_text="Item 2")).to_be_focused()
    assert [request for request in requests if "/s/" in request] == [f"POST {page.url.replace('item-2', 'item-1')}"]
    assert page.url.endswith("item-2/")
    assert "question 2" in page.title()


def test_a_key_pressed_after_a_click_in_the_index_does_not_answer_the_question_that_is_left(page, live_server):
    begin(page, live_server, factories.study(n_stories=2, comparative=False))
    slow_down(page, 400)

    page.locator("#index a").nth(1).click()
    page.keyboard.press("n")

    expect(page.locator("h2", has_text="Item 2")).to_be_focused()
    page.keyboard.press("y")
    until(page, saved, {2: "yes"})
