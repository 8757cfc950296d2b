"""What a screen reader is told of saving: not every pause of typing, but what must be heard."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.saying import reasons, status, until

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]

# Every change of a live region, in the order in which a screen reader would read them.
LISTEN = """() => {
  window.announced = [];
  for (const region of document.querySelectorAll("[role=status], [aria-live]")) {
    const note = () => announced.push(region.textContent.trim());
    new MutationObserver(note).observe(region, { childList: true, characterData: true, subtree: true });
  }
}"""


def announced(page: Page) -> Any:
    return page.evaluate("announced")


def write(page: Page, words: str) -> None:
    """Some words, and wait until the page says that it is saved; the status line is seen, whatever is heard."""
    reasons(page).press_sequentially(words)
    expect(status(page)).not_to_have_attribute("data-state", "saved")
    expect(status(page)).to_have_attribute("data-state", "saved")


def test_of_all_pauses_of_typing_the_first_save_alone_is_announced(desk: Page) -> None:
    desk.evaluate(LISTEN)

    for words in ("It turns ", "on a pane ", "of glass."):
        write(desk, words)

    assert announced(desk) == ["Saved"]
    expect(status(desk)).to_contain_text("Saved ")


def test_what_is_kept_offline_is_announced_once_and_so_is_that_it_is_saved_after_all(desk: Page) -> None:
    desk.evaluate(LISTEN)
    write(desk, "It turns ")

    desk.context.set_offline(True)
    for words in ("on a pane ", "of glass."):
        reasons(desk).press_sequentially(words)
        expect(status(desk)).to_have_attribute("data-state", "offline")
        desk.wait_for_timeout(1500)
    desk.context.set_offline(False)

    expect(status(desk)).to_have_attribute("data-state", "saved")
    until(desk, lambda: announced(desk)[-1] == "Saved", "it is not announced")
    assert announced(desk) == ["Saved", "Offline, kept on this device", "Saved"]


def test_a_refused_save_is_announced(desk: Page) -> None:
    desk.evaluate(LISTEN)
    desk.route("**/item-1/", lambda route: route.fulfill(status=503, body=""))

    reasons(desk).press_sequentially("It turns")

    until(desk, lambda: announced(desk) == ["Not saved"], "it is not announced")
