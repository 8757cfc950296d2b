"""Places that somebody leaves: given back, replaced by another person, and topped up to exactly what lacks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count
from django.utils.translation import gettext as _

from annotation.models import Assignment, Invitation, Rater, Seat
from annotation.participation import claims, invitations
from studies.models import Study


class CannotLeave(ValueError):
    """The place cannot be given back, or the person not be replaced; the message says why."""


def give_back(assignment: Assignment, *, at: datetime) -> None:
    """Open the place again; what was answered is kept outside all results. Raises CannotLeave."""
    if assignment.rater_kind != Rater.Kind.PERSON or assignment.seat_id is None:
        raise CannotLeave(_("This is no place of a person."))
    with transaction.atomic():
        if not claims.give_up(assignment, at=at):
            raise CannotLeave(_("It is not open any more: it was submitted, or has been given back already."))
        claims.release_row(assignment.rater)


def replace(invitation: Invitation, *, at: datetime) -> tuple[Invitation, str]:
    """An invitation for somebody else in place of this person, and its token. Raises CannotLeave.

    What the person has submitted counts, what is begun is kept and not counted, and their link opens nothing any more.
    """
    if invitation.revoked_at:
        raise CannotLeave(_("This invitation was already revoked."))
    with transaction.atomic():
        # Of two who replace one person at once, one changes no row.
        row = Invitation.objects.select_for_update(of=("self",)).select_related("study").get(pk=invitation.pk)
        if row.revoked_at:
            raise CannotLeave(_("Somebody else has just replaced this person."))
        rater = Rater.objects.filter(invitation=row).first()
        # Looked up once: a submission meanwhile is noticed on release, and nothing changes.
        assignment = claims.find_open_assignment(rater) if rater else None
        if rater and not assignment and _has_read_all(rater):
            raise CannotLeave(_("%(code)s has just submitted; nothing is left to replace.") % {"code": rater.code})
        invitations.revoke(row, at=at)
        if assignment:
            give_back(assignment, at=at)
        successor, token = invitations.issue(
            row.study, label=_label_of_successor(row), groups=row.groups.all(), expires_at=row.expires_at
        )
        Invitation.objects.filter(pk=successor.pk).update(replaces=row)
    return successor, token


def _has_read_all(rater: Rater) -> bool:
    """Whether the rater has submitted a whole sitting."""
    submitted = rater.assignments.filter(status=Assignment.Status.SUBMITTED).exclude(seat=None).count()
    return submitted >= rater.study.groups_per_sitting


def _label_of_successor(invitation: Invitation) -> str:
    label = _("in place of %(label)s") % {"label": invitation.label or invitation}
    return label[:120]


@dataclass(frozen=True)
class Lack:
    """What a study lacks so that every place is filled.

    n_free : places that nobody has taken
    n_coming : people whose links are out and who have not taken a place yet
    n_people : how many more people are needed
    """

    n_free: int
    n_coming: int
    n_people: int


def measure_lack(study: Study, *, at: datetime) -> Lack:
    """How many more people the study needs, after those who are on their way and at work.

    Each reads as many groups as a sitting has, none of them twice.
    """
    seats = Seat.objects.filter(study=study, rater_kind=Rater.Kind.PERSON, is_taken=False)
    free_by_group = dict(seats.order_by().values_list("group").annotate(n=Count("pk")))
    # What somebody reads again in a sitting fills no place.
    n_each = max(study.groups_per_sitting - study.n_repeats, 1)
    n_coming, n_open_to_come = _count_coming(study, at=at, n_each=n_each)
    n_free = sum(free_by_group.values())
    n_left = max(n_free - n_open_to_come, 0)
    most_in_a_group = max(free_by_group.values(), default=0)
    # So many people cover the places, and so many there must be for the group with most: nobody reads a group twice.
    n_people = max(-(-n_left // n_each), min(most_in_a_group - n_coming, n_left)) if n_left else 0
    return Lack(n_free, n_coming, n_people)


def _count_coming(study: Study, *, at: datetime, n_each: int) -> tuple[int, int]:
    """The people who hold a link and have had no place yet; the places that they and those at work may still take."""
    links = study.invitations.filter(revoked_at=None, rater__withdrawal=None).exclude(handed_over_at=None)
    links = links.exclude(expires_at__lte=at)
    n_groups = Counter(
        Assignment.objects.first_readings()
        .filter(study=study)
        .exclude(read_before=True)
        .values_list("rater", flat=True)
    )
    n_coming = n_places = 0
    for rater in links.values_list("rater", flat=True):
        n_read = n_groups.get(rater, 0) if rater else 0
        n_coming += n_read == 0
        n_places += max(n_each - n_read, 0)
    return n_coming, n_places


def top_up(study: Study, *, at: datetime) -> list[tuple[Invitation, str]]:
    """As many invitations with their tokens as people are lacking: first those who are noted already, then new ones."""
    with transaction.atomic():
        # Held, so that two who top up at once do not each invite as many as lack.
        Study.objects.select_for_update().filter(pk=study.pk).first()
        n_people = measure_lack(study, at=at).n_people
        noted = study.invitations.filter(handed_over_at=None, revoked_at=None, rater=None).exclude(expires_at__lte=at)
        chosen = list(noted.select_related("study", "rater", "identity").order_by("pk")[:n_people])
        labels = [
            _("Additional rater %(number)d") % {"number": study.invitations.count() + n + 1}
            for n in range(n_people - len(chosen))
        ]
        chosen += invitations.note(study, labels)
        return [(invitation, invitations.hand_over(invitation, at=at)) for invitation in chosen]
