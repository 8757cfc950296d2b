"""WCAG 2.2 AA: every page of raters in every state and every page of staff, by axe, in all looks."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from annotation import simulation
from annotation.models import Assignment, Timing
from studies import lifecycle
from studies.models import Step, Study
from tests import factories
from tests.browser.conftest import press
from tests.factories import NOON

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


AXE = Axe().axe_script


RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


RULES_OF_COLOUR = ["color-contrast", "link-in-text-block"]


THEMES = ("light", "sepia", "dark")


NARROW = 320  # 1280 at a zoom of 400 %


PHONE = 390


DESK = 1440


def at(page: Page, heading: str, more: str = "") -> str:
    """The name of the state, once the page is there."""
    expect(page.locator("h1")).to_have_text(heading)
    page.wait_for_load_state()
    return f"{heading}, {more}" if more else heading


def post(page: Page, path: str, *, with_token: bool = True, **fields: str) -> None:
    """Send a form to an address, as a window would that was opened before everything changed."""
    page.evaluate(
        """([path, token, fields]) => {
            const form = document.body.appendChild(document.createElement("form"));
            Object.assign(form, { method: "post", action: path });
            const own = document.querySelector("[name=csrfmiddlewaretoken]");
            if (token && own) form.append(own.cloneNode());
            for (const [name, value] of Object.entries(fields)) {
                form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
            }
            form.submit();
        }""",
        [path, with_token, fields],
    )


def arriving(page: Page, site: str, link: str) -> Iterator[str]:
    page.goto(f"{site}/")
    yield at(page, "Studies of creative writing")
    page.goto(f"{site}/nowhere/")
    yield at(page, "There is nothing here")
    page.goto(f"{site}/r/unknown/")
    yield at(page, "This link does not work")
    page.goto(f"{site}/again/?x=1")
    yield at(page, "This address is not right")
    page.goto(f"{site}/again/")
    yield at(page, "Please open your link again")
    page.goto(link)
    yield at(page, "Fourteen tests of a story")
    press(page, "Continue")
    yield at(page, "Consent")
    press(page, "Continue")
    expect(page.locator(".error-summary")).to_be_focused()
    yield at(page, "Consent", "missing")
    page.goto(f"{site}/consent/copy/")
    yield at(page, "Consent", "a copy")
    page.goto(f"{site}/consent/")
    page.get_by_label("I have read this and I agree to take part.").check()
    press(page, "Continue")
    yield at(page, "Your first group of stories")
    post(page, "/group/", with_token=False)
    yield at(page, "Please load the page again")
    page.goto(f"{site}/group/")
    press(page, "Begin with a group")


def reading(page: Page) -> Iterator[str]:
    desk = "Story A: reading and questions"
    yield at(page, desk, "empty")
    page.locator("summary", has=page.get_by_text("Reading settings")).click()
    yield at(page, desk, "with the settings open")
    page.keyboard.press("Escape")
    page.get_by_role("radio", name="Yes").check()
    page.get_by_label("Your reasons").fill("So.")
    page.locator("h2", has_text="Item 1").click()
    expect(page.locator("#status")).to_contain_text("Saved")
    mine = Assignment.objects.get()
    Timing.objects.update_or_create(
        assignment=mine, step=Step.objects.get(key="tests"), story=None, defaults={"active_seconds": 3000}
    )
    page.reload()
    expect(page.get_by_text("If you would like a break")).to_be_attached()
    yield at(page, desk, "answered, with a break suggested")
    press(page, "Put this away")
    expect(page.get_by_text("If you would like a break")).not_to_be_attached()
    factories.answer(mine, value="no", why="Written elsewhere.")
    page.get_by_label("Your reasons").fill("Written here.")
    page.locator("h2", has_text="Item 1").click()
    expect(page.get_by_role("heading", name="Two versions of one answer")).to_be_visible()
    yield at(page, desk, "with a conflict")
    page.get_by_role("button", name="Keep the saved one").click()
    expect(page.get_by_label("Your reasons")).to_have_value("Written elsewhere.")
    post(page, page.url, **{"answer-tests-A-item-1": "yes", "rationale": "From a third window.", "base": "0"})
    yield at(page, "Two versions of one answer")


def comparing(page: Page, site: str) -> Iterator[str]:
    mine = Assignment.objects.get()
    home = f"{site}/a/{mine.code}"
    factories.answer(mine, letter="B")
    page.goto(f"{home}/overview/")
    yield at(page, "Overview of this group")
    page.goto(f"{home}/story/A/")
    yield at(page, "Story A, to read again")
    page.goto(f"{home}/s/ranking/")
    yield at(page, "Before you go on")
    press(page, "Lock these answers and go on")
    expect(page.locator(".error-summary")).to_be_focused()
    yield at(page, "Before you go on", "with what is lacking")
    page.locator(".error-summary a").first.click()
    expect(page.locator("#questions h2")).to_be_focused()
    yield at(page, "Story A: reading and questions", "with what is lacking")
    for letter in "AB":
        factories.answer(mine, letter=letter, item=2)
    page.goto(f"{home}/s/ranking/")
    press(page, "Lock these answers and go on")
    yield at(page, "The two stories together")
    page.goto(f"{home}/check/")
    press(page, "Submit the group")
    yield at(page, "Check your answers", "with what is lacking")
    page.locator(".error-summary a").first.click()
    yield at(page, "The two stories together", "with what is lacking")
    press(page, "Move story B up")
    for guess in page.get_by_role("radio", name="Written by AI").all():
        guess.check()
    press(page, "Check your answers")
    yield at(page, "Check your answers")
    press(page, "Submit the group")
    yield at(page, "Submitted. Thank you")
    press(page, "Go on")
    yield at(page, "Another group of stories?")
    post(page, f"/a/{mine.code}/s/tests/A/item-1/", base="9")
    yield at(page, "Nothing was changed")


def leaving(page: Page, site: str, study: Study) -> Iterator[str]:
    page.goto(f"{site}/withdraw/")
    yield at(page, "Withdraw from the study?")
    page.goto(f"{site}/group/")
    press(page, "I am finished")
    yield at(page, "Thank you")
    lifecycle.close(study, at=NOON)
    page.goto(f"{site}/")
    yield at(page, "The study has closed")
    page.goto(f"{site}/withdraw/")
    press(page, "Withdraw and erase my answers")
    yield at(page, "You have withdrawn")


def states(page: Page, site: str, link: str, study: Study) -> Iterator[str]:
    """All pages of a rater's way, each in the states that it has. Yields a name for each."""
    yield from arriving(page, site, link)
    yield from reading(page)
    yield from comparing(page, site)
    yield from leaving(page, site, study)


