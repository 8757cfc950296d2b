"""A provider that fails, is away or slow: what is tried again, what stops a run, and what is never doubled."""

from collections import Counter
from datetime import timedelta

import pytest

from annotation.models import Assignment
from judges import runs
from judges.models import Attempt, Call, Endpoint, Parse, Run
from judges.requests import texts
from judges.settlement import attempts
from studies.models import Study
from tests import factories
from tests.judges import standin as told
from tests.judges.conftest import answers, assert_everything_ended_once, judge_at, started
from tests.judges.standin import Reply, StandIn

pytestmark = pytest.mark.django_db


def test_a_call_that_failed_for_a_moment_is_tried_again(study: Study, standin: StandIn) -> None:
    standin.script = [told.ERROR, told.BUSY, told.GARBAGE, told.NO]

    run = runs.drain(started(study, judge_at(standin, n_at_once=1)))

    assert runs.count_calls(run) == {"ok": 8}
    assert answers(run) == {"yes": 7, "no": 1}
    assert len(standin.hits) == 11
    assert Counter(Attempt.objects.values_list("outcome", flat=True)) == {"failed": 3, "answered": 8}
    assert_everything_ended_once(run)


def test_a_call_that_keeps_failing_has_the_run_wait_and_has_fresh_tries_when_it_is_resumed(
    study: Study, standin: StandIn
) -> None:
    run = started(study, judge_at(standin))
    bad = run.calls.last()
    assert bad is not None
    words = texts.render(bad.request)["messages"]
    standin.reply = lambda hit: told.GARBAGE if hit.body["messages"] == words else told.YES

    run = runs.drain(run)

    assert run.state == Run.State.WAITING
    assert run.note.startswith("calls that have used up their tries: 1, such as: ")
    assert runs.count_calls(run) == {"ok": 7, "provider_error": 1}
    assert bad.attempts.count() == attempts.N_TRIES
    assert set(bad.attempts.values_list("body", flat=True)) == {told.GARBAGE.body}
    assert answers(run) == {"yes": 7}
    assert {a.status for a in Assignment.objects.all()} == {Assignment.Status.OPEN}
    assert_everything_ended_once(run)

    standin.reply = lambda hit: told.NO
    run = runs.drain(runs.resume(run))

    assert (run.state, run.note, runs.count_calls(run)) == (Run.State.FINISHED, "", {"ok": 8})
    assert answers(run) == {"yes": 7, "no": 1}
    assert {a.status for a in Assignment.objects.all()} == {Assignment.Status.SUBMITTED}
    assert_everything_ended_once(run)


def test_a_call_over_which_the_server_breaks_down_ends_after_a_while(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))
    bad = run.calls.last()
    assert bad is not None
    words = texts.render(bad.request)["messages"]
    standin.reply = lambda hit: told.ERROR if hit.body["messages"] == words else told.YES

    run = runs.drain(run)

    assert (run.state, runs.count_calls(run)) == (Run.State.WAITING, {"ok": 7, "provider_error": 1})
    assert bad.attempts.count() == attempts.N_OVERLOADS


def test_a_run_that_waits_can_be_closed_with_what_it_has(study: Study, standin: StandIn) -> None:
    run = started(study, judge_at(standin))
    run.calls.filter(pk=run.calls.last().pk).update(state=Call.State.PROVIDER_ERROR, n_failures=attempts.N_TRIES)
    run = runs.drain(run)
    assert run.state == Run.State.WAITING

    run = runs.close(run, at=factories.NOON)

    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 7, "provider_error": 1})
    assert Assignment.objects.get().status == Assignment.Status.SUBMITTED


def test_an_outage_rests_the_endpoint_and_the_run_goes_on_by_itself(study: Study, standin: StandIn) -> None:
    standin.script = [Reply("{}", status=503)] * 30

    run = runs.drain(started(study, judge_at(standin)))

    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 8})
    assert len(standin.hits) == 38
    assert set(run.calls.values_list("n_failures", flat=True)) == {0}
    endpoint = Endpoint.objects.get(name="model-1")
    assert (endpoint.resting_until, endpoint.resting_reason, endpoint.n_rests) == (None, "", 0)


def test_a_wait_that_the_provider_asks_for_is_kept(study: Study, standin: StandIn) -> None:
    standin.script = [Reply("{}", status=429, headers={"Retry-After": "30"})]
    run = started(study, judge_at(standin, n_at_once=1))

    runs.drain(run, seconds=0.3)

    endpoint, failed = Endpoint.objects.get(name="model-1"), Attempt.objects.get()
    assert failed.ended_at is not None
    assert endpoint.resting_until is not None
    assert endpoint.resting_until - failed.ended_at >= timedelta(seconds=30)
    assert "HTTP 429" in endpoint.resting_reason
    assert (len(standin.hits), runs.count_calls(run)) == (1, {"planned": 8})


