"""Amending a launched study: what it may not do to those who have begun, and doing it, all of it or nothing.

One function for page, command and admin. Structure (stories, questions, steps, orders) is never amended: a study that
asks something else is another study.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.design import extensions
from annotation.models import Assignment, LaterVersion, Rater
from studies.models import Amendment, ProtocolVersion, Study
from studies.protocol import Finding, Purpose, amendments, select_errors
from studies.protocol.amendments import AmendableState, AmendedPlace
from studies.protocol.pay import PayComparison, compare_pay
from studies.protocol.steps import Protocol

HoldsFor = Amendment.HoldsFor
PAY = ("pay", "pay_for_part")
AMENDABLE = (Study.State.LIVE, Study.State.PAUSED)


class NotAmended(ValueError):
    """The study stays as it was. findings : each thing that stands in the way, with the field or step it is about"""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("; ".join(map(str, findings)))
        self.findings = findings


class NothingAmended(NotAmended):
    """What was asked for is what holds already, as after a double click."""

    def __init__(self) -> None:
        super().__init__([Finding("error", "", _("this is the same as now"))])


class AmendedMeanwhile(NotAmended):
    """The study is no longer what was read when the amendment was asked for."""

    def __init__(self) -> None:
        super().__init__([Finding("error", "", _("somebody else amended the study after it was read"))])


@dataclass(frozen=True)
class Wish:
    """An amendment as it is asked for.

    state : what is to stand from now on, all of it
    pay_is_no_less : the caller's word, where two sentences about pay cannot be compared
    """

    state: AmendableState
    reason: str
    holds_for: str
    pay_is_no_less: bool = False


@dataclass(frozen=True)
class AmendmentPreview:
    """What an amendment would do. findings : of the study as it would be, and what its people stand in the way of"""

    places: list[AmendedPlace]
    findings: list[Finding]
    people: "PeopleAtWork"

    @property
    def obstacles(self) -> list[Finding]:
        return select_errors(self.findings, Purpose.LAUNCH)


@dataclass(frozen=True)
class PeopleAtWork:
    """Who has begun: how many people in all, and how many of them are at work at this moment."""

    n_begun: int
    n_open: int


def may_amend(study: Study) -> bool:
    """Whether the study is in a state in which it can be amended: launched and not closed."""
    return study.state in AMENDABLE


def count_people(study: Study) -> PeopleAtWork:
    """Two queries."""
    begun = _of_people(study)
    # As the monitor counts them: what is asked once around the groups stays open, though nobody is at work on it.
    open_ones = begun.filter(status=Assignment.Status.OPEN, seat__isnull=False)
    return PeopleAtWork(*(rows.order_by().values("rater").distinct().count() for rows in (begun, open_ones)))


def preview(study: Study, wish: Wish, *, at: datetime) -> AmendmentPreview:
    """What that amendment would change and what stands in its way, written nowhere."""
    before, protocol = amendments.state_of(study)
    places = amendments.list_places(before, wish.state, protocol.steps)
    return _look(study, wish, before, protocol, places, at=at)


@transaction.atomic
def amend(study: Study, wish: Wish, *, by: str, at: datetime, as_read: str = "") -> Amendment:
    """The amendment, made, with all that follows from it. Raises NotAmended, and then nothing has changed.

    as_read : `AmendableState.sha256` of what was read; if another stands there now, raises AmendedMeanwhile
    """
    # Of two that amend at once the second waits for this row, and then finds what the first has said.
    locked = Study.objects.select_for_update().get(pk=study.pk)
    if not may_amend(locked):
        raise NotAmended([Finding("error", "state", _state_sentence(locked))])
    before, protocol = amendments.state_of(locked)
    places = amendments.list_places(before, wish.state, protocol.steps)
    if not places:
        raise NothingAmended
    if as_read and before.sha256 != as_read:
        raise AmendedMeanwhile
    if not wish.reason.strip():
        raise NotAmended([Finding("error", "reason", _("a reason is missing"), _("say it in a few words"))])
    if obstacles := _look(locked, wish, before, protocol, places, at=at).obstacles:
        raise NotAmended(obstacles)
    amended = amendments.compose(locked, wish.state, protocol)
    try:
        _set_seats(locked, wish.state)
    except extensions.NotReducible as error:  # somebody has taken a seat at this very moment
        raise NotAmended([Finding("error", "seats_per_group", str(error))]) from None
    amendment = amendments.write_amendment(
        locked, wish.state, places, amended, reason=wish.reason.strip(), holds_for=wish.holds_for, by=by, at=at
    )
    if amendment.version and wish.holds_for == HoldsFor.EVERYBODY:
        _pass_on(locked, amendment.version, at=at)
    study.refresh_from_db()
    return amendment


def _state_sentence(study: Study) -> str:
    if study.is_closed:
        return _("it is closed; run a copy of it instead")
    return _("it is not launched yet, so everything can be changed on its own page")


def _look(
    study: Study,
    wish: Wish,
    before: AmendableState,
    protocol: Protocol,
    places: list[AmendedPlace],
    *,
    at: datetime,
) -> AmendmentPreview:
    """What would change, and what is to be said of it. What was wrong before is no fault of the amendment."""
    findings_before = set(amendments.collect_amended_findings(amendments.compose(study, before, protocol), at=at))
    findings_after = amendments.collect_amended_findings(amendments.compose(study, wish.state, protocol), at=at)
    changed = {place.key for place in places}
    findings = [finding for finding in findings_after if finding not in findings_before]
    # Of a deadline that has passed it is said once it is amended, though it had passed before.
    findings += [
        f for f in findings_after if f in findings_before and f.location == "closes_at" and "closes_at" in changed
    ]
    people = count_people(study)
    findings += _findings_of_people(study, wish, before, changed, people, at=at)
    return AmendmentPreview(places, findings, people)


def _findings_of_people(
    study: Study, wish: Wish, before: AmendableState, changed: set[str], people: PeopleAtWork, *, at: datetime
) -> Iterator[Finding]:
    """What the amendment would take from those who have begun."""
    if "closes_at" in changed:
        yield from _findings_of_deadline(wish, before, people)
    if "seats_per_group" in changed:
        k = wish.state.values["seats_per_group"]
        if k < before.values["seats_per_group"] and (codes := extensions.list_groups_in_use(study, k)):
            way_out = _("take away no more than are free")
            yield Finding("error", "seats_per_group", extensions.explain_in_use(codes, k), way_out)
    if wish.holds_for == HoldsFor.EVERYBODY and people.n_begun:
        for name in PAY:
            yield from _findings_of_pay(study, wish, name)


def _findings_of_deadline(wish: Wish, before: AmendableState, people: PeopleAtWork) -> Iterator[Finding]:
    old, new = before.values["closes_at"], wish.state.values["closes_at"]
    if new is not None and (old is None or new < old) and people.n_open:
        sentence = ngettext(
            "the deadline would be earlier than %(n)d person at work was told",
            "the deadline would be earlier than %(n)d people at work were told",
            people.n_open,
        )
        way_out = _("set a later one, or wait until nobody is at work")
        yield Finding("error", "closes_at", sentence % {"n": people.n_open}, way_out)


def _findings_of_pay(study: Study, wish: Wish, name: str) -> Iterator[Finding]:
    """Whether anybody who has begun would get less than was promised: an amendment for everybody takes all along."""
    promised = {json.loads(version.document).get(name, "") for version in _versions_begun(study)}
    comparisons = {compare_pay(before, wish.state.values[name]) for before in promised}
    if PayComparison.LOWER in comparisons:
        sentence = _("it offers less than people who have begun were promised, and they must get at least that")
        yield Finding("error", name, sentence, _("apply it to those who begin from now on"))
    elif PayComparison.UNCLEAR in comparisons and not wish.pay_is_no_less:
        sentence = _("the wording does not show whether this is as much as people who have begun were promised")
        way_out = _("confirm that it is no less, or apply it to those who begin from now on")
        yield Finding("error", "pay_is_no_less", sentence, way_out)


def _of_people(study: Study) -> QuerySet[Assignment]:
    return Assignment.objects.filter(study=study, rater_kind=Rater.Kind.PERSON, rater__withdrawal=None)


def _versions_begun(study: Study) -> list[ProtocolVersion]:
    """The versions that people have begun under or were passed on to. One query."""
    return list(ProtocolVersion.objects.filter(pk__in=_of_people(study).values("version")))


def _set_seats(study: Study, state: AmendableState) -> None:
    if state.values["seats_per_group"] != study.seats_per_group:
        extensions.set_seats_per_group(study, state.values["seats_per_group"])


def _pass_on(study: Study, version: ProtocolVersion, *, at: datetime) -> None:
    """Let everybody at work go on under that version from their next page on; from when is noted."""
    rows = Assignment.objects.filter(study=study, rater_kind=Rater.Kind.PERSON, status=Assignment.Status.OPEN)
    at_work = list(rows.exclude(version=version).select_for_update().values_list("pk", "version"))
    LaterVersion.objects.bulk_create(
        LaterVersion(assignment_id=pk, before_id=before, version=version, at=at) for pk, before in at_work
    )
    Assignment.objects.filter(pk__in=[pk for pk, _before in at_work]).update(version=version)
