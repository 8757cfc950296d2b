"""The waiting list: people who found no place are written to, one after another, when one is free.

Their address is in an identity, which stewards alone see. The list is forgotten when the study closes.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

from celery import current_app
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from annotation.models import Assignment, Identity, InvitationMail, Rater, Seat, WaitingPerson
from annotation.participation import claims, eligibility, invitations, mails, withdrawal
from studies.action_log import log_by_system
from studies.models import Study

State = InvitationMail.State
OFFERED = timedelta(hours=24)  # so long a place is held for somebody who was written to


def may_come(rater: Rater) -> bool:
    """Whether a place that becomes free could be for this rater: they have a link and are not excluded."""
    is_invited = hasattr(rater, "invitation") and not rater.study.is_rehearsal
    return is_invited and not eligibility.has_expired(rater) and not eligibility.took_part_before(rater)


def find_address(rater: Rater) -> Identity | None:
    """Who the rater is, if the invitation says where to write to them; None if they have to say so."""
    identity = rater.invitation.identity
    return identity if identity and identity.email else None


def join(rater: Rater, *, email: str, site: str, at: datetime) -> WaitingPerson:
    """The rater's place on the list: at its end, or where they are already; written to at the address said last.

    email : ignored if the invitation has an address
    site : the address of this Quire as its reader is to write it, without a slash at the end
    """
    with transaction.atomic():
        identity = find_address(rater) or _ensure_identity(email)
        person, is_new = WaitingPerson.objects.get_or_create(
            rater=rater, defaults={"study": rater.study, "identity": identity, "site": site, "joined_at": at}
        )
        if is_new:
            return person
        earlier, person.identity, person.site = person.identity, identity, site
        if person.offered_at:
            person.joined_at, person.offered_at, person.offered_until, person.mail_state = at, None, None, ""
        person.save()
        if earlier and earlier != identity:
            withdrawal.forget_identity(earlier.pk)
    return person


def _ensure_identity(email: str) -> Identity:
    identity = Identity.objects.filter(email__iexact=email).order_by("pk").first()
    return identity or Identity.objects.create(email=email)


def leave(rater: Rater) -> None:
    """Take the rater off the list and release what is held for them. Their address goes too, unless it is known
    otherwise."""
    with transaction.atomic():
        forget(WaitingPerson.objects.filter(rater=rater))
        claims.release_hold(rater)


def find_waiting(rater: Rater) -> WaitingPerson | None:
    """The rater's place on the list; None if they are not on it, or were offered a place. One query."""
    return WaitingPerson.objects.filter(rater=rater, offered_at=None).first()


def list_waiting(study: int, *, at: datetime) -> QuerySet[WaitingPerson]:
    """Those of the study who can still be offered a place, in order."""
    return _list_able(at=at).filter(study=study)


def _list_able(*, at: datetime) -> QuerySet[WaitingPerson]:
    begun = Assignment.objects.filter(rater=OuterRef("rater"), seat__isnull=False)
    people = WaitingPerson.objects.filter(offered_at=None, rater__withdrawal=None, rater__invitation__revoked_at=None)
    is_valid = Q(rater__invitation__expires_at=None) | Q(rater__invitation__expires_at__gt=at)
    return people.filter(is_valid, ~Exists(begun)).order_by("joined_at", "pk")


def count_before(person: WaitingPerson, *, at: datetime) -> int:
    """How many people on the list come before that one."""
    is_earlier = Q(joined_at__lt=person.joined_at) | Q(joined_at=person.joined_at, pk__lt=person.pk)
    return list_waiting(person.study_id, at=at).filter(is_earlier).count()


def _list_free(study: Study | OuterRef) -> QuerySet[Seat]:
    return Seat.objects.filter(study=study, rater_kind=Rater.Kind.PERSON, is_taken=False, held_by=None)


def list_due(*, at: datetime) -> QuerySet[WaitingPerson]:
    """Those who wait, in order, and who can come, while a place of their study is free."""
    free = _list_free(OuterRef("study"))
    return _list_able(at=at).filter(Exists(free))


