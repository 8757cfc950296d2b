"""Mails to raters: their wording, asked for by somebody, and sent by a worker, one recipient each.

The attempt is committed before it is made. Whatever ends the worker in between leaves a mail of which nobody knows
whether it went out, and that is never sent again unless a person says so.
"""

from __future__ import annotations

import re
import smtplib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from celery import current_app
from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db import IntegrityError, transaction
from django.db.models import Max, Q, QuerySet
from django.urls import reverse
from django.utils import formats, timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from annotation.models import Assignment, Invitation, InvitationMail, MailKind, MailTemplate, Withdrawal
from annotation.participation import invitations
from studies import lifecycle
from studies.models import Study

State = InvitationMail.State
# Several times the mail server's timeout, so that an attempt has ended, one way or the other.
ABANDONED = timedelta(minutes=5)
FORGOTTEN = timedelta(minutes=1)  # a message to a worker may be lost; the row that waits is not
CHIPS = ("name", "link", "deadline", "title", "organiser", "contact")
BRACES = re.compile(r"\{([^{}]*)\}")
ADDRESS = re.compile(r"\S+@\S+")


@dataclass(frozen=True)
class MailText:
    """A mail as its reader gets it, or, with braces, as it was written."""

    subject: str
    text: str


class CannotWrite(ValueError):
    """No mail can be sent to that person; the message says why and what can be done."""


def sends_mail() -> bool:
    """Whether a mail server is set up; without one mails are printed where Quire runs."""
    return not settings.EMAIL_BACKEND.endswith("console.EmailBackend")


def load_letter(study: Study, kind: str) -> MailText:
    """What the study's mails of that kind say, with braces: as it was written for it, else as it comes along."""
    template = MailTemplate.objects.filter(study=study, kind=kind).first()
    if template:
        return MailText(template.subject, template.text)
    with translation.override(study.language):
        return _sample(kind)


def _sample(kind: str) -> MailText:
    if kind == MailKind.REMINDER:
        return MailText(
            _("Your place in “{title}” is kept, until {deadline}"),
            _(
                "Dear {name},\n\nyour place in “{title}” is kept, and so is all that you have written there. "
                "You can go on until {deadline}:\n\n{link}\n\nThis link is new; the one in our last mail no longer "
                "works. It is yours alone: please do not pass it on. If you would rather stop, the page tells you how."
                "\n\n{organiser}\n{contact}"
            ),
        )
    return MailText(
        _("An invitation to read: {title}"),
        _(
            "Dear {name},\n\nwe invite you to take part in “{title}”. The page behind this link says what it is "
            "about and what it asks of you; nothing begins until you say so there:\n\n{link}\n\nThe link is "
            "yours "
            "alone: please do not pass it on. It works until {deadline}.\n\n{organiser}\n{contact}"
        ),
    )


def save_letter(study: Study, kind: str, letter: MailText) -> None:
    """Keep what the study's mails of that kind say."""
    MailTemplate.objects.update_or_create(
        study=study, kind=kind, defaults={"subject": letter.subject, "text": letter.text}
    )


def find_unknown_chips(words: str) -> list[str]:
    """What stands in braces and is nothing that can be filled in."""
    return sorted({name for name in BRACES.findall(words) if name not in CHIPS})


def fill(letter: MailText, invitation: Invitation, *, link: str, name: str = "") -> MailText:
    """The letter to the person of that invitation, in the study's language."""
    study = invitation.study
    with translation.override(study.language):
        ends_at = invitations.ends_at(study, invitation)
        values = {
            "name": name or pgettext("in a letter to somebody whose name is not known", "reader"),
            "link": link,
            "deadline": write_time(ends_at) if ends_at else _("the study is closed"),
            "title": study.title,
            "organiser": study.organiser,
            "contact": study.contact,
        }
    subject, text = (
        BRACES.sub(lambda match: values.get(match[1], match[0]), part) for part in (letter.subject, letter.text)
    )
    return MailText(" ".join(subject.split()), text)


def write_time(at: datetime) -> str:
    """Day and time of the server's zone, in the present language."""
    local = timezone.localtime(at)
    return f"{formats.date_format(local)}, {formats.date_format(local, 'H:i e')}"


def find_obstacle(invitation: Invitation, kind: str, *, at: datetime) -> str:
    """Why the person of this invitation is sent no such mail, as a sentence; empty if they can be."""
    study, rater = invitation.study, invitation.rater
    if invitation.identity is None or not invitation.identity.email:
        return _("There is no address. A steward of the study can fill it in; or copy the link and pass it on.")
    if rater and Withdrawal.objects.filter(rater=rater).exists():
        return _("%(code)s has withdrawn and gets no more mails.") % {"code": rater.code}
    if invitation.revoked_at:
        return _("This invitation was revoked.")
    if study.is_closed or lifecycle.has_run_out(study, at=at):
        return _("The study is over.")
    if study.is_draft:
        return _("The study is not launched yet, so the link would not work.")
    if invitation.expires_at and invitation.expires_at <= at:
        return _("This invitation has expired.")
    if kind == MailKind.INVITATION and rater:
        return _("%(code)s has already started; a reminder sends them a new link.") % {"code": rater.code}
    if kind == MailKind.REMINDER and rater and _has_submitted(rater.pk):
        return _("%(code)s has submitted and needs no reminder.") % {"code": rater.code}
    return ""


def _has_submitted(rater: int) -> bool:
    seats = Assignment.objects.filter(rater=rater).exclude(seat=None)
    return (
        seats.filter(status=Assignment.Status.SUBMITTED).exists()
        and not seats.filter(status=Assignment.Status.OPEN).exists()
    )


