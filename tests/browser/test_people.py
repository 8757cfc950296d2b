"""People, their letters and the monitor: axe in all looks, and a person noted, passed on and replaced by hand."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Invitation, PayRate, ProlificArrival, Rater
from annotation.participation import arrivals, invitations, people
from studies.models import Study
from tests import factories
from tests.annotation.participation.test_applications import apply, call_for
from tests.annotation.participation.test_payments import pay
from tests.annotation.participation.test_recruitment import come, participant, recruit
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

    addresses += _newcomers(study)
    problems = {}
    for address in addresses:
        response = lead.goto(f"{live_server.url}/studies/{address}")
        assert response is not None
        assert response.status == 200, address
        problems[address] = in_all_looks(lead)

    assert {address: looks for address, looks in problems.items() if looks} == {}


def _newcomers(study: Study) -> list[str]:
    """The pages of Prolific, applications and payments, with a row in each; their addresses."""
    row = recruit(study, minutes=60)
    come(row, 1)
    arrivals.arrive(row, participant(2), at=timezone.now())
    apply(call_for(study, text="We look for *poets*."))
    PayRate.objects.create(study=study, currency="€", per_group=45)
    rater = Rater.objects.filter(study=study).earliest("pk")
    pay(rater, "45.00", "T1")
    ways = ("people/prolific/", "people/applications/", "people/applications/1/", "addresses/applicants/")
    return [f"{study.slug}/{page}" for page in (*ways, "payments/", f"payments/of/{rater.code}/")]


def test_axe_finds_nothing_from_the_door_to_the_code_and_where_people_apply(
    page: Page, live_server: Any, study: Study
) -> None:
    row, call = recruit(study, minutes=60), call_for(study)
    door = f"{live_server.url}/p/{row.key}/"
    problems = {}

    page.goto(door)
    problems["foreign"] = in_all_looks(page)
    page.goto(f"{door}?PROLIFIC_PID={'5f' * 12}&SESSION_ID=s")
    press(page, "Continue")
    ProlificArrival.objects.update(session_began_at=timezone.now() - timedelta(minutes=50))
    page.goto(f"{door}?PROLIFIC_PID={'5f' * 12}&SESSION_ID=s")
    press(page, "Continue")
    expect(page.get_by_role("complementary", name="Time", exact=True)).to_be_visible()
    expect(page.get_by_role("complementary", name="Time is over")).to_be_hidden()
    problems["near"] = in_all_looks(page)
    press(page, "I do not agree")
    expect(page.get_by_role("link", name="Go back with this code")).to_have_attribute(
        "href", "https://app.prolific.com/submissions/complete?cc=CNOPE2"
    )
    problems["ended"] = in_all_looks(page)
    page.goto(f"{live_server.url}/join/{call.key}/")
    press(page, "Apply")
    problems["lacking"] = in_all_looks(page)

    assert {state: looks for state, looks in problems.items() if looks} == {}


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
    lead.locator("details.menu summary").click()
    press(lead, "Replace by somebody else")
    press(lead, "Replace them")

    expect(lead.get_by_label("Shown once: copy it and send it")).not_to_have_value(link)
    lead.goto(f"{live_server.url}/studies/{study.slug}/monitor/")
    expect(lead.locator("td.free").filter(has_text="left by E01")).to_have_count(1)
