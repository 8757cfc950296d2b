"""Launch: prose of the very document that is frozen, one button, and what was read is what is launched."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from annotation.design import launches
from studies import lifecycle, protocol
from studies.models import Step, Study
from tests import factories
from tests.factories import NOON
from tests.threads import at_once

pytestmark = pytest.mark.django_db
ADDRESS = "/studies/plums/launch/"


@pytest.fixture
def study() -> Study:
    return factories.study(planned=False, state=Study.State.DRAFT)


@pytest.fixture
def designer(client: Client) -> Client:
    client.force_login(factories.staff("designer"))
    return client


def fields_of(page: str) -> dict[str, str]:
    names = dict(re.findall(r'<input type="hidden" name="(as_read|read-\w+)" value="(\w+)">', page))
    return {**names, "action": "launch", "read": "yes"}


def read(client: Client) -> str:
    return client.get(ADDRESS).content.decode()


def test_the_page_says_what_is_frozen_and_launches_it_whole(designer: Client, study: Study) -> None:
    page = read(designer)

    answer = designer.post(ADDRESS, fields_of(page), follow=True).content.decode()

    assert "4 stories of" in page
    assert "3 people read each group: 3 places." in page
    assert "“The tests”: about each story they answer the 2 questions" in page
    assert "You can stop at any time." in page, "the words of the consent"
    launched = Study.objects.get()
    assert (launched.state, launched.seats.count()) == ("live", 3)
    assert launched.versions.get().sha256 in page
    assert "The study is live." in answer
    assert LogEntry.objects.get().change_message == "launched"


def test_the_same_prose_is_a_file_of_text_with_what_raters_read_in_full(designer: Client, study: Study) -> None:
    draft = designer.get(f"{ADDRESS}protocol.txt")
    designer.post(ADDRESS, fields_of(read(designer)))

    launched = designer.get(f"{ADDRESS}protocol.txt").content.decode()

    assert draft["Content-Disposition"] == 'attachment; filename="plums-protocol.txt"'
    assert draft.content.decode().startswith(f"{study.title}\n{'=' * len(study.title)}\n\nA draft of version 1")
    assert f"SHA-256 of the protocol: {Study.objects.get().versions.get().sha256}" in launched
    assert "\n3 people read each group: 3 places.\n" in launched
    assert "\n    You can stop at any time.\n" in launched, "the words of the consent"


def test_what_raters_are_promised_as_pay_stands_in_the_protocol(designer: Client, study: Study) -> None:
    without = read(designer)

    Study.objects.update(pay="€ 45", pay_for_part="half of it")
    page = read(designer)

    assert "They are not told about pay." in without
    assert "Pay: € 45" in page
    assert "Pay for a part: half of it" in page


def test_what_stands_in_the_way_is_said_above_the_protocol_too(designer: Client, study: Study) -> None:
    assert "#errors-h" not in read(designer)

    study.groups.all().delete()
    page = read(designer)

    assert page.index('<a href="#errors-h">') < page.index('id="protocol-h"') < page.index('id="errors-h"')


def test_unread_it_is_not_launched(designer: Client, study: Study) -> None:
    fields = fields_of(read(designer))

    unticked = designer.post(ADDRESS, {n: v for n, v in fields.items() if n != "read"})
    unseen = designer.post(ADDRESS, {"action": "launch", "read": "yes"})

    assert (unticked.status_code, unseen.status_code) == (409, 409)
    assert Study.objects.get().is_draft


CHANGES = {
    "steps": lambda study: Step.objects.filter(key="consent").update(text="Another text."),
    "texts": lambda study: study.stories.first().groups.clear(),
    "who": lambda study: Study.objects.update(closes_at=NOON + timedelta(days=900)),
    "layout": lambda study: Study.objects.update(seats_per_group=4),
    "study": lambda study: Study.objects.update(analysis_plan={"outcome": "verdicts", "reference": "Source 1"}),
}


@pytest.mark.parametrize("section", CHANGES)
def test_what_was_changed_while_it_was_read_is_not_launched_but_marked(
    designer: Client, study: Study, section: str
) -> None:
    fields = fields_of(read(designer))
    CHANGES[section](study)

    answer = designer.post(ADDRESS, fields)
    page = answer.content.decode()

    assert answer.status_code == 409
    assert "Not launched: the study was changed" in page
    assert page.count("Changed since you opened the page") == 1
    now = Study.objects.get()
    assert (now.state, now.seats.count(), now.versions.get().frozen_at) == ("draft", 0, None)
    assert designer.post(ADDRESS, fields_of(page)).status_code == 302, "read again, it is launched"


def test_with_errors_there_is_no_button_but_each_with_its_link(designer: Client, study: Study) -> None:
    fields = fields_of(read(designer))
    Step.objects.filter(key="consent").delete()

    page = read(designer)
    answer = designer.post(ADDRESS, fields)

    assert "One problem blocks the launch" in page
    assert "It does not ask for consent" in page
    assert 'class="principal"' not in page
    assert "Not launched. The problems that block it" in answer.content.decode()
    assert Study.objects.get().is_draft


def test_who_launches_second_is_told(designer: Client, study: Study) -> None:
    fields = fields_of(read(designer))
    launches.launch(study, by="somebody", at=NOON)

    answer = designer.post(ADDRESS, fields)

    assert answer.status_code == 409
    assert "Somebody else has just launched it." in answer.content.decode()


def test_of_four_who_launch_what_they_read_at_once_one_does(committed: None) -> None:
    study = factories.study(planned=False, state=Study.State.DRAFT)
    document = protocol.write_document(protocol.read_rows(protocol.latest(study)))
    as_read = launches.fingerprint(study, document)
    copies = [Study.objects.get(pk=study.pk) for _ in range(4)]

    outcomes = at_once(
        *(lambda copy=copy: launches.launch(copy, by="tests", at=NOON, as_read=as_read) for copy in copies)
    )

    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["NotReady"] * 3 + ["Study"]
    assert Study.objects.get().is_live


def test_of_a_launch_and_a_change_at_once_nothing_is_launched_that_was_not_read(committed: None) -> None:
    study = factories.study(planned=False, state=Study.State.DRAFT)
    document = protocol.write_document(protocol.read_rows(protocol.latest(study)))
    as_read = launches.fingerprint(study, document)

    at_once(
        lambda: launches.launch(Study.objects.get(), by="tests", at=NOON, as_read=as_read),
        lambda: Step.objects.filter(key="consent").update(text="Another text."),
    )

    study.refresh_from_db()
    version = study.versions.get()
    assert (study.is_live, version.document) in [(True, document), (False, "")]


def test_pause_resume_and_close_which_asks_for_the_title(designer: Client) -> None:
    study = factories.study()
    states = []
    for fields in (
        {"action": "pause"},
        {"action": "resume"},
        {"action": "close", "title": "plums"},
        {"action": "close", "title": "Fourteen tests of a story"},
        {"action": "resume"},
    ):
        status = designer.post(ADDRESS, fields).status_code
        study.refresh_from_db()
        states.append((status, study.state))

    assert states == [(302, "paused"), (302, "live"), (409, "live"), (302, "closed"), (409, "closed")]
    assert sorted(LogEntry.objects.values_list("change_message", flat=True)) == ["closed", "paused", "resumed"]
    assert not lifecycle.may_invite(study)


def test_a_draft_that_judges_have_read_can_be_closed_without_raters(designer: Client, study: Study) -> None:
    Step.objects.filter(kind=Step.Kind.CONSENT).delete()
    before = read(designer)
    factories.freeze(study)

    page = read(designer)
    refused = designer.post(ADDRESS, {"action": "close", "title": "plums"})
    closed = designer.post(ADDRESS, {"action": "close", "title": study.title}, follow=True)

    assert ("Close it without raters" in before, "Close it without raters" in page) == (False, True)
    assert (refused.status_code, closed.status_code) == (409, 200)
    assert "The study is closed." in closed.content.decode()
    assert Study.objects.get().state == "closed"
    assert LogEntry.objects.get().change_message == "closed"


def test_a_coordinator_reads_it_and_launches_nothing(client: Client, study: Study) -> None:
    client.force_login(factories.staff("coordinator"))
    page = read(client)

    assert "3 people read each group" in page
    assert "Source 1" not in page
    assert "<form" not in page.split('id="main"')[1].split("</main>")[0]


@pytest.mark.parametrize("n", [1, 3])
def test_the_page_takes_as_many_queries_for_one_group_as_for_three(
    designer: Client, django_assert_num_queries: Any, n: int
) -> None:
    factories.study(n_groups=n, planned=False, state=Study.State.DRAFT)

    with django_assert_num_queries(30):
        read(designer)
