"""Changes: the difference before anything is written, one amendment for one wish, and what raters then read."""

import html
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.design import amendments
from annotation.design.amendments import HoldsFor, Wish
from annotation.models import Assignment
from annotation.participation import claims, consents, invitations, mails, replacements
from studies import protocol
from studies.models import Amendment, Study
from studies.protocol.amendments import AmendableState, state_of
from tests import factories
from tests.annotation import walk

pytestmark = pytest.mark.django_db
ADDRESS = "/studies/plums/changes/"
OTHER_WORDS = "You can stop at any time, and come back."


@pytest.fixture
def study() -> Study:
    return factories.study()


@pytest.fixture
def designer(client: Client) -> Client:
    client.force_login(factories.staff("designer"))
    return client


def fields_of(client: Client, **more: Any) -> dict[str, Any]:
    """What the form of the page posts if nobody changes it, and these fields."""
    form = client.get(ADDRESS).context["form"]
    values = {field.html_name: field.value() for field in form}
    posted = {name: "" if value is None else value for name, value in values.items() if name != "pay_is_no_less"}
    return posted | {"seen": form.seen_value, "reason": "Two raters asked."} | more


def amend(study: Study, *, holds_for: str = HoldsFor.EVERYBODY, consent: str = "", **values: Any) -> Amendment:
    state, _protocol = state_of(study)
    words = {key: dict(of_step) for key, of_step in state.words.items()}
    words["consent"]["text"] = consent or words["consent"]["text"]
    wish = Wish(AmendableState(state.values | values, words), "Two raters asked.", holds_for)
    return amendments.amend(study, wish, by="lead", at=timezone.now())


def test_the_difference_is_shown_in_words_before_anything_is_written(designer: Client, study: Study) -> None:
    fields = fields_of(designer, **{"text-consent": OTHER_WORDS, "action": "compare"})

    page = designer.post(ADDRESS, fields).text

    words = re.sub(r"<span class=\"visually-hidden\"[^>]*>[^<]*</span>", "", html.unescape(page)).replace("\n  >", ">")
    assert "You can stop at any<del> time.</del><ins> time, and come back.</ins>" in words
    assert not Amendment.objects.exists()


def test_a_change_stands_on_the_page_with_its_reason_and_in_the_log(designer: Client, study: Study) -> None:
    fields = fields_of(designer, **{"text-consent": OTHER_WORDS, "notice": "Pilot.", "action": "amend"})

    page = designer.post(ADDRESS, fields, follow=True).text

    assert "Two raters asked." in page
    assert "Applies to those who began after it" in page
    amendment = Amendment.objects.get()
    assert (amendment.version and amendment.version.number, amendment.by, amendment.notice) == (2, "designer", "Pilot.")
    assert LogEntry.objects.get().change_message == "amended (notice, step consent text): Two raters asked."


def test_a_double_click_is_one_change(designer: Client, study: Study) -> None:
    fields = fields_of(designer, notice="Pilot.", action="amend")
    designer.post(ADDRESS, fields)

    answer = designer.post(ADDRESS, fields, follow=True)

    assert "This is the same as now" in answer.text
    assert Amendment.objects.count() == 1


def test_the_second_of_two_is_shown_what_the_first_has_changed(designer: Client, study: Study) -> None:
    fields = fields_of(designer, contact="second@example.org", action="amend")
    amend(study, notice="Of the first.")

    answer = designer.post(ADDRESS, fields)

    assert answer.status_code == 400
    assert "Someone else saved this page after you opened it." in answer.text
    assert "Of the first." in answer.text
    assert Amendment.objects.count() == 1


