"""A run of a judge: what it plans, what it asks, and what is recorded."""

import json
import logging
import threading
from collections import Counter
from typing import Any

import pytest
from django.utils import timezone

from annotation import responses
from annotation.models import Assignment, Rater, Response, ResponseEvent, Seat
from annotation.participation import claims
from judges import catalogue, runs, tasks, workers
from judges.metrics.length import Length
from judges.models import Attempt, Call, Endpoint, Judge, Run
from judges.planning import CannotRun
from judges.requests import texts
from studies import hashing
from studies.models import Study
from tests import factories
from tests.judges import standin as told
from tests.judges.conftest import KEY, answers, assert_everything_ended_once, judge_at, probed, started
from tests.judges.standin import Reply, StandIn

pytestmark = pytest.mark.django_db


def test_a_stubs_run_ends_in_responses_with_their_history() -> None:
    study = factories.study(n_groups=2)
    run = runs.start(study, catalogue.make_stub_judge(yes_rate=0.7), by="tests")

    run = runs.drain(run)

    assert run.state == Run.State.FINISHED
    assert run.finished_at is not None
    assert runs.count_calls(run) == {"ok": 26}
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
        run = runs.start(study, catalogue.make_stub_judge(), by="ann")
        assert queued == []

    assert queued == [run.judge.endpoint_id]
    assert runs.count_calls(run) == {"planned": 8}
    assert (run.n_planned, run.created_by, run.sha256) == (8, "ann", hashing.sha256(run.document))
    assert Response.objects.count() == 0


def test_a_judges_seats_never_count_towards_the_peoples(study: Study) -> None:
    runs.start(study, catalogue.make_stub_judge(), by="tests")

    for _ in range(study.seats_per_group):
        assert claims.claim(factories.rater(study)).seat.rater_kind == Rater.Kind.PERSON
    with pytest.raises(claims.NoSeat):
        claims.claim(factories.rater(study))
    assert Counter(Seat.objects.values_list("rater_kind", flat=True)) == {"person": 3, "model": 1}


def test_the_same_seed_gives_the_same_answers_in_another_copy_of_the_study() -> None:
    one = factories.study("one", n_groups=3)
    two = factories.study("two", n_groups=3)
    judge = catalogue.make_stub_judge()

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


def test_a_judge_has_one_unfinished_run_in_a_study(study: Study) -> None:
    judge = catalogue.make_stub_judge()
    runs.start(study, judge, by="tests")

    with pytest.raises(CannotRun, match="unfinished run in plums; resume it, or close it first"):
        runs.start(study, judge, by="tests")
    assert (Run.objects.count(), Call.objects.count()) == (1, 8)


def test_a_judge_does_not_answer_under_somebody_elses_name(study: Study) -> None:
    factories.rater(study, "stub")

    with pytest.raises(CannotRun, match="already has a rater called stub"):
        runs.start(study, catalogue.make_stub_judge(), by="tests")
    assert Run.objects.count() == 0


def test_what_a_model_says_is_recorded_with_its_reasons(study: Study, standin: StandIn) -> None:
    run = runs.drain(started(study, judge_at(standin)))

    assert answers(run) == {"yes": 8}
    assert {r.rationale for r in Response.objects.all()} == {"It is so, since it ends well."}
    call = run.calls.first()
    assert call is not None
    attempt = call.attempts.get()
    assert json.loads(attempt.body) == json.loads(told.YES.body)
    assert (attempt.n_tokens_in, attempt.n_tokens_out) == (11, 3)
    assert standin.hits[0].body["messages"] in [texts.render(c.request)["messages"] for c in run.calls.all()]
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

    run = runs.drain(probed(started(study, judge_at(standin))))

    assert run.state == Run.State.FINISHED
    assert runs.count_calls(run) == {state: 8}
    assert answers(run) == {outcome: 8}
    assert set(Response.objects.values_list("value", flat=True)) == {None}
    assert all(call.reason for call in run.calls.all())
    assert_everything_ended_once(run)


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


def test_an_answer_that_cannot_be_recorded_stops_the_run_and_is_not_paid_for_again(
    study: Study, standin: StandIn
) -> None:
    run = started(study, judge_at(standin, n_at_once=1))

    claims.give_up(Assignment.objects.get(rater__code="model-1"), at=timezone.now())
    run = runs.drain(run)

    assert run.state == Run.State.STOPPED
    assert "could not be recorded" in run.note
    assert responses.ENDED in run.note
    assert Response.objects.count() == 0
    assert runs.count_calls(run) == {"planned": 7, "provider_error": 1}
    assert len(standin.hits) == 1

    run = runs.drain(runs.resume(run))

    assert runs.count_calls(run) == {"planned": 6, "provider_error": 2}
    assert standin.hits[0].body["messages"] != standin.hits[1].body["messages"]
    assert len(standin.hits) == 2


def test_a_worker_that_is_told_to_end_measures_no_further_story_and_leaves_the_rest_to_others(
    study: Study, monkeypatch: pytest.MonkeyPatch, queued: list[int]
) -> None:
    monkeypatch.setattr(workers, "stopping", threading.Event())
    run = runs.start(study, catalogue.make_metric_judge("length"), by="tests")
    queued.clear()

    def measure_and_be_told(metric: Length, text: str) -> dict[str, float]:
        workers.stopping.set()
        return {"words": 1, "sentences": 1, "paragraphs": 1}

    monkeypatch.setattr(Length, "measure", measure_and_be_told)
    tasks.measure(run.pk)

    assert runs.count_calls(run) == {"planned": 3, "ok": 1}
    assert queued == [run.pk]
