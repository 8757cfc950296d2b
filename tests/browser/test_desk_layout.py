"""How the desk stands in its window: masthead above, panes that scroll by themselves, the foot below."""

import pytest
from playwright.sync_api import Page, expect

from studies.models import Story, Study
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
