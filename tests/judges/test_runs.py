import json
import logging
import threading
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from annotation import claims, history
from annotation.models import Assignment, Rater, Response, ResponseEvent, Seat
from judges import catalogue, reading, runs
from judges.clients import Completion
from judges.models import Attempt, Call, Endpoint, Judge, Run
from judges.planning import CannotRun
from studies import hashing
from studies.models import Provenance, Study
from tests import factories
from tests.judges import standin as told
from tests.judges.conftest import KEY, judge_at, started
from tests.judges.standin import Hit, Reply, StandIn

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """Four stories, two tests of each: eight calls."""
    return factories.study(comparative=False)


def answers(run: Run) -> Counter[str]:
    """How often each value, or each outcome without one, was recorded for the run's rater."""
    found = Response.objects.filter(assignment__rater__code=run.judge.slug)
    return Counter(str(r.value) if r.outcome == "answered" else r.outcome for r in found)


def assert_everything_ended_once(run: Run) -> None:
    """Each call has one terminal state, one response unless it got no answer, and a history without faults."""
    assert set(runs.counts(run)) <= set(Call.State.values) - set(Call.PENDING)
    assert run.calls.count() == run.n_planned
    for call in run.calls.all():
        found = list(
            Response.objects.filter(
                assignment=call.assignment_id, step=call.step_id, item=call.item_id, story=call.story_id
            )
        )
        assert len(found) == (call.state != Call.State.PROVIDER_ERROR)
        for response in found:
            events = list(response.events.all())
            assert [event.key for event in events] == [f"call {call.pk}"]
            assert history.faults(response, events) == []
            assert response.outcome == reading.OUTCOME_BY_STATE[Call.State(call.state)]


def test_a_stubs_run_ends_in_responses_with_their_history() -> None:
    study = factories.study(n_groups=2)
    run = runs.start(study, catalogue.stub_judge(yes_rate=0.7), by="tests")

    run = runs.drain(run)

    assert run.state == Run.State.FINISHED
    assert run.finished_at is not None
    assert runs.counts(run) == {"ok": 26}
    assert_everything_ended_once(run)
    (rater,) = study.raters.all()
    assert (rater.code, rater.kind, rater.is_simulated) == ("stub", Rater.Kind.MODEL, True)
    assert [a.status for a in rater.assignments.all()] == [Assignment.Status.SUBMITTED] * 2
    assert all(len(a.receipt) == 64 for a in rater.assignments.all())
    ranking = Response.objects.filter(step__key="ranking").first()
    assert ranking is not None
    assert sorted(code for rank in ranking.value for code in rank) == sorted(ranking.assignment.seat.order)
    assert all("stub and not a model" in r.rationale for r in Response.objects.all())


