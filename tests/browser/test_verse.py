"""Verse on pages: its lines as they were written, and those that turn over hanging."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment
from studies.models import Step, Story, Study
from tests import factories, triggers
from tests.browser.arriving import begin

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]

LONG = "and it was true: you took the ladder, and carried it over your shoulder along the whole length of the dyke"
POEM = f"""Small rain on the tin.
    Small talk of hens.
{LONG}

        O
    rung
by rung"""
PROSE = "She swept the shop at six and unlocked it, and stood behind the counter where the scales had been. " * 3
# The left edges of the lines of an element, in its order.
LEFT_EDGES = """(element) => {
  const range = document.createRange();
  const edges = new Map();
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    for (let i = 0; i < text.data.length; i += 1) {
      if (!text.data[i].trim()) continue;
      range.setStart(text, i);
      range.setEnd(text, i + 1);
      const box = range.getBoundingClientRect();
      const line = Math.round(box.top);
      if (!edges.has(line)) edges.set(line, box.left - element.getBoundingClientRect().left);
    }
  }
  return [...edges.values()];
}"""


@pytest.fixture
def study(committed: None) -> Study:
    study = factories.study(n_stories=2)
    with triggers.lifted():
        Story.objects.update(text=f"{POEM}\n\n{PROSE}")
    return study


def edges(page: Page, selector: str) -> list[float]:
    return [round(edge) for edge in page.locator(selector).first.evaluate(LEFT_EDGES)]


@pytest.mark.parametrize("width", [390, 320])
def test_a_line_that_turns_over_hangs_and_no_line_of_the_poem_does(
    page: Page, live_server: Any, study: Study, width: int
) -> None:
    begin(page, live_server, study)

    page.set_viewport_size({"width": width, "height": 800})

    first, indented, long, *turns = edges(page, "#p1")
    assert (first, long) == (0, 0)
    assert 0 < indented < 30
    assert len(turns) > 1
    assert all(turn > 30 for turn in turns)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    opening, *rest = edges(page, "#p3")
    assert opening > 20
    assert set(rest) == {0}, "prose is indented at its first line"


def test_on_a_telephone_the_number_of_a_stanza_moves_none_of_its_lines(
    page: Page, live_server: Any, study: Study
) -> None:
    begin(page, live_server, study)
    page.set_viewport_size({"width": 390, "height": 800})
    without = edges(page, "#p2")

    page.evaluate("document.documentElement.dataset.numbers = 'on'")

    assert edges(page, "#p2") == without
    number = page.evaluate("getComputedStyle(document.getElementById('p2'), '::before').bottom")
    assert float(number.removesuffix("px")) > 60, "above the three lines of the stanza"


@pytest.mark.parametrize("width", [1024, 1280, 1366])
def test_in_the_margin_of_the_desk_three_figures_have_room(
    page: Page, live_server: Any, study: Study, width: int
) -> None:
    begin(page, live_server, study)
    page.set_viewport_size({"width": width, "height": 768})

    edge, inset, room = page.locator("#p2").evaluate("""(p) => {
      const number = getComputedStyle(p, "::before");
      const edge = p.getBoundingClientRect().left - document.getElementById("story").getBoundingClientRect().left;
      return [edge, parseFloat(number.insetInlineStart), parseFloat(number.width)];
    }""")
    assert edge + inset + room >= 22
    assert inset + room <= -4, "and they do not touch the text"


def test_verse_that_is_quoted_hangs_and_prose_that_is_quoted_does_not(
    page: Page, live_server: Any, study: Study
) -> None:
    begin(page, live_server, study)
    for paragraph in ("p1", "p3"):
        page.evaluate("(id) => getSelection().selectAllChildren(document.getElementById(id))", paragraph)
        page.get_by_role("button", name="Quote this passage").click()
    expect(page.locator("#questions figure.quote")).to_have_count(2)
    expect(page.locator("#status")).to_contain_text("Saved")

    for _ in ("drawn by the script", "by the server"):
        page.set_viewport_size({"width": 390, "height": 800})
        page.get_by_role("tab", name="Questions").click()
        first, _, long, *turns = edges(page, "figure.quote:nth-of-type(1) blockquote")
        assert (first, long) == (0, 0)
        assert min(turns) > 20
        assert set(edges(page, "figure.quote:nth-of-type(2) blockquote")) == {0}
        page.set_viewport_size({"width": 1440, "height": 900})
        page.reload()


@pytest.mark.parametrize("place", ["check", "conflict"])
def test_verse_among_reasons_and_quotations_hangs_where_it_is_reviewed_and_prose_does_not(
    page: Page, live_server: Any, study: Study, place: str
) -> None:
    begin(page, live_server, study)
    page.evaluate("(id) => getSelection().selectAllChildren(document.getElementById(id))", "p1")
    page.get_by_role("button", name="Quote this passage").click()
    page.get_by_label("Your reasons").fill(POEM)
    page.locator("#questions h2").click()
    expect(page.locator("#status")).to_contain_text("Saved")
    assignment = Assignment.objects.get()
    factories.answer(assignment, letter="B", why=f"{PROSE}\n{PROSE}")
    page.goto(f"{live_server.url}/a/{assignment.code}/check/")
    if place == "conflict":
        page.go_back()  # which a page that notes its revisions may end too early
        expect(page.locator("#questions h2")).to_be_visible()
        page.wait_for_load_state()
        factories.answer(assignment, value="no", why="So it is.")
        page.get_by_label("Your reasons").press_sequentially(".")
        page.locator("#questions h2").click()
        expect(page.get_by_role("heading", name="Two versions of one answer")).to_be_visible()

    page.set_viewport_size({"width": 320, "height": 800})
    if place == "conflict":
        page.get_by_role("tab", name="Questions").click()

    for verse in ("blockquote.verse", "q.verse"):
        first, indented, long, *turns = edges(page, f":is(.review-reasons, .versions) {verse}")
        assert first == long
        assert 0 < indented - first < 30
        assert min(turns[:2]) - first > 20
    if place == "check":
        assert len(set(edges(page, ".review-reasons blockquote:not(.verse)"))) == 1
    assert page.evaluate("document.documentElement.scrollWidth") == 320


def test_what_is_written_as_an_answer_keeps_its_lines_where_it_is_reviewed(
    page: Page, live_server: Any, committed: None
) -> None:
    study = factories.study(n_stories=1, comparative=False, planned=False)
    written = factories.instrument("written", n_items=1, type="text", rationale="none", rationale_least=0)
    Step.objects.filter(key="tests").update(instrument=written)
    factories.plan(study)
    begin(page, live_server, study)
    assignment = Assignment.objects.get()
    factories.answer(assignment, value="Whether it stops in time\nWhether it trusts me", why="")

    page.goto(f"{live_server.url}/a/{assignment.code}/check/")

    given = page.locator(".review .given").first
    assert given.inner_text().split("\n") == ["Whether it stops in time", "Whether it trusts me"]
    assert given.bounding_box()["height"] > 30
