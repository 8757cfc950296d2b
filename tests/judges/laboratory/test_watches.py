"""A judge that is watched: asked the same every day in its budget, compared, and written about once when it moves."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core import mail
from django.utils import timezone

from annotation.models import Assignment, Response
from judges import runs
from judges.laboratory import tasks, watches
from judges.models import Call, DriftCheck, DriftWatch, Judge, Run
from judges.planning import CannotRun
from studies.models import Study
from tests import factories
from tests.judges import standin as told
from tests.judges.conftest import judge_at, sendable
from tests.judges.laboratory.prompt_choices.test_validation import pairs
from tests.judges.planning.test_budget import price
from tests.judges.standin import StandIn

pytestmark = pytest.mark.django_db
NOON = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0)


@pytest.fixture
def study() -> Study:
    return sendable(factories.study(n_stories=2, n_items=2))


@pytest.fixture
def judge(standin: StandIn) -> Judge:
    standin.reply = lambda _hit: told.YES
    return judge_at(standin, n_at_once=8)


def watch_of(study: Study, judge: Judge, *, budget: Decimal | None = None, recipient: str = "") -> DriftWatch:
    return watches.begin(
        study, judge, budget=budget, recipient=recipient, site="https://quire.example", by="ann", at=NOON
    )


def checked(watch: DriftWatch, day: int) -> DriftCheck:
    """The check of that day, answered and compared."""
    watch.refresh_from_db()
    made = watches.check(watch, at=NOON + timedelta(days=day))
    assert made is not None
    runs.drain(made.run)
    made.run.refresh_from_db()
    assert made.run.state == Run.State.FINISHED
    return watches.compare(made, at=NOON + timedelta(days=day))


def test_a_check_asks_the_three_texts_and_answers_nothing_in_the_study(
    study: Study, judge: Judge, standin: StandIn
) -> None:
    made = checked(watch_of(study, judge), 0)

    assert made.run.approved_by == "ann"
    assert set(made.run.calls.values_list("kind", flat=True)) == {Call.Kind.TEST}
    assert made.run.calls.count() == len(standin.hits) == 3 * 3, "of each text two tests and the guess"
    assert not Assignment.objects.filter(study=study, rater_kind="model").exists()
    assert not Response.objects.filter(assignment__study=study).exists()
    assert (made.distance, made.p, made.has_moved) == (None, None, False), "there is nothing to compare it with"


def test_a_steady_judge_moves_in_no_check_and_one_that_changes_is_written_about_once(
    study: Study, judge: Judge, standin: StandIn
) -> None:
    watch = watch_of(study, judge, recipient="lab@example.org")
    for day in range(4):
        assert not checked(watch, day).has_moved
    standin.reply = lambda _hit: told.NO

    moved = checked(watch, 4)
    watches.compare(moved, at=NOON + timedelta(days=4))

    assert (moved.n_answers, moved.n_checks, moved.distance, moved.floor) == (6, 4, 1.0, 0.0)
    assert moved.has_moved
    assert moved.p is not None
    assert moved.p < 0.001
    assert len(mail.outbox) == 1
    assert mail.outbox[0].to == ["lab@example.org"]
    assert "https://quire.example/studies/plums/runs/drift/" in mail.outbox[0].body
    assert "100 of 100 comparisons" in mail.outbox[0].body


def test_after_a_change_that_is_known_checks_are_compared_from_then_on(
    study: Study, judge: Judge, standin: StandIn
) -> None:
    watch = watch_of(study, judge)
    for day in range(3):
        checked(watch, day)
    standin.reply = lambda _hit: told.NO
    watches.start_anew(watch, at=timezone.now())

    checked(watch, 3)
    second = checked(watch, 4)

    assert (second.n_checks, second.distance) == (1, 0.0)


def test_refusals_count_as_answers_that_differ_and_missing_replies_do_not_count(
    study: Study, judge: Judge, standin: StandIn
) -> None:
    watch = watch_of(study, judge)
    for day in range(3):
        checked(watch, day)
    standin.reply = lambda _hit: told.REFUSED
    refused = checked(watch, 3)
    standin.reply = lambda _hit: told.YES
    made = watches.check(DriftWatch.objects.get(pk=watch.pk), at=NOON + timedelta(days=4))
    assert made is not None
    Call.objects.filter(run=made.run).update(state=Call.State.PROVIDER_ERROR)
    Run.objects.filter(pk=made.run_id).update(state=Run.State.FINISHED)
    unanswered = watches.compare(made, at=NOON + timedelta(days=4))

    assert (refused.distance, refused.has_moved) == (1.0, True)
    assert (unanswered.n_answers, unanswered.distance, unanswered.has_moved) == (0, None, False)


def test_a_check_is_due_once_a_day_and_waits_for_an_unfinished_run(
    study: Study, judge: Judge, queued: list[int]
) -> None:
    watch = watch_of(study, judge)
    tasks.queue_due(None, at=NOON)
    assert queued == [watch.pk]
    other = runs.start(study, judge, by="bea")

    assert watches.check(watch, at=NOON) is None

    watch.refresh_from_db()
    assert watch.problem == watches.BUSY
    assert not watches.find_due(at=NOON + timedelta(hours=23)).exists()
    runs.drain(other)
    assert watches.check(watches.find_due(at=NOON + timedelta(days=1)).get(), at=NOON + timedelta(days=1)) is not None
    watch.refresh_from_db()
    assert watch.problem == ""


def test_a_check_with_a_lost_call_is_closed_by_the_next_day_and_compared(
    study: Study, judge: Judge, standin: StandIn
) -> None:
    watch = watch_of(study, judge)
    first = watches.check(watch, at=NOON)
    assert first is not None
    Run.objects.filter(pk=first.run_id).update(state=Run.State.WAITING)
    watch.refresh_from_db()

    second = watches.check(watch, at=NOON + timedelta(days=1))

    first.run.refresh_from_db()
    assert second is not None
    assert first.run.state == Run.State.FINISHED
    assert watches.find_finished().get() == first
    watch.refresh_from_db()
    assert watch.obstacle == ""


def test_two_workers_begin_one_check(study: Study, judge: Judge) -> None:
    watch = watch_of(study, judge)
    other = DriftWatch.objects.get(pk=watch.pk)

    made = [watches.check(watch, at=NOON), watches.check(other, at=NOON)]

    assert [check is not None for check in made] == [True, False]
    assert DriftCheck.objects.count() == 1


def test_the_budget_is_that_of_each_check_and_needs_a_price(study: Study, judge: Judge) -> None:
    with pytest.raises(CannotRun, match="no price"):
        watch_of(study, judge, budget=Decimal(1))
    price(judge)

    made = checked(watch_of(study, judge, budget=Decimal(1)), 0)

    assert made.run.budget == Decimal(1)


def test_a_judge_is_watched_once_and_again_after_an_end(study: Study, judge: Judge) -> None:
    watch = watch_of(study, judge)
    with pytest.raises(watches.AlreadyWatched):
        watch_of(study, judge)
    watches.end(watch, at=NOON)

    watch_of(study, judge)

    assert not watches.find_due(at=NOON + timedelta(days=9)).filter(pk=watch.pk).exists()


def test_a_study_that_asks_nothing_about_single_stories_watches_nobody(judge: Judge) -> None:
    with pytest.raises(CannotRun, match="anything about a single story"):
        watch_of(pairs(), judge)
