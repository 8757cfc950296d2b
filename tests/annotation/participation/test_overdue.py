"""Places whose time is over come back by themselves, and with them whoever was working there."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.design import actions
from annotation.models import Assignment, Invitation, Rater, Response, Seat, WaitingPerson
from annotation.participation import (
    arrivals,
    claims,
    consents,
    invitations,
    overdue,
    recruitment,
    roster,
    visits,
    waiting_list,
)
from annotation.participation.recruitment import Ending
from annotation.responses import submission
from studies.action_log import SYSTEM
from studies.models import Step, Study
from tests import factories
from tests.annotation.participation.test_recruitment import come, recruit
from tests.factories import NOON
from tests.threads import at_once

HOUR = timedelta(hours=1)


def with_hours(hours: int = 24, **fields: int) -> Study:
    study = factories.study(planned=False, **fields)
    study.hours_per_group = hours
    study.save()
    factories.plan(study)
    return study


def begin(study: Study, *, at: datetime = NOON) -> Assignment:
    return claims.claim(factories.rater(study), at=at)


@pytest.mark.django_db
def test_a_group_is_taken_back_when_its_hours_are_over_and_the_log_says_that_quire_did_it() -> None:
    assignment = begin(with_hours(24))

    assert overdue.sweep(at=NOON + 24 * HOUR - timedelta(seconds=1)) == 0
    assert overdue.sweep(at=NOON + 24 * HOUR) == 1
    assert overdue.sweep(at=NOON + 25 * HOUR) == 0

    assignment.refresh_from_db()
    assert (assignment.status, assignment.taken_back_at) == ("given_up", NOON + 24 * HOUR)
    assert not Seat.objects.filter(is_taken=True).exists()
    entry = LogEntry.objects.get()
    assert (entry.user.username, entry.object_repr, entry.change_message) == (
        SYSTEM,
        assignment.code,
        overdue.GROUP_OVER,
    )
    assert not User.objects.get(username=SYSTEM).has_usable_password()


@pytest.mark.django_db
def test_the_list_of_people_says_that_the_time_was_over() -> None:
    study = with_hours(24)
    begin(study)
    overdue.sweep(at=NOON + 24 * HOUR)

    [row] = roster.list_people(study, at=NOON + 25 * HOUR)

    assert (row.state, row.flags) == (roster.RETURNED, [("", "time over, place released")])


@pytest.mark.django_db
def test_a_group_without_hours_and_one_that_is_submitted_stay() -> None:
    begin(factories.study())
    submission.submit(begin(with_hours_elsewhere()), at=NOON)

    assert overdue.sweep(at=NOON + 9999 * HOUR) == 0


def with_hours_elsewhere() -> Study:
    study = factories.study("pears", planned=False)
    Study.objects.filter(pk=study.pk).update(hours_per_group=1)
    study.refresh_from_db()
    factories.plan(study)
    return study


@pytest.mark.django_db
def test_the_place_of_an_expired_invitation_is_taken_back_and_its_holder_gets_no_other() -> None:
    study = factories.study(n_groups=2)
    invitation, _token = invitations.issue(study)
    rater = invitations.ensure_rater(invitation)
    claims.claim(rater, at=NOON)
    Invitation.objects.update(expires_at=NOON + HOUR)

    assert overdue.sweep(at=NOON) == 0
    assert overdue.sweep(at=NOON + 2 * HOUR) == 1

    assert LogEntry.objects.get().change_message == overdue.INVITATION_OVER
    with pytest.raises(claims.NoSeat, match="has expired"):
        claims.claim(Rater.objects.get(pk=rater.pk), at=NOON + 2 * HOUR)


@pytest.mark.django_db
def test_a_sweep_with_nothing_due_is_one_query_however_many_work() -> None:
    study = with_hours(24, n_groups=3)
    for _ in range(6):
        begin(study)

    with CaptureQueriesContext(connection) as queries:
        overdue.sweep(at=NOON)

    assert len(queries) == 1


@pytest.mark.django_db
def test_whoever_comes_back_to_a_free_place_goes_on_with_all_that_they_answered() -> None:
    study = with_hours(24, k=1)
    assignment = begin(study)
    factories.answer(assignment)
    overdue.sweep(at=NOON + 24 * HOUR)
    rater = Rater.objects.get(pk=assignment.rater_id)

    assert claims.n_groups_left(rater) == 1
    again = claims.claim(rater, at=NOON + 30 * HOUR)

    assert again == assignment
    assert (again.status, again.taken_back_at, again.ended_at) == ("open", None, None)
    assert again.due_at == NOON + 54 * HOUR
    assert Response.objects.filter(assignment=again).count() == 1
    assert Seat.objects.get().is_taken


@pytest.mark.django_db
def test_whoever_comes_back_to_a_place_that_is_taken_gets_another_group_and_their_answers_stay_out_of_results() -> None:
    study = with_hours(24, n_groups=2, k=1)
    assignment = begin(study)
    factories.answer(assignment)
    overdue.sweep(at=NOON + 24 * HOUR)
    invitation, _token = invitations.issue(study, groups=[assignment.group])
    claims.claim(invitations.ensure_rater(invitation), at=NOON + 25 * HOUR)

    rater = Rater.objects.get(pk=assignment.rater_id)
    other = claims.claim(rater, at=NOON + 30 * HOUR)

    assert other.group != assignment.group
    assert Response.objects.filter(assignment=assignment).count() == 1
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.GIVEN_UP


@pytest.mark.django_db
def test_everybody_at_work_has_the_hours_anew_after_a_pause() -> None:
    study = with_hours(24)
    assignment = begin(study)
    Study.objects.filter(pk=study.pk).update(state=Study.State.PAUSED)
    assert overdue.sweep(at=NOON + 30 * HOUR) == 0

    actions.run("resume", Study.objects.get(pk=study.pk), by=factories.staff("Lead"))

    assignment.refresh_from_db()
    assert assignment.due_at is not None
    assert assignment.due_at > NOON + 24 * HOUR


@pytest.mark.django_db
def test_somebody_from_prolific_who_vanishes_at_a_second_group_loses_that_place_and_keeps_the_first() -> None:
    study = factories.study(n_groups=2, k=1)
    row = recruit(study, minutes=60)
    rater = come(row, 1)
    submission.submit(claims.claim(rater), at=NOON)
    second = claims.claim(rater)

    assert overdue.sweep(at=NOON + 2 * HOUR) == 1

    second.refresh_from_db()
    assert second.status == Assignment.Status.GIVEN_UP
    assert Seat.objects.filter(is_taken=True).count() == 1
    assert list(recruitment.list_endings(study).values()) == [Ending.COMPLETED]
    with pytest.raises(claims.NoSeat):  # nothing else is given that would be taken back a minute later
        claims.claim(Rater.objects.get(pk=rater.pk), at=NOON + 2 * HOUR)


@pytest.mark.django_db
def test_a_seat_that_is_taken_though_it_was_held_for_somebody_gives_way_to_another() -> None:
    study = factories.study(n_groups=2, k=1)
    rater = factories.rater(study)
    assert claims.hold(rater, until=NOON)
    Seat.objects.filter(held_by=rater).update(is_taken=True)

    assert claims.hold(rater, until=NOON + HOUR)

    assert not Seat.objects.get(held_by=rater).is_taken


@pytest.mark.django_db
def test_who_was_given_time_anew_between_two_looks_keeps_the_place() -> None:
    assignment = begin(with_hours(24))
    seen = Assignment.objects.get()
    Assignment.objects.update(due_at=NOON + 48 * HOUR)

    assert not claims.give_up(seen, at=NOON + 25 * HOUR, is_taken_back=True)

    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.OPEN


@pytest.mark.django_db
def test_a_place_is_held_for_a_day_after_a_pause() -> None:
    study = factories.study(k=1)
    assert claims.hold(factories.rater(study), until=NOON)
    lead = factories.staff("Lead")
    actions.run("pause", Study.objects.get(pk=study.pk), by=lead)

    actions.run("resume", Study.objects.get(pk=study.pk), by=lead)

    held_until = Seat.objects.get().held_until
    assert held_until is not None
    assert held_until > timezone.now() + 23 * HOUR


@pytest.mark.django_db
def test_a_hold_that_lapses_frees_place_and_row_for_the_next() -> None:
    study = factories.study(n_groups=2, k=1)
    first, second = factories.rater(study), factories.rater(study)
    assert arrivals.hold_place(first, at=NOON)
    assert arrivals.hold_place(second, at=NOON)
    third = factories.rater(study)
    assert not arrivals.hold_place(third, at=NOON + HOUR)

    assert arrivals.hold_place(third, at=NOON + arrivals.HELD)

    assert Seat.objects.get(held_by=third)
    assert not Seat.objects.filter(held_by=first).exists()


@pytest.mark.django_db
def test_a_hold_lasts_as_long_as_somebody_goes_through_what_comes_before_the_first_group() -> None:
    study = factories.study(k=1)
    rater = factories.rater(study)
    arrivals.hold_place(rater, at=NOON)

    visits.record_step_taken(rater, study.versions.get().steps.get(key="consent"))

    assert overdue.sweep(at=NOON + arrivals.HELD) == 0
    assert Seat.objects.get().held_by == rater


@pytest.mark.usefixtures("committed")
def test_two_workers_that_sweep_at_once_take_each_place_back_once() -> None:
    study = with_hours(24, n_groups=3, k=2)
    for _ in range(6):
        begin(study)

    outcomes = at_once(*[lambda: overdue.sweep(at=NOON + 24 * HOUR)] * 3)

    assert sum(n for n in outcomes if isinstance(n, int)) == 6
    assert LogEntry.objects.count() == 6
    assert not Seat.objects.filter(is_taken=True).exists()


def wait(study: Study, name: str, *, at: datetime) -> Rater:
    invitation, _token = invitations.issue(study)
    rater = invitations.ensure_rater(invitation)
    waiting_list.join(rater, email=f"{name}@example.org", site="https://q.example", at=at)
    return rater


@pytest.mark.django_db
def test_a_free_place_is_offered_in_order_and_goes_to_the_next_if_nobody_takes_it() -> None:
    study = with_hours(24, k=1)
    begin(study)
    first, second = (wait(study, name, at=NOON + n * HOUR) for n, name in enumerate(("ann", "ben")))

    overdue.sweep(at=NOON + 24 * HOUR)
    assert Seat.objects.get().held_by == first
    with pytest.raises(claims.NoSeat):
        claims.claim(factories.rater(study))
    overdue.sweep(at=NOON + 48 * HOUR)

    assert Seat.objects.get().held_by == second
    assert not arrivals.hold_place(first, at=NOON + 49 * HOUR)
    assert arrivals.hold_place(second, at=NOON + 49 * HOUR)


@pytest.mark.django_db
def test_nobody_who_comes_later_gets_a_place_before_those_who_wait() -> None:
    study = factories.study(k=1)
    assignment = begin(study)
    waiting_rater = wait(study, "ann", at=NOON)
    claims.give_up(assignment, at=NOON)

    assert not arrivals.hold_place(factories.rater(study), at=NOON + HOUR)
    assert Seat.objects.get().held_by == waiting_rater


ARRIVALS, N_PLACES, STEP = 200, 60, 3  # hours, in which all that happens begins at the same moment


def agree(rater: Rater, step: Step, *, at: datetime) -> bool:
    """What the page of the consent does: whether the rater agreed."""
    if not arrivals.hold_place(rater, at=at):
        return False
    consents.record_consent(rater, step)
    return True


@pytest.mark.slow
@pytest.mark.usefixtures("committed")
def test_of_200_arrivals_with_a_third_vanishing_60_places_are_filled_once_and_nobody_agrees_in_vain() -> None:
    study = with_hours(24, n_groups=20, k=3)
    step = study.versions.get().steps.get(key="consent")
    draw = random.Random(20261128)
    arriving = sorted(draw.uniform(0, 72) for _ in range(ARRIVALS))
    vanishing = set(draw.sample(range(ARRIVALS), ARRIVALS * 3 // 10))
    submits_at: dict[int, float] = {}
    raters: dict[int, Rater] = {}
    turned_away: list[int] = []

    def arrive(n: int, at: datetime) -> str:
        if n not in raters:
            invitation, _token = invitations.issue(study)
            raters[n] = invitations.ensure_rater(invitation)
        rater = Rater.objects.select_related("study").get(pk=raters[n].pk)
        if not agree(rater, step, at=at):
            n_overdue = Assignment.objects.filter(status="open", due_at__lte=at).count()
            assert n_overdue == 0, "somebody was turned away while a place was overdue"
            waiting_list.join(rater, email=f"p{n}@example.org", site="https://q.example", at=at)
            return "turned away"
        claims.claim(rater, at=at)  # raises NoSeat for whoever agreed in vain
        submits_at[n] = (at - NOON) / HOUR + draw.uniform(1, 20)
        return "began"

    for hour in range(0, 24 * 12, STEP):
        at = NOON + hour * HOUR
        offered = WaitingPerson.objects.filter(offered_at__isnull=False, rater__held_seat__isnull=False)
        back = set(offered.values_list("rater", flat=True))
        now = [n for n, time in enumerate(arriving) if hour <= time < hour + STEP]
        now += [n for n, rater in raters.items() if rater.pk in back and (n not in vanishing or n % 2)]
        ready = [n for n, time in submits_at.items() if time <= hour and n not in vanishing]
        work: list[Callable[[], object]] = [partial(arrive, n, at) for n in dict.fromkeys(now)]
        work += [partial(overdue.sweep, at=at)] * 2
        for n in ready:
            assignment = claims.find_open_assignment(raters[n])
            if assignment and assignment.due_at and at < assignment.due_at:
                work.append(partial(submission.submit, assignment, at=at))
        outcomes = at_once(*work)
        problems = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        assert problems == []
        turned_away += [n for n, outcome in zip(dict.fromkeys(now), outcomes, strict=False) if outcome == "turned away"]
        if Assignment.objects.filter(status="submitted").count() == N_PLACES:
            break

    submitted = Assignment.objects.filter(status=Assignment.Status.SUBMITTED)
    assert sorted(submitted.values_list("seat", flat=True)) == sorted(Seat.objects.values_list("pk", flat=True))
    assert not Assignment.objects.filter(status=Assignment.Status.OPEN).exists()
    agreed = Rater.objects.exclude(consented_to=[])
    assert set(agreed) == set(Rater.objects.filter(assignments__seat__isnull=False))
    assert turned_away, "there was nobody to turn away, so that nothing is shown"
    assert Assignment.objects.filter(status=Assignment.Status.GIVEN_UP).exists(), "nobody vanished"
