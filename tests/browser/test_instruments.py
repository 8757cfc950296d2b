"""Every built-in instrument and every item type as its raters meet it: nothing scrolls sideways, axe finds nothing, and
every target is large enough for a finger."""

from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from studies import items
from studies.documents.instrument import read_instrument
from studies.items import find_type
from studies.loader import load_instrument
from studies.models import Instrument, Item, ProtocolVersion, Step, StoryGroup, Study
from tests import factories
from tests.browser import test_accessibility
from tests.browser.arriving import begin

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
FILES = sorted((settings.BASE_DIR / "studies" / "instruments").glob("*.toml"))
TARGET = 44  # px; links within a sentence are excepted, as WCAG does
# What would be too small: shown controls, or the labels that are their targets, but for links in running text.
SMALL = """([least]) => [...document.querySelectorAll("main :is(button, select, textarea, summary, input, a[href])")]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.closest(".visually-hidden, .skip"))
  .filter((each) => !(each.matches("a") && each.closest("p, .story")))
  .map((each) => (each.matches("[type=radio], [type=checkbox]") ? each.closest("label") : each))
  .filter((each) => Math.min(each.getBoundingClientRect().height, each.getBoundingClientRect().width) < least - 0.5)
  .map((each) => each.outerHTML.slice(0, 120))"""


def study(instruments: list[Instrument], scope: str) -> Study:
    """One group of two stories, and a step for each instrument."""
    made = Study.objects.create(
        slug="all", title="Everything that is asked", state="live", seats_per_group=1, asks_recognition=False
    )
    group = StoryGroup.objects.create(study=made, code="plot1")
    group.stories.set([factories.story(made, f"s{n}", text="It began on a Saturday.\n\nIt ended.") for n in (1, 2)])
    version = ProtocolVersion.objects.create(study=made, number=1)
    Step.objects.create(version=version, position=1, key="consent", kind="consent", text="You can stop at any time.")
    for position, instrument in enumerate(instruments, start=2):
        about = "group" if any(find_type(item.type).about_stories for item in instrument.items.all()) else scope
        asked = {
            "key": f"step-{position}",
            "kind": "rating",
            "title": str(instrument),
            "instrument": instrument,
            "scope": about,
        }
        Step.objects.create(version=version, position=position, background="above", **asked)
    factories.plan(made)
    return made


def one_of_each_type() -> Instrument:
    """An item of every type that stands on the desk, scales of every length among them."""
    made = Instrument.objects.create(slug="types", version="1", title="Types", fingerprint="0" * 64)
    asked = [
        kind.example["item"] | {"type": name} for name, kind in items.all_types().items() if not kind.about_stories
    ]
    asked += [
        {
            "key": f"points-{n}",
            "type": "scale",
            "question": f"How much, in {n} points?",
            "settings": {
                "low": 0,
                "high": n - 1,
                "anchors": {"0": "Not in the least", str(n - 1): "To the highest degree"},
            },
        }
        for n in (2, 7, 9, 11)
    ]
    Item.objects.bulk_create(
        Item(instrument=made, position=n, rationale="optional", suggested="one or two sentences", **each)
        for n, each in enumerate(asked, start=1)
    )
    Instrument.objects.update(status="published")
    return made


def faults(page: Page, width: int) -> list[Any]:
    found: list[Any] = [("axe", fault) for fault in test_accessibility.faults(page)]
    if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
        found.append(("wide", wide))
    return found + [("small", html) for html in page.evaluate(SMALL, [TARGET])]


@pytest.mark.parametrize("width", [320, 390, 1440])
def test_every_item_type_fits_on_the_desk(page, live_server, width):
    page.set_viewport_size({"width": width, "height": 900})
    instrument = one_of_each_type()
    begin(page, live_server, study([instrument], "story"))
    if page.get_by_role("tab", name="Questions").is_visible():
        page.get_by_role("tab", name="Questions").click()

    found = {}
    for item in instrument.items.all():
        expect(page.locator("#questions h2")).to_have_text(item.question)
        found[item.key] = faults(page, width)
        page.locator("button[value=next]").click()

    assert {key: wrong for key, wrong in found.items() if wrong} == {}
    assert len(found) == 11


@pytest.mark.parametrize("width", [390, 1440])
def test_every_instrument_fits_on_one_page(page, live_server, width):
    page.set_viewport_size({"width": width, "height": 900})
    loaded = [load_instrument(read_instrument(file)) for file in FILES]
    begin(page, live_server, study(loaded, "stories"))

    assert page.locator(".item[data-saves]").count() > 80, "two stories with every item, and the comparisons"
    assert faults(page, width) == []
