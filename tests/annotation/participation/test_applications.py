"""Applications: eligible or not, one for an address, decided once, and deleted when they are not accepted."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.management import call_command

from annotation.design import launches
from annotation.models import Application, ApplicationCall, Identity, Invitation, InvitationMail
from annotation.participation import applications, invitations, mails, people, withdrawal
from studies.models import Item, Study
from tests import factories, triggers
from tests.factories import NOON

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []
    monkeypatch.setattr(mails.current_app, "send_task", lambda name, **more: names.append(name))
    return names


def call_for(study: Study, **fields: Any) -> ApplicationCall:
    """A call with two questions, of which the first has the right answer yes."""
    asked = factories.instrument(f"{study.slug}-eligibility", n_items=2, rationale="none", rationale_least=0)
    with triggers.lifted():
        Item._base_manager.filter(instrument=asked, key="item-1").update(settings={"correct": "yes"})
    return ApplicationCall.objects.create(study=study, is_open=True, instrument=asked, **fields)


def apply(call: ApplicationCall, email: str = "ada@example.org", first: str = "yes") -> Application:
    answers = {"item-1": first, "item-2": "no"}
    return applications.apply(call, name="Ada", email=email, answers=answers, at=NOON)


def test_of_whoever_is_not_eligible_no_name_is_kept() -> None:
    call = call_for(factories.study())

    row = apply(call, first="no")

    assert (row.state, row.identity, row.answers) == ("ineligible", None, {"item-1": "no", "item-2": "no"})
    assert not Identity.objects.exists()


def test_an_address_applies_once_and_how_often_it_tried_is_seen() -> None:
    call = call_for(factories.study())
    apply(call, first="no")

    again = apply(call, "ADA@example.org")
    third = apply(call, first="no")

    assert again.pk == third.pk
    assert (third.state, third.n_times, third.answers["item-1"]) == ("waiting", 3, "yes")
    assert Identity.objects.get().name == "Ada"


def test_who_is_accepted_is_invited_by_mail_under_a_number(
    queued: list[str], django_capture_on_commit_callbacks: Any
) -> None:
    row = apply(call_for(factories.study()))

    with django_capture_on_commit_callbacks(execute=True):
        assert applications.accept(row, by="lead", site="https://q.example", at=NOON) == ""

    invitation = Invitation.objects.get()
    assert (invitation.label, invitation.identity) == ("Applicant 1", Identity.objects.get())
    assert InvitationMail.objects.get().invitation == invitation
    assert queued == ["annotation.tasks.send_mail"]
    with pytest.raises(applications.CannotDecide, match="already"):
        applications.decline(row, words="No.", by="lead", at=NOON)


def test_who_is_invited_already_is_not_invited_twice_and_nothing_is_decided() -> None:
    study = factories.study()
    row = apply(call_for(study))
    people.note(study, people.read_people("Poet, Ada@example.org"))

    with pytest.raises(applications.CannotDecide, match="invited already, as “Poet”"):
        applications.accept(row, by="lead", site="https://q.example", at=NOON)

    row.refresh_from_db()
    assert (row.state, Invitation.objects.count()) == ("waiting", 1)


def test_a_refusal_is_sent_once_in_the_words_that_were_written() -> None:
    row = apply(call_for(factories.study()))
    applications.decline(row, words="Thank you.\nNot this time.", by="lead", at=NOON)

    for _ in range(2):
        applications.send_refusal(row.pk, at=NOON)

    [message] = mail.outbox
    assert (message.to, message.reply_to) == (["ada@example.org"], ["us@example.org"])
    assert message.body.startswith("Thank you.\nNot this time.")
    row.refresh_from_db()
    assert (row.state, row.mail_state) == ("declined", "sent")


def test_an_attempt_whose_worker_ended_is_unknown_and_never_repeated() -> None:
    row = apply(call_for(factories.study()))
    applications.decline(row, words="No.", by="lead", at=NOON)
    Application.objects.update(mail_state="attempted", attempted_at=NOON)

    applications.sweep(at=NOON + timedelta(minutes=6))
    applications.send_refusal(row.pk, at=NOON)

    row.refresh_from_db()
    assert (row.mail_state, mail.outbox) == ("unknown", [])


def test_what_was_not_accepted_is_deleted_after_the_days_that_were_said() -> None:
    study = factories.study()
    call = call_for(study, kept_days=30)
    rows = [apply(call, f"{name}@example.org", first) for name, first in [("a", "yes"), ("b", "yes"), ("c", "no")]]
    applications.accept(rows[0], by="lead", site="https://q.example", at=NOON)

    assert applications.forget_old(at=NOON + timedelta(days=30)) == 0
    call_command("forget_applications")

    assert list(Application.objects.values_list("state", flat=True)) == ["accepted"]
    assert list(Identity.objects.values_list("email", flat=True)) == ["a@example.org"]


def test_withdrawal_takes_the_application_with_it() -> None:
    row = apply(call_for(factories.study()))
    applications.accept(row, by="lead", site="https://q.example", at=NOON)
    rater = invitations.ensure_rater(Invitation.objects.get())

    withdrawal.withdraw(rater, at=NOON)

    assert not Application.objects.exists()
    assert not Identity.objects.exists()


def test_a_study_is_not_launched_to_which_people_apply_without_questions() -> None:
    study = factories.study(state=Study.State.DRAFT)
    call = ApplicationCall.objects.create(study=study, is_open=True)

    before = [f.sentence for f in launches.launch_obstacles(study, at=NOON) if f.place == "applications"]
    call.instrument = factories.instrument("eligibility")
    call.save()

    assert before == ["people may apply, but no questions of eligibility are chosen"]
    assert [f for f in launches.launch_obstacles(study, at=NOON) if f.place == "applications"] == []