def test_what_stands_in_the_way_is_said_at_the_field(designer: Client, study: Study) -> None:
    factories.assignment(study)
    soon = (timezone.now() + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")

    answer = designer.post(ADDRESS, fields_of(designer, closes_at=soon, action="amend"))

    assert answer.status_code == 400
    assert (
        "the deadline would be earlier than 1 person at work was told" in answer.context["form"].errors["closes_at"][0]
    )
    assert not Amendment.objects.exists()


def test_whoever_has_left_their_place_stands_in_no_way_and_is_not_counted_at_work(
    designer: Client, study: Study
) -> None:
    place = factories.assignment(study)
    kept = {"study": study, "rater": place.rater, "version": place.version, "rater_kind": place.rater_kind}
    Assignment.objects.create(**kept, status=Assignment.Status.OPEN)  # what is asked once, outside of all places
    replacements.give_back(place, at=timezone.now())
    soon = (timezone.now() + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")

    page = " ".join(designer.get(ADDRESS).text.split())
    answer = designer.post(ADDRESS, fields_of(designer, closes_at=soon, action="amend"))

    assert "1 person has begun, 0 at work now." in page
    assert answer.status_code == 302
    assert Amendment.objects.count() == 1


def test_a_text_that_a_browser_sends_with_its_own_ends_of_lines_is_the_same_text(designer: Client) -> None:
    study = factories.study(planned=False)
    study.versions.get().steps.filter(key="consent").update(text="One.\n\nTwo.\n")
    factories.plan(study)
    fields = fields_of(designer, **{"text-consent": "One.\r\n\r\nTwo.", "action": "compare"})

    assert "This is the same as now." in designer.post(ADDRESS, fields).text


@pytest.mark.parametrize("state", ["draft", "closed"])
def test_what_is_not_launched_or_closed_has_no_form(designer: Client, study: Study, state: str) -> None:
    fields = fields_of(designer, notice="Pilot.", action="amend")
    Study.objects.filter(pk=study.pk).update(state=state)

    page = designer.get(ADDRESS)
    designer.post(ADDRESS, fields)

    assert page.context["form"] is None
    assert not Amendment.objects.exists()


@pytest.mark.parametrize("n_amendments", [1, 3])
def test_the_page_takes_as_many_queries_for_one_change_as_for_three(
    designer: Client,
    study: Study,
    n_amendments: int,
    django_assert_num_queries: Callable[[int], AbstractContextManager[object]],
) -> None:
    for n in range(n_amendments):
        amend(study, notice=f"Notice {n}.")
    designer.get(ADDRESS)

    with django_assert_num_queries(15):
        designer.get(ADDRESS)


# ── what raters then read ────────────────────────────────────────────────────────────────────────────────────────────


def at_work(client: Client, study: Study) -> Assignment:
    """The rater of this browser, who has agreed and begun."""
    rater = walk.come_in(client, study)
    client.post("/consent/", {"agrees": "yes"})
    return claims.claim(rater)


def test_who_agreed_to_other_words_sees_the_difference_and_is_asked_anew(client: Client, study: Study) -> None:
    assignment = at_work(client, study)
    amend(study, consent=OTHER_WORDS)

    away = client.get(walk.address(assignment))
    page = client.get(away.url)

    assert away.url == "/consent/"
    assert "This text has changed since you agreed to it" in page.text
    assert "time, and come back.</ins>" in page.text
    client.post("/consent/", {"agrees": "yes"})
    assert client.get(walk.address(assignment)).status_code == 200
    assert assignment.rater.consents.count() == 2


def test_what_stands_on_an_open_page_is_kept_though_the_consent_has_changed(client: Client, study: Study) -> None:
    assignment = at_work(client, study)
    amend(study, consent=OTHER_WORDS)

    answer = walk.give(client, assignment, htmx=True, go="next")

    assert answer.headers["HX-Redirect"] == "/consent/"
    assert walk.said(assignment) == [("yes", "It is so.")]


def test_what_changed_for_everybody_stands_on_the_overview(client: Client) -> None:
    study = factories.study(planned=False)
    study.versions.get().steps.filter(key="tests").update(text="Read it twice.")
    factories.plan(study)
    assignment = at_work(client, study)
    state, _protocol = state_of(study)
    words = {key: dict(of_step) for key, of_step in state.words.items()}
    words["tests"]["text"] = "Read it once."
    wish = Wish(AmendableState(state.values, words), "A slip.", HoldsFor.EVERYBODY)
    amendments.amend(study, wish, by="lead", at=timezone.now())

    overview = client.get(reverse("annotation:overview", args=[assignment.code])).text
    desk = client.get(walk.address(assignment)).text

    assert "Changed since you began" in overview
    assert "once.</ins>" in overview
    assert "Read it once." in desk


def test_the_link_of_somebody_who_has_begun_says_what_they_were_promised(client: Client) -> None:
    study = factories.study(planned=False)
    Study.objects.filter(pk=study.pk).update(pay="€ 45")
    factories.plan(study)
    study.refresh_from_db()
    invitation, token = invitations.issue(study)
    rater = invitations.ensure_rater(invitation)
    consents.record_consent(rater, protocol.current(study).steps.get(key="consent"))
    claims.claim(rater)
    _other, other_token = invitations.issue(study)

    amend(study, holds_for=HoldsFor.NEWCOMERS, pay="€ 40")

    assert "€ 45" in client.get(reverse("annotation:invitation", args=[token])).text
    assert "€ 40" in client.get(reverse("annotation:invitation", args=[other_token])).text


def test_mails_name_the_deadline_that_holds_now(study: Study) -> None:
    invitation, _token = invitations.issue(study)
    amend(study, closes_at=timezone.now().replace(year=2031, month=5, day=4))
    invitation.refresh_from_db()

    letter = mails.load_letter(study, "invitation")

    assert "2031" in str(mails.fill(letter, invitation, link="https://example.org"))


# ── the monitor's buttons ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_study_is_paused_resumed_and_closed_from_its_monitor(designer: Client, study: Study) -> None:
    address = "/studies/plums/monitor/"

    paused = designer.post(address, {"action": "pause"}, follow=True)
    resumed = designer.post(address, {"action": "resume"}, follow=True)
    unnamed = designer.post(address, {"action": "close", "title": "Another"})
    closed = designer.post(address, {"action": "close", "title": study.title}, follow=True)

    assert "The study is paused." in paused.text
    assert "The study is live again." in resumed.text
    assert unnamed.status_code == 409
    assert "that is not the title of the study" in unnamed.text
    assert "The study is closed." in closed.text
    assert not re.search(r'name="action"', closed.text), "It cannot be reopened"
