"""What the history of a filled cloze says: order, changes, what to look at again, where it was stopped."""

from datetime import datetime, timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.models import Assignment, Fill, ResponseEvent, Timing
from annotation.participation import claims
from annotation.responses import fills, submission, timing
from annotation.responses.fills import BlankSave, BlankToCheck
from annotation.responses.timing import TimeReport
from studies.documents.cloze import ClozeDocument, parse_cloze
from tests import factories
from tests.annotation import clozes
from tests.annotation.clozes import at, say
from tests.studies.cloze.documents import FILLS, SHOES, shoes


def said(*saves: tuple[int, str]) -> list[BlankSave]:
    """Saves a minute apart."""
    return [BlankSave(blank, at(minute), text) for minute, (blank, text) in enumerate(saves)]


def unfollowed() -> ClozeDocument:
    """The shoes without a word on which blank follows from which: then sections decide."""
    return parse_cloze(SHOES.replace("follows = [2, 3]\n", ""), "shoes.toml")


def test_a_blank_that_follows_is_to_be_checked_after_a_change() -> None:
    history = said((2, "a coin"), (4, "He waited."), (2, "a ticket"))

    assert fills.find_checks(shoes(), history) == {4: [BlankToCheck(4, 2, "a coin", "a ticket", at(2))]}


def test_a_blank_that_was_open_counts_as_changed_when_it_is_filled() -> None:
    assert fills.find_checks(shoes(), said((4, "He waited."), (2, "a ticket"))) == {
        4: [BlankToCheck(4, 2, "", "a ticket", at(1))]
    }


@pytest.mark.parametrize(
    "after",
    [
        (4, "He waited again."),
        (4, "He waited."),  # said again as it stands: confirmed
        (4, ""),
        (2, "a coin"),
        (2, ""),
    ],
    ids=["saved again", "confirmed", "cleared", "changed back", "the other cleared"],
)
def test_a_mark_to_check_a_blank_goes_once_it_is_said_again_or_emptied(after: tuple[int, str]) -> None:
    before = said((2, "a coin"), (4, "He waited."), (2, "a ticket"))
    assert fills.find_checks(shoes(), before)

    assert fills.find_checks(shoes(), [*before, BlankSave(after[0], at(3), after[1])]) == {}


def test_only_what_follows_from_the_changed_blank_is_marked() -> None:
    history = said(*FILLS.items(), (1, "red shoes"))

    assert fills.find_checks(shoes(), history) == {}
    assert list(fills.find_checks(unfollowed(), history)) == [3, 4, 5]


def test_every_change_since_is_named() -> None:
    history = said((2, "a coin"), (3, "a drawer"), (4, "He waited."), (3, "a door"), (2, "a ticket"))

    (both,) = fills.find_checks(shoes(), history).values()

    assert [(each.changed, each.before, each.now) for each in both] == [
        (2, "a coin", "a ticket"),
        (3, "a drawer", "a door"),
    ]


@pytest.fixture
def work(db: None) -> Assignment:
    return clozes.assignment(clozes.study())


def test_the_history_is_read_from_the_events(work: Assignment) -> None:
    say(work, 2, "a coin")
    say(work, 1, "boots", 1)
    say(work, 2, "", 2)

    assert fills.load_saves(work, clozes.cloze(work.study)) == [
        BlankSave(2, at(0), "a coin"),
        BlankSave(1, at(1), "boots"),
        BlankSave(2, at(2), ""),
    ]


def test_what_was_erased_is_left_out_of_the_history(work: Assignment) -> None:
    say(work, 2, "a coin")
    say(work, 1, "boots", 1)
    ResponseEvent.objects.filter(response__item__key="blank-02").update(words=None)

    assert [each.blank for each in fills.load_saves(work, clozes.cloze(work.study))] == [1]


def test_the_history_is_read_for_checks_only_after_a_change_upstream(work: Assignment) -> None:
    cloze = clozes.cloze(work.study)
    clozes.fill(work)
    assert not fills.may_need_checks(cloze.parsed, fills.answers_of(work, cloze))

    say(work, 3, "a door", 9)

    assert fills.may_need_checks(cloze.parsed, fills.answers_of(work, cloze))


