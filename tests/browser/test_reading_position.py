"""The story opens where one was: on another device, at another width, and at once after leaving."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, ViewportSize, expect

from annotation.models import Assignment
from studies.models import Story, Study
from tests import factories, triggers
from tests.browser.arriving import begin, until
from tests.browser.saying import reasons, status

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]

DESK = ViewportSize(width=1440, height=900)
TABLET = ViewportSize(width=1024, height=700)
PHONE = ViewportSize(width=390, height=844)
# The paragraph at the upper edge of what shows the story.
READ = """() => {
  const tabs = document.querySelector(".tabs").getBoundingClientRect();
  const pane = document.querySelector("#story").getBoundingClientRect();
  const edge = Math.max(tabs.bottom, pane.top, 0);
  const paragraphs = [...document.querySelectorAll("#story .story > p")];
  const first = paragraphs.find((paragraph) => paragraph.getBoundingClientRect().bottom > edge + 1);
  const box = first.getBoundingClientRect();
  return [paragraphs.indexOf(first) + 1, (edge - box.top) / box.height];
}"""


@pytest.fixture
def study(committed: None) -> Study:
    study = factories.study(n_stories=2)
    with triggers.lifted():
        text = "\n\n".join(f"Paragraph {n}. " + "A man came about the greenhouse. " * 14 for n in range(60))
        Story.objects.update(text=text)
    return study


@pytest.fixture
def desk(page: Page, live_server: Any, study: Study) -> Page:
    begin(page, live_server, study)
    return page


def place(page: Page) -> Any:
    paragraph, share = page.evaluate(READ)
    return paragraph, share


def scroll(page: Page, pixels: int) -> None:
    page.locator("#story").hover()
    page.mouse.wheel(0, pixels)
    page.wait_for_timeout(200)


def kept() -> Any:
    return Assignment.objects.get().reading_positions


def told(page: Page) -> list[str]:
    """The addresses that are told where one is, from now on."""
    requests: list[str] = []

    def note(request: Request) -> None:
        if request.url.endswith("/position/"):
            requests.append(request.url)

    page.on("request", note)
    return requests


def leave(page: Page, site: Any) -> None:
    page.goto(f"{site.url}/withdraw/")


def test_another_device_and_another_width_open_the_story_where_one_was(
    desk: Page, live_server: Any, chromium: Browser
) -> None:
    scroll(desk, 3000)
    before, share = place(desk)
    assert before > 5
    address = desk.url

    leave(desk, live_server)
    until(desk, lambda: kept().get("A", [0])[0], before)

    for size in (PHONE, TABLET, DESK):
        other = chromium.new_context(viewport=size)
        other.add_cookies(desk.context.cookies())  # type: ignore[arg-type]
        opened = other.new_page()
        opened.goto(address)
        opened.wait_for_load_state()
        opened.evaluate("document.fonts.ready.then(() => null)")
        assert place(opened) == (before, pytest.approx(share, abs=0.05)), size
        other.close()


def test_on_a_telephone_the_place_is_kept_too_while_the_questions_are_up(desk: Page, live_server: Any) -> None:
    desk.set_viewport_size(PHONE)
    desk.reload()
    desk.evaluate("scrollTo(0, 4000)")
    before, share = place(desk)
    assert before > 5

    for tab in ("questions", "story"):
        desk.locator(f"#tab-{tab}").dispatch_event("click")  # Playwright's own click would scroll first
    assert place(desk) == (before, pytest.approx(share, abs=0.05))

    desk.locator("#tab-questions").dispatch_event("click")
    leave(desk, live_server)
    until(desk, lambda: kept().get("A", [0])[0], before)


def test_loading_the_page_again_finds_the_place_though_the_server_has_not_heard_of_it(desk: Page) -> None:
    desk.evaluate("() => { navigator.sendBeacon = () => true; }")
    scroll(desk, 3000)
    before, share = place(desk)

    desk.reload()

    assert place(desk) == (before, pytest.approx(share, abs=0.05))
    assert kept() == {}


def test_the_server_is_told_once_one_rests_not_while_one_reads_on_and_not_of_what_it_knows(desk: Page) -> None:
    requests = told(desk)

    for _ in range(10):
        scroll(desk, 300)
    assert requests == []
    until(desk, lambda: bool(kept()), True)
    assert len(requests) == 1

    scroll(desk, 40)
    scroll(desk, -40)
    desk.wait_for_timeout(5000)
    assert len(requests) == 1


def test_nobody_is_told_who_only_opened_the_page(desk: Page, live_server: Any) -> None:
    requests = told(desk)

    desk.reload()
    leave(desk, live_server)

    assert requests == []
    assert kept() == {}


def test_a_place_waits_for_answers_that_are_saved(desk: Page) -> None:
    order: list[str] = []
    desk.on("request", lambda request: order.append(request.url) if request.method == "POST" else None)

    scroll(desk, 3000)
    desk.wait_for_timeout(3000)
    held: list[Any] = []
    desk.route("**/item-1/", lambda route: held.append(route))
    reasons(desk).press_sequentially("It turns.")
    expect(status(desk)).to_have_attribute("data-state", "saving")
    desk.wait_for_timeout(3000)
    assert not any(url.endswith("/position/") for url in order)

    held[0].continue_()
    desk.unroute("**/item-1/")
    expect(status(desk)).to_have_attribute("data-state", "saved")
    until(desk, lambda: bool(kept()), True)


def test_a_place_of_the_storage_of_old_is_not_looked_at(desk: Page) -> None:
    story = desk.locator(".desk").get_attribute("data-story")
    desk.evaluate("(name) => sessionStorage.setItem(name, '2000')", f"place-{story}")

    desk.reload()

    assert desk.locator("#story").evaluate("(pane) => pane.scrollTop") == 0
