"""Every seat is filled exactly once, whoever comes when."""

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.db import IntegrityError, connection, transaction

from annotation.models import Assignment, Invitation, Rater, Seat
from annotation.participation import claims, invitations, recognition, withdrawal
from studies.models import Study
from tests import factories
from tests.factories import NOON
from tests.threads import at_once


@pytest.mark.django_db
def test_the_least_filled_group_is_claimed_first() -> None:
    study = factories.study(n_groups=3, k=2)

    groups = [factories.assignment(study).group.code for _ in range(6)]

    assert sorted(groups[:3]) == ["plot1", "plot2", "plot3"]
    assert Counter(groups) == {"plot1": 2, "plot2": 2, "plot3": 2}


@pytest.mark.django_db
def test_claiming_again_finds_the_same_seat() -> None:
    study = factories.study()
    rater = factories.rater(study)

    assert claims.claim(rater) == claims.claim(rater)


@pytest.mark.django_db
def test_nobody_reads_a_group_twice_even_after_giving_it_up() -> None:
    study = factories.study(n_groups=2)
    rater = factories.rater(study)
    first = claims.claim(rater)
    claims.give_up(first, at=NOON)

    second = claims.claim(rater)
    claims.give_up(second, at=NOON)

    assert second.group != first.group
    with pytest.raises(claims.NoSeat):
        claims.claim(rater)


@pytest.mark.django_db
def test_a_seat_given_up_is_open_again() -> None:
    study = factories.study(k=1)
    first = factories.assignment(study)
    with pytest.raises(claims.NoSeat):
        factories.assignment(study)

    claims.give_up(first, at=NOON)

    assert factories.assignment(study).seat == first.seat


@pytest.mark.django_db
def test_an_invitation_that_names_groups_gives_those_only() -> None:
    study = factories.study(n_groups=3)
    rater = factories.rater(study)
    invitation = Invitation.objects.create(study=study, token_sha256="x", rater=rater)
    invitation.groups.set([study.groups.get(code="plot3")])

    mine = claims.claim(rater)
    claims.give_up(mine, at=NOON)

    assert mine.group.code == "plot3"
    with pytest.raises(claims.NoSeat):
        claims.claim(rater)


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["draft", "closed"])
def test_a_study_that_is_not_live_gives_no_seat(state: str) -> None:
    study = factories.study(state=state)

    with pytest.raises(claims.NoSeat, match="not open"):
        factories.assignment(study)

    assert not Assignment.objects.exists()


@pytest.mark.django_db
def test_the_database_itself_refuses_two_live_assignments_of_a_seat() -> None:
    study = factories.study()
    first = factories.assignment(study)
    other = factories.rater(study)

    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.create(
            study=study, rater=other, rater_kind="person", seat=first.seat, group=first.group, version=first.version
        )


def read_on(rater: Rater, *, n_groups: int = 1000) -> list[str]:
    """The groups that the rater reads and submits one after another, by code, until nothing is left."""
    codes: list[str] = []
    while len(codes) < n_groups:
        try:
            mine = claims.claim(rater)
        except claims.NoSeat:
            break
        Assignment.objects.filter(pk=mine.pk).update(status="submitted", ended_at=NOON)
        codes.append(mine.group.code)
    return codes


def everybody_rates_everything(*, n_groups: int, k: int) -> Study:
    return factories.study(n_groups=n_groups, n_stories=1, k=k, n_items=1, comparative=False)


@pytest.mark.django_db
@pytest.mark.parametrize("n_groups", [4, 18])
def test_five_raters_in_a_row_read_every_story_at_different_positions(n_groups: int) -> None:
    study = everybody_rates_everything(n_groups=n_groups, k=5)

    paths = [read_on(factories.rater(study)) for _ in range(5)]

    assert all(len(set(path)) == n_groups for path in paths)
    for column in zip(*paths, strict=True):
        most = max(Counter(column).values())
        assert most == (1 if n_groups >= 5 else 2), "of four places one is met twice by five raters"


@pytest.mark.django_db
def test_raters_at_work_at_the_same_time_read_every_story_at_different_positions() -> None:
    study = everybody_rates_everything(n_groups=6, k=6)
    raters = [factories.rater(study) for _ in range(6)]

    columns = [[code for rater in raters for code in read_on(rater, n_groups=1)] for _ in range(6)]

    codes = [f"plot{n}" for n in range(1, 7)]
    assert [sorted(column) for column in columns] == [codes] * 6
    assert [sorted(path) for path in zip(*columns, strict=True)] == [codes] * 6


@pytest.mark.django_db
def test_a_rater_reads_along_the_row_that_they_hold() -> None:
    study = everybody_rates_everything(n_groups=5, k=3)
    rater = factories.rater(study)

    path = read_on(rater)

    row = study.seats.filter(row=rater.row).order_by("position").values_list("group__code", flat=True)
    assert path == list(row)
    assert list(rater.assignments.order_by("pk").values_list("position", flat=True)) == [1, 2, 3, 4, 5]


