"""Links that let a person in: issued, opened, replaced, revoked. Only the hash of a link is kept.

A link is an HMAC over the invitation and a nonce, so that the server can write it into a mail. It is found by its hash:
a new SECRET_KEY breaks none that is out, it only cannot be written once more.
"""

import base64
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Count, F, Q
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from annotation.models import Assignment, Invitation, Rater, ReplacedLink, Seat, Withdrawal
from studies import hashing, lifecycle
from studies.models import StoryGroup, Study

CODE = re.compile(r"E(\d+)")


def issue(
    study: Study, *, label: str = "", groups: Iterable[StoryGroup] = (), expires_at: datetime | None = None
) -> tuple[Invitation, str]:
    """A new invitation and its token, to be shown at once."""
    with transaction.atomic():
        [invitation] = note(study, [label], expires_at=expires_at)
        invitation.groups.set(groups)
        token = hand_over(invitation, at=timezone.now())
    return invitation, token


def note(study: Study, labels: Iterable[str], *, expires_at: datetime | None = None) -> list[Invitation]:
    """Invitations for people with these labels, whose links have not been shown yet."""
    rows = [
        # The hash is of the token, which takes the id that the row has yet to get.
        Invitation(
            study=study, label=label, nonce=_new_nonce(), token_sha256=secrets.token_hex(32), expires_at=expires_at
        )
        for label in labels
    ]
    with transaction.atomic():
        invitations = Invitation.objects.bulk_create(rows)
        for invitation in invitations:
            invitation.token_sha256 = hash_token(_derive_token(invitation))
        Invitation.objects.bulk_update(invitations, ["token_sha256"], batch_size=400)
    return invitations


def hand_over(invitation: Invitation, *, at: datetime) -> str:
    """The token of the invitation, to be shown or sent now. If it cannot be written once more, that of a new link.

    Raises CannotReplace.
    """
    token = _derive_token(invitation)
    if not invitation.nonce or hash_token(token) != invitation.token_sha256:
        return replace_link(invitation, at=at)
    Invitation.objects.filter(pk=invitation.pk, handed_over_at=None).update(handed_over_at=at)
    invitation.handed_over_at = invitation.handed_over_at or at
    return token


def _new_nonce() -> str:
    return secrets.token_hex(16)


def _derive_token(invitation: Invitation) -> str:
    """The token that follows from the invitation's nonce: 256 bits."""
    message = f"{invitation.pk}.{invitation.nonce}"
    digest = salted_hmac("annotation.invitations", message, algorithm="sha256").digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


@dataclass(frozen=True)
class Demand:
    """The links that are still to be used, and the seats that are open for them. A link takes one seat at least.

    n_unused : links that stand and whose holders have never had a seat
    n_open : seats that are free or, before the study is planned, will be
    """

    n_unused: int
    n_open: int

    @property
    def is_too_much(self) -> bool:
        return self.n_unused > self.n_open


def count_demand(study: Study, *, at: datetime, groups: Sequence[StoryGroup] = ()) -> Demand:
    """The demand for the study's seats; with groups, for theirs, by the links that are for these groups alone."""
    links = study.invitations.filter(revoked_at=None, rater__withdrawal=None).exclude(expires_at__lte=at)
    links = links.exclude(rater__in=Assignment.objects.filter(study=study).exclude(seat=None).values("rater"))
    seats = Seat.objects.filter(study=study, rater_kind=Rater.Kind.PERSON)
    n_groups = len(groups) or study.groups.count()
    if groups:
        links = links.exclude(groups=None).exclude(groups__in=study.groups.exclude(pk__in=[g.pk for g in groups]))
        seats = seats.filter(group__in=groups)
    counts = seats.aggregate(n=Count("pk"), n_free=Count("pk", filter=Q(is_taken=False)))
    return Demand(links.count(), counts["n_free"] if counts["n"] else n_groups * study.seats_per_group)


class CannotReplace(ValueError):
    """No new link can be made for that rater; the message says why and what can be done."""


def replace_link(invitation: Invitation, *, at: datetime) -> str:
    """The token of a new link for the same rater. The old link then only says that it was replaced; its sessions end.

    Raises CannotReplace.
    """
    if obstacle := find_obstacle(invitation, at=at):
        raise CannotReplace(obstacle)
    with transaction.atomic():
        # Held, so that of two new links made at once each has replaced another one.
        old = Invitation.objects.select_for_update(of=("self",)).get(pk=invitation.pk)
        ReplacedLink.objects.create(invitation=old, token_sha256=old.token_sha256, at=at)
        old.nonce, old.handed_over_at = _new_nonce(), at
        token = _derive_token(old)
        Invitation.objects.filter(pk=old.pk).update(
            nonce=old.nonce, token_sha256=hash_token(token), handed_over_at=old.handed_over_at
        )
        Rater.objects.filter(invitation=old).update(n_links_replaced=F("n_links_replaced") + 1)
    return token