def test_all_calls_are_rows_and_a_worker_is_told_once_they_are_committed(
    study: Study, queued: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        run = runs.start(study, catalogue.stub_judge(), by="ann")
        assert queued == []

    assert queued == [run.pk]
    assert runs.counts(run) == {"planned": 8}
    assert (run.n_planned, run.created_by, run.sha256) == (8, "ann", hashing.sha256(run.document))
    assert Response.objects.count() == 0


def test_a_judges_seats_never_count_towards_the_peoples(study: Study) -> None:
    runs.start(study, catalogue.stub_judge(), by="tests")

    for _ in range(study.seats_per_group):
        assert claims.claim(factories.rater(study)).seat.rater_kind == Rater.Kind.PERSON
    with pytest.raises(claims.NoSeat):
        claims.claim(factories.rater(study))
    assert Counter(Seat.objects.values_list("rater_kind", flat=True)) == {"person": 3, "model": 1}


def test_the_same_seed_gives_the_same_answers_in_another_copy_of_the_study() -> None:
    one = factories.study("one", n_groups=3)
    two = factories.study("two", n_groups=3)
    judge = catalogue.stub_judge()

    for study in (one, two):
        runs.drain(runs.start(study, judge, by="tests"))

    def said(study: Study) -> list[Any]:
        found = Response.objects.filter(assignment__study=study)
        return list(
            found.order_by("assignment__group__code", "step__position", "item__position", "story__code").values_list(
                "step__key", "story__code", "value"
            )
        )

    assert said(one) == said(two)


def test_a_judge_runs_once_in_a_study(study: Study) -> None:
    judge = catalogue.stub_judge()
    runs.start(study, judge, by="tests")

    with pytest.raises(CannotRun, match="resumed, not repeated"):
        runs.start(study, judge, by="tests")
    assert (Run.objects.count(), Call.objects.count()) == (1, 8)


def test_a_judge_does_not_answer_under_somebody_elses_name(study: Study) -> None:
    factories.rater(study, "stub")

    with pytest.raises(CannotRun, match="a rater called stub already"):
        runs.start(study, catalogue.stub_judge(), by="tests")
    assert Run.objects.count() == 0


def test_what_a_model_says_is_recorded_with_its_reasons(study: Study, standin: StandIn) -> None:
    run = runs.drain(started(study, judge_at(standin)))

    assert answers(run) == {"yes": 8}
    assert {r.rationale for r in Response.objects.all()} == {"It is so, since it ends well."}
    call = run.calls.first()
    assert call is not None
    assert json.loads(call.response) == json.loads(told.YES.body)
    assert (call.n_tokens_in, call.n_tokens_out) == (11, 3)
    assert standin.hits[0].body["messages"] in [c.request["messages"] for c in run.calls.all()]
    assert not study.raters.get().is_simulated


@pytest.mark.parametrize(
    ("reply", "state", "outcome"),
    [
        (told.REFUSED, "refused", "declined"),
        (told.BLOCKED, "blocked", "declined"),
        (told.FILTERED, "blocked", "declined"),
        (told.TRUNCATED, "truncated", "unreadable"),
        (told.PROSE, "unreadable", "unreadable"),
        (told.OUT_OF_RANGE, "out_of_range", "unreadable"),
        (told.says(""), "unreadable", "unreadable"),
        (told.says(None), "unreadable", "unreadable"),
    ],
)
def test_a_missing_answer_is_kept_under_its_name_and_is_never_a_no(
    study: Study, standin: StandIn, reply: Reply, state: str, outcome: str
) -> None:
    standin.reply = lambda hit: reply

    run = runs.drain(started(study, judge_at(standin)))

    assert run.state == Run.State.FINISHED
    assert runs.counts(run) == {state: 8}
    assert answers(run) == {outcome: 8}
    assert set(Response.objects.values_list("value", flat=True)) == {None}
    assert all(call.reason for call in run.calls.all())
    assert_everything_ended_once(run)


def test_a_call_that_failed_for_a_moment_is_tried_again(study: Study, standin: StandIn) -> None:
    standin.script = [told.ERROR, told.BUSY, told.GARBAGE, told.NO]

    run = runs.drain(started(study, judge_at(standin, n_at_once=1)))

    assert runs.counts(run) == {"ok": 8}
    assert answers(run) == {"yes": 7, "no": 1}
    assert len(standin.hits) == 11
    assert Counter(Attempt.objects.values_list("outcome", flat=True)) == {"failed": 3, "answered": 8}
    assert_everything_ended_once(run)


def test_a_call_that_keeps_failing_stops_the_run_and_has_fresh_tries_when_it_is_resumed(
    study: Study, standin: StandIn
) -> None:
    run = started(study, judge_at(standin))
    bad = run.calls.last()
    assert bad is not None
    standin.reply = lambda hit: told.ERROR if hit.body["messages"] == bad.request["messages"] else told.YES

    run = runs.drain(run)

    assert run.state == Run.State.STOPPED
    assert run.note == 'calls without an answer after 6 tries: 1, such as: HTTP 500: {"error": {"message": "boom"}}'
    assert runs.counts(run) == {"ok": 7, "provider_error": 1}
    assert bad.attempts.count() == runs.N_TRIES
    assert answers(run) == {"yes": 7}
    assert {a.status for a in Assignment.objects.all()} == {Assignment.Status.OPEN}
    assert_everything_ended_once(run)

    standin.script = [told.ERROR] * (runs.N_TRIES - 1)
    standin.reply = lambda hit: told.NO
    run = runs.drain(runs.resume(run))

    assert (run.state, run.note, runs.counts(run)) == (Run.State.FINISHED, "", {"ok": 8})
    assert answers(run) == {"yes": 7, "no": 1}
    assert {a.status for a in Assignment.objects.all()} == {Assignment.Status.SUBMITTED}
    assert_everything_ended_once(run)


def test_an_outage_that_every_call_meets_leaves_nothing_submitted_and_a_way_back(standin: StandIn) -> None:
    study = factories.study(n_stories=1, comparative=False)  # two calls: too few to be taken for an outage on the way
    standin.reply = lambda hit: Reply("{}", status=503)

    run = runs.drain(started(study, judge_at(standin)))

    assert (run.state, runs.counts(run)) == (Run.State.STOPPED, {"provider_error": 2})
    assert Assignment.objects.get().status == Assignment.Status.OPEN

    standin.reply = lambda hit: told.YES
    run = runs.drain(runs.resume(run))

    assert (run.state, runs.counts(run)) == (Run.State.FINISHED, {"ok": 2})


def test_a_request_that_is_wrong_in_itself_is_not_tried_again_and_holds_nothing_up(
    study: Study, standin: StandIn
) -> None:
    standin.reply = lambda hit: told.TOO_LONG
    run = started(study, judge_at(standin))
    # That it failed in passing before makes it no less wrong.
    run.calls.update(n_failures=runs.N_TRIES - 1)

    run = runs.drain(run)

    assert run.state == Run.State.FINISHED
    assert runs.counts(run) == {"provider_error": 8}
    assert len(standin.hits) == 8
    assert answers(run) == {}


def test_a_wrong_key_stops_the_run_after_three_calls_and_it_can_be_resumed(study: Study, standin: StandIn) -> None:
    standin.reply = lambda hit: told.NO_KEY

    run = runs.drain(started(study, judge_at(standin, n_at_once=1)))

    assert run.state == Run.State.STOPPED
    assert "HTTP 401" in run.note
    assert len(standin.hits) == 3
    assert runs.counts(run) == {"planned": 8}

    standin.reply = lambda hit: told.YES
    run = runs.drain(runs.resume(run))

    assert (run.state, run.note, runs.counts(run)) == (Run.State.FINISHED, "", {"ok": 8})
    assert_everything_ended_once(run)


def test_an_outage_stops_the_run_before_it_burns_every_call(standin: StandIn) -> None:
    study = factories.study(n_groups=6, comparative=False)
    standin.reply = lambda hit: told.ERROR

    run = runs.drain(started(study, judge_at(standin)))

    assert run.state == Run.State.STOPPED
    assert runs.counts(run) == {"planned": 48}
    assert len(standin.hits) == runs.N_FAILED_IN_A_ROW


def test_a_wait_that_the_provider_asks_for_is_kept(study: Study, standin: StandIn) -> None:
    standin.script = [Reply("{}", status=429, headers={"Retry-After": "30"})]
    run = started(study, judge_at(standin, n_at_once=1))

    def enough(seconds: float) -> None:
        """A worker sleeps once there is nothing else to do."""
        runs.stop(run, "enough")

    runs.drain(run, sleep=enough)

    waiting = run.calls.get(state=Call.State.PLANNED)
    failed = waiting.attempts.get()
    assert waiting.not_before == failed.ended_at + timedelta(seconds=30)
    assert runs.counts(run) == {"planned": 1, "ok": 7}


def test_a_message_that_comes_twice_doubles_nothing(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))

    first = runs.drain(run)
    again = runs.drain(run)

    assert (first.state, again.state) == (Run.State.FINISHED, Run.State.FINISHED)
    assert first.finished_at == again.finished_at
    assert len(standin.hits) == 8
    assert_everything_ended_once(run)


