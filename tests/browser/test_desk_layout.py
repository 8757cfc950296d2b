"""How the desk stands in its window: masthead above, panes that scroll by themselves, the foot below."""

from collections import Counter
from itertools import combinations

import pytest
from playwright.sync_api import Page, expect

from studies.models import Instrument, Step, Story, Study
from tests import factories, triggers
from tests.browser.arriving import begin

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


def top_of(page: Page, selector: str) -> float:
    return float(page.evaluate("(s) => document.querySelector(s).getBoundingClientRect().top", selector))


@pytest.fixture
def study(committed: None) -> Study:
    study = factories.study(n_stories=2, n_items=14)
    with triggers.lifted():
        for story in Story.objects.all():
            Story.objects.filter(pk=story.pk).update(text="\n\n".join([f"{story.text} " * 20] * 12))
    return study


@pytest.mark.parametrize("notice", ["", "Words that all raters see."])
def test_the_foot_stands_below_with_and_without_a_notice(page, live_server, study, notice):
    with triggers.lifted():
        Study.objects.update(notice=notice)
    begin(page, live_server, study)

    foot = page.locator("body > footer").bounding_box()
    assert foot["y"] + foot["height"] == pytest.approx(900, abs=1)
    assert top_of(page, "main") == pytest.approx(page.locator("header.masthead").bounding_box()["height"], abs=60)


def test_a_long_title_leaves_the_masthead_one_row(page, live_server, study):
    with triggers.lifted():
        Study.objects.update(title="A study of everything that has ever been written about plums in an icebox, " * 3)
    begin(page, live_server, study)

    for width in (1440, 1024, 800):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.locator("header.masthead").bounding_box()["height"] < 70, width
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_desk_never_slides_up_under_its_window(page, live_server, study):
    begin(page, live_server, study)

    # Whatever is followed or focused on the desk, only its panes may scroll.
    page.evaluate("""() => {
      for (const element of document.querySelectorAll(".desk *")) element.scrollIntoView({ block: "start" });
      document.scrollingElement.scrollTop = 500;
      document.body.scrollTop = 500;
    }""")

    assert top_of(page, "header.masthead") == 0
    assert page.evaluate("[document.scrollingElement.scrollTop, document.body.scrollTop]") == [0, 0]
    assert page.evaluate("document.documentElement.scrollHeight") == 900
    expect(page.locator("#status")).to_be_attached()


def study_asking(instrument: Instrument) -> Study:
    study = factories.study(n_stories=2, planned=False)
    Step.objects.filter(version__study=study, key="tests").update(instrument=instrument)
    factories.plan(study)
    return study


@pytest.mark.parametrize("notice", ["", "Words that all raters see."])
def test_the_first_question_shows_its_answer_and_the_beginning_of_the_reasons(page, live_server, notice):
    measure = "Ask where the last page comes from, and what prepares it. " * 9
    study = study_asking(factories.instrument("endings", n_items=14, background=measure))
    with triggers.lifted():
        Study.objects.update(notice=notice)
        Step.objects.filter(key="tests").update(text="Answer for the story in front of you.")
        factories.freeze_anew(Study.objects.get())
    begin(page, live_server, study)

    page.set_viewport_size({"width": 1366, "height": 768})

    reasons, foot = (page.locator(place).first.bounding_box() for place in (".rationale textarea", ".pane-foot"))
    assert page.locator(".background div").bounding_box()["height"] > 120
    assert reasons["y"] + 40 < foot["y"]


@pytest.mark.parametrize("width", [1440, 1366, 1280, 1024, 390, 320])
def test_the_words_of_a_scale_never_stand_on_its_points(page, live_server, width):
    settings = {"low": 1, "high": 5, "anchors": {"1": "Implausible", "5": "Undeniably real"}}
    study = study_asking(factories.instrument("scales", n_items=1, type="scale", settings=settings))
    begin(page, live_server, study)

    page.set_viewport_size({"width": width, "height": 800})

    shown = ".scale .points label, .scale > .anchor"
    boxes = page.evaluate(
        "(s) => [...document.querySelectorAll(s)].map((e) => e.getBoundingClientRect().toJSON())", shown
    )
    assert len(boxes) == 7
    for a, b in combinations(boxes, 2):
        is_apart = (
            a["right"] <= b["left"] or b["right"] <= a["left"] or a["bottom"] <= b["top"] or b["bottom"] <= a["top"]
        )
        assert is_apart, (a, b)


@pytest.mark.parametrize("n_points", [11, 8])
@pytest.mark.parametrize(
    ("width", "n_rows", "least"),
    [
        (1440, 1, 44),
        (1400, 1, 44),
        (1366, 1, 44),
        (1280, 1, 24),
        (1100, 1, 24),
        (1024, 1, 24),
        (768, 1, 44),
        (390, 2, 44),
        (320, 2, 44),
    ],
)
def test_the_points_of_a_long_scale_stand_in_one_row_on_a_desk_and_in_two_on_a_telephone(
    page, live_server, n_points, width, n_rows, least
):
    anchors = {"0": "Not at all likely", "5": "Undecided", str(n_points - 1): "Extremely likely"}
    settings = {"low": 0, "high": n_points - 1, "anchors": anchors}
    study = study_asking(factories.instrument("scales", n_items=1, type="scale", settings=settings))
    begin(page, live_server, study)

    page.set_viewport_size({"width": width, "height": 800})
    if (tab := page.get_by_role("tab", name="Questions")).is_visible():
        tab.click()

    points = [point.bounding_box() for point in page.locator(".scale .points label").all()]
    rows = Counter(round(point["y"]) for point in points)
    assert len(rows) == n_rows
    assert max(rows.values()) - min(rows.values()) <= 1, "the rows are equal"
    assert min(point["width"] for point in points) >= least
    assert min(point["height"] for point in points) >= 44
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    pane = page.locator("#questions").bounding_box()
    assert pane["x"] <= points[0]["x"]
    assert max(point["x"] + point["width"] for point in points) <= pane["x"] + pane["width"]


def test_a_long_address_to_write_to_makes_no_page_wider_than_a_telephone(page, live_server, study):
    with triggers.lifted():
        Study.objects.update(contact="write.to.us.about.this.study@department-of-letters.example.org")
    begin(page, live_server, study)

    page.goto(f"{live_server.url}/withdraw/")
    page.set_viewport_size({"width": 320, "height": 640})

    assert page.evaluate("document.documentElement.scrollWidth") == 320


@pytest.mark.parametrize("width", [390, 320])
def test_on_a_telephone_the_letters_of_four_stories_are_as_wide_as_a_finger(page, live_server, committed, width):
    begin(page, live_server, factories.study(n_stories=4))
    page.set_viewport_size({"width": width, "height": 800})

    letters = [letter.bounding_box() for letter in page.locator(".stories li > *").all()]
    assert [round(min(letter["width"], letter["height"])) >= 44 for letter in letters] == [True] * 4
    assert page.locator("header.masthead").bounding_box()["height"] < 70
    assert page.evaluate("document.documentElement.scrollWidth") == width
