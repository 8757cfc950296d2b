"""People who find no place: nothing is asked of them, and they are written to in order when one is free."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment, Consent, Identity, Invitation, Rater, Seat, WaitingPerson
from annotation.participation import claims, invitations, mails, overdue, waiting_list, withdrawal
from studies import lifecycle
from studies.models import Study
from tests import factories
from tests.annotation import walk

pytestmark = pytest.mark.django_db
ADDRESS = "ann@example.org"


def full_study(**fields: Any) -> tuple[Study, Assignment]:
    """A study with one place, which somebody has."""
    study = factories.study(k=1, **fields)
    return study, factories.assignment(study)


def test_without_a_place_no_consent_is_asked_and_the_waiting_list_is_offered(client: Client) -> None:
    study, _assignment = full_study()
    walk.come_in(client, study)

    page = client.get("/", follow=True)
    posted = client.post("/consent/", {"agrees": "yes"})

    assert page.redirect_chain[-1][0] == "/full/"
    assert b'name="email"' in page.content
    assert posted.headers["Location"] == "/full/"
    assert not Consent.objects.exists()


def test_a_person_joins_waits_is_written_to_once_and_takes_the_place_by_the_same_link(
    client: Client, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    study, assignment = full_study()
    rater = walk.come_in(client, study)
    client.post("/full/", {"act": "join", "email": ADDRESS})
    assert client.get("/full/").context["is_waiting"]
    now = timezone.now()
    claims.give_up(assignment, at=now)

    overdue.sweep(at=now)
    person = WaitingPerson.objects.get()
    for _ in range(2):
        waiting_list.send_offer(person.pk, at=now)

    [letter] = mail.outbox
    assert letter.to == [ADDRESS]
    link = next(line for line in letter.body.splitlines() if "/r/" in line)
    newcomer = Client()
    newcomer.post(link.removeprefix("http://testserver"))
    newcomer.post("/consent/", {"agrees": "yes"})
    newcomer.post("/group/")
    assert Assignment.objects.get(status="open").rater == rater


def test_who_joins_again_is_written_to_at_the_address_said_last_and_the_first_is_forgotten(client: Client) -> None:
    walk.come_in(client, full_study()[0])
    client.post("/full/", {"act": "join", "email": "ann@exmaple.org"})
    WaitingPerson.objects.update(offered_at=timezone.now())

    client.post("/full/", {"act": "join", "email": ADDRESS})

    assert [person.identity.email for person in WaitingPerson.objects.all() if person.identity] == [ADDRESS]
    assert list(Identity.objects.values_list("email", flat=True)) == [ADDRESS]


def test_a_place_goes_to_the_next_one_if_the_mail_is_refused(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    study, assignment = full_study()
    walk.come_in(client, study)
    client.post("/full/", {"act": "join", "email": ADDRESS})
    now = timezone.now()
    claims.give_up(assignment, at=now)
    overdue.sweep(at=now)
    monkeypatch.setattr(mails, "attempt", lambda _letter: (waiting_list.State.REFUSED, "no such mailbox"))

    waiting_list.send_offer(WaitingPerson.objects.get().pk, at=now)

    assert not Seat.objects.exclude(held_by=None).exists()


def test_without_a_mail_server_no_mail_is_promised(client: Client, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    walk.come_in(client, full_study()[0])

    page = client.get("/full/")

    assert b'name="email"' not in page.content
    assert "Every place is taken at the moment." in page.content.decode()


def test_an_offer_lasts_no_longer_than_the_study(client: Client) -> None:
    study, assignment = full_study()
    walk.come_in(client, study)
    client.post("/full/", {"act": "join", "email": ADDRESS})
    now = timezone.now()
    Study.objects.update(closes_at=now + timedelta(hours=2))
    claims.give_up(assignment, at=now)

    overdue.sweep(at=now)

    assert WaitingPerson.objects.get().offered_until == Seat.objects.get().held_until == now + timedelta(hours=2)


@pytest.mark.parametrize(("email", "sentence"), [("", "enter an e-mail"), ("ann@", "complete e-mail")])
def test_an_address_that_is_none_is_refused_with_a_sentence(client: Client, email: str, sentence: str) -> None:
    walk.come_in(client, full_study()[0])

    page = client.post("/full/", {"act": "join", "email": email})

    assert page.status_code == 400
    assert sentence in page.content.decode()
    assert not WaitingPerson.objects.exists()


def test_whoever_was_invited_by_mail_is_not_asked_for_an_address(client: Client) -> None:
    study, _assignment = full_study()
    rater = walk.come_in(client, study)
    identity = Identity.objects.create(email=ADDRESS)
    Invitation.objects.filter(rater=rater).update(identity=identity)

    assert b'name="email"' not in client.get("/full/").content
    client.post("/full/", {"act": "join", "email": "other@example.org"})

    assert WaitingPerson.objects.get().identity == identity


@pytest.mark.parametrize("way", ["leave", "close", "withdraw"])
def test_the_address_is_forgotten_once_it_is_of_no_use(client: Client, way: str) -> None:
    study, _assignment = full_study()
    rater = walk.come_in(client, study)
    client.post("/full/", {"act": "join", "email": ADDRESS})
    assert Identity.objects.filter(email=ADDRESS).exists()

    if way == "leave":
        client.post("/full/", {"act": "leave"})
    elif way == "withdraw":
        withdrawal.withdraw(rater, at=timezone.now())
    else:
        lifecycle.close(study, at=timezone.now())
        overdue.sweep(at=timezone.now())

    assert not WaitingPerson.objects.exists()
    assert not Identity.objects.exists()


def test_an_address_that_is_known_otherwise_outlives_the_list(client: Client) -> None:
    study, _assignment = full_study()
    Invitation.objects.create(study=study, token_sha256="x", identity=Identity.objects.create(email=ADDRESS))
    walk.come_in(client, study)
    client.post("/full/", {"act": "join", "email": ADDRESS.upper()})

    client.post("/full/", {"act": "leave"})

    assert Identity.objects.get().email == ADDRESS


def test_a_person_who_is_excluded_is_told_why_and_offered_no_list(client: Client) -> None:
    earlier = factories.study("earlier")
    identity = Identity.objects.create(email=ADDRESS)
    claims.claim(factories.rater(earlier, identity=identity))
    study = factories.study("later", planned=False)
    study.excluded_studies = ["earlier"]
    study.save()
    factories.plan(study)
    rater = walk.come_in(client, study)
    Rater.objects.filter(pk=rater.pk).update(identity=identity)

    page = client.get("/", follow=True)
    client.post("/full/", {"act": "join", "email": ADDRESS})

    assert "took part in an earlier study" in page.content.decode()
    assert page.context["may_join"] is False
    assert not WaitingPerson.objects.exists()


def test_an_arrival_without_a_worker_frees_overdue_places_before_it_is_turned_away(client: Client) -> None:
    study, assignment = full_study()
    Assignment.objects.filter(pk=assignment.pk).update(due_at=timezone.now())
    walk.come_in(client, study)

    page = client.get("/", follow=True)

    assert page.redirect_chain[-1][0] == "/consent/"
    assignment.refresh_from_db()
    assert assignment.taken_back_at is not None


def with_hours(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(hours_per_group=24)


def test_whoever_comes_back_in_time_sees_until_when_and_afterwards_what_became_of_the_place(client: Client) -> None:
    study = factories.study(k=1, planned=False)
    with_hours(study)
    study.refresh_from_db()
    factories.plan(study)
    assignment = walk.begin(client, study)
    walk.give(client, assignment)
    assert "Yours until" in client.get(walk.address(assignment)).content.decode()

    overdue.sweep(at=timezone.now() + timedelta(hours=25))
    refused = walk.give(client, assignment, "no", base=1)
    offer = client.get("/", follow=True)
    client.post("/group/")

    assert refused.status_code == 409
    assert offer.redirect_chain[-1][0] == "/group/"
    assert offer.context["returnable"] == assignment
    assert client.get("/", follow=True).redirect_chain[-1][0].startswith(f"/a/{assignment.code}/")
    assert assignment.responses.get().value == "yes"


def test_whoever_comes_back_too_late_is_told_that_somebody_else_reads_the_group(client: Client) -> None:
    study = factories.study(k=1, planned=False)
    with_hours(study)
    study.refresh_from_db()
    factories.plan(study)
    walk.begin(client, study)
    overdue.sweep(at=timezone.now() + timedelta(hours=25))
    claims.claim(factories.rater(study))

    page = client.get("/", follow=True)

    assert page.redirect_chain[-1][0] == "/done/"
    assert page.context["taken_back"] is not None
    assert "Someone else reads that group" in page.content.decode()
    assert Seat.objects.get().is_taken


def test_links_of_expired_invitations_and_of_people_who_withdrew_are_offered_nothing() -> None:
    study, assignment = full_study()
    now = timezone.now()
    people = []
    for n in range(3):
        rater = invitations.ensure_rater(invitations.issue(study)[0])
        waiting_list.join(rater, email=f"p{n}@example.org", site="https://q.example", at=now)
        people.append(rater)
    Invitation.objects.filter(rater=people[0]).update(expires_at=now)
    Invitation.objects.filter(rater=people[1]).update(revoked_at=now)
    claims.give_up(assignment, at=now)

    overdue.sweep(at=now)

    assert Seat.objects.get().held_by == people[2]