def test_workers_at_one_run_share_the_calls_and_double_none(committed: None, standin: StandIn) -> None:
    study = factories.study(n_groups=4, comparative=False)
    standin.reply = lambda hit: Reply(told.YES.body, delay=0.1)
    run = started(study, judge_at(standin))
    failures: list[BaseException] = []

    def work() -> None:
        try:
            runs.drain(Run.objects.get(pk=run.pk))
        except BaseException as error:
            failures.append(error)
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    run.refresh_from_db()
    assert failures == []
    assert run.state == Run.State.FINISHED
    assert len(standin.hits) == run.n_planned == 32
    assert standin.most_at_once > 2
    assert_everything_ended_once(run)


class Killed(BaseException):
    """What a worker feels of kill -9: nothing after it is done."""


@pytest.mark.parametrize("n_answers", [0, 1, 3, 7])
def test_a_run_goes_on_where_its_worker_died(
    study: Study, standin: StandIn, monkeypatch: pytest.MonkeyPatch, n_answers: int
) -> None:
    run = started(study, judge_at(standin))
    settle, settled = runs.settle, []

    def dying(*args: Any, **kwargs: Any) -> bool:
        if len(settled) == n_answers:
            raise Killed
        settled.append(args)
        return settle(*args, **kwargs)

    monkeypatch.setattr(runs, "settle", dying)
    with pytest.raises(Killed):
        runs.drain(run)
    monkeypatch.undo()
    monkeypatch.setenv("STANDIN_API_KEY", KEY)
    n_sent = len(standin.hits)
    n_in_flight = runs.counts(run)["leased"]

    # A worker that comes too early leaves alone what may still be on its way.
    assert runs.give_back(at=timezone.now()) == 0
    # Then the leases run out.
    Call.objects.filter(state=Call.State.LEASED).update(lease_until=timezone.now() - timedelta(seconds=1))
    run = runs.drain(run)

    assert run.state == Run.State.FINISHED
    assert runs.counts(run) == {"ok": 8}
    assert answers(run) == {"yes": 8}
    assert_everything_ended_once(run)
    assert 1 <= n_in_flight <= 2
    assert len(standin.hits) == 8 + n_in_flight
    assert n_sent == n_answers + n_in_flight
    assert Counter(Attempt.objects.values_list("outcome", flat=True)) == {
        "answered": 8,
        "unknown_outcome": n_in_flight,
    }


