"""People from Prolific: one place each, however they come; each ending noted before its code is true."""

from datetime import timedelta
from typing import Any

import pytest

from annotation.design import launches
from annotation.models import Assignment, Identity, Invitation, ProlificArrival, ProlificRecruitment, Rater, Seat
from annotation.participation import arrivals, claims, consents, overdue, recruitment, withdrawal
from annotation.participation.recruitment import Ending, NotFromProlific, Participant
from annotation.responses import submission
from studies import protocol
from studies.models import Study
from tests import factories
from tests.factories import NOON
from tests.threads import at_once

CODES = {"completed_code": "CDONE1", "ended_code": "CNOPE2", "full_code": "CFULL3"}


def recruit(study: Study, **fields: Any) -> ProlificRecruitment:
    return ProlificRecruitment.objects.create(study=study, is_open=True, **(CODES | fields))


def participant(n: int, session: str = "s1") -> Participant:
    return Participant(f"{n:024x}", session=session)


def come(row: ProlificRecruitment, n: int) -> Rater:
    arrival = arrivals.arrive(row, participant(n), at=NOON)
    assert arrival.invitation is not None
    assert arrival.invitation.rater is not None
    return arrival.invitation.rater


@pytest.mark.django_db
def test_the_same_person_always_finds_the_same_place_and_only_their_identity_says_who_they_are() -> None:
    row = recruit(factories.study())

    rater = come(row, 1)

    assert come(row, 1) == rater
    assert come(row, 2) != rater
    assert rater.identity is not None
    assert (rater.identity.platform, rater.identity.platform_id) == ("prolific", f"{1:024x}")
    assert list(Invitation.objects.order_by("pk").values_list("label", flat=True)) == ["Prolific 1", "Prolific 2"]


@pytest.mark.django_db
def test_one_identity_stands_for_a_person_in_all_studies_and_an_excluded_one_is_known_by_it() -> None:
    before, after = factories.study(), factories.study("pears", planned=False)
    after.excluded_studies = [before.slug]
    after.save()
    factories.plan(after)

    first = come(recruit(before), 1)
    claims.claim(first)
    second = come(recruit(after), 1)

    assert second.identity == first.identity
    with pytest.raises(claims.NoSeat, match="earlier study"):
        claims.claim(Rater.objects.get(pk=second.pk))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({}, "lacks your Prolific ID"),
        ({"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}, "no valid Prolific ID"),
        ({"PROLIFIC_PID": "a" * 24 + "'"}, "no valid Prolific ID"),
        ({"PROLIFIC_PID": "a" * 24, "SESSION_ID": "../x"}, "no valid Prolific ID"),
        ({"PROLIFIC_PID": "a" * 24, "STUDY_ID": "other"}, "another study"),
        ({"PROLIFIC_PID": "a" * 24}, "another study"),
    ],
)
def test_whoever_does_not_come_from_prolific_is_told_so(query: dict[str, str], sentence: str) -> None:
    row = recruit(factories.study(), prolific_study="ours")

    with pytest.raises(NotFromProlific, match=sentence):
        recruitment.read_participant(query, row)


@pytest.mark.django_db
def test_no_more_come_in_than_places_are_free_or_than_may() -> None:
    study = factories.study(n_groups=1, k=2)
    row = recruit(study, most_people=1)
    come(row, 1)

    second = arrivals.arrive(row, participant(2), at=NOON)
    Seat.objects.update(is_taken=True)
    row.most_people = 9
    third = arrivals.arrive(row, participant(3), at=NOON)

    assert [second.outcome, third.outcome] == [Ending.NO_PLACE, Ending.NO_PLACE]
    assert Rater.objects.count() == 1