def resize(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})


def faults(page: Page, rules: Sequence[str] = RULES) -> list[str]:
    """The rule that is broken and where, each time, once the style sheets are there; axe is read into a page once."""
    page.wait_for_load_state()
    page.evaluate("document.fonts.ready.then(() => null)")
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    return list(
        page.evaluate(
            """options => axe.run(options).then(({ violations }) => violations.flatMap(
              ({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 140)}`)))""",
            {"runOnly": rules, "resultTypes": ["violations"], "preload": False},
        )
    )


def in_all_looks(page: Page) -> dict[str, list[str]]:
    """What axe finds on a desk and a telephone, on each paper; and whether anything is too wide for 320 pixels.

    Papers differ in their colours alone, so that of all but the first only colours are looked at.
    """
    found: dict[str, list[str]] = {}
    page.wait_for_load_state()  # a page that has just been gone to has no root element yet
    for width in (DESK, PHONE):
        resize(page, width)
        for theme in THEMES:
            page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
            found[f"{width}, {theme}"] = faults(page, RULES if theme == THEMES[0] else RULES_OF_COLOUR)
    resize(page, NARROW)
    if (wide := page.evaluate("document.documentElement.scrollWidth")) > NARROW:
        found["zoomed"] = [f"{wide} pixels wide"]
    resize(page, DESK)
    return {look: each for look, each in found.items() if each}


def test_axe_finds_nothing_and_nothing_scrolls_sideways_in_any_state(page: Page, live_server: Any, study, link) -> None:
    found = {name: in_all_looks(page) for name in states(page, live_server.url, link, study)}

    assert {name: looks for name, looks in found.items() if looks} == {}
    assert len(found) == 32


def test_axe_would_find_a_fault(page: Page, live_server: Any) -> None:
    page.goto(f"{live_server.url}/")
    page.evaluate("document.querySelector('main').innerHTML += '<img src=\"/static/quire/icon.svg\"><input>'")

    assert {fault.split(":")[0] for fault in faults(page)} >= {"image-alt", "label"}


def test_axe_would_find_words_that_are_too_pale_on_one_paper_alone(page: Page, live_server: Any) -> None:
    page.goto(f"{live_server.url}/")
    page.evaluate("document.querySelector('main p').style.color = '#444'")

    assert set(in_all_looks(page)) == {"1440, dark", "390, dark"}


def test_axe_finds_nothing_on_the_pages_of_staff(page: Page, live_server: Any, study: Study) -> None:
    User.objects.create_superuser("admin", password="a long enough word")
    User.objects.create_user("helper", password="a long enough word", is_staff=True)
    simulation.simulate(
        study, {s.code: simulation.Tendency(quality=0) for s in study.stories.all()}, seed=1, begins=NOON
    )
    lifecycle.close(study, at=NOON)
    found = {}

    def sign_in(name: str) -> None:
        page.get_by_label("Username").fill(name)
        page.get_by_label("Password").fill("a long enough word")
        press(page, "Log in")

    page.goto(f"{live_server.url}/admin/login/?next=/reports/{study.slug}/")
    found["login"] = {width: found_ for width in (DESK, PHONE) if (found_ := at_width(page, width))}
    sign_in("helper")
    expect(page.locator("h1")).to_have_text("You may not open this page")
    found["refused"] = in_all_looks(page)
    page.context.clear_cookies()
    page.goto(f"{live_server.url}/admin/login/?next=/reports/")
    sign_in("admin")
    expect(page.locator("h1")).to_have_text("Reports")
    found["reports"] = in_all_looks(page)
    for depth in ("", "sources/", "findings/", "figures/pass-rates/"):
        page.goto(f"{live_server.url}/reports/{study.slug}/{depth}")
        found[f"report {depth}"] = in_all_looks(page)
    page.goto(f"{live_server.url}/reports/{study.slug}/exports/")
    page.get_by_label("With sources").check()
    press(page, "Make the package")
    expect(page.locator(".error-summary")).to_be_focused()
    found["exports"] = in_all_looks(page)
    page.goto(f"{live_server.url}/api/tokens/")
    page.get_by_label("What it is for").fill("notebook")
    press(page, "Make a token")
    found["tokens"] = in_all_looks(page)

    assert {name: looks for name, looks in found.items() if looks} == {}


def at_width(page: Page, width: int) -> list[str]:
    resize(page, width)
    return faults(page)
