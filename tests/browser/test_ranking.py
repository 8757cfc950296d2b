"""Putting stories in order, in a real browser: by drag, buttons, arrow keys and position, with and without ties."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Response
from studies.models import Item, Study
from tests import factories, triggers
from tests.browser.arriving import begin, until

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


@pytest.fixture
def study(committed: None) -> Study:
    made = factories.study(n_stories=3, planned=False)
    made.versions.get().steps.exclude(key__in=["consent", "ranking"]).delete()
    factories.plan(made)
    return made


@pytest.fixture
def page_of(page: Page, live_server: Any, study: Study) -> Any:
    def opened(**settings: Any) -> Page:
        with triggers.lifted():
            Item._base_manager.filter(type="ranking").update(settings=settings)
            factories.freeze_anew(study)
        begin(page, live_server, study)
        expect(page.locator(".ranking > li")).to_have_count(3)
        return page

    return opened


def ranked() -> list[str]:
    """What is stored, with stories by letter: ["B", "AC"]."""
    if not (response := Response.objects.first()) or response.value is None:
        return []
    letter = dict(zip(Assignment.objects.get().seat.order, "ABC", strict=True))
    return ["".join(letter[code] for code in rank) for rank in response.value]


def shown(page: Page) -> list[tuple[str, str]]:
    names = [name.removeprefix("Story ") for name in page.locator(".ranking h3").all_inner_texts()]
    return list(zip(page.locator(".ranking .position").all_inner_texts(), names, strict=True))


def test_nothing_has_an_order_before_the_first_move(page_of):
    page = page_of()

    assert shown(page) == [("–", "A"), ("–", "B"), ("–", "C")]
    page.wait_for_timeout(1200)  # longer than a save waits for more to be typed
    assert (ranked(), Response.objects.count()) == ([], 0)
    expect(page.locator("#status")).to_be_empty()


def test_a_story_is_moved_by_its_button_and_the_move_is_said(page_of):
    page = page_of()
    page.get_by_role("button", name="Move story C up").click()

    until(page, ranked, ["A", "C", "B"])
    assert shown(page) == [("1", "A"), ("2", "C"), ("3", "B")]
    expect(page.locator("[data-announces]")).to_have_text("Story C is now at position 2 of 3.")
    expect(page.get_by_role("button", name="Move story C up")).to_be_focused()
    page.keyboard.press("ArrowUp")
    until(page, ranked, ["C", "A", "B"])
    expect(page.get_by_role("button", name="Move story C down")).to_be_focused()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    until(page, ranked, ["A", "B", "C"])


def test_a_story_is_dragged_to_its_place(page_of):
    page = page_of()

    page.locator(".ranking > li").nth(2).drag_to(page.locator(".ranking > li").nth(0))

    until(page, ranked, ["C", "A", "B"])
    page.reload()
    assert shown(page) == [("1", "C"), ("2", "A"), ("3", "B")]


def test_a_story_is_put_to_a_position_and_the_others_make_room(page_of):
    page = page_of()

    page.get_by_label("Position of story A").select_option("3")

    until(page, ranked, ["B", "C", "A"])
    expect(page.get_by_label("Position of story A")).to_be_focused()
    page.get_by_label("Position of story A").select_option("")
    until(page, ranked, [])
    assert {position for position, _ in shown(page)} == {"–"}


def test_with_ties_positions_stay_as_they_are_chosen_and_are_kept_when_all_have_one(page_of):
    page = page_of(ties=True)
    page.get_by_label("Position of story C").select_option("1")
    expect(page.locator("[data-announces]")).to_have_text("Still without a position: Story A and Story B.")
    page.get_by_label("Position of story A").select_option("2")
    assert ranked() == []

    page.get_by_label("Position of story B").select_option("2")

    until(page, ranked, ["C", "AB"])
    expect(page.locator("[data-announces]")).to_have_text("Story B is now at position 2 of 3, level with Story A.")
    page.reload()
    assert shown(page) == [("1", "C"), ("2", "A"), ("2", "B")]


def test_with_ties_a_step_leads_into_the_rank_above_and_the_next_one_out_of_it(page_of):
    page = page_of(ties=True)
    up = page.get_by_role("button", name="Move story C up")
    orders = []
    for wanted in (["A", "BC"], ["A", "C", "B"], ["AC", "B"], ["C", "A", "B"]):
        up.click()
        until(page, ranked, wanted)
        orders.append(shown(page))

    assert orders[0] == [("1", "A"), ("2", "B"), ("2", "C")]
    assert orders[3] == [("1", "C"), ("2", "A"), ("3", "B")]
    expect(up).to_be_disabled()


def test_with_ties_a_story_dropped_between_two_of_one_rank_joins_them(page_of):
    page = page_of(ties=True)
    for letter, position in (("A", "1"), ("B", "1"), ("C", "3")):
        page.get_by_label(f"Position of story {letter}").select_option(position)
    until(page, ranked, ["AB", "C"])

    page.locator(".ranking > li").nth(2).drag_to(page.locator(".ranking > li").nth(1))

    until(page, ranked, ["ABC"])


def test_a_ranking_that_is_locked_shows_its_order_and_nothing_to_move_it_by(page_of: Any) -> None:
    page = page_of()
    page.get_by_role("button", name="Move story B up").click()
    until(page, ranked, ["B", "A", "C"])
    Assignment.objects.update(locked_before=99)

    page.reload()

    assert page.locator(".ranking h3").all_inner_texts() == ["Story B", "Story A", "Story C"]
    assert page.locator(".position").all_inner_texts() == ["1", "2", "3"]
    for control in (".moves", ".handle"):
        assert not any(part.is_visible() for part in page.locator(control).all())
