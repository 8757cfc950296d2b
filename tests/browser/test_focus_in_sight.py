"""What has the focus is wholly in sight, and so is the state of saving; a low window belongs to the words."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from annotation.participation import invitations
from studies.models import Step, Story, Study
from tests import factories, triggers
from tests.annotation import clozes
from tests.browser.arriving import begin
from tests.browser.test_desk_layout import study_asking

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]

MEASURE = "Ask where the last page comes from, and what prepares it. " * 9
SIZES = [(1440, 900), (1366, 768), (1024, 768), (1024, 560)]


def asking_for_reasons(*, notice: str = "") -> Study:
    study = study_asking(factories.instrument("endings", n_items=14, background=MEASURE, rationale="required"))
    with triggers.lifted():
        for story in Story.objects.all():
            Story.objects.filter(pk=story.pk).update(text="\n\n".join([f"{story.text} " * 20] * 12))
        Study.objects.update(notice=notice)
    return study


def covered(page: Page, selector: str) -> float:
    """How many pixels of it are under the foot of the desk, or above the pane, once what was typed has been drawn."""
    return float(
        page.evaluate(
            """async (selector) => {
              await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
              const box = document.querySelector(selector).getBoundingClientRect();
              const foot = document.querySelector(".pane-foot").getBoundingClientRect();
              const pane = document.querySelector("#questions").getBoundingClientRect();
              return Math.max(0, box.bottom - foot.top, pane.top - box.top);
            }""",
            selector,
        )
    )


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_foot_of_the_desk_covers_nothing_that_is_come_to_by_keys(
    page: Page, live_server: Any, width: int, height: int
) -> None:
    begin(page, live_server, asking_for_reasons())
    page.set_viewport_size({"width": width, "height": height})
    reasons, quote = page.locator(".rationale textarea"), page.locator(".from-story")
    page.locator(".answer input").first.focus()

    while not reasons.evaluate("(field) => field === document.activeElement"):
        page.keyboard.press("Tab")
    assert [covered(page, place) for place in (".rationale textarea", ".count")] == [0, 0]
    page.keyboard.press("Tab")
    expect(quote).to_be_focused()
    assert covered(page, ".from-story") == 0


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_foot_of_the_desk_covers_no_reasons_that_are_clicked_or_written(
    page: Page, live_server: Any, width: int, height: int
) -> None:
    begin(page, live_server, asking_for_reasons())
    page.set_viewport_size({"width": width, "height": height})

    page.locator(".rationale textarea").click(position={"x": 20, "y": 8})
    assert [covered(page, place) for place in (".rationale textarea", ".count")] == [0, 0]
    page.keyboard.type("It ends where it began.\n" * 6)
    assert [covered(page, place) for place in (".rationale textarea", ".count")] == [0, 0]


def test_coming_to_the_buttons_of_the_foot_moves_nothing(page: Page, live_server: Any) -> None:
    begin(page, live_server, asking_for_reasons())
    pane = page.locator("#questions")

    page.get_by_role("button", name="Next").focus()

    assert pane.evaluate("(pane) => pane.scrollTop") == 0


def box(element: Locator) -> Any:
    return element.bounding_box()


def pair(page: Page, site: Any) -> None:
    study = factories.study(n_stories=2, planned=False)
    Step.objects.filter(version__study=study, key="tests").delete()
    for story in study.stories.all():
        story.text = "\n\n".join([f"{story.text} " * 20] * 12)
        story.save()
    factories.plan(study)
    begin(page, site, study)


def cloze(page: Page, site: Any) -> None:
    study = clozes.study()
    page.goto(f"{site.url}/r/{invitations.issue(study)[1]}/")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("I have read this and I agree to take part.").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#cloze-title")).to_be_visible()


def desk_with_notice(page: Page, site: Any) -> None:
    begin(page, site, asking_for_reasons(notice="Words that all raters see."))


@pytest.mark.parametrize("come", [cloze, pair])
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 600), (390, 844)])
def test_the_state_of_saving_stays_in_sight(page: Page, live_server: Any, come: Any, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    come(page, live_server)

    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")

    assert page.evaluate("scrollY") > 200
    status, masthead = box(page.locator("#status")), box(page.locator(".masthead"))
    assert status["y"] >= 0
    assert status["y"] + status["height"] <= masthead["y"] + masthead["height"] == pytest.approx(57, abs=1)
    for field in page.locator("main :is(textarea, input:not([type=hidden]))").all()[:4]:
        field.focus()
        assert box(field)["y"] >= masthead["height"]


LOW = ViewportSize(width=320, height=225)  # 1280 by 900 at a zoom of 400 %
STUCK = """() => [...document.querySelectorAll("body *")].filter((element) =>
  element.checkVisibility() && ["sticky", "fixed"].includes(getComputedStyle(element).position)
).map((element) => element.className)"""


@pytest.mark.parametrize("come", [cloze, pair, desk_with_notice])
def test_in_a_low_window_nothing_keeps_the_words_from_view(page: Page, live_server: Any, come: Any) -> None:
    come(page, live_server)
    assert page.evaluate(STUCK) != []

    page.set_viewport_size(LOW)
    page.evaluate("document.getElementById('trouble').textContent = 'The server could not be reached. '.repeat(9)")

    assert page.evaluate(STUCK) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 320