def offer(study: Study, *, at: datetime) -> int:
    """Hold the free places for those who wait, in order, and write to them; how many it was. One query if nobody
    waits or nothing is free."""
    n_offered = 0
    for person in list_due(at=at).filter(study=study).select_related("rater__study", "rater__invitation"):
        with transaction.atomic():
            ends_at = invitations.ends_at(study, person.rater.invitation)
            until = min(at + OFFERED, ends_at) if ends_at else at + OFFERED
            if not claims.hold(person.rater, until=until):
                if not _list_free(study).exists():
                    break
                continue  # the places that are free are none for this person
            # Of two workers that offer at once, one changes no row.
            rows = WaitingPerson.objects.filter(pk=person.pk, offered_at=None)
            if not rows.update(offered_at=at, offered_until=until, mail_state=State.WAITING, attempted_at=None):
                if not WaitingPerson.objects.filter(pk=person.pk).exists():
                    claims.release_hold(person.rater)  # they have left at this very moment
                continue
            log_by_system(person.rater.invitation, "place offered from the waiting list")
            queue([person.pk])
        n_offered += 1
    return n_offered


def queue(people: Iterable[int]) -> None:
    """Tell the workers to write to these people, once that is committed."""
    for pk in people:
        transaction.on_commit(partial(current_app.send_task, "annotation.tasks.send_offer", args=[pk]), robust=True)


def send_offer(pk: int, *, at: datetime) -> None:
    """Attempt to tell that person of the place; nothing if somebody has tried before, or the time is over."""
    waiting = WaitingPerson.objects.filter(pk=pk, mail_state=State.WAITING, offered_until__gt=at)
    # Committed before the attempt: whatever ends the worker in between, nobody is written to twice.
    if not waiting.update(mail_state=State.ATTEMPTED, attempted_at=at):
        return
    person = WaitingPerson.objects.select_related("study", "identity", "rater__invitation__study").get(pk=pk)
    state: str = State.REFUSED
    if person.identity and person.identity.email:
        with suppress(invitations.CannotReplace):  # the link opens nothing any more
            state, _server_words = mails.attempt(_write_offer(person, person.identity, at=at))
    if state == State.REFUSED:
        claims.release_hold(person.rater)  # for the next one, since this one does not know of it
    WaitingPerson.objects.filter(pk=pk).update(mail_state=state)


def _write_offer(person: WaitingPerson, identity: Identity, *, at: datetime) -> EmailMessage:
    study, until = person.study, person.offered_until or at
    link = person.site + reverse("annotation:invitation", args=[invitations.hand_over(person.rater.invitation, at=at)])
    with translation.override(study.language):
        subject = _("A place is free: %(title)s") % {"title": study.title}
        text = _(
            "Hello,\n\nyou asked us to write when a place in “%(title)s” is free. One is, and it is kept for you until "
            "%(until)s:\n\n%(link)s\n\nIf you do not come by then, it is offered to the next person. The link is yours "
            "alone: please do not pass it on."
        ) % {"title": study.title, "until": mails.write_time(until), "link": link}
    text = "\n\n".join(filter(None, [text, f"{study.organiser}\n{study.contact}".strip()]))
    reply_to = [study.contact] if study.contact else None
    return EmailMessage(" ".join(subject.split()), text, to=[identity.email], reply_to=reply_to)


def sweep_mails(*, at: datetime) -> None:
    """Call attempts that ended with their worker unknown, and tell the workers again of offers that still wait."""
    attempted = WaitingPerson.objects.filter(mail_state=State.ATTEMPTED, attempted_at__lt=at - mails.ABANDONED)
    attempted.update(mail_state=State.UNKNOWN)
    waiting = WaitingPerson.objects.filter(mail_state=State.WAITING, offered_at__lt=at - mails.FORGOTTEN)
    queue(waiting.filter(offered_until__gt=at).values_list("pk", flat=True)[:500])


def list_over(*, at: datetime) -> QuerySet[WaitingPerson]:
    """Those to be forgotten: on the lists of studies that are closed or over, or whose link was taken away."""
    is_over = Q(study__state=Study.State.CLOSED) | Q(study__closes_at__lte=at)
    return WaitingPerson.objects.filter(is_over | Q(rater__invitation__revoked_at__isnull=False))


def forget(people: QuerySet[WaitingPerson]) -> None:
    """Delete these people from their lists, and who they are unless that is known otherwise."""
    with transaction.atomic():
        identities = {pk for pk in people.values_list("identity", flat=True) if pk}
        people.delete()
        for identity in identities:
            withdrawal.forget_identity(identity)
