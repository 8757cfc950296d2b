"""The pages of people and of the monitor: who sees what, what the buttons do, and how much it costs."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Identity, Invitation, InvitationMail, MailTemplate, StepTaken
from annotation.participation import claims, invitations, mails, people
from annotation.progress import monitor
from studies.models import Membership, Step, Study
from tests import factories, triggers

pytestmark = pytest.mark.django_db
LINES = "Novelist 1, Ada Byron, ada@example.org\nPoet\nCritic, cy@example.org"


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mails.current_app, "send_task", lambda *args, **more: None)


@pytest.fixture
def study() -> Study:
    return factories.study(n_groups=2, n_stories=2, n_items=1, comparative=False)


def client_of(study: Study, role: str) -> Client:
    client = Client()
    user = User.objects.create_user(f"a {role}", is_staff=True)
    Membership.objects.create(study=study, user=user, role=role)
    client.force_login(user)
    return client


def at(study: Study, page: str, *args: object) -> str:
    return reverse(f"designer:{page}", args=[study.slug, *args])


def links_in(response: Any) -> list[str]:
    return re.findall(r"http://testserver/r/([\w-]{43})/", response.content.decode())


def test_a_lead_types_addresses_and_afterwards_sees_labels_only(study: Study) -> None:
    lead, steward = client_of(study, "lead"), client_of(study, "steward")

    assert lead.post(at(study, "add_people"), {"lines": LINES}).status_code == 302

    first = Invitation.objects.get(label="Novelist 1")
    pages = [at(study, "people"), at(study, "person", first.pk), at(study, "letters"), at(study, "monitor")]
    for page in pages:
        content = lead.get(page).content.decode()
        assert not re.search("Ada Byron|ada@|cy@", content), page
    assert lead.get(at(study, "addresses")).status_code == 403
    content = steward.get(at(study, "addresses")).content.decode()
    assert "Ada Byron" in content
    assert "cy@example.org" in content
    assert steward.get(at(study, "people")).status_code == 403


def test_each_row_offers_what_the_state_of_its_person_allows(study: Study) -> None:
    noted, mailed, present = people.note(study, people.read_people("Noted\nMailed, ada@example.org\nHere"))
    claims.claim(invitations.ensure_rater(present))
    lead, researcher = client_of(study, "lead"), client_of(study, "researcher")

    content = lead.get(at(study, "people")).content.decode()

    forms = re.findall(r'action="/studies/\w+/people/(\d+)/">(.*?)</form>', content, re.DOTALL)
    acts = {pk: re.findall(r'name="act" value="(\w+)"', form) for pk, form in forms}
    assert acts == {
        str(noted.pk): ["link", "take_back"],
        str(mailed.pk): ["invitation", "link", "take_back"],
        str(present.pk): ["new_link", "replace"],
    }
    assert content.count("Withdraw at their request") == 1
    assert 'name="act"' not in researcher.get(at(study, "people")).content.decode()


def test_people_can_come_from_a_table_and_a_line_that_is_not_right_notes_nobody(study: Study) -> None:
    lead = client_of(study, "lead")
    table = SimpleUploadedFile("people.csv", "\ufefflabel,e-mail\nA,a@example.org\nB,a@example.org".encode())

    response = lead.post(at(study, "add_people"), {"lines": "", "table": table})

    assert response.status_code == 400
    assert "Line 3: the same address is in line 2." in response.content.decode()
    assert not Invitation.objects.exists()
    assert not Identity.objects.exists()


def test_a_steward_fills_in_an_address_and_no_address_twice(study: Study) -> None:
    steward = client_of(study, "steward")
    _first, second = people.note(study, people.read_people("A, a@example.org\nB"))

    taken = steward.post(at(study, "address", second.pk), {"name": "Bo", "email": "A@example.org"})
    steward.post(at(study, "address", second.pk), {"name": "Bo", "email": "bo@example.org"})

    assert taken.status_code == 400
    assert "This address belongs to “A”." in taken.content.decode()
    assert Identity.objects.get(invitations=second).email == "bo@example.org"


def test_links_are_shown_once_and_those_noted_are_passed_on(study: Study) -> None:
    lead = client_of(study, "lead")
    people.note(study, people.read_people(LINES))

    shown = links_in(lead.post(at(study, "people"), {"act": "links"}))
    again = links_in(lead.post(at(study, "people"), {"act": "links"}, follow=True))

    assert len(shown) == 1, "of the one without an address"
    assert again == []
    assert invitations.find_by_token(shown[0], at=timezone.now()) == Invitation.objects.get(label="Poet")


def test_without_a_mail_server_links_of_those_who_have_an_address_are_shown_as_well(
    study: Study, settings: Any
) -> None:
    lead = client_of(study, "lead")
    people.note(study, people.read_people(LINES))
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"

    offered = " ".join(lead.get(at(study, "people")).content.decode().split())
    shown = links_in(lead.post(at(study, "people"), {"act": "links"}))

    assert 'value="links" class="principal"> Show 3 links to pass on myself' in offered
    assert 'value="send_all"> Send 2 invitations by mail' in offered
    assert len(shown) == 3


def test_all_who_have_an_address_are_written_to_once(study: Study) -> None:
    lead = client_of(study, "lead")
    people.note(study, people.read_people(LINES))

    for _ in range(2):
        lead.post(at(study, "people"), {"act": "send_all"})

    assert sorted(InvitationMail.objects.values_list("invitation__label", "state")) == [
        ("Critic", "waiting"),
        ("Novelist 1", "waiting"),
    ]


def test_who_is_written_to_is_not_offered_again_and_a_mail_that_no_worker_takes_says_so(study: Study) -> None:
    lead = client_of(study, "lead")
    people.note(study, people.read_people(LINES))
    offered = lead.get(at(study, "people")).content.decode()

    sent = lead.post(at(study, "people"), {"act": "send_all"}, follow=True).content.decode()
    lead.post(at(study, "people"), {"act": "send_all"}, follow=True)
    InvitationMail.objects.filter(invitation__label="Critic").update(asked_at=timezone.now() - timedelta(minutes=2))
    later = lead.get(at(study, "people")).content.decode()

    assert "Send 2 invitations by mail" in " ".join(offered.split())
    assert 'value="send_all"' not in sent
    assert sent.count("mail is on its way") == 2
    assert later.count("mail is on its way") == 1
    assert later.count("not sent yet: no worker has started on this mail") == 1


def test_a_person_gets_a_new_link_and_is_replaced_with_the_log_saying_so(study: Study) -> None:
    lead = client_of(study, "lead")
    [invitation] = people.note(study, people.read_people("Poet"))
    old = invitations.hand_over(invitation, at=timezone.now())
    factories.assignment(study, invitations.ensure_rater(invitation))
    page = at(study, "person", invitation.pk)

    [new] = links_in(lead.post(page, {"act": "new_link"}))
    asked = lead.post(page, {"act": "replace"})
    is_still_in = Assignment.objects.get().status == "open"
    done = lead.post(page, {"act": "replace", "confirmed": "yes"})
    [other] = links_in(done)

    assert "This cannot be undone." in asked.content.decode()
    assert "(plot" in asked.content.decode(), "which group is meant"
    assert is_still_in, "asked, and nothing done"
    assert len({old, new, other}) == 3
    assert invitations.find_replaced(old) is None, "the person is out"
    assert "Link for the person who replaces Poet" in done.content.decode()
    assert 'data-state="returned"' in done.content.decode(), "the page shows what is, not what was"
    assert 'value="replace"' not in done.content.decode()
    assert Assignment.objects.get().status == "given_up"
    assert "in place of Poet" in lead.get(page).content.decode()
    assert set(LogEntry.objects.values_list("change_message", flat=True)) == {
        "replaced by a new link",
        "replaced by another person",
    }


def test_who_asks_by_mail_is_withdrawn_by_a_lead_or_a_steward_with_how_they_asked(study: Study) -> None:
    [invitation] = people.note(study, people.read_people("Poet, Ada Byron, ada@example.org"))
    invitations.hand_over(invitation, at=timezone.now())
    assignment = factories.assignment(study, invitations.ensure_rater(invitation))
    answer = factories.answer(assignment, why="Plums are sweet, as I have said before.")
    page = at(study, "withdrawal", invitation.pk)
    lead = client_of(study, "lead")

    refused = client_of(study, "coordinator").get(page).status_code
    shown = " ".join(client_of(study, "steward").get(page).content.decode().split())
    silent = lead.post(page, {"reason": ""}).status_code
    answer.refresh_from_db()
    kept = answer.rationale
    done = lead.post(page, {"reason": "by mail on 3 May"}, follow=True).content.decode()

    assert (refused, silent) == (403, 400)
    assert "1 answer goes, with its reasons and its history" in shown
    assert kept == "Plums are sweet, as I have said before."
    answer.refresh_from_db()
    assert (answer.value, answer.rationale) == (None, "")
    assert not Identity.objects.exists()
    assert "is withdrawn, and their answers are erased" in done
    assert "Poet" not in done
    assert LogEntry.objects.get().change_message == "withdrawn at their request: by mail on 3 May"
    assert "has already withdrawn" in lead.get(page).content.decode()


def test_the_wording_is_kept_with_the_study_and_what_cannot_be_filled_in_is_refused(study: Study) -> None:
    lead = client_of(study, "lead")
    page = at(study, "letters")
    seen = re.search(r'name="seen" value="(\w+)"', lead.get(page).content.decode())
    assert seen is not None

    wrong = lead.post(page, {"subject": "Hi", "text": "Come {link} {pay}", "seen": seen[1]})
    without = lead.post(page, {"subject": "Hi", "text": "Come", "seen": seen[1]})
    looked = lead.post(page, {"subject": "Hi", "text": "Come: {link}", "seen": seen[1], "preview": "yes"})
    assert not MailTemplate.objects.exists()
    lead.post(page, {"subject": "Hi", "text": "Come: {link}", "seen": seen[1]})

    assert "{pay} cannot be filled in" in wrong.content.decode()
    assert "The text has no {link}" in without.content.decode()
    assert "Come: https://…/r/…/" in looked.content.decode()
    assert MailTemplate.objects.get().text == "Come: {link}"


def test_a_place_is_given_back_with_a_reason_and_never_after_it_was_submitted(study: Study) -> None:
    coordinator = client_of(study, "coordinator")
    first, second = factories.assignment(study), factories.assignment(study)
    Assignment.objects.filter(pk=second.pk).update(status="submitted")

    assert coordinator.post(at(study, "place", first.code), {"reason": ""}).status_code == 400
    coordinator.post(at(study, "place", first.code), {"reason": "Is ill"})
    response = coordinator.post(at(study, "place", second.code), {"reason": "Is ill"}, follow=True)

    assert list(Assignment.objects.order_by("pk").values_list("status", flat=True)) == ["given_up", "submitted"]
    assert "It is not open any more" in response.content.decode()
    assert LogEntry.objects.get().change_message == "given back: Is ill"


def test_the_monitor_asks_about_silence_and_much_pasted_and_shows_no_answer(study: Study) -> None:
    coordinator = client_of(study, "coordinator")
    silent = factories.assignment(study)
    factories.answer(silent, why="canary words")
    Assignment.objects.update(last_active_at=timezone.now() - timedelta(days=8))

    content = coordinator.get(at(study, "monitor")).content.decode()

    assert "No activity for 8 days, at 1 of 2." in content
    assert "1 of 2</span>" in content, "answers of questions"
    assert "canary" not in content
    assert "Source 1" not in content


@pytest.mark.parametrize(
    ("options", "way", "flag"),
    [
        ({}, "They went no further.", "failed the check and went no further"),
        ({"on_failure": "continue"}, "They went on; their answers count.", "failed the check and went on"),
    ],
)
def test_who_failed_a_check_is_shown_with_what_became_of_them(
    study: Study, options: dict[str, str], way: str, flag: str
) -> None:
    coordinator = client_of(study, "coordinator")
    step = study.versions.get().steps.get(key="tests")
    with triggers.lifted():
        Step.objects.filter(pk=step.pk).update(options=options)
    passed, failed = factories.rater(study, "E01"), factories.rater(study, "E02")
    for rater, second in ((passed, []), (failed, ["item-1"])):
        StepTaken.objects.create(rater=rater, step=step, wrong=["item-1"])
        StepTaken.objects.create(rater=rater, step=step, attempt=2, wrong=second)

    content = coordinator.get(at(study, "monitor")).content.decode()
    listed = coordinator.get(at(study, "people")).content.decode()

    assert content.count("The check was not passed in 2 attempts. Was a question of it unclear?") == 1
    assert way in content
    assert listed.count(flag) == 1


@pytest.mark.parametrize(("state", "since"), [("live", "2 March 2026"), ("paused", ""), ("closed", "5 April 2026")])
def test_the_monitor_says_since_when_and_offers_nothing_of_a_study_that_is_over(
    study: Study, state: str, since: str
) -> None:
    lead = client_of(study, "lead")
    Study.objects.update(
        state=state,
        launched_at=datetime(2026, 3, 2, tzinfo=UTC),
        closed_at=datetime(2026, 4, 5, tzinfo=UTC) if state == "closed" else None,
        closes_at=timezone.now() + timedelta(days=9),
    )

    content = " ".join(lead.get(at(study, "monitor")).content.decode().split())

    assert re.findall(r"since (\d[^<]*?) *<", content) == ([since] if since else [])
    is_over = state == "closed"
    assert ("days to the deadline" in content) is not is_over
    assert ("Top up those that are free" in content) is not is_over
    assert ("Raters may answer until" in content) is not is_over


def test_the_monitor_follows_by_itself_and_can_be_held(study: Study) -> None:
    client = client_of(study, "coordinator")
    page = at(study, "monitor")

    assert 'hx-trigger="every 30s"' in client.get(page).content.decode()
    assert "hx-trigger" not in client.get(page, {"still": "1"}).content.decode()
    part = client.get(page, headers={"HX-Request": "true"}).content.decode()
    assert part.strip().startswith('<div id="live"')


def test_states_are_counted_and_filter(study: Study) -> None:
    client = client_of(study, "coordinator")
    noted, sent, opened = people.note(study, people.read_people("A\nB\nC"))
    for invitation in (sent, opened):
        invitations.hand_over(invitation, at=timezone.now())
    factories.assignment(study, invitations.ensure_rater(opened))

    content = client.get(at(study, "people"), {"state": "work"}).content.decode()

    assert "at 1 of 2" in content
    assert f"/people/{opened.pk}/" in content
    assert f"/people/{noted.pk}/" not in content


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize(("page", "n_queries"), [("people", 20), ("monitor", 21), ("addresses", 10)])
def test_pages_take_a_fixed_number_of_queries(
    study: Study, django_assert_num_queries: Callable[..., Any], page: str, n_queries: int, n: int
) -> None:
    client = client_of(study, "steward" if page == "addresses" else "lead")
    for invitation in people.note(study, [people.Person(i, f"A{i}", "", f"a{i}@example.org") for i in range(n)]):
        invitations.hand_over(invitation, at=timezone.now())
        factories.answer(factories.assignment(study, invitations.ensure_rater(invitation)))
        mails.ask_for(invitation, "reminder", site="https://x.example", at=timezone.now())
    client.get(at(study, page))

    with django_assert_num_queries(n_queries):
        assert client.get(at(study, page)).status_code == 200


def test_what_a_group_asks_is_counted_once_for_all_who_read_it(study: Study) -> None:
    assignments = [factories.assignment(study) for _ in range(2)]

    rows = monitor.list_work(study, [assignment.rater_id for assignment in assignments])

    assert [(row.n_answers, row.n_questions) for row in rows] == [(0, 2), (0, 2)]
