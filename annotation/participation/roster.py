"""Who has been invited to a study and how far they are: one row a person, by label and code, without names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from annotation.models import Assignment, Consent, Invitation, InvitationMail, MailKind, Rater, StepTaken, Withdrawal
from annotation.participation.invitations import find_obstacle_of_link
from annotation.participation.mails import ABANDONED, FORGOTTEN, sends_mail
from studies.models import Study

NOTED, SENT, OPENED, CONSENTED = "noted", "sent", "opened", "consented"
WORK, SUBMITTED, RETURNED, WITHDRAWN = "work", "submitted", "returned", "withdrawn"
TITLES = {
    NOTED: pgettext_lazy("people by state", "Noted"),
    SENT: pgettext_lazy("people by state", "Sent"),
    OPENED: pgettext_lazy("people by state", "Opened"),
    CONSENTED: pgettext_lazy("people by state", "Consented"),
    WORK: pgettext_lazy("people by state", "At work"),
    SUBMITTED: pgettext_lazy("people by state", "Submitted"),
    RETURNED: pgettext_lazy("people by state", "Returned"),
    WITHDRAWN: pgettext_lazy("people by state", "Withdrawn"),
}
WORDS = {
    NOTED: gettext_lazy("noted"),
    SENT: gettext_lazy("link passed on"),
    OPENED: gettext_lazy("opened"),
    CONSENTED: gettext_lazy("consented"),
    SUBMITTED: gettext_lazy("submitted"),
    RETURNED: gettext_lazy("returned"),
    WITHDRAWN: gettext_lazy("withdrawn"),
}
SILENT = timedelta(days=3)  # after so long without a sign of somebody at work, the pages ask whether they go on


class Act(NamedTuple):
    """What can be done for a person. key : as it is posted; title : of the button; outcome : what follows from it"""

    key: str
    title: str
    outcome: str


class EndedPlace(NamedTuple):
    """A place at which somebody is no longer at work."""

    group: str
    status: str
    read_before: bool | None
    taken_back_at: datetime | None


@dataclass
class RosterRow:
    """One person. invitation : none if they came otherwise; groups : codes of those they read, last ones last"""

    invitation: Invitation | None
    rater: Rater | None
    state: str
    words: str
    groups: list[str]
    last_seen_at: datetime | None
    flags: list[tuple[str, str]] = field(default_factory=list)
    mails: Sequence[InvitationMail] = ()

    @property
    def label(self) -> str:
        return self.invitation.label if self.invitation else ""

    @property
    def name(self) -> str:
        """What the person is called on pages: their label or their code."""
        return self.label or (self.rater.code if self.rater else str(self.invitation))

    @property
    def has_address(self) -> bool:
        return self.invitation is not None and bool(getattr(self.invitation, "has_address", False))

    @property
    def waits_for_link(self) -> bool:
        """Whether a link is to be shown for them, to be passed on: no mail brings it. See `select_waiting_for_link`."""
        return self.state == NOTED and not (self.has_address and (self.mails or sends_mail()))

    @property
    def may_be_invited(self) -> bool:
        return self.has_address and self.state in (NOTED, SENT)

    @property
    def may_be_reminded(self) -> bool:
        is_there = self.state in (OPENED, CONSENTED, WORK) or (self.state == SENT and bool(self.mails))
        return self.has_address and is_there


def list_people(study: Study, *, at: datetime) -> list[RosterRow]:
    """Everyone who is listed or has started, those waiting for an action first. Six queries."""
    people = Rater.objects.filter(study=study, kind=Rater.Kind.PERSON).annotate(
        has_consented=Exists(Consent.objects.filter(rater=OuterRef("pk"))),
        has_withdrawn=Exists(Withdrawal.objects.filter(rater=OuterRef("pk"))),
        has_failed=Exists(StepTaken.failures().filter(rater=OuterRef("pk"))),
        is_stopped=Exists(StepTaken.ends().filter(rater=OuterRef("pk"))),
        last_active_at=Max("assignments__last_active_at"),
        last_ended_at=Max("assignments__ended_at"),
    )
    rater_by_id = {rater.pk: rater for rater in people}
    of_people = Assignment.objects.filter(study=study, rater_kind=Rater.Kind.PERSON, seat__isnull=False).order_by("pk")
    is_open = Q(status=Assignment.Status.OPEN)
    open_by_rater = {row.rater_id: row for row in of_people.filter(is_open).select_related("group", "seat")}
    # Of thousands of places that are over their columns are enough.
    columns = of_people.exclude(is_open).values_list("rater", "group__code", "status", "read_before", "taken_back_at")
    ended_by_rater: dict[int, list[EndedPlace]] = {}
    for rater_id, group, status, read_before, taken_back_at in columns:
        place = EndedPlace(group or "", status, read_before, taken_back_at)
        ended_by_rater.setdefault(rater_id, []).append(place)
    mails_by_invitation: dict[int, list[InvitationMail]] = {}
    for mail in InvitationMail.objects.filter(invitation__study=study).order_by("pk"):
        mails_by_invitation.setdefault(mail.invitation_id, []).append(mail)
    invited = (
        Invitation.objects.filter(study=study)
        .select_related("study", "rater")
        .annotate(
            has_address=Exists(_with_address()), is_replaced=Exists(Invitation.objects.filter(replaces=OuterRef("pk")))
        )
    )
    roster = []
    for invitation in invited.order_by("pk"):
        rater = rater_by_id.pop(invitation.rater_id, None) if invitation.rater_id else None
        mails = mails_by_invitation.get(invitation.pk, [])
        key = rater.pk if rater else 0
        roster.append(_describe(invitation, rater, open_by_rater.get(key), ended_by_rater.get(key, []), mails, at=at))
    for key, rater in rater_by_id.items():
        roster.append(_describe(None, rater, open_by_rater.get(key), ended_by_rater.get(key, []), [], at=at))
    return sorted(roster, key=lambda row: (not row.flags, row.state in (RETURNED, WITHDRAWN)))


def select_waiting_for_link(study: Study) -> QuerySet[Invitation]:
    """The invitations whose rows have `waits_for_link`."""
    noted = study.invitations.filter(handed_over_at=None, revoked_at=None, rater=None)
    is_mailed = Q(Exists(InvitationMail.objects.filter(invitation=OuterRef("pk"))))
    return noted.exclude(Q(Exists(_with_address())) & (Q() if sends_mail() else is_mailed)).order_by("pk")


def _with_address() -> QuerySet[Invitation]:
    return Invitation.objects.filter(Q(pk=OuterRef("pk")) & ~Q(identity__email="") & Q(identity__isnull=False))


def _describe(
    invitation: Invitation | None,
    rater: Rater | None,
    working: Assignment | None,
    ended: Sequence[EndedPlace],
    mails: Sequence[InvitationMail],
    *,
    at: datetime,
) -> RosterRow:
    has_submitted = any(place.status == Assignment.Status.SUBMITTED for place in ended)
    given_up = [p for p in ended if p.status == Assignment.Status.GIVEN_UP and not p.read_before]
    is_revoked = invitation is not None and invitation.revoked_at is not None
    groups = [p.group for p in ended if p.status == Assignment.Status.SUBMITTED or p in given_up]
    groups += [working.group.code] if working and working.group else []
    moments = (
        [getattr(rater, name, None) for name in ("arrived_at", "last_active_at", "last_ended_at")] if rater else []
    )
    last_seen_at = max((moment for moment in moments if moment), default=None)
    words = ""
    if rater and getattr(rater, "has_withdrawn", False):
        state = WITHDRAWN
    elif working and not is_revoked:
        state, words = WORK, say_place(working)
    elif has_submitted:
        state = SUBMITTED
    elif is_revoked or given_up:
        state = RETURNED
        words = _("taken back") if is_revoked and not given_up else ""
    elif rater:
        state = CONSENTED if getattr(rater, "has_consented", False) else OPENED
    else:
        state = SENT if invitation and invitation.handed_over_at else NOTED
        words = _say_mails(mails) if state == SENT else ""
    row = RosterRow(
        invitation,
        rater,
        state,
        words or str(WORDS.get(state, "")),
        list(dict.fromkeys(groups)),
        last_seen_at,
        mails=mails,
    )
    row.flags = list(_flags(row, working, given_up, at=at))
    return row


def say_place(assignment: Assignment) -> str:
    """Where somebody at work is, in words for the desk: at 2 of 4."""
    n_stories = len(assignment.seat.order) if assignment.seat else 0
    n_begun = min(max(len(assignment.begun), 1), n_stories)
    if assignment.repeats_id:
        return _("at %(n)d of %(total)d, repeat") % {"n": n_begun, "total": n_stories}
    return _("at %(n)d of %(total)d") % {"n": n_begun, "total": n_stories}


def _say_mails(mails: Sequence[InvitationMail]) -> str:
    sent = [mail for mail in mails if mail.state == InvitationMail.State.SENT]
    if not sent:
        is_refused = bool(mails) and mails[-1].state == InvitationMail.State.REFUSED
        return _("no mail sent yet") if is_refused else ""
    return _("reminded") if sent[-1].kind == MailKind.REMINDER else _("sent")


def is_unknown(mail: InvitationMail, *, at: datetime) -> bool:
    """Whether the delivery is unknown: the worker stopped in between, or the connection broke."""
    if mail.state == InvitationMail.State.UNKNOWN:
        return True
    return mail.state == InvitationMail.State.ATTEMPTED and (mail.attempted_at or at) < at - ABANDONED


def _flags(
    row: RosterRow, working: Assignment | None, given_up: Sequence[EndedPlace], *, at: datetime
) -> Iterator[tuple[str, str]]:
    """What waits for somebody, as (kind, sentence)."""
    mail = row.mails[-1] if row.mails else None
    if mail and row.state in (NOTED, SENT, OPENED, CONSENTED, WORK):
        if mail.state == InvitationMail.State.REFUSED:
            yield "error", _("mail not sent: %(why)s") % {"why": mail.message}
        elif is_unknown(mail, at=at):
            yield "warning", _("delivery unknown")
        elif mail.state == InvitationMail.State.WAITING and mail.asked_at < at - FORGOTTEN:
            yield "warning", _("not sent yet: no worker has started on this mail")
        elif mail.state in InvitationMail.UNDER_WAY:
            yield "", _("mail is on its way")
    if row.state == SENT and sum(mail.state == InvitationMail.State.SENT for mail in row.mails) > 1:
        yield "warning", _("two mails, not opened")
    if working and row.state == WORK:
        since = at - (working.last_active_at or working.started_at)
        if since > SILENT:
            yield "warning", _("no activity for %(days)d days") % {"days": since.days}
    if row.rater and row.state != WITHDRAWN and getattr(row.rater, "has_failed", False):
        is_stopped = getattr(row.rater, "is_stopped", False)
        yield "", _("failed the check and went no further") if is_stopped else _("failed the check and went on")
    if row.invitation and getattr(row.invitation, "is_replaced", False):
        yield "", _("replaced by somebody else")
    elif given_up and row.state == RETURNED:
        yield "", _("time over, place released") if given_up[-1].taken_back_at else _("place released")


def list_acts(row: RosterRow, *, at: datetime) -> Iterator[Act]:
    """What can be done for this person as they stand, without a query."""
    invitation = row.invitation
    if invitation is None or invitation.revoked_at:
        return
    if row.may_be_invited:
        yield Act(MailKind.INVITATION, _("Send the invitation"), _("By mail, in the language of the study."))
    if row.may_be_reminded:
        outcome = _("By mail with a new link; the old one stops working and says so.")
        yield Act(MailKind.REMINDER, _("Remind"), outcome)
    if row.state == NOTED:
        yield Act("link", _("Show the link"), _("Send it yourself."))
    elif row.state != WITHDRAWN and not find_obstacle_of_link(invitation, at=at):
        outcome = _(
            "For a lost link: same person, same place, same code. All answers are kept; the old link stops "
            "working at once."
        )
        yield Act("new_link", _("New link for the same place"), outcome)
    if row.rater and row.state != WITHDRAWN:
        outcome = _(
            "For a person who will not continue: the place goes to someone else, whose link is shown. Submitted "
            "groups count; groups only begun are kept but not counted. This person’s link stops working."
        )
        yield Act("replace", _("Replace by somebody else …"), outcome)
    elif not row.rater:
        outcome = _("The link stops working, and name and address are deleted.")
        yield Act("take_back", _("Revoke the invitation …"), outcome)


def count_states(rows: Sequence[RosterRow]) -> list[tuple[str, str, int]]:
    """The states in order with their titles and how many people are in each."""
    counts = Counter(row.state for row in rows)
    return [(state, str(title), counts[state]) for state, title in TITLES.items()]
