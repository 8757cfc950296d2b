"""Places that people leave: replaced, given back, topped up to exactly what lacks."""

import random
from contextlib import suppress

import pytest

from annotation.models import Assignment, Invitation, Rater, Seat
from annotation.participation import claims, invitations, people, replacements
from studies.models import Study
from tests import factories
from tests.factories import NOON
from tests.threads import at_once

SUBMITTED = Assignment.Status.SUBMITTED


def come(invitation: Invitation) -> Assignment:
    return claims.claim(invitations.ensure_rater(invitation))


def submit(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(status=SUBMITTED, ended_at=NOON)


@pytest.mark.django_db
def test_a_replaced_person_keeps_what_is_submitted_and_lets_go_of_the_rest() -> None:
    study = factories.study(n_groups=2, n_stories=2, comparative=False)
    invitation, _ = invitations.issue(study, label="Poet")
    assignment = come(invitation)
    factories.answer(assignment)

    successor, token = replacements.replace(invitation, at=NOON)

    assignment.refresh_from_db()
    assert (assignment.status, assignment.responses.count()) == ("given_up", 1)
    assert Invitation.objects.get(pk=successor.pk).replaces == invitation
    assert successor.label == "in place of Poet"
    assert invitations.find_by_token(token, at=NOON) == successor
    assert Invitation.objects.get(pk=invitation.pk).revoked_at == NOON


@pytest.mark.django_db
def test_who_has_just_submitted_is_not_replaced_and_nothing_changes() -> None:
    study = factories.study(n_stories=2, comparative=False)
    invitation, _ = invitations.issue(study)
    submit(come(invitation))

    with pytest.raises(replacements.CannotLeave, match="just submitted"):
        replacements.replace(Invitation.objects.get(), at=NOON)

    assert Invitation.objects.get().revoked_at is None


@pytest.mark.django_db
def test_who_submits_while_they_are_replaced_is_not_replaced_and_nothing_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = factories.study(n_stories=2, comparative=False)
    invitation, _ = invitations.issue(study)
    assignment = come(invitation)
    find = claims.find_open_assignment

    def find_and_let_submit(rater: Rater) -> Assignment | None:
        row = find(rater)
        submit(assignment)
        return row

    monkeypatch.setattr(claims, "find_open_assignment", find_and_let_submit)
    with pytest.raises(replacements.CannotLeave, match="it was submitted"):
        replacements.replace(invitation, at=NOON)

    assert Invitation.objects.get().revoked_at is None, "and nobody else is invited"


@pytest.mark.django_db
def test_nobody_is_replaced_twice() -> None:
    invitation, _ = invitations.issue(factories.study())
    stale = Invitation.objects.get(pk=invitation.pk)
    replacements.replace(invitation, at=NOON)

    with pytest.raises(replacements.CannotLeave, match="just replaced"):
        replacements.replace(stale, at=NOON)


@pytest.mark.django_db
def test_what_lacks_is_what_is_free_less_who_is_on_the_way() -> None:
    study = factories.study(n_groups=2, k=3)
    come(invitations.issue(study)[0])
    invitations.issue(study)
    people.note(study, people.read_people("Noted 1\nNoted 2"))

    lack = replacements.measure_lack(study, at=NOON)
    links = replacements.top_up(study, at=NOON)

    assert lack == replacements.Lack(n_free=5, n_coming=1, n_people=4)
    assert [invitation.label for invitation, _ in links][:2] == ["Noted 1", "Noted 2"]
    assert len(links) == 4
    assert replacements.top_up(study, at=NOON) == []


@pytest.mark.django_db
def test_where_one_person_reads_several_groups_fewer_lack_but_never_fewer_than_the_fullest_group_needs() -> None:
    study = factories.study(n_groups=3, k=2, planned=False)
    Study.objects.filter(pk=study.pk).update(groups_per_sitting=3, state="draft")
    study.refresh_from_db()
    factories.plan(study)

    assert replacements.measure_lack(study, at=NOON).n_people == 2
    Seat.objects.exclude(group__code="plot1").update(is_taken=True)
    assert replacements.measure_lack(study, at=NOON).n_people == 2


@pytest.mark.django_db
@pytest.mark.services
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_of_sixty_people_a_third_drop_out_and_the_top_up_fills_every_place_once(seed: int) -> None:
    chance = random.Random(seed)
    study = factories.study(n_groups=20, n_stories=2, k=3, n_items=1, comparative=False)
    people.note(study, people.read_people("\n".join(f"Person {n}" for n in range(1, 61))))
    links = replacements.top_up(study, at=NOON)
    n_invited, n_out = 0, 0
    while links:
        n_invited += len(links)
        for invitation, _token in links:
            assignment = come(invitation)
            if n_out < 18 and chance.random() < 0.3:
                n_out += 1
                if chance.random() < 0.5:
                    successor, _ = replacements.replace(Invitation.objects.get(pk=invitation.pk), at=NOON)
                    n_invited += 1
                    submit(come(successor))
                else:
                    replacements.give_back(assignment, at=NOON)
            else:
                submit(assignment)
        links = replacements.top_up(study, at=NOON)

    seats = Seat.objects.filter(study=study)
    assert n_out >= 10
    assert n_invited == 60 + n_out, "no more were invited than lacked"
    assert seats.count() == 60
    assert all(seat.assignments.filter(status=SUBMITTED).count() == 1 for seat in seats)
    assert Assignment.objects.filter(status="given_up").count() == n_out


@pytest.mark.slow
@pytest.mark.services
@pytest.mark.usefixtures("committed")
def test_two_hundred_arrive_while_places_are_replaced_and_every_place_is_filled_once() -> None:
    study = factories.study(n_groups=50, n_stories=2, k=3, n_items=1, comparative=False)
    chance = random.Random(5)
    first = [invitations.issue(study)[0] for _ in range(50)]
    for invitation in first:
        come(invitation)
    arriving = [invitations.issue(study)[0] for _ in range(200)]

    def arrive(invitation: Invitation) -> None:
        with suppress(claims.NoSeat):
            submit(come(invitation))

    def leave(invitation: Invitation) -> None:
        successor, _ = replacements.replace(invitation, at=NOON)
        arrive(successor)

    work = [lambda i=i: arrive(i) for i in arriving] + [lambda i=i: leave(i) for i in first]
    chance.shuffle(work)
    outcomes = [outcome for n in range(0, len(work), 10) for outcome in at_once(*work[n : n + 10])]
    while Seat.objects.filter(study=study, is_taken=False).exists():
        for invitation, _token in replacements.top_up(study, at=NOON):
            arrive(invitation)

    assert [outcome for outcome in outcomes if outcome is not None] == []
    live = Assignment.objects.filter(study=study, status__in=Assignment.LIVE)
    assert (Seat.objects.filter(study=study).count(), live.count()) == (150, 150)
    assert live.values("seat").distinct().count() == 150
