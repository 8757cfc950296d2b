"""Back and Back again after an improved answer: what a browser remembers of a page never overwrites what is newer."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, Route, expect

from annotation import design
from annotation.design import launches
from annotation.models import Response, ResponseEvent
from studies import loader
from studies.models import Instrument, Step, Study
from tests import factories
from tests.browser.arriving import begin, until

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
MYSTERY = Path(__file__).parents[2] / "studies" / "demo" / "mystery"
LONGER_THAN_ANY_SAVE = 2_000  # milliseconds
PLAIN = {"rationale": "none", "rationale_least": 0}

Answer = Callable[[Page, int], None]


def story_study() -> Study:
    return factories.study(n_stories=2, comparative=False)


def group_study(instrument: Instrument) -> Study:
    """A study that asks that instrument of two stories at once, and nothing else."""
    study = factories.study(n_stories=2, planned=False)
    study.versions.get().steps.exclude(key__in=["consent", "ranking"]).delete()
    Step.objects.filter(key="ranking").update(instrument=instrument)
    factories.plan(study)
    return study


def pair_study() -> Study:
    return group_study(factories.instrument("better", n_items=1, type="pair", **PLAIN))


def part_study() -> Study:
    """Several questions on one page."""
    return group_study(factories.instrument("parts", n_items=2, type="text", **PLAIN))


def ranking_study() -> Study:
    return group_study(factories.ranking())


def cloze_study() -> Study:
    study = loader.load_study(MYSTERY)
    design.plan(study)
    return launches.launch(study, by="tests", at=timezone.now())


def give_reasons(page: Page, turn: int) -> None:
    page.get_by_label("Your reasons").fill(f"Words of turn {turn}.")


def say_yes_or_no(page: Page, turn: int) -> None:
    page.get_by_role("radio", name=("Yes", "No")[turn % 2]).check()


def choose(page: Page, turn: int) -> None:
    page.locator(".answers input[type=radio]").nth(turn % 2).check()


def write(page: Page, turn: int) -> None:
    page.locator(".item textarea, .item input[type=text]").first.fill(f"Words of turn {turn}.")


def rank(page: Page, turn: int) -> None:
    page.locator(".ranking > li").nth(turn % 2).locator(".moves select").select_option("1")


def fill(page: Page, turn: int) -> None:
    page.locator("#answer-fill-blank-01").fill(f"turn{turn}")


KINDS: dict[str, tuple[Callable[[], Study], Answer]] = {
    "reasons": (story_study, give_reasons),
    "verdict": (story_study, say_yes_or_no),
    "pair": (pair_study, choose),
    "part": (part_study, write),
    "ranking": (ranking_study, rank),
    "cloze": (cloze_study, fill),
}


def stored() -> tuple[int, Any]:
    """How many times the one answer was written, and what it says."""
    response = Response.objects.exclude(value=None, rationale="").first()
    return ResponseEvent.objects.count(), (response.value, response.rationale) if response else None


def remember(route: Route) -> None:
    """The page as a browser meets it that remembers fields whatever the page asks for."""
    answer = route.fetch()
    route.fulfill(response=answer, body=answer.text().replace('autocomplete="off"', ""))


# Each form asks the browser to forget; a browser that does not is met by every kind of answer.
CASES = [(kind, True) for kind in ("reasons", "part", "cloze")] + [(kind, False) for kind in KINDS]


@pytest.mark.parametrize(("kind", "forgets"), CASES)
def test_back_to_an_earlier_page_leaves_the_newer_answer(
    page: Page, live_server: Any, kind: str, *, forgets: bool
) -> None:
    make, answer = KINDS[kind]
    begin(page, live_server, make())
    while not page.locator("[data-saves]").count():  # a briefing comes first
        with page.expect_navigation():
            page.get_by_role("button", name=re.compile("Continue|Begin")).first.click()
    if not forgets:
        page.route(re.compile(r"/(a|s)/"), lambda r: remember(r) if r.request.method == "GET" else r.continue_())
        page.reload()
    address = page.url

    def improve(turn: int) -> None:
        n_before = stored()[0]
        answer(page, turn)
        page.keyboard.press("Tab")
        until(page, lambda: stored()[0] > n_before, True)
        expect(page.locator("#status")).to_have_text(re.compile("^Saved"))

    improve(0)
    page.goto(f"{live_server.url}/a/")
    page.goto(address)
    improve(1)
    newest = stored()
    page.go_back()
    page.go_back()
    expect(page.locator("#status")).to_be_attached()
    page.wait_for_timeout(LONGER_THAN_ANY_SAVE)

    assert page.url == address
    assert stored() == newest


def test_words_that_a_browser_remembers_leave_what_another_device_has_written_since(
    page: Page, context: BrowserContext, live_server: Any
) -> None:
    begin(page, live_server, story_study())
    page.route("**/s/tests/**", lambda r: remember(r) if r.request.method == "GET" else r.continue_())
    page.reload()
    give_reasons(page, 0)
    expect(page.locator("#status")).to_have_text(re.compile("^Saved"))
    address = page.url
    page.goto(f"{live_server.url}/a/")
    other = context.new_page()
    other.goto(address)
    give_reasons(other, 1)
    until(other, lambda: stored()[0], 2)

    page.go_back()

    conflict = page.get_by_role("alertdialog", name="Two versions of one answer")
    expect(conflict).to_contain_text("Words of turn 0.")
    expect(conflict).to_contain_text("Words of turn 1.")
    assert stored() == (2, (None, "Words of turn 1."))


@pytest.mark.parametrize("kind", ["verdict", "pair"])
def test_the_saved_version_once_chosen_is_not_asked_about_again(
    page: Page, context: BrowserContext, live_server: Any, kind: str
) -> None:
    make, answer = KINDS[kind]
    begin(page, live_server, make())
    page.route(re.compile(r"/(a|s)/"), lambda r: remember(r) if r.request.method == "GET" else r.continue_())
    page.reload()
    answer(page, 0)
    expect(page.locator("#status")).to_have_text(re.compile("^Saved"))
    address = page.url
    page.goto(f"{live_server.url}/a/")
    other = context.new_page()
    other.goto(address)
    answer(other, 1)
    until(other, lambda: stored()[0], 2)
    page.go_back()
    conflict = page.get_by_role("alertdialog", name="Two versions of one answer")
    expect(conflict).to_be_visible()
    newest = stored()

    conflict.get_by_role("button", name="Keep the saved one").click()

    expect(page.locator("[data-saves] input[type=radio]").nth(1)).to_be_checked()
    page.reload()
    page.wait_for_timeout(LONGER_THAN_ANY_SAVE)
    expect(page.locator("[data-saves] input[type=radio]").nth(1)).to_be_checked()
    expect(conflict).to_have_count(0)
    assert stored() == newest
