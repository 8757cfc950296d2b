"""People, their letters and the monitor: axe in all looks, and a person noted, passed on and replaced by hand."""

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Invitation
from annotation.participation import invitations, people
from studies.models import Study
from tests import factories
from tests.browser.conftest import enter_as_staff, press
from tests.browser.test_accessibility import in_all_looks

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


@pytest.fixture
def study(committed: None) -> Study:
    return factories.study(n_groups=2, n_stories=2, n_items=1, comparative=False)


@pytest.fixture
def lead(page: Page, live_server: Any) -> Page:
    enter_as_staff(page, live_server.url, "/studies/")
    expect(page.locator("h1")).to_have_text("Studies")
    return page


def test_axe_finds_nothing_on_the_pages_of_people(lead: Page, live_server: Any, study: Study) -> None:
    empty = factories.study("pears", n_stories=2, comparative=False)
    noted, sent = people.note(study, people.read_people("Poet, ada@example.org\nNovelist"))
    invitations.hand_over(sent, at=timezone.now())
    assignment = factories.assignment(study, invitations.ensure_rater(sent))
    addresses = [
        *(f"{study.slug}/{page}" for page in ("people/", "people/new/", "people/letters/", "addresses/", "monitor/")),
        *(f"{study.slug}/people/{row.pk}/" for row in (noted, sent)),
        *(f"{study.slug}/addresses/{noted.pk}/", f"{study.slug}/monitor/{assignment.code}/"),
        *(f"{empty.slug}/people/", f"{empty.slug}/monitor/"),
    ]

    problems = {}
    for address in addresses:
        response = lead.goto(f"{live_server.url}/studies/{address}")
        assert response is not None
        assert response.status == 200, address
        problems[address] = in_all_looks(lead)

    assert {address: looks for address, looks in problems.items() if looks} == {}


def test_a_person_is_noted_passed_a_link_and_replaced(lead: Page, live_server: Any, study: Study) -> None:
    lead.goto(f"{live_server.url}/studies/{study.slug}/people/new/")
    lead.get_by_label("People, one a line").fill("Poet, not an address @\nNovelist")
    press(lead, "Note them")
    expect(lead.locator(".error-summary")).to_contain_text("Line 1")
    lead.get_by_label("People, one a line").fill("Novelist")
    press(lead, "Note them")
    press(lead, "Show 1 link to pass on myself")
    link = lead.locator("td code").inner_text()
    assert link.startswith(f"{live_server.url}/r/")
    factories.assignment(study, invitations.ensure_rater(Invitation.objects.get()))

    lead.goto(f"{live_server.url}/studies/{study.slug}/monitor/")
    expect(lead.locator("td.work")).to_contain_text("E01")
    lead.goto(f"{live_server.url}/studies/{study.slug}/people/")
    lead.get_by_role("link", name="Novelist").click()
    press(lead, "Replace by somebody else")

    expect(lead.get_by_label("Shown once: copy it and pass it on")).not_to_have_value(link)
    lead.goto(f"{live_server.url}/studies/{study.slug}/monitor/")
    expect(lead.locator("td.free").filter(has_text="left by E01")).to_have_count(1)