@pytest.mark.django_db
def test_whoever_ends_gives_the_place_back_and_comes_in_no_more() -> None:
    study = factories.study()
    row = recruit(study, minutes=60)
    rater = come(row, 1)
    assignment = claims.claim(rater)

    assert overdue.take_back_arrivals(row.study, at=NOON + timedelta(minutes=59)) == 0
    assert overdue.take_back_arrivals(row.study, at=NOON + timedelta(minutes=61)) == 1

    arrival = arrivals.arrive(row, participant(1), at=NOON)
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.GIVEN_UP
    assert recruitment.find_ending(arrival) == Ending.TIMED_OUT
    assert recruitment.find_code(row, Ending.TIMED_OUT) == recruitment.ReturnCode(Ending.TIMED_OUT, "CFULL3")
    assert not Seat.objects.filter(is_taken=True).exists()


@pytest.mark.django_db
def test_nobody_who_has_submitted_is_noted_as_anything_else() -> None:
    row = recruit(factories.study(), minutes=60)
    rater = come(row, 1)
    submission.submit(claims.claim(rater), at=NOON)

    with pytest.raises(recruitment.HasCompleted):
        recruitment.end(ProlificArrival.objects.get(), Ending.TIMED_OUT, at=NOON)

    assert overdue.count_arrivals(row.study, at=NOON + timedelta(days=1)) == 0
    assert list(recruitment.list_endings(row.study).values()) == [Ending.COMPLETED]


@pytest.mark.django_db
def test_a_new_submission_at_prolific_begins_its_time_anew() -> None:
    row = recruit(factories.study(), minutes=60)
    come(row, 1)

    arrival = arrivals.arrive(row, participant(1, "s2"), at=NOON + timedelta(hours=5))

    limit = recruitment.find_time_limit(arrival, row)
    assert limit is not None
    assert limit.until == NOON + timedelta(hours=6)
    assert limit.warns_at == NOON + timedelta(hours=5, minutes=45)


@pytest.mark.django_db
def test_erasure_leaves_nothing_by_which_to_know_the_participant() -> None:
    row = recruit(factories.study())
    rater = come(row, 1)
    assert Identity.objects.get().platform_id

    withdrawal.withdraw(rater, at=NOON)

    assert not Identity.objects.exists()
    arrival = ProlificArrival.objects.get()
    assert (arrival.identity, arrival.session) == (None, "")
    assert recruitment.find_arrival(row.study, participant(1)) is None


@pytest.mark.django_db
def test_a_study_is_not_launched_whose_codes_are_missing() -> None:
    study = factories.study(state=Study.State.DRAFT)
    row = recruit(study, full_code="")

    findings = [f for f in launches.launch_obstacles(study, at=NOON) if f.place == "prolific"]
    row.full_code = "CFULL3"
    row.save()

    assert [f.sentence for f in findings] == [
        "people are to come from Prolific, but not all of its three codes are there"
    ]
    assert [f for f in launches.launch_obstacles(study, at=NOON) if f.place == "prolific"] == []