def ask_for(invitation: Invitation, kind: str, *, site: str, at: datetime) -> InvitationMail:
    """A mail that waits to be sent as soon as this is committed. Raises CannotWrite.

    site : the address of this Quire as its reader is to write it, without a slash at the end
    """
    if obstacle := find_obstacle(invitation, kind, at=at):
        raise CannotWrite(obstacle)
    try:
        with transaction.atomic():
            mail = InvitationMail.objects.create(invitation=invitation, kind=kind, site=site, asked_at=at)
    except IntegrityError:
        raise CannotWrite(_("A mail to this person is on its way already.")) from None
    queue([mail.pk])
    return mail


def queue(mails: Iterable[int]) -> None:
    """Tell the workers of these mails, once they are committed."""
    for pk in mails:
        # Robust: what no broker takes now waits in its row for the sweep.
        transaction.on_commit(partial(current_app.send_task, "annotation.tasks.send_mail", args=[pk]), robust=True)


def send(pk: int, *, at: datetime) -> None:
    """Attempt to send that mail; nothing if somebody has tried before."""
    message = _begin_attempt(pk, at=at)
    if message is None:
        return
    state, words = attempt(message)
    for address in message.to:
        words = re.sub(re.escape(address), "…", words, flags=re.IGNORECASE)
    words = ADDRESS.sub("…", " ".join(words.split()))[:500]
    # If the sweep has called it unknown meanwhile, what the server said is the better answer.
    attempted = InvitationMail.objects.filter(pk=pk, state__in=(State.ATTEMPTED, State.UNKNOWN))
    attempted.update(state=state, message=words)


@transaction.atomic
def _begin_attempt(pk: int, *, at: datetime) -> EmailMessage | None:
    """The mail, with the attempt noted; None if it does not wait, or is not to be sent any more."""
    rows = InvitationMail.objects.filter(pk=pk)
    if not rows.filter(state=State.WAITING).update(state=State.ATTEMPTED, attempted_at=at):
        return None
    mail = rows.select_related("invitation__study", "invitation__identity", "invitation__rater").get()
    invitation = mail.invitation
    with translation.override(invitation.study.language):
        obstacle = find_obstacle(invitation, mail.kind, at=at)
    if obstacle or invitation.identity is None:
        rows.update(state=State.REFUSED, message=obstacle)
        return None
    replaces = mail.kind == MailKind.REMINDER and invitation.handed_over_at
    token = invitations.replace_link(invitation, at=at) if replaces else invitations.hand_over(invitation, at=at)
    link = mail.site + reverse("annotation:invitation", args=[token])
    letter = fill(load_letter(invitation.study, mail.kind), invitation, link=link, name=invitation.identity.name)
    contact = invitation.study.contact
    return EmailMessage(
        letter.subject, letter.text, to=[invitation.identity.email], reply_to=[contact] if contact else None
    )


def attempt(message: EmailMessage) -> tuple[str, str]:
    """Send the message now; what came of it, and the server's words."""
    try:
        connection = get_connection()
        connection.open()
    except smtplib.SMTPResponseException as error:
        return State.REFUSED, _server_words(error)
    except OSError as error:  # smtplib's other errors are such, too; nothing was handed to the server
        return State.REFUSED, _("the mail server does not answer (%(why)s)") % {"why": error.strerror or error}
    try:
        connection.send_messages([message])
    except (smtplib.SMTPResponseException, smtplib.SMTPRecipientsRefused, smtplib.SMTPNotSupportedError) as error:
        outcome = State.REFUSED, _server_words(error)
    except (OSError, ValueError) as error:  # the line broke while the server had it, or may have had it
        outcome = State.UNKNOWN, _server_words(error)
    else:
        outcome = State.SENT, ""
    with suppress(OSError):
        connection.close()
    return outcome


def _server_words(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code, words = next(iter(error.recipients.values()), (0, b""))
        return f"{code} {_decode(words)}"
    if isinstance(error, smtplib.SMTPResponseException):
        return f"{error.smtp_code} {_decode(error.smtp_error)}"
    return f"{type(error).__name__}: {error}"


def _decode(words: bytes | str) -> str:
    return words.decode("utf-8", "replace") if isinstance(words, bytes) else words


def sweep(*, at: datetime) -> None:
    """Call attempts that ended with their worker unknown, and tell the workers again of what still waits."""
    attempted = InvitationMail.objects.filter(state=State.ATTEMPTED, attempted_at__lt=at - ABANDONED)
    attempted.update(state=State.UNKNOWN)
    waiting = InvitationMail.objects.filter(state=State.WAITING, asked_at__lt=at - FORGOTTEN)
    queue(waiting.values_list("pk", flat=True)[:500])


def find_latest(study: Study, state: str, *, at: datetime) -> QuerySet[InvitationMail]:
    """Of each person of the study the last mail, if it is in that state; an attempt that was given up is unknown."""
    is_in_state = Q(state=state)
    if state == State.UNKNOWN:
        is_in_state |= Q(state=State.ATTEMPTED, attempted_at__lt=at - ABANDONED)
    latest = InvitationMail.objects.filter(invitation__study=study).values("invitation").order_by()
    return InvitationMail.objects.filter(is_in_state, pk__in=latest.annotate(last=Max("pk")).values("last"))


def send_again(mails: Sequence[InvitationMail], *, site: str, at: datetime) -> int:
    """Ask for each of these mails once more, since a person says so; how many can be sent."""
    n_asked = 0
    for mail in mails:
        # What is unknown stays on record as such; a new row says what came of the next attempt.
        InvitationMail.objects.filter(pk=mail.pk, state=State.ATTEMPTED).update(state=State.UNKNOWN)
        with suppress(CannotWrite):
            ask_for(mail.invitation, mail.kind, site=site, at=at)
            n_asked += 1
    return n_asked