def test_an_answer_that_comes_after_its_lease_changes_nothing(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))
    now = timezone.now()
    slow = runs.lease(run, n=1, at=now)[0]
    later = now + timedelta(hours=1)
    assert runs.give_back(at=later) == 1

    no = Completion('{"answer": "no"}', "stop", n_tokens_in=None, n_tokens_out=None, raw="{}")
    is_ours = runs.settle(slow, no, protocol="reasoning_first", at=later)
    run = runs.drain(run, clock=lambda: timezone.now() + timedelta(hours=1))

    slow.refresh_from_db()
    assert not is_ours
    assert slow.outcome == Attempt.Outcome.LATE
    assert answers(run) == {"yes": 8}
    assert_everything_ended_once(run)


def test_a_call_that_kills_its_worker_each_time_is_given_up(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))
    now = timezone.now()

    for _ in range(runs.N_TRIES):
        now += timedelta(hours=1)
        (attempt,) = runs.lease(run, n=1, at=now)
        now += timedelta(hours=1)
        runs.give_back(at=now)
        run.calls.exclude(pk=attempt.call.pk).update(not_before=now + timedelta(days=365))

    poison = run.calls.get(pk=attempt.call.pk)
    assert poison.state == Call.State.PROVIDER_ERROR
    assert runs.resume(run).calls.get(pk=poison.pk).state == Call.State.PLANNED
    assert poison.attempts.count() == runs.N_TRIES
    assert set(poison.attempts.values_list("outcome", flat=True)) == {"unknown_outcome"}