def test_the_address_has_the_placeholders_that_prolific_fills_in() -> None:
    assert recruitment.write_address("https://q.example", "/p/k/") == (
        "https://q.example/p/k/?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )


def take_part(row: ProlificRecruitment, n: int) -> None:
    """Arrive, agree, and take a place if there is one."""
    arrival = arrivals.arrive(row, participant(n), at=NOON)
    if arrival.invitation and arrival.invitation.rater:
        rater = Rater.objects.select_related("study").get(pk=arrival.invitation.rater.pk)
        step = protocol.load_protocol(protocol.current(rater.study)).consent
        assert step is not None
        consents.record_consent(rater, step)
        try:
            claims.claim(rater)
        except claims.NoSeat:
            recruitment.end(arrival, Ending.NO_PLACE, at=NOON)


@pytest.mark.slow
@pytest.mark.usefixtures("committed")
def test_of_many_who_arrive_at_once_every_place_has_one() -> None:
    study = factories.study(n_groups=3, k=3)
    row = recruit(study)

    outcomes = at_once(*(lambda n=n: take_part(row, n) for n in range(24)))

    assert outcomes == [None] * 24
    live = Assignment.objects.filter(status__in=Assignment.LIVE).exclude(seat=None)
    assert sorted(live.values_list("seat", flat=True)) == sorted(Seat.objects.values_list("pk", flat=True))
    assert ProlificArrival.objects.filter(outcome=Ending.NO_PLACE).count() == 15


@pytest.mark.usefixtures("committed")
def test_the_same_person_in_several_windows_at_once_is_one_rater() -> None:
    row = recruit(factories.study())

    keys = at_once(*[lambda: arrivals.arrive(row, participant(1), at=NOON).pk] * 6)

    assert len(set(keys)) == 1
    assert Rater.objects.count() == Identity.objects.count() == Invitation.objects.count() == 1


LATER = NOON + timedelta(hours=5)


@pytest.mark.django_db
def test_an_arrival_frees_the_places_of_those_whose_time_is_over() -> None:
    row = recruit(factories.study(k=1), minutes=60)
    overdue = claims.claim(come(row, 1))

    second = arrivals.arrive(row, participant(2), at=LATER)

    overdue.refresh_from_db()
    assert overdue.status == Assignment.Status.GIVEN_UP
    assert second.outcome == ""
    assert second.invitation is not None
    assert claims.claim(Rater.objects.get(invitation=second.invitation)).seat == overdue.seat


@pytest.mark.django_db
def test_a_sweep_frees_overdue_places_of_live_studies_alone() -> None:
    studies = [factories.study(k=1), factories.study("pears", k=1), factories.study("figs", k=1)]
    rows = [recruit(study, minutes=minutes) for study, minutes in zip(studies, (60, 60, None), strict=True)]
    for n, row in enumerate(rows):
        claims.claim(come(row, n))
    Study.objects.filter(slug="pears").update(state=Study.State.PAUSED)

    assert overdue.sweep(at=NOON + timedelta(minutes=59)) == 0
    assert overdue.sweep(at=LATER) == 1

    assert list(Seat.objects.filter(is_taken=False).values_list("study__slug", flat=True)) == ["plums"]


@pytest.mark.django_db
@pytest.mark.parametrize("session", ["s1", "s2"])
def test_a_person_who_was_turned_away_comes_in_once_a_place_is_free(session: str) -> None:
    row = recruit(factories.study(k=1))
    first = claims.claim(come(row, 1))
    assert recruitment.find_ending(arrivals.arrive(row, participant(2), at=NOON)) == Ending.NO_PLACE

    still = arrivals.arrive(row, participant(2, session), at=LATER)
    claims.give_up(first, at=LATER)
    again = arrivals.arrive(row, participant(2, session), at=LATER)

    assert recruitment.find_ending(still) == Ending.NO_PLACE
    assert recruitment.find_ending(again) is None
    assert (again.session, again.session_began_at, again.ended_at) == (session, LATER, None)
    assert claims.claim(Rater.objects.get(invitation=again.invitation)).seat == first.seat


@pytest.mark.django_db
def test_a_place_is_held_from_the_consent_on_and_no_longer_than_its_time() -> None:
    study = factories.study(k=1)
    row = recruit(study, minutes=60)
    step = protocol.load_protocol(protocol.current(study)).steps[0]
    one, two = come(row, 1), come(row, 2)

    assert arrivals.hold_place(one, at=NOON)
    consents.record_consent(one, step)

    assert arrivals.hold_place(one, at=NOON), "who holds it is not turned away from it"
    assert not arrivals.hold_place(two, at=NOON)
    assert recruitment.find_ending(arrivals.arrive(row, participant(2), at=NOON)) == Ending.NO_PLACE
    assert recruitment.find_ending(arrivals.arrive(row, participant(3), at=NOON)) == Ending.NO_PLACE
    assert recruitment.find_ending(arrivals.arrive(row, participant(2), at=LATER)) is None
    assert arrivals.hold_place(two, at=LATER)


@pytest.mark.django_db
def test_a_person_who_came_by_an_invitation_agrees_only_with_a_place_too() -> None:
    study = factories.study(k=1)
    recruit(study)
    first, second = factories.rater(study), factories.rater(study)

    assert arrivals.hold_place(first, at=NOON)
    assert not arrivals.hold_place(second, at=NOON)
    assert claims.claim(first).seat == Seat.objects.get()
