"""People from Prolific: who comes by the study's address there, and with which code each goes back.

A participant's id stands in an identity, which stewards alone see; what lets them in is an invitation like any other,
whose link nobody has. A code is handed out after the commit that makes it true, never before.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from urllib.parse import quote

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.models import Assignment, ProlificArrival, ProlificRecruitment, Rater, StepTaken
from annotation.participation import claims, invitations
from studies import hashing
from studies.models import Study

PLATFORM = "prolific"
PARAMETERS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
RETURN_URL = "https://app.prolific.com/submissions/complete?cc="
# The letters and digits of which Prolific's ids are made; the placeholders of its addresses are not.
PARTICIPANT = re.compile(r"[0-9A-Za-z]{24}")
OTHER_ID = re.compile(r"[0-9A-Za-z_-]{0,60}")
WARNING = timedelta(minutes=30)  # before the time is over, or a quarter of it where that is less


class Ending(StrEnum):
    """How it ended for somebody. COMPLETED follows from what was submitted, the others are also noted at the arrival"""

    COMPLETED = "completed"
    DECLINED = ProlificArrival.Outcome.DECLINED
    SCREENED_OUT = ProlificArrival.Outcome.SCREENED_OUT
    NO_PLACE = ProlificArrival.Outcome.NO_PLACE
    TIMED_OUT = ProlificArrival.Outcome.TIMED_OUT


@dataclass(frozen=True)
class Participant:
    """Somebody as Prolific names them in the address. study, session : empty if the address does not say them"""

    id: str
    study: str = ""
    session: str = ""


@dataclass(frozen=True)
class ReturnCode:
    """The code with which somebody goes back to Prolific, and the address that takes it there."""

    ending: Ending
    code: str

    @property
    def url(self) -> str:
        return RETURN_URL + quote(self.code, safe="")


class NotFromProlific(ValueError):
    """Nobody can be let in by this address; the message says why and what to do."""


class HasCompleted(ValueError):
    """The person has submitted, so that no other ending is true of them."""


def read_participant(query: Mapping[str, str], recruitment: ProlificRecruitment) -> Participant:
    """Who comes, by the query of the address. Raises NotFromProlific."""
    pid, study, session = (query.get(name, "").strip() for name in PARAMETERS)
    if not pid:
        raise NotFromProlific(_("The address lacks your Prolific ID. Please open the study from Prolific once more."))
    if not (PARTICIPANT.fullmatch(pid) and OTHER_ID.fullmatch(session)):
        raise NotFromProlific(
            _("The address has no valid Prolific ID. Please open the study from Prolific, not from a copied link.")
        )
    if recruitment.prolific_study and study != recruitment.prolific_study:
        raise NotFromProlific(_("This address belongs to another study at Prolific. Please open the study from there."))
    return Participant(pid, study, session)


def write_address(site: str, path: str) -> str:
    """The address of the study to paste into Prolific, with the placeholders that Prolific fills in.

    site : the address of this Quire without a slash at the end; path : of the study's page for arrivals
    """
    return f"{site}{path}?" + "&".join(f"{name}={{{{%{name}%}}}}" for name in PARAMETERS)


def find_code(recruitment: ProlificRecruitment, ending: Ending) -> ReturnCode | None:
    """The code for that ending; None if the study has not been given one."""
    completed, ended, full = recruitment.codes
    code = {
        Ending.COMPLETED: completed,
        Ending.DECLINED: ended,
        Ending.SCREENED_OUT: ended,
        Ending.NO_PLACE: full,
        Ending.TIMED_OUT: full,
    }[ending]
    return ReturnCode(ending, code) if code else None


def find_arrival(study: Study, participant: Participant) -> ProlificArrival | None:
    """The arrival of that participant; None if they have not come yet. One query."""
    rows = ProlificArrival.objects.filter(study=study, participant_sha256=hash_participant(study, participant))
    return rows.select_related("invitation__study", "invitation__rater").first()


def find_ending(arrival: ProlificArrival) -> Ending | None:
    """How it ended, as far as it is recorded; None if they may work, or their place went to someone else."""
    if arrival.outcome:
        return Ending(arrival.outcome)
    is_revoked = arrival.invitation is not None and arrival.invitation.revoked_at is not None
    return Ending.NO_PLACE if is_revoked else None


def is_turned_away(arrival: ProlificArrival) -> bool:
    """Whether there was no place for somebody who began nothing, so that they may come again."""
    return arrival.outcome == Ending.NO_PLACE


def hash_participant(study: Study, participant: Participant) -> str:
    """By what a participant is known in a study."""
    return hashing.sha256(f"{study.pk}.{PLATFORM}.{participant.id}")


def end(arrival: ProlificArrival, ending: Ending, *, at: datetime) -> None:
    """Note that it ended so, give the place back, and let the person in no more. A second time changes nothing.

    What was answered is kept outside all results. Raises HasCompleted, and then nothing has changed.
    """
    with transaction.atomic():
        if not ProlificArrival.objects.filter(pk=arrival.pk, outcome="").update(outcome=ending, ended_at=at):
            return
        if arrival.invitation is None:
            return
        if rater := arrival.invitation.rater:
            claims.release_hold(rater)
            assignment = claims.find_open_assignment(rater)
            is_given_up = assignment is not None and claims.give_up(assignment, at=at)
            if not is_given_up and has_completed(rater):
                raise HasCompleted
        invitations.revoke(arrival.invitation, at=at)


def has_completed(rater: Rater) -> bool:
    """Whether the rater has submitted a group and is at work on none. One query."""
    statuses = set(rater.assignments.exclude(seat=None).values_list("status", flat=True))
    return Assignment.Status.SUBMITTED in statuses and Assignment.Status.OPEN not in statuses


@dataclass(frozen=True)
class TimeLimit:
    """Until when somebody may work by Prolific's clock, and from when on their pages say so."""

    warns_at: datetime
    until: datetime