def test_the_attempt_is_committed_before_it_is_sent(committed: None, standin: StandIn) -> None:
    study = factories.study(comparative=False)
    run = started(study, judge_at(standin))
    seen: list[tuple[str, int]] = []

    def look(hit: Hit) -> Reply:
        # Another connection: it sees only what is committed.
        call = next(c for c in Call.objects.filter(run=run) if c.request["messages"] == hit.body["messages"])
        seen.append((call.state, call.attempts.filter(outcome="").count()))
        connection.close()
        return told.YES

    standin.reply = look
    runs.drain(run)

    assert seen == [("leased", 1)] * 8


def test_the_key_is_in_no_row_and_no_log(study: Study, standin: StandIn, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    standin.script = [
        Reply(json.dumps({"error": {"message": f"busy, {KEY}"}}), status=500),
        told.says(f'My key is {KEY}.\n{{"answer": "yes"}}'),
    ]

    run = runs.drain(started(study, judge_at(standin, n_at_once=1)))

    assert standin.hits[0].authorization == f"Bearer {KEY}"
    assert answers(run) == {"yes": 8}
    rows = [
        str(list(model.objects.values())) for model in (Endpoint, Judge, Run, Call, Attempt, Response, ResponseEvent)
    ]
    assert any("[key]" in row for row in rows)
    assert not any(KEY in row for row in rows)
    assert KEY not in caplog.text


def test_a_character_that_json_can_spell_and_no_database_can_keep_is_replaced(study: Study, standin: StandIn) -> None:
    standin.reply = lambda hit: told.says('a\x00b \ud800\n{"answer": "yes"}')

    run = runs.drain(started(study, judge_at(standin)))

    assert answers(run) == {"yes": 8}
    assert {r.rationale for r in Response.objects.all()} == {"a\ufffdb \ufffd"}


def test_the_sweep_queues_what_nobody_has_in_hand(study: Study, queued: list[int]) -> None:
    run = runs.start(study, catalogue.stub_judge(), by="tests")
    now = timezone.now()

    first = runs.sweep(at=now)
    at_once = runs.sweep(at=now)
    later = runs.sweep(at=now + timedelta(minutes=5))

    assert (first, at_once, later) == ([run], [], [run])
    assert queued == [run.pk] * 2


def test_the_sweep_leaves_stopped_and_finished_runs_alone(study: Study, queued: list[int]) -> None:
    stopped = runs.stop(runs.start(study, catalogue.stub_judge(), by="tests"), "because")
    finished = runs.drain(runs.start(study, catalogue.stub_judge("stub-2"), by="tests"))

    assert runs.sweep(at=timezone.now() + timedelta(hours=1)) == []
    assert (stopped.state, finished.state, queued) == (Run.State.STOPPED, Run.State.FINISHED, [])


def test_a_broker_that_is_away_loses_nothing(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(name: str, args: list[int]) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr(runs.current_app, "send_task", away)
    run = runs.start(study, catalogue.stub_judge(), by="tests")

    runs.queue(run)

    assert runs.drain(run).state == Run.State.FINISHED


def test_a_stopped_run_sends_nothing(study: Study, standin: StandIn) -> None:
    run = runs.stop(started(study, judge_at(standin)), "because")

    run = runs.drain(run)

    assert (run.state, run.note, standin.hits) == (Run.State.STOPPED, "because", [])


def test_a_run_stops_if_its_endpoint_is_no_longer_what_it_was(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))
    Endpoint.objects.update(base_url="https://elsewhere.example/v1")

    run = runs.drain(Run.objects.get(pk=run.pk))

    assert run.state == Run.State.STOPPED
    assert "another address" in run.note
    assert runs.counts(run) == {"planned": 8}


def test_a_run_stops_if_its_endpoint_is_no_longer_allowed(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))
    Endpoint.objects.update(is_allowed=False)

    run = runs.drain(Run.objects.get(pk=run.pk))

    assert (run.state, standin.hits) == (Run.State.STOPPED, [])
    assert "not allowed" in run.note