def test_a_confirmation_is_kept_as_a_save_of_its_own(work: Assignment) -> None:
    first = say(work, 4, "He waited.")
    unchanged = say(work, 4, "He waited.", 1)
    assert (first.revision, unchanged.revision) == (1, 1)

    confirmed = say(work, 4, "He waited.", 2, is_confirmation=True)

    assert (confirmed.revision, confirmed.last_edited_at) == (2, at(2))
    assert confirmed.events.count() == 2


def later(minutes: float) -> datetime:
    return timezone.now() + timedelta(minutes=minutes)


def report(work: Assignment, seconds_by_section: dict[int, int], *, at: datetime) -> list[int]:
    step = work.version.steps.get(key="fill")
    return timing.record_seconds(
        work, [TimeReport(step, n, section=section) for section, n in seconds_by_section.items()], at=at
    )


def test_seconds_are_added_up_by_section(work: Assignment) -> None:
    report(work, {1: 30, 2: 20}, at=later(5))
    report(work, {1: 12, 3: 5}, at=later(10))

    assert fills.seconds_by_section(work) == {1: 42, 2: 20, 3: 5}


def test_no_more_time_is_counted_than_has_passed(work: Assignment) -> None:
    assert report(work, {1: 30, 2: 90}, at=later(1)) == [30, pytest.approx(30, abs=1)]
    assert report(work, {1: 30}, at=later(1)) == [0]
    assert fills.seconds_by_section(work) == {1: 30, 2: pytest.approx(30, abs=1)}


def test_there_is_one_row_of_time_for_a_section(work: Assignment) -> None:
    step = work.version.steps.get(key="fill")
    report(work, {1: 30}, at=later(5))
    Timing.objects.create(assignment=work, step=step)

    with pytest.raises(IntegrityError), transaction.atomic():
        Timing.objects.create(assignment=work, step=step, section=1)


def test_of_an_assignment_without_a_cloze_there_is_nothing_to_say(db: None) -> None:
    other = factories.assignment(factories.study())

    assert submission.submit(other, at=at(0))

    assert Fill.objects.count() == 0


def test_a_complete_text_that_is_sent_in_is_submitted(work: Assignment) -> None:
    clozes.fill(work)

    submission.submit(work, at=at(9))

    assert (work.fill.state, work.fill.stopped_at) == ("submitted", None)


def test_a_text_sent_in_with_open_blanks_has_dropped_out_where_the_first_is_open(work: Assignment) -> None:
    clozes.fill(work, {n: text for n, text in FILLS.items() if n != 4})

    submission.submit(work, at=at(9))

    assert (work.fill.state, work.fill.stopped_at) == ("dropped_out", 2)


def test_whoever_stops_is_believed_about_where(work: Assignment) -> None:
    clozes.fill(work, {1: "boots"})

    assert claims.give_up(work, at=at(9), stopped_at=3)

    assert (work.fill.state, work.fill.stopped_at) == ("dropped_out", 3)
    assert not claims.give_up(work, at=at(10), stopped_at=1), "of two endings one counts"


def test_a_seat_given_back_is_a_dropout_if_something_was_written(work: Assignment) -> None:
    other = clozes.assignment(work.study)
    clozes.fill(work, {1: "boots"})

    for each in (work, other):
        claims.give_up(each, at=at(9))

    assert [(fill.assignment, fill.stopped_at) for fill in Fill.objects.all()] == [(work, 1)]


def test_whoever_withdraws_leaves_no_fill(work: Assignment) -> None:
    clozes.fill(work)

    claims.give_up(work, at=at(9), status=Assignment.Status.WITHDRAWN)

    assert Fill.objects.count() == 0


@pytest.mark.parametrize(
    "said",
    [
        {"state": "shortlisted", "reason": "It surprises.", "shortlisted_by": ""},
        {"state": "shortlisted", "reason": "", "shortlisted_by": "editor"},
        {"state": "submitted", "reason": "It surprises.", "shortlisted_by": "editor"},
        {"state": "submitted", "stopped_at": 2},
    ],
)
def test_the_database_keeps_shortlisting_and_stopping_in_order(work: Assignment, said: dict[str, object]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Fill.objects.create(assignment=work, **said)