@pytest.mark.django_db
def test_a_seat_given_up_goes_to_the_next_who_has_not_read_the_group_and_it_is_written_where_it_stands() -> None:
    study = everybody_rates_everything(n_groups=3, k=2)
    first, second = factories.rater(study), factories.rater(study)
    early = read_on(first, n_groups=1)
    given_up = claims.claim(first)
    recognition.give_back_seat(given_up, at=NOON)
    read_on(first)
    read_on(second)

    late = factories.rater(study)
    mine = claims.claim(late)

    assert read_on(second) == []
    assert (mine.seat, mine.group) == (given_up.seat, given_up.group)
    assert (mine.seat.position, mine.position) == (2, 1), "planned as somebody's second, read as this person's first"
    after = first.assignments.filter(status="submitted").order_by("pk").values_list("position", flat=True)
    assert (len(early), list(after)) == (1, [1, 2]), "what was given back unread is not counted"


@pytest.mark.django_db
def test_a_group_given_up_while_at_work_counts_among_those_read() -> None:
    study = everybody_rates_everything(n_groups=3, k=2)
    rater = factories.rater(study)
    claims.give_up(claims.claim(rater), at=NOON)

    assert claims.claim(rater).position == 2


def leave_by_withdrawing(rater: Rater) -> None:
    withdrawal.withdraw(rater, at=NOON)


def leave_by_revoked_link(rater: Rater) -> None:
    invitation, _ = invitations.issue(rater.study)
    Invitation.objects.filter(pk=invitation.pk).update(rater=rater)
    invitations.revoke(invitation, at=NOON)


@pytest.mark.django_db
@pytest.mark.parametrize("leave", [leave_by_withdrawing, leave_by_revoked_link])
def test_who_comes_next_goes_on_along_the_row_of_somebody_who_left(leave: Callable[[Rater], None]) -> None:
    study = everybody_rates_everything(n_groups=6, k=2)
    gone, stays, late = (factories.rater(study) for _ in range(3))
    read_on(gone, n_groups=3)
    read_on(stays, n_groups=1)
    row = gone.row
    leave(gone)
    remaining = study.seats.filter(row=row, is_taken=False).order_by("position").values_list("group__code", flat=True)
    expected = list(remaining)

    path = read_on(late, n_groups=3)

    assert late.row == row
    assert path == expected[:3]


@pytest.mark.django_db
def test_when_every_row_is_held_the_least_filled_group_comes_first() -> None:
    study = everybody_rates_everything(n_groups=4, k=4)
    holders = [factories.rater(study) for _ in range(4)]
    firsts = [read_on(rater, n_groups=1)[0] for rater in holders[:3]]
    seconds = read_on(holders[3], n_groups=2)

    late = factories.rater(study)
    mine = claims.claim(late)

    (twice,) = {code for code in firsts if code in seconds}
    assert sorted([*firsts, seconds[0]]) == ["plot1", "plot2", "plot3", "plot4"]
    assert (late.row, mine.position) == (None, 1)
    assert mine.group.code != twice, "it has one reader more"


@pytest.mark.django_db
def test_a_seat_that_counts_as_free_though_somebody_sits_in_it_is_passed_over() -> None:
    study = factories.study(n_groups=1, k=2, n_items=1)
    mine = claims.claim(factories.rater(study))
    Seat.objects.filter(pk=mine.seat_id).update(is_taken=False)

    theirs = claims.claim(factories.rater(study))

    assert theirs.seat_id != mine.seat_id
    assert not Seat.objects.filter(is_taken=False).exists()


@pytest.mark.django_db
def test_of_equally_filled_groups_the_one_least_read_at_that_position_comes_first() -> None:
    study = everybody_rates_everything(n_groups=2, k=3)
    Seat.objects.update(row=None, position=None)

    paths = [read_on(factories.rater(study)) for _ in range(2)]

    assert paths == [["plot1", "plot2"], ["plot2", "plot1"]]


@pytest.mark.django_db
def test_links_for_one_group_hold_no_row_and_links_for_some_read_theirs_along_it() -> None:
    study = everybody_rates_everything(n_groups=6, k=2)
    paths = {}
    for codes in (["plot3"], ["plot1", "plot2", "plot5"]):
        rater = factories.rater(study)
        invitation, _ = invitations.issue(study, groups=study.groups.filter(code__in=codes))
        Invitation.objects.filter(pk=invitation.pk).update(rater=rater)
        paths[rater] = read_on(Rater.objects.get(pk=rater.pk))

    one, some = Rater.objects.order_by("pk")
    row = study.seats.filter(row=some.row, group__code__in=["plot1", "plot2", "plot5"]).order_by("position")
    assert (one.row, paths[one]) == (None, ["plot3"])
    assert paths[some] == [seat.group.code for seat in row]