def find_obstacle(invitation: Invitation, *, at: datetime) -> str:
    """Why no new link can be made for the rater of this invitation, as a sentence; empty if one can."""
    rater = invitation.rater
    if rater and Withdrawal.objects.filter(rater=rater).exists():
        return _("%(code)s has withdrawn, so there is no place to come back to.") % {"code": rater.code}
    return find_obstacle_of_link(invitation, at=at)


def find_obstacle_of_link(invitation: Invitation, *, at: datetime) -> str:
    """The same, but for a withdrawal, which is not looked for."""
    study, rater = invitation.study, invitation.rater
    if invitation.revoked_at:
        return _("This link was revoked. To let the person in again, issue a link for a new rater.")
    if study.is_closed or lifecycle.has_run_out(study, at=at):
        # People who took part may still withdraw, and need a link for it.
        return "" if rater else _("The study is over, and nobody has come in by this link.")
    if _has_expired(invitation, at):
        return _("This link has expired, and so would a new one for the same rater. Issue a link for a new rater.")
    return ""


def set_token(invitation: Invitation, token: str) -> None:
    """Give the invitation this token, for callers that must be able to show the link again. Nobody may be able to guess
    it."""
    Invitation.objects.filter(pk=invitation.pk).update(token_sha256=hash_token(token))


def find_replaced(token: str) -> Invitation | None:
    """The invitation this token belonged to before its link was replaced; None if there is no valid one."""
    replaced = ReplacedLink.objects.filter(token_sha256=hash_token(token), invitation__revoked_at=None)
    link = replaced.select_related("invitation__study").first()
    return link.invitation if link else None


def find_by_token(token: str, *, at: datetime) -> Invitation | None:
    """The invitation that this token opens now; None if it is unknown, revoked or expired, or the study is not open."""
    invitation = _find(token)
    if invitation is None or _has_expired(invitation, at):
        return None
    return invitation if lifecycle.is_open_for_answers(invitation.study, at=at) else None


def find_unopened(token: str, *, at: datetime) -> Invitation | None:
    """The invitation of this token while its study is not open: not launched yet, paused, or over. None otherwise.

    An expired one only if its study is over, since people who took part may still withdraw.
    """
    invitation = _find(token)
    if invitation is None or lifecycle.is_open_for_answers(invitation.study, at=at):
        return None
    is_over = invitation.study.is_closed or lifecycle.has_run_out(invitation.study, at=at)
    return None if _has_expired(invitation, at) and not is_over else invitation


def _find(token: str) -> Invitation | None:
    rows = Invitation.objects.filter(token_sha256=hash_token(token), revoked_at=None)
    return rows.select_related("study", "rater").first()


def _has_expired(invitation: Invitation, at: datetime) -> bool:
    return invitation.expires_at is not None and invitation.expires_at <= at


def ends_at(study: Study, invitation: Invitation | None) -> datetime | None:
    """Until when somebody may work: the study's end or the invitation's, whichever comes first. None if neither."""
    ends = [study.closes_at, invitation.expires_at if invitation else None]
    return min((end for end in ends if end), default=None)


def revoke(invitation: Invitation, *, at: datetime) -> None:
    """The link opens nothing any more, a session that it began has ended, and others go on along its holder's row."""
    Invitation.objects.filter(pk=invitation.pk, revoked_at=None).update(revoked_at=at)
    Rater.objects.filter(invitation=invitation).update(row=None)
    Seat.objects.filter(held_by__invitation=invitation).update(held_by=None, held_until=None)


def ensure_rater(invitation: Invitation) -> Rater:
    """The rater of this invitation, made on the first call: E01, E02 … in the order of arrival."""
    while invitation.rater is None:
        try:
            with transaction.atomic():
                code, identity = _next_code(invitation.study), invitation.identity_id
                rater = Rater.objects.create(study=invitation.study, code=code, identity_id=identity)
                if not Invitation.objects.filter(pk=invitation.pk, rater=None).update(rater=rater):
                    raise IntegrityError("the same link was opened twice at once")
        except IntegrityError:
            pass  # another arrival took the code, or made this rater: look again
        invitation.refresh_from_db(fields=["rater"])
    return invitation.rater


def hash_token(token: str) -> str:
    """What is kept of a token."""
    return hashing.sha256(token)


def _next_code(study: Study) -> str:
    codes = study.raters.filter(code__startswith="E").values_list("code", flat=True)
    numbers = [int(match[1]) for match in map(CODE.fullmatch, codes) if match]
    return f"E{max(numbers, default=0) + 1:02}"
