"""Coming in: by Prolific's address, and, for everybody, the place that is held from the consent on."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction

from annotation.models import Identity, ProlificArrival, ProlificRecruitment, Rater, Seat
from annotation.participation import claims, invitations, overdue, recruitment
from annotation.participation.recruitment import PLATFORM, Ending, Participant

HELD = timedelta(hours=2)  # a place, for a person who has agreed and not begun


def arrive(row: ProlificRecruitment, participant: Participant, *, at: datetime) -> ProlificArrival:
    """The arrival of that participant, with its rater: made on the first call, the same ever after.

    Without a place the arrival has ended, and the person may come in later if one is free then. Places of others whose
    time is over are freed first.
    """
    study = row.study
    with transaction.atomic():
        # One at a time, so that no more come in than may, and nobody who opens two windows becomes two.
        ProlificRecruitment.objects.select_for_update().get(pk=row.pk)
        arrival = recruitment.find_arrival(study, participant)
        if arrival is None or recruitment.is_turned_away(arrival):
            overdue.free_overdue(study, at=at)
        if arrival is None:
            arrival = _note(row, participant, at=at)
        elif recruitment.is_turned_away(arrival):
            _let_in(arrival, row, participant, at=at)
        elif participant.session and arrival.session != participant.session:
            arrival.session, arrival.session_began_at = participant.session, at
            arrival.save(update_fields=["session", "session_began_at"])
        if arrival.invitation and not recruitment.find_ending(arrival):
            invitations.ensure_rater(arrival.invitation)
    return arrival


def _note(row: ProlificRecruitment, participant: Participant, *, at: datetime) -> ProlificArrival:
    study = row.study
    person = {"platform": PLATFORM, "platform_id": participant.id}
    identity = Identity.objects.filter(**person).order_by("pk").first() or Identity.objects.create(**person)
    arrival = ProlificArrival(
        study=study,
        participant_sha256=recruitment.hash_participant(study, participant),
        identity=identity,
        session=participant.session,
        session_began_at=at,
        outcome=Ending.NO_PLACE,
        ended_at=at,
    )
    _let_in(arrival, row, participant, at=at)
    return arrival


def _let_in(arrival: ProlificArrival, row: ProlificRecruitment, participant: Participant, *, at: datetime) -> None:
    """Give a person who has just come, or was turned away, an invitation if there is room; save the arrival."""
    if _has_room(row):
        if arrival.invitation is None:
            number = row.study.arrivals.exclude(invitation=None).count() + 1
            [arrival.invitation] = invitations.note(row.study, [f"Prolific {number}"])
        invitation = arrival.invitation
        invitation.identity, invitation.handed_over_at, invitation.revoked_at = arrival.identity, at, None
        invitation.save(update_fields=["identity", "handed_over_at", "revoked_at"])
        arrival.outcome, arrival.ended_at = "", None
        arrival.session, arrival.session_began_at = participant.session, at
    arrival.save()


def _has_room(row: ProlificRecruitment) -> bool:
    """Whether somebody more may come in: a place is free that nobody holds, and not as many have come as may."""
    if row.most_people is not None:
        at_work = row.study.arrivals.filter(outcome="", invitation__revoked_at=None).exclude(invitation=None)
        if at_work.count() >= row.most_people:
            return False
    return Seat.objects.filter(study=row.study, rater_kind=Rater.Kind.PERSON, is_taken=False, held_by=None).exists()


def hold_place(rater: Rater, *, at: datetime) -> bool:
    """Whether a place is there for a rater who is about to agree; it is theirs until their time is over. Overdue places
    are freed first, and those who wait come before. Somebody who has begun needs none.

    Without a place the part of somebody from Prolific has ended.
    """
    if rater.assignments.exclude(seat=None).exists():
        return True
    if not Seat.objects.filter(held_by=rater).exists():
        overdue.free_overdue(rater.study, at=at)
    arrival = recruitment.find_of_rater(rater)
    if arrival and arrival.outcome:
        return False  # their own time is over
    limit = recruitment.find_time_limit(arrival, arrival.study.prolific) if arrival else None
    if claims.hold(rater, until=limit.until if limit else at + HELD):
        return True
    if arrival:
        recruitment.end(arrival, Ending.NO_PLACE, at=at)
    return False


def renew_hold(rater: Rater, *, at: datetime) -> None:
    """Hold the place that is held for the rater for as long as anew. One query."""
    Seat.objects.filter(held_by=rater, held_until__lt=at + HELD).update(held_until=at + HELD)
