"""Words that are wider than a telephone, and verse, on the pages beside the desk."""

from typing import Any

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from annotation.participation import invitations
from studies.models import Step, Story, Study
from tests import factories, triggers
from tests.annotation import clozes
from tests.browser.arriving import begin
from tests.browser.test_verse import edges
from tests.studies.cloze.documents import SHOES

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]

WORD = "Donaudampfschifffahrtsgesellschaftskapitänswitwenrentenauszahlungsstelle, and all that stood below it there:"
POEM = f"""{WORD}
    was what stood on the door,
    and under it: closed

I have heard the bell since,
    over water that is not there"""


def come_in(page: Page, site: Any, study: Study) -> None:
    page.goto(f"{site.url}/r/{invitations.issue(study)[1]}/")
    page.get_by_role("button", name="Continue").click()
    page.set_viewport_size({"width": 320, "height": 640})


def agree(page: Page) -> None:
    page.get_by_label("I have read this and I agree to take part.").check()
    page.get_by_role("button", name="Continue").click()


def width_of(page: Page) -> int:
    """How wide the page is once its style sheets and fonts are there: what is measured earlier is not the page."""
    page.wait_for_load_state()
    page.evaluate("document.fonts.ready.then(() => null)")
    return int(page.evaluate("document.documentElement.scrollWidth"))


def test_a_long_address_in_the_consent_leaves_the_box_its_margin(page: Page, live_server: Any) -> None:
    study = factories.study()
    with triggers.lifted():
        Step.objects.filter(kind="consent").update(
            text="Whom can you ask? write.to.us.about.this.study@department-of-x"
        )
        factories.freeze_anew(study)

    come_in(page, live_server, study)

    label = page.locator("label", has_text="I have read this")
    expect(label).to_be_visible()
    assert width_of(page) == 320
    box = label.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 320 - box["x"]


def test_openings_keep_their_stanzas_and_widen_no_page(page: Page, live_server: Any) -> None:
    study = factories.study(n_stories=2, recognition=True)
    with triggers.lifted():
        Story.objects.update(text=POEM)
    come_in(page, live_server, study)
    agree(page)

    page.get_by_role("button", name="Begin with a group").click()

    opening = page.locator(".opening-lines p").first
    expect(opening).to_have_text(POEM, use_inner_text=True)
    assert width_of(page) == 320
    first, turned, *_ = edges(page, ".opening-lines p")
    assert turned - first > 30


def test_a_story_to_practise_on_widens_no_page_and_samples_keep_their_lines(page: Page, live_server: Any) -> None:
    study = factories.practising_study()
    sample = "The lines break as breath does:\n    small rain,\nsmall talk"
    with triggers.lifted():
        Step.objects.filter(kind="practice").update(story=POEM, samples={"item-2": {"value": "no", "why": sample}})
        factories.freeze_anew(study)
    come_in(page, live_server, study)
    agree(page)
    expect(page.locator("h1")).to_have_text("Practise")
    assert width_of(page) == 320

    page.get_by_role("radio", name="Yes").check()
    page.get_by_label("Your reasons").fill("So it is.")
    page.get_by_role("button", name="Compare with sample answers").click()

    expect(page.locator(".sample-answer").first).to_be_visible()
    assert width_of(page) == 320
    first, indented, last = edges(page, ".sample-answer p:last-child")
    assert 0 < indented - first < 30
    assert last == first


def test_the_verse_of_a_cloze_keeps_its_lines_and_its_prose_runs_on(page: Page, live_server: Any) -> None:
    verse = "Small rain.\n    Small talk of hens,\n        and of\nrung by {{1}}"
    shoes = SHOES.replace("{{1}} and they were", "brown and they were").replace("what kind of shoes", "what kind " * 9)
    study = clozes.study(toml=shoes.replace("Between Basel", f"{verse}\n\nBetween Basel"))

    come_in(page, live_server, study)
    agree(page)
    page.get_by_role("button", name="Begin").click()

    expect(page.locator(".passage-text .verse")).to_have_count(1)
    assert width_of(page) == 320, "a field that turns over hangs, and is no wider for it"
    first, second, third, fourth, *_ = edges(page, ".passage-text .verse")
    assert first == fourth
    assert 0 < second - first < third - second + 1


def test_without_a_connection_the_masthead_of_a_telephone_stays_one_row(page: Page, live_server: Any) -> None:
    begin(page, live_server, factories.study(n_stories=4))
    page.set_viewport_size({"width": 320, "height": 800})
    page.get_by_role("tab", name="Questions").click()
    page.context.set_offline(True)

    page.get_by_role("radio", name="Yes").check()

    expect(page.locator("#status")).to_have_text("Offline, kept on this device")
    masthead = page.locator("header.masthead").bounding_box()
    assert masthead is not None
    assert masthead["height"] < 70
    assert width_of(page) == 320


@pytest.mark.parametrize("width", [390, 320])
def test_whoever_has_to_retry_on_a_telephone_can_and_reads_it_in_full(page: Page, live_server: Any, width: int) -> None:
    begin(page, live_server, factories.study(n_stories=3))
    page.set_viewport_size({"width": width, "height": 800})
    page.get_by_role("tab", name="Questions").click()
    letters = [letter.bounding_box() for letter in page.locator(".stories li").all()]
    Session.objects.all().delete()

    page.get_by_role("radio", name="Yes").check()

    retry = page.get_by_role("button", name="retry")
    box = retry.bounding_box()
    assert box is not None
    assert min(box["width"], box["height"]) >= 44
    assert retry.evaluate("(button) => button.scrollWidth <= button.clientWidth")
    assert [letter.bounding_box() for letter in page.locator(".stories li").all()] == letters
    assert width_of(page) == width


def test_on_a_telephone_the_number_of_a_paragraph_leaves_its_lines_evenly_apart(page: Page, live_server: Any) -> None:
    study = factories.study(n_stories=2)
    with triggers.lifted():
        Story.objects.update(text="\n\n".join(["She swept the shop at six and unlocked it, as before. " * 5] * 3))
    begin(page, live_server, study)
    page.set_viewport_size({"width": 390, "height": 800})
    height = page.locator("#p2").bounding_box()

    page.evaluate("document.documentElement.dataset.numbers = 'on'")

    assert page.locator("#p2").bounding_box()["height"] % height["height"] == 0
