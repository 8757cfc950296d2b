"""Applications: who would like to take part, whether they can, and what becomes of it.

Name and address are in an identity, which only stewards see; those who decide see answers and a number.
Neither is kept of applicants who are not eligible, and applications not accepted are deleted after the days that
applicants are told of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from celery import current_app
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Max
from django.utils import translation
from django.utils.translation import gettext as _

from annotation.models import Application, ApplicationCall, Identity, InvitationMail, MailKind
from annotation.participation import invitations, mails, people, withdrawal
from studies import hashing, items, lifecycle
from studies.models import Instrument, Item

State = Application.State
NEEDED = ("binary", "choice", "multi", "scale", "number", "text")  # types that can be asked without a story


@dataclass(frozen=True)
class ApplicantAnswer:
    """A question with the answer in its own words. is_right : None if no answer to it is asked for"""

    question: str
    label: str
    is_right: bool | None


def list_instruments() -> list[Instrument]:
    """The published instruments by which applicants can be asked: no item compares stories or quotes one. Two
    queries."""
    published = Instrument.objects.filter(status=Instrument.Status.PUBLISHED).prefetch_related("items")
    return [row for row in published if row.items.all() and all(item.type in NEEDED for item in row.items.all())]


def is_eligible(call: ApplicationCall, answers: Mapping[str, Any]) -> bool:
    """Whether every question that has a right answer was given it."""
    questions = call.instrument.items.all() if call.instrument else ()
    return all(_is_right(item, answers) is not False for item in questions)


def _is_right(item: Item, answers: Mapping[str, Any]) -> bool | None:
    return items.find_type(item.type).is_correct(item, answers.get(item.key))


def apply(call: ApplicationCall, *, name: str, email: str, answers: Mapping[str, Any], at: datetime) -> Application:
    """The application from that address: a new one, or the one there is.

    A second time changes it only if the first was not eligible; how often somebody tried is kept.
    """
    state = State.WAITING if is_eligible(call, answers) else State.INELIGIBLE
    key = {"call": call, "email_sha256": hashing.sha256(f"{call.pk}.{email.strip().lower()}")}
    with transaction.atomic():
        # Held, so that a form that is sent twice at once makes one.
        ApplicationCall.objects.select_for_update(of=("self",)).get(pk=call.pk)
        application = Application.objects.filter(**key).first() or _new_application(key)
        application.n_times += 1
        if application.state == State.INELIGIBLE:
            application.state, application.answers, application.applied_at = state, dict(answers), at
            if state == State.WAITING:
                application.identity = _ensure_identity(name, email)
        application.save()
    return application


def _new_application(key: dict[str, Any]) -> Application:
    numbers = Application.objects.filter(call=key["call"])
    number = (numbers.aggregate(n=Max("number"))["n"] or 0) + 1
    return Application(**key, number=number, n_times=0, state=State.INELIGIBLE)


def _ensure_identity(name: str, email: str) -> Identity:
    """Who that is: somebody of another study with that address stays one and the same, under the name known there."""
    identity = Identity.objects.filter(email__iexact=email).order_by("pk").first()
    return identity or Identity.objects.create(name=name, email=email)


def list_answers(application: Application) -> list[ApplicantAnswer]:
    """What the applicant answered, question by question. One query."""
    instrument = application.call.instrument
    rows = []
    for item in instrument.items.all() if instrument else ():
        value = application.answers.get(item.key)
        label = items.find_type(item.type).label(item, value) if value is not None else "–"
        rows.append(ApplicantAnswer(item.question, label, _is_right(item, application.answers)))
    return rows


class CannotDecide(ValueError):
    """Nothing is decided; the message says why."""


def accept(application: Application, *, by: str, site: str, at: datetime) -> str:
    """Note the applicant as invited, and write to them; a sentence if the mail has still to wait. Raises CannotDecide.

    site : as `mails.ask_for` takes it
    """
    study = application.call.study
    with transaction.atomic():
        _decide(application, State.ACCEPTED, by=by, at=at)
        identity = application.identity
        if identity is None or not lifecycle.may_invite(study):
            raise CannotDecide(_("Nobody can be invited: the study is closed, or the address is gone."))
        emails = {email.lower(): label for email, label in people.emails_in(study)}
        if label := emails.get(identity.email.lower()):
            raise CannotDecide(_("This person is invited already, as “%(label)s”.") % {"label": label})
        [invitation] = invitations.note(study, [_("Applicant %(number)d") % {"number": application.number}])
        invitation.identity = identity
        invitation.save(update_fields=["identity"])
        Application.objects.filter(pk=application.pk).update(invitation=invitation)
    try:
        mails.ask_for(invitation, MailKind.INVITATION, site=site, at=at)
    except mails.CannotWrite as error:
        return str(error)
    return ""


def decline(application: Application, *, words: str, by: str, at: datetime) -> None:
    """Say no to the applicant in these words, by mail. Raises CannotDecide."""
    with transaction.atomic():
        _decide(application, State.DECLINED, by=by, at=at)
        waiting = InvitationMail.State.WAITING
        Application.objects.filter(pk=application.pk).update(words=words, mail_state=waiting)
        _queue(application.pk)


def _decide(application: Application, state: str, *, by: str, at: datetime) -> None:
    # Of two who decide at once, one changes no row.
    rows = Application.objects.filter(pk=application.pk, state=State.WAITING)
    if not rows.update(state=state, decided_by=by, decided_at=at):
        raise CannotDecide(_("Somebody has decided on this application already."))


def _queue(pk: int) -> None:
    transaction.on_commit(partial(current_app.send_task, "annotation.tasks.send_refusal", args=[pk]), robust=True)


def send_refusal(pk: int, *, at: datetime) -> None:
    """Attempt to send that applicant the refusal; nothing if somebody has tried before."""
    waiting = Application.objects.filter(pk=pk, mail_state=InvitationMail.State.WAITING)
    # Committed before the attempt: whatever ends the worker in between, nobody is written to twice.
    if not waiting.update(mail_state=InvitationMail.State.ATTEMPTED, attempted_at=at):
        return
    application = Application.objects.select_related("call__study", "identity").get(pk=pk)
    state: str = InvitationMail.State.REFUSED
    if application.identity and application.identity.email:
        state, _server_words = mails.attempt(_write_refusal(application, application.identity))
    Application.objects.filter(pk=pk).update(mail_state=state)


def _write_refusal(application: Application, identity: Identity) -> EmailMessage:
    study = application.call.study
    with translation.override(study.language):
        subject = _("Your application: %(title)s") % {"title": study.title}
    text = "\n\n".join(filter(None, [application.words, f"{study.organiser}\n{study.contact}".strip()]))
    reply_to = [study.contact] if study.contact else None
    return EmailMessage(" ".join(subject.split()), text, to=[identity.email], reply_to=reply_to)


def sweep(*, at: datetime) -> None:
    """Call attempts that ended with their worker unknown, and tell the workers again of refusals that still wait."""
    attempted = Application.objects.filter(mail_state=InvitationMail.State.ATTEMPTED)
    attempted.filter(attempted_at__lt=at - mails.ABANDONED).update(mail_state=InvitationMail.State.UNKNOWN)
    waiting = Application.objects.filter(mail_state=InvitationMail.State.WAITING, decided_at__lt=at - mails.FORGOTTEN)
    for pk in waiting.values_list("pk", flat=True)[:500]:
        _queue(pk)


def forget_old(*, at: datetime) -> int:
    """Delete the applications that were not accepted and are older than applicants were told; how many there were."""
    n_deleted = 0
    calls = ApplicationCall.objects.filter(applications__isnull=False).distinct()
    for call in calls:
        old = call.applications.filter(applied_at__lt=at - timedelta(days=call.kept_days))
        for application in old.exclude(state=State.ACCEPTED):
            identity = application.identity_id
            application.delete()
            if identity:
                withdrawal.forget_identity(identity)
            n_deleted += 1
    return n_deleted