def find_time_limit(arrival: ProlificArrival, recruitment: ProlificRecruitment) -> TimeLimit | None:
    """The limit of that arrival; None if the study has none."""
    if not recruitment.minutes:
        return None
    time = timedelta(minutes=recruitment.minutes)
    until = arrival.session_began_at + time
    return TimeLimit(until - min(WARNING, time / 4), until)


def find_of_rater(rater: Rater) -> ProlificArrival | None:
    """The arrival of that rater with the study's recruitment; None if they came otherwise. One query."""
    rows = ProlificArrival.objects.filter(invitation__rater=rater)
    return rows.select_related("study__prolific", "invitation__study", "invitation__rater").first()


def list_endings(study: Study) -> dict[int, Ending | None]:
    """How it ended for everybody who came from Prolific, by the id of the arrival; None for those at work. Four
    queries."""
    arrivals = list(study.arrivals.select_related("invitation"))
    raters = {row.invitation.rater_id for row in arrivals if row.invitation}
    places = Assignment.objects.filter(rater__in=raters, seat__isnull=False).values_list("rater", "status")
    statuses: dict[int, set[str]] = {}
    for rater, status in places:
        statuses.setdefault(rater, set()).add(status)
    failed = set(StepTaken.ends().filter(rater__in=raters).values_list("rater", flat=True))
    return {row.pk: _describe_ending(row, statuses, failed) for row in arrivals}


def _describe_ending(arrival: ProlificArrival, statuses: Mapping[int, set[str]], failed: set[int]) -> Ending | None:
    rater = arrival.invitation.rater_id if arrival.invitation else None
    own = statuses.get(rater, set()) if rater else set()
    if not arrival.outcome and Assignment.Status.SUBMITTED in own and Assignment.Status.OPEN not in own:
        return Ending.COMPLETED
    if not arrival.outcome and rater in failed:
        return Ending.SCREENED_OUT
    return find_ending(arrival)


def count_endings(study: Study) -> list[tuple[str, int]]:
    """How many people came to each ending, in words; the last are those who have not come to one."""
    counts = Counter(list_endings(study).values())
    words = {
        Ending.COMPLETED: _("completed"),
        Ending.DECLINED: _("declined to consent"),
        Ending.SCREENED_OUT: _("screened out"),
        Ending.NO_PLACE: _("found no place"),
        Ending.TIMED_OUT: _("stopped after the time was over"),
        None: _("started, not finished"),
    }
    return [(sentence, counts[ending]) for ending, sentence in words.items()]


def forget(arrivals: Sequence[int]) -> list[int]:
    """Erase who these arrivals were; the ids of the identities that nobody needs for them any more.

    A person who returns after an erasure counts as new: nothing is left to recognise them by.
    """
    rows = ProlificArrival.objects.filter(pk__in=arrivals)
    identities = [pk for pk in rows.values_list("identity", flat=True) if pk]
    for row in rows:
        row.participant_sha256, row.identity, row.session = secrets.token_hex(32), None, ""
        row.save(update_fields=["participant_sha256", "identity", "session"])
    return identities
