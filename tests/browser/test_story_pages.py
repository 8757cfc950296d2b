"""The pages of one story and of one rater in a browser: by keyboard, in all looks, on a telephone, without scripts."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from annotation.models import Response
from reports import results
from studies.models import Story, Study
from tests import triggers
from tests.browser.conftest import enter_as_staff
from tests.browser.test_accessibility import in_all_looks
from tests.factories import NOON
from tests.reports.test_pages import full_study

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
VERSE = "Fog lay on the quay.\n\n    A line of verse\n  and one more,\nthe last."


@pytest.fixture
def study(committed: None) -> Study:
    """A closed study of four stories; p1s1 ends in verse, of which one reason quotes a passage."""
    study = full_study()
    with triggers.lifted():
        Story.objects.filter(study=study, code="p1s1").update(text=VERSE)
    rows = Response.objects.filter(assignment__rater__code="plumsE01", story__code="p1s1", item__key="item-1")
    quoted = {"paragraph": 2, "start": 22, "end": 34, "text": "and one more"}
    rows.filter(step__key="tests").update(rationale="The turn comes too soon.", quotes=[quoted])
    # Else the first page waits for it, on a busy machine longer than a browser does.
    results.ensure_report(study, at=NOON, by="tests")
    return study


def test_from_the_list_to_an_answer_its_reason_and_its_passage(page: Page, live_server: Any, study: Study) -> None:
    enter_as_staff(page, live_server.url, "/reports/plums/story-list/")
    page.get_by_label("Order").select_option(label="Highest first")
    page.get_by_role("button", name="Show").press("Enter")
    expect(page).to_have_url(f"{live_server.url}/reports/plums/story-list/?group=&outcome=tests&order=highest")

    page.get_by_role("link", name="p1s1", exact=True).press("Enter")
    page.get_by_role("link", name="plumsE01 Yes").first.press("Enter")
    expect(page.locator(".reason:target")).to_contain_text("The turn comes too soon.")
    page.locator(".reason:target .passage").press("Enter")

    expect(page.locator("mark:target")).to_contain_text("and one more")
    assert page.locator("#p2").evaluate("e => getComputedStyle(e).whiteSpace") == "pre-wrap"


def test_axe_finds_nothing_on_them(page: Page, live_server: Any, study: Study) -> None:
    story, rater = study.stories.get(code="p1s1"), study.raters.get(code="plumsE01")
    enter_as_staff(page, live_server.url, "/reports/plums/story-list/")
    faults = {}
    for path in ("story-list", f"story/{story.pk}", "rater-list", f"rater/{rater.pk}"):
        page.goto(f"{live_server.url}/reports/plums/{path}/")
        faults[path] = in_all_looks(page)

    assert {path: looks for path, looks in faults.items() if looks} == {}


def test_without_scripts_on_a_telephone_nothing_is_wider_than_the_screen(
    chromium: Browser, page: Page, live_server: Any, study: Study
) -> None:
    story, rater = study.stories.get(code="p1s1"), study.raters.get(code="plumsE01")
    enter_as_staff(page, live_server.url, "/reports/plums/story-list/")
    context = chromium.new_context(java_script_enabled=False, storage_state=page.context.storage_state())
    plain = context.new_page()
    plain.set_viewport_size({"width": 390, "height": 844})
    for path, words in ((f"story/{story.pk}", "Where it stands"), (f"rater/{rater.pk}", "To ask about")):
        plain.goto(f"{live_server.url}/reports/plums/{path}/")
        expect(plain.get_by_role("heading", name=words)).to_be_visible()
        width = plain.locator("html").bounding_box()
        assert width is not None
        assert width["width"] <= 390
    context.close()
