"""Mails to raters: nothing twice without a person's word, refusals named without the address, the study's language."""

import smtplib
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail as outbox
from django.core.mail.backends.locmem import EmailBackend

from annotation.models import InvitationMail, MailKind
from annotation.participation import invitations, mails, people, roster
from annotation.participation.mails import MailText
from studies.models import Study
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db
SITE = "https://quire.example.org"


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The mails of which workers were told."""
    pks: list[int] = []
    monkeypatch.setattr(mails.current_app, "send_task", lambda name, args: pks.append(args[0]))
    return pks


@pytest.fixture
def invitation() -> Any:
    return people.note(factories.study(), people.read_people("A, Ada, ada@example.org"))[0]


def ask(invitation: Any, kind: str = MailKind.INVITATION) -> InvitationMail:
    return mails.ask_for(invitation, kind, site=SITE, at=NOON)


def failing(monkeypatch: pytest.MonkeyPatch, error: Exception, *, method: str = "send_messages") -> None:
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(EmailBackend, method, fail)


def test_a_mail_goes_to_one_person_with_a_link_that_opens(
    invitation: Any, queued: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        mail = ask(invitation)
    assert queued == [mail.pk]

    mails.send(mail.pk, at=NOON)

    [letter] = outbox.outbox
    assert (letter.to, letter.reply_to) == (["ada@example.org"], ["us@example.org"])
    token = letter.body.partition(f"{SITE}/r/")[2].split("/")[0]
    assert invitations.find_by_token(token, at=NOON) == invitation
    assert "Dear Ada," in letter.body
    mail.refresh_from_db()
    assert (mail.state, mail.attempted_at) == ("sent", NOON)


def test_a_message_that_comes_twice_sends_one_mail(invitation: Any) -> None:
    mail = ask(invitation)

    for _ in range(2):
        mails.send(mail.pk, at=NOON)

    assert len(outbox.outbox) == 1


def test_two_mails_are_not_on_their_way_to_one_person(invitation: Any) -> None:
    ask(invitation)

    with pytest.raises(mails.CannotWrite, match="on its way already"):
        ask(invitation)


def test_what_the_server_refused_is_said_in_its_words_without_the_address(
    invitation: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = {"ada@example.org": (550, b"5.1.1 <ADA@example.org> no such user, ask root@example.org")}
    failing(monkeypatch, smtplib.SMTPRecipientsRefused(refused))
    mail = ask(invitation)

    mails.send(mail.pk, at=NOON)

    mail.refresh_from_db()
    assert mail.state == "refused"
    assert mail.message.startswith("550 5.1.1")
    assert "no such user" in mail.message
    assert "@" not in mail.message


def test_a_server_that_does_not_answer_has_sent_nothing(invitation: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, ConnectionRefusedError(111, "refused"), method="open")
    mail = ask(invitation)

    mails.send(mail.pk, at=NOON)

    mail.refresh_from_db()
    assert (mail.state, mail.message) == ("refused", "the mail server does not answer (refused)")
    [row] = roster.list_people(invitation.study, at=NOON)
    assert row.words == "no mail sent yet"


@pytest.mark.parametrize("error", [smtplib.SMTPServerDisconnected("gone"), TimeoutError("timed out")])
def test_a_line_that_broke_leaves_the_outcome_unknown_until_a_person_says_again(
    invitation: Any, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    with monkeypatch.context() as patch:
        failing(patch, error)
        mail = ask(invitation)
        mails.send(mail.pk, at=NOON)
    mails.sweep(at=NOON + timedelta(days=1))
    mails.send(mail.pk, at=NOON)
    assert outbox.outbox == []
    unknown = mails.find_latest(invitation.study, "unknown", at=NOON)

    assert mails.send_again(list(unknown), site=SITE, at=NOON) == 1

    assert list(InvitationMail.objects.values_list("state", flat=True)) == ["unknown", "waiting"]
    assert not mails.find_latest(invitation.study, "unknown", at=NOON).exists()


def test_an_attempt_whose_worker_ended_becomes_unknown_and_is_not_tried_again(
    invitation: Any, queued: list[int]
) -> None:
    mail = ask(invitation)
    InvitationMail.objects.update(state="attempted", attempted_at=NOON)

    mails.sweep(at=NOON + timedelta(minutes=6))
    mails.send(mail.pk, at=NOON)

    mail.refresh_from_db()
    assert (mail.state, outbox.outbox, queued) == ("unknown", [], [])


def test_a_mail_whose_message_was_lost_is_queued_again(
    invitation: Any, queued: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    mail = ask(invitation)

    with django_capture_on_commit_callbacks(execute=True):
        mails.sweep(at=NOON + timedelta(minutes=2))

    assert queued == [mail.pk]


def test_a_reminder_brings_a_new_link_and_the_old_one_says_so(invitation: Any) -> None:
    token = invitations.hand_over(invitation, at=NOON)
    mail = ask(invitation, MailKind.REMINDER)

    mails.send(mail.pk, at=NOON)

    assert token not in outbox.outbox[0].body
    assert invitations.find_replaced(token) == invitation


def test_nobody_is_reminded_who_has_submitted_even_if_they_did_so_after_it_was_asked_for(invitation: Any) -> None:
    invitations.hand_over(invitation, at=NOON)
    rater = invitations.ensure_rater(invitation)
    assignment = factories.assignment(invitation.study, rater)
    mail = ask(invitation, MailKind.REMINDER)
    type(assignment).objects.update(status="submitted")

    mails.send(mail.pk, at=NOON)

    mail.refresh_from_db()
    assert (mail.state, outbox.outbox) == ("refused", [])
    assert "has submitted" in mail.message
    with pytest.raises(mails.CannotWrite, match="has submitted"):
        ask(invitation, MailKind.REMINDER)


def test_mails_are_in_the_language_of_the_study_unless_it_has_its_own_words(invitation: Any) -> None:
    Study.objects.update(closes_at=None)
    mails.save_letter(invitation.study, "invitation", MailText("Olá {title}", "Caro {name}: {link} {deadline}"))

    mails.send(ask(invitation).pk, at=NOON)

    [letter] = outbox.outbox
    assert letter.subject == "Olá Fourteen tests of a story"
    assert letter.body.startswith("Caro Ada: https://")


def test_a_name_with_braces_or_lines_writes_nothing_else_into_a_mail(invitation: Any) -> None:
    people.change_address(invitation, name="{link}\nBcc: all@example.org", email="ada@example.org")
    invitation.refresh_from_db()
    letter = mails.fill(
        MailText("Dear {name}", "Dear {name}"), invitation, link="https://x", name=invitation.identity.name
    )

    assert letter.subject == "Dear {link} Bcc: all@example.org"
    assert letter.text == "Dear {link}\nBcc: all@example.org"
