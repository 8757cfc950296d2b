"""Changes: axe in all looks, and a wording that is changed by hand and read by somebody at work."""

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.design import amendments
from annotation.design.amendments import HoldsFor, Wish
from annotation.models import LaterVersion
from studies.models import Amendment, Study
from studies.protocol.amendments import AmendableState, state_of
from tests import factories
from tests.browser.conftest import enter_as_staff, press
from tests.browser.test_accessibility import in_all_looks

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


@pytest.fixture
def study(committed: None) -> Study:
    return factories.study(n_stories=2, n_items=1, comparative=False)


@pytest.fixture
def lead(page: Page, live_server: Any) -> Page:
    enter_as_staff(page, live_server.url, "/studies/")
    expect(page.locator("h1")).to_have_text("Studies")
    return page


def test_axe_finds_nothing_on_changes_and_nothing_is_wider_than_the_screen(
    lead: Page, live_server: Any, study: Study
) -> None:
    state, _protocol = state_of(study)
    wish = Wish(AmendableState(state.values | {"notice": "A pilot."}, state.words), "Asked for.", HoldsFor.EVERYBODY)
    amendments.amend(study, wish, by="root", at=timezone.now())
    draft = factories.study("pears", state=Study.State.DRAFT, n_stories=2, comparative=False)

    problems = {}
    for address in (f"{study.slug}/changes/", f"{study.slug}/monitor/", f"{draft.slug}/changes/"):
        lead.goto(f"{live_server.url}/studies/{address}")
        problems[address] = in_all_looks(lead)
    lead.goto(f"{live_server.url}/studies/{study.slug}/changes/")
    lead.get_by_label("Notice").fill("No pilot any more.")
    press(lead, "Show the difference")  # with no reason yet
    problems["compared"] = in_all_looks(lead)

    assert {address: looks for address, looks in problems.items() if looks} == {}
    for width in (390, 1440):
        lead.set_viewport_size({"width": width, "height": 900})
        assert lead.evaluate("document.documentElement.scrollWidth") == width


def test_a_wording_is_changed_by_hand_for_those_at_work(lead: Page, live_server: Any, study: Study) -> None:
    assignment = factories.assignment(study)
    lead.goto(f"{live_server.url}/studies/{study.slug}/changes/")

    lead.locator("summary", has_text="Consent").click()
    lead.get_by_label("“Consent”: text").fill("You can stop at any time, and come back.")
    lead.get_by_label("Everyone").check()
    lead.get_by_label("Reason").fill("Two raters asked.")
    press(lead, "Show the difference")
    expect(lead.locator("ins")).to_have_text("added: time, and come back.")
    assert not Amendment.objects.exists()
    press(lead, "Change it")

    expect(lead.get_by_text("Two raters asked.").first).to_be_visible()
    assignment.refresh_from_db()
    assert assignment.version.number == 2
    assert LaterVersion.objects.get().assignment == assignment