@pytest.mark.django_db
def test_who_has_work_claims_with_few_queries(django_assert_num_queries: Any) -> None:
    study = everybody_rates_everything(n_groups=6, k=2)
    rater = factories.rater(study)
    read_on(rater, n_groups=2)
    rater = Rater.objects.select_related("study").get(pk=rater.pk)

    # The protocol, the open assignment, what was read, the invitation, the seat, its group, and the writing of it.
    with django_assert_num_queries(11):
        assignment = claims.claim(rater)
    assert (assignment.seat.row, assignment.seat.position, assignment.position) == (rater.row, 3, 3)


def test_of_twenty_who_arrive_at_once_each_holds_a_row_of_their_own(committed: None) -> None:
    study = everybody_rates_everything(n_groups=20, k=20)
    raters = [factories.rater(study) for _ in range(20)]

    outcomes = at_once(*(lambda rater=rater: claims.claim(rater) for rater in raters))

    assert {type(outcome) for outcome in outcomes} == {Assignment}
    assert sorted(Rater.objects.values_list("row", flat=True)) == list(range(1, 21))
    firsts = Assignment.objects.values_list("group__code", "position", "seat__position")
    assert len(set(firsts)) == 20, "all begin with different groups"
    assert {(position, planned) for _, position, planned in firsts} == {(1, 1)}


def arrive_and_leave(study: Study, *, n_arrivals: int, n_threads: int) -> None:
    """Random arrivals, give-ups, submissions, withdrawals and returns, until every arrival has had its turn."""
    turns = iter(range(n_arrivals))
    guard = threading.Lock()
    raters = [factories.rater(study, f"E{n:04}") for n in range(n_arrivals // 4)]
    failures: list[BaseException] = []

    def work(thread: int) -> None:
        rng = np.random.default_rng(thread)
        try:
            while True:
                with guard:
                    if next(turns, None) is None:
                        return
                one_turn(Rater.objects.select_related("study").get(pk=raters[rng.integers(len(raters))].pk), rng)
        except BaseException as failure:
            failures.append(failure)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def one_turn(rater: Rater, rng: np.random.Generator) -> None:
    if hasattr(rater, "withdrawal"):
        return
    try:
        mine = claims.claim(rater)
    except claims.NoSeat:
        return
    chance = rng.random()
    if chance < 0.5:
        claims.give_up(mine, at=NOON)
    elif chance < 0.8:
        Assignment.objects.filter(pk=mine.pk, status="open").update(status="submitted")
    elif chance < 0.85:
        withdrawal.withdraw(rater, at=NOON)


def fill_up(study: Study) -> None:
    """Newcomers until nobody gets a seat any more."""
    for n in range(10_000):
        rater = factories.rater(study, f"Z{n:04}")
        try:
            claims.claim(rater)
        except claims.NoSeat:
            return


def assert_filled_exactly_once(study: Study) -> None:
    live = Counter(Assignment.objects.filter(study=study, status__in=Assignment.LIVE).values_list("seat", flat=True))
    assert set(live) == set(Seat.objects.filter(study=study).values_list("pk", flat=True))
    assert set(live.values()) == {1}
    assert not study.seats.filter(is_taken=False).exists()
    read = Counter(Assignment.objects.filter(study=study).values_list("rater", "group"))
    assert set(read.values()) == {1}


@pytest.mark.parametrize("n_arrivals", [500, pytest.param(3_000, marks=pytest.mark.slow)])
def test_every_seat_is_filled_exactly_once_under_eight_threads(committed: None, n_arrivals: int) -> None:
    study = factories.study(n_groups=12, k=3, n_items=1)

    arrive_and_leave(study, n_arrivals=n_arrivals, n_threads=8)
    fill_up(study)

    assert_filled_exactly_once(study)


def with_most(groups_per_rater: int, **fields: Any) -> Study:
    """A live study that gives so many groups to one person."""
    study = factories.study(state=Study.State.DRAFT, planned=False, **fields)
    study.groups_per_rater = groups_per_rater
    study.save()
    factories.plan(study)
    factories.freeze(study)
    Study.objects.filter(pk=study.pk).update(state=Study.State.LIVE)
    study.refresh_from_db()
    return study


@pytest.mark.django_db
def test_nobody_gets_more_groups_than_one_person_may_read_and_the_row_is_let_go() -> None:
    study = with_most(2, n_groups=4, n_stories=1, k=2, comparative=False)
    readers = [factories.rater(study) for _ in range(4)]

    paths = [read_on(rater, n_groups=2) for rater in readers]

    assert [len(path) for path in paths] == [2, 2, 2, 2]
    assert not Seat.objects.filter(is_taken=False).exists(), "who came third and fourth read the rest of both rows"
    assert not Rater.objects.exclude(row=None).exists()
    with pytest.raises(claims.NoSeat, match="as many groups as one person may read"):
        claims.claim(readers[0])
    assert claims.n_groups_left(readers[0]) == 0


@pytest.mark.django_db
def test_a_group_that_was_known_does_not_count_towards_the_most() -> None:
    rater = factories.rater(with_most(1, n_groups=2, recognition=True))

    recognition.give_back_seat(claims.claim(rater), at=NOON)

    assert claims.claim(rater).position == 1