@pytest.mark.parametrize("n_at_once", [1, 8])
@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (told.NO_KEY, "HTTP 401"),
        (Reply("{}", status=402), "HTTP 402"),
        (Reply("{}", status=400), "HTTP 400"),
        (Reply("{}", status=404), "HTTP 404"),
        (told.GARBAGE, "not a chat completion"),
    ],
)
def test_what_no_call_can_mend_stops_the_run_after_three_probes_and_it_goes_on_once_mended(
    study: Study, standin: StandIn, reply: Reply, why: str, n_at_once: int
) -> None:
    standin.reply = lambda hit: reply

    run = runs.drain(started(study, judge_at(standin, n_at_once=n_at_once)))

    assert run.state == Run.State.STOPPED
    assert why in run.note
    assert len(standin.hits) == 3
    assert set(Attempt.objects.values_list("is_probe", flat=True)) == {True}
    assert runs.count_calls(run) == {"planned": 8}
    assert Assignment.objects.get().status == Assignment.Status.OPEN

    standin.reply = lambda hit: told.YES
    run = runs.drain(runs.resume(run))

    assert (run.state, run.note, runs.count_calls(run)) == (Run.State.FINISHED, "", {"ok": 8})
    assert_everything_ended_once(run)


def test_a_probe_that_fails_before_the_others_is_not_made_up_for_while_they_may_fail_too(
    study: Study, standin: StandIn
) -> None:
    standin.script = [Reply("{}", status=404)]
    standin.reply = lambda hit: Reply("{}", status=404, delay=0.5)

    run = runs.drain(started(study, judge_at(standin, n_at_once=8)))

    assert (run.state, len(standin.hits)) == (Run.State.STOPPED, 3)


@pytest.mark.parametrize(("status", "word"), [(401, "HTTP 401"), (402, "HTTP 402")])
def test_a_key_or_a_credit_that_ends_later_waits_for_a_person(
    study: Study, standin: StandIn, status: int, word: str
) -> None:
    standin.script = [told.YES] * 4
    standin.reply = lambda hit: Reply("{}", status=status)

    run = runs.drain(started(study, judge_at(standin, n_at_once=1)))

    assert (run.state, len(standin.hits)) == (Run.State.WAITING, 5)
    assert word in run.note
    assert word in Endpoint.objects.get(name="model-1").attention
    assert runs.count_calls(run) == {"planned": 4, "ok": 4}

    standin.reply = lambda hit: told.YES
    run = runs.drain(runs.resume(run))

    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 8})
    assert Endpoint.objects.get(name="model-1").needs_attention == ""


def test_five_equal_refusals_in_a_row_wait_for_a_person_and_end_no_call(standin: StandIn) -> None:
    study = factories.study(n_groups=2, comparative=False)
    standin.script = [told.YES] * 3
    standin.reply = lambda hit: Reply('{"error": "temperature must be 1"}', status=400)

    run = runs.drain(started(study, judge_at(standin, n_at_once=1)))

    # The fifth story is asked about with the eleventh call; two of one story count as one.
    assert (run.state, len(standin.hits)) == (Run.State.WAITING, 11)
    assert "temperature must be 1" in run.note
    assert runs.count_calls(run) == {"planned": 13, "ok": 3}


def test_a_request_that_is_wrong_in_itself_is_not_tried_again_and_holds_nothing_up(
    study: Study, standin: StandIn
) -> None:
    run = started(study, judge_at(standin))
    bad = run.calls.last()
    assert bad is not None
    words = texts.render(bad.request)["messages"]
    standin.reply = lambda hit: told.TOO_LONG if hit.body["messages"] == words else told.YES

    run = runs.drain(run)

    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 7, "too_large": 1})
    assert len(standin.hits) == 8
    assert answers(run) == {"yes": 7}


def test_an_unreadable_reply_is_asked_for_once_more_and_both_are_kept(study: Study, standin: StandIn) -> None:
    standin.script = [told.PROSE]

    run = runs.drain(started(study, judge_at(standin, n_at_once=1)))

    assert (runs.count_calls(run), len(standin.hits)) == ({"ok": 8}, 9)
    assert standin.hits[0].body == next(hit.body for hit in standin.hits[1:] if hit.body == standin.hits[0].body)
    assert Counter(Parse.objects.values_list("state", flat=True)) == {"unreadable": 1, "ok": 8}
    assert_everything_ended_once(run)