def test_a_run_stops_if_leave_to_send_a_story_out_was_taken_back(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))
    Provenance.objects.filter(story=study.stories.first()).update(may_send_out=False)

    run = runs.drain(run)

    assert (run.state, standin.hits) == (Run.State.STOPPED, [])
    assert "not marked as free to be sent" in run.note
    assert runs.counts(run) == {"planned": 8}


def test_a_call_about_a_group_needs_leave_for_each_of_its_stories(standin: StandIn) -> None:
    study = factories.study()
    run = started(study, judge_at(standin))
    run.calls.exclude(story=None).delete()
    assert run.calls.exists()
    Provenance.objects.filter(story=study.stories.first()).update(may_send_out=False)

    run = runs.drain(run)

    assert (run.state, standin.hits) == (Run.State.STOPPED, [])
    assert "not marked as free to be sent" in run.note


def test_a_story_that_has_been_sent_for_the_last_time_needs_leave_no_more(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))
    sent = study.stories.first()
    run.calls.filter(story=sent).delete()
    Provenance.objects.filter(story=sent).update(may_send_out=False)

    assert runs.drain(run).state == Run.State.FINISHED


def test_an_endpoint_of_the_house_and_a_stub_need_no_leave(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))
    stub = runs.start(study, catalogue.stub_judge(), by="tests")
    Endpoint.objects.update(is_outside=False)
    Endpoint.objects.filter(adapter="stub").update(is_outside=True)
    Provenance.objects.update(may_send_out=False)

    ended = [runs.drain(Run.objects.get(pk=each.pk)) for each in (run, stub)]

    assert [each.state for each in ended] == [Run.State.FINISHED] * 2


def test_a_finished_run_cannot_be_resumed(study: Study) -> None:
    run = runs.drain(runs.start(study, catalogue.stub_judge(), by="tests"))

    with pytest.raises(CannotRun, match="is finished"):
        runs.resume(run)


def test_an_answer_that_cannot_be_recorded_stops_the_run_and_is_not_paid_for_again(
    study: Study, standin: StandIn
) -> None:
    run = started(study, judge_at(standin, n_at_once=1))

    claims.give_up(Assignment.objects.get(rater__code="model-1"), at=timezone.now())
    run = runs.drain(run)

    assert run.state == Run.State.STOPPED
    assert "could not be recorded" in run.note
    assert "submitted or given up" in run.note
    assert Response.objects.count() == 0
    assert runs.counts(run) == {"planned": 7, "provider_error": 1}
    assert len(standin.hits) == 1

    run = runs.drain(runs.resume(run))

    assert runs.counts(run) == {"planned": 6, "provider_error": 2}
    assert standin.hits[0].body["messages"] != standin.hits[1].body["messages"]
    assert len(standin.hits) == 2


def test_a_worker_gives_way_after_its_turn(study: Study) -> None:
    run = runs.start(study, catalogue.stub_judge(), by="tests")
    Endpoint.objects.update(n_at_once=1)
    ticks = (timezone.now() + timedelta(seconds=n) for n in range(100))

    run = runs.drain(Run.objects.get(pk=run.pk), seconds=6, clock=lambda: next(ticks))

    # Two looks at the clock for every call, one before and one after.
    assert run.state == Run.State.RUNNING
    assert runs.counts(run) == {"planned": 5, "ok": 3}
    assert run.busy_until is None
