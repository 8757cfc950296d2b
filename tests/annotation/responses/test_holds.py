"""How fast a page may save: a burst at once, then so many a second, by one row and one statement."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation import responses
from annotation.models import Assignment, Response
from annotation.responses import Answer, AssignmentEnded, Entry, TooManySaves, holds, submission
from studies.models import Step
from tests import factories
from tests.factories import NOON
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def spend(assignment: Assignment, n: int, *, seconds: float = 0) -> int:
    """How many of n saves are taken, all of them that many seconds after noon."""
    n_taken = 0
    for _ in range(n):
        try:
            holds.hold_for_page(assignment, at=NOON + timedelta(seconds=seconds))
        except TooManySaves:
            continue
        n_taken += 1
    return n_taken


def entry(assignment: Assignment, value: str = "yes", *, item: int = 0, **more: Any) -> Entry:
    step = Step.objects.get(version=assignment.version, key="tests")
    story = assignment.study.stories.get(code=assignment.seat.order[0])
    items = list(step.instrument.items.all())
    return Entry(assignment, step, items[item], story, Answer(value), **{"at": NOON} | more)


def test_a_page_has_a_burst_at_once_and_ten_a_second_after_it() -> None:
    mine = factories.assignment(factories.study())

    assert spend(mine, 100) == holds.BURST == 60
    assert spend(mine, 100, seconds=1) == holds.SAVES_PER_SECOND == 10
    assert spend(mine, 100, seconds=3) == 20
    assert spend(mine, 100, seconds=3600) == 60, "what is not used is not saved up beyond the burst"


def test_ten_a_second_can_go_on_for_good() -> None:
    mine = factories.assignment(factories.study())

    assert sum(spend(mine, 1, seconds=n / 10) for n in range(300)) == 300


def test_keys_at_gaps_of_60_milliseconds_never_meet_it_for_eight_seconds() -> None:
    mine = factories.assignment(factories.study())

    assert sum(spend(mine, 1, seconds=n * 0.06) for n in range(133)) == 133


def test_who_came_too_fast_is_told_when_the_next_save_is_taken() -> None:
    mine = factories.assignment(factories.study())
    spend(mine, 60)

    with pytest.raises(TooManySaves) as error:
        holds.hold_for_page(mine, at=NOON)

    assert error.value.seconds == 1
    assert spend(mine, 1, seconds=1) == 1


@pytest.mark.parametrize("seconds", [-2, -30, -7200])
def test_a_clock_that_is_set_back_stops_no_save_for_longer_than_an_empty_bucket_does(seconds: float) -> None:
    mine = factories.assignment(factories.study())
    spend(mine, 60)

    assert spend(mine, 100, seconds=seconds) == 60
    assert spend(mine, 100, seconds=seconds + 1) == 10


def test_servers_whose_clocks_differ_by_less_than_a_second_share_one_bucket() -> None:
    mine = factories.assignment(factories.study())
    spend(mine, 60)

    assert spend(mine, 100, seconds=-0.9) == 0


def test_each_assignment_has_its_own() -> None:
    study = factories.study()
    mine, other = factories.assignment(study), factories.assignment(study)
    spend(mine, 100)

    assert spend(other, 100) == 60


def test_an_assignment_that_has_ended_says_so_however_fast() -> None:
    study = factories.study(n_stories=1, comparative=False)
    mine = factories.assignment(study)
    factories.answer_all(mine)
    spend(mine, 100)
    submission.submit(mine, at=NOON)

    with pytest.raises(AssignmentEnded):
        holds.hold_for_page(mine, at=NOON)


def test_holding_gives_the_stories_begun_and_takes_one_statement(django_assert_num_queries) -> None:
    mine = factories.assignment(factories.study())
    assert holds.hold_for_page(mine, at=NOON) == []
    Assignment.objects.update(begun=[3, 7])

    with django_assert_num_queries(1):
        assert holds.hold_for_page(mine, at=NOON) == [3, 7]


def test_only_saves_from_pages_count() -> None:
    mine = factories.assignment(factories.study())

    for n in range(70):
        responses.record(**vars(entry(mine, "yes" if n % 2 else "no")))
        responses.record_many([entry(mine, "yes" if n % 2 else "no", item=1)])

    assert Assignment.objects.get().saves_until == 0
    assert spend(mine, 100) == 60


def test_a_page_posted_as_a_whole_is_one_save_and_nothing_of_it_is_written_if_it_comes_too_fast() -> None:
    mine = factories.assignment(factories.study())
    page = [entry(mine), entry(mine, item=1)]

    responses.record_many(page, is_from_page=True)
    assert spend(mine, 100) == 59
    with pytest.raises(TooManySaves):
        responses.record_many([entry(mine, "no", base=1), entry(mine, "no", item=1, base=1)], is_from_page=True)

    assert list(Response.objects.values_list("value", flat=True)) == ["yes", "yes"]


def test_a_save_that_was_refused_takes_nothing_from_the_bucket() -> None:
    mine = factories.assignment(factories.study())
    responses.record(**vars(entry(mine)), is_from_page=True)

    for _ in range(70):
        with pytest.raises(responses.Stale):
            responses.record(**vars(entry(mine, "no", base=0)), is_from_page=True)

    assert spend(mine, 100) == 59


def test_of_saves_at_the_same_moment_no_more_are_taken_than_there_are(committed: None) -> None:
    mine = factories.assignment(factories.study())
    now = timezone.now()
    Assignment.objects.update(saves_until=now.timestamp() + 5.65)

    outcomes = at_once(*[lambda: holds.hold_for_page(mine, at=now)] * 6)

    assert sorted(str(type(outcome).__name__) for outcome in outcomes) == ["TooManySaves"] * 3 + ["list"] * 3
