"""Every seat is filled exactly once, whoever comes when."""

import threading
from collections import Counter

import numpy as np
import pytest
from django.db import IntegrityError, connection, transaction

from annotation.models import Assignment, Invitation, Rater, Seat
from annotation.participation import claims
from studies.models import Study
from tests import factories
from tests.factories import NOON


@pytest.mark.django_db
def test_the_least_filled_group_is_claimed_first() -> None:
    study = factories.study(n_groups=3, k=2)

    groups = [factories.assignment(study).group.code for _ in range(6)]

    assert sorted(groups[:3]) == ["plot1", "plot2", "plot3"]
    assert Counter(groups) == {"plot1": 2, "plot2": 2, "plot3": 2}


@pytest.mark.django_db
def test_of_equal_groups_the_seat_of_lowest_rank_is_claimed() -> None:
    study = factories.study(k=3)

    ranks = [factories.assignment(study).seat.rank for _ in range(3)]

    assert ranks == [1, 2, 3]


@pytest.mark.django_db
def test_claiming_again_finds_the_same_place() -> None:
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
def test_a_place_given_up_is_open_again() -> None:
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


def arrive_and_leave(study: Study, *, n_arrivals: int, n_threads: int) -> None:
    """Random arrivals, give-ups, submissions and returns, until every arrival has had its turn."""
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
    try:
        mine = claims.claim(rater)
    except claims.NoSeat:
        return
    chance = rng.random()
    if chance < 0.5:
        claims.give_up(mine, at=NOON)
    elif chance < 0.8:
        Assignment.objects.filter(pk=mine.pk, status="open").update(status="submitted")


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


@pytest.fixture
def n_arrivals() -> int:
    return 2000 if connection.vendor == "postgresql" else 500


def test_every_seat_is_filled_exactly_once_under_eight_threads(committed: None, n_arrivals: int) -> None:
    study = factories.study(n_groups=12, k=3, n_items=1)

    arrive_and_leave(study, n_arrivals=n_arrivals, n_threads=8)
    fill_up(study)

    assert_filled_exactly_once(study)
