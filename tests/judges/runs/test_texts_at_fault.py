"""A text that a provider flags or finds too long: its own calls end, all others are answered, and no study waits.

Which words a provider has for it is tested in `providers/test_refusals.py`.
"""

from collections.abc import Callable
from typing import Any

import pytest

from judges import runs, workers
from judges.models import Endpoint, Judge, PersonaSet, Prompt, Run
from judges.models.notes import BLOCKED_IN_A_ROW
from judges.planning import Scope
from judges.requests import texts
from studies.models import Study
from tests import factories
from tests.judges import standin as told
from tests.judges.conftest import answers, assert_everything_ended_once, judge_at, sendable, started
from tests.judges.standin import Reply, StandIn
from tests.judges.standin.refusals import BLOCKS, LONG
from tests.judges.standin.server import Hit

pytestmark = pytest.mark.django_db
PLACES = {"first": (0, 1), "middle": (3, 4), "last": (6, 7)}
UNKNOWN_WORDS = Reply('{"error": {"message": "That will not do."}}', status=400)


@pytest.fixture
def eight() -> Study:
    """Eight stories in one group, two tests of each."""
    return factories.study(n_stories=8, comparative=False)


def asked_in_order(run: Run) -> list[str]:
    """Codes of the run's stories, in the order in which its calls are planned."""
    return list(dict.fromkeys(run.calls.order_by("pk").values_list("story__code", flat=True)))


def answering(run: Run, reply_by_code: dict[str, Reply]) -> Callable[[Hit], Reply]:
    """Those replies to the run's calls about these stories, Yes to all others, and to all of other runs."""
    calls = run.calls.filter(story__code__in=reply_by_code).select_related("story")
    asked: list[tuple[Any, Reply]] = [
        (texts.render(call.request)["messages"], reply_by_code[call.story.code]) for call in calls if call.story
    ]

    def reply(hit: Hit) -> Reply:
        return next((reply for messages, reply in asked if messages == hit.body["messages"]), told.YES)

    return reply


def assert_untouched(endpoint: Endpoint | None) -> None:
    """Nobody has to see to it, and it does not rest."""
    assert endpoint is not None
    endpoint.refresh_from_db()
    assert (endpoint.needs_attention, endpoint.resting_until, endpoint.n_rests) == ("", None, 0)


@pytest.mark.parametrize("n_at_once", [1, 8])
@pytest.mark.parametrize("place", PLACES)
def test_a_flagged_and_a_long_story_hold_up_no_other_and_no_other_study(
    eight: Study, standin: StandIn, place: str, n_at_once: int
) -> None:
    judge = judge_at(standin, n_at_once=n_at_once)
    run, other = started(eight, judge), started(factories.study("pears", comparative=False), judge)
    flagged, long = (asked_in_order(run)[n] for n in PLACES[place])
    standin.reply = answering(run, {flagged: BLOCKS["openrouter"], long: LONG["llama.cpp at first"]})

    workers.work(judge.required_endpoint)

    for row in (run, other):
        row.refresh_from_db()
        assert (row.state, row.note) == (Run.State.FINISHED, "")
    assert runs.count_calls(run) == {"ok": 12, "blocked": 2, "too_large": 2}
    assert runs.count_calls(other) == {"ok": 8}
    assert set(run.calls.filter(state="blocked").values_list("story__code", flat=True)) == {flagged}
    assert set(run.calls.filter(state="too_large").values_list("story__code", flat=True)) == {long}
    assert len(standin.hits) == 24, "no call was sent twice"
    assert_untouched(judge.endpoint)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("reply", "state", "run_state"),
    [
        pytest.param(UNKNOWN_WORDS, "provider_error", Run.State.FINISHED, id="400 in unknown words"),
        pytest.param(told.BROKEN_BY_PROVIDER, "provider_error", Run.State.FINISHED, id="finish reason error"),
        pytest.param(told.FORBIDDEN, "provider_error", Run.State.WAITING, id="403 in unknown words"),
        pytest.param(told.ERROR, "provider_error", Run.State.WAITING, id="500"),
    ],
)
def test_a_story_that_fails_in_words_that_nobody_knows_fails_alone(
    eight: Study, standin: StandIn, place: str, reply: Reply, state: str, run_state: str
) -> None:
    """Where it may also be the key that is refused, or the server that fails, somebody may have it asked again."""
    judge = judge_at(standin, n_at_once=4)
    run, other = started(eight, judge), started(factories.study("pears", comparative=False), judge)
    code = asked_in_order(run)[PLACES[place][0]]
    standin.reply = answering(run, {code: reply})

    workers.work(judge.required_endpoint)

    for row, expected in ((run, run_state), (other, Run.State.FINISHED)):
        row.refresh_from_db()
        assert row.state == expected
    assert (runs.count_calls(run), runs.count_calls(other)) == ({"ok": 14, state: 2}, {"ok": 8})
    assert_untouched(judge.endpoint)


def test_a_reply_that_breaks_off_each_time_is_asked_for_three_times(eight: Study, standin: StandIn) -> None:
    run = started(eight, judge_at(standin))
    bad = run.calls.order_by("pk").last()
    assert bad is not None
    words = texts.render(bad.request)["messages"]
    standin.reply = lambda hit: told.BROKEN_BY_PROVIDER if hit.body["messages"] == words else told.YES

    run = runs.drain(run)

    assert bad.attempts.count() == 3
    assert_everything_ended_once(run)


def test_while_no_reply_is_whole_the_endpoint_rests_and_every_call_stays(eight: Study, standin: StandIn) -> None:
    standin.script = [told.YES] * 3 + [told.BROKEN_BY_PROVIDER] * 24

    run = runs.drain(started(eight, judge_at(standin, n_at_once=1)))

    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 16})
    assert len(standin.hits) == 40


@pytest.mark.parametrize("reply", [LONG["vllm"], UNKNOWN_WORDS], ids=["too long", "unknown words"])
def test_of_two_stories_the_one_at_fault_does_not_stop_the_other(standin: StandIn, reply: Reply) -> None:
    """Both are asked about first, and of the one at fault no third probe is made."""
    run = started(factories.study(n_stories=2, n_items=6, comparative=False), judge_at(standin, n_at_once=1))
    code = asked_in_order(run)[0]
    standin.reply = answering(run, {code: reply})

    run = runs.drain(run)

    assert run.state == Run.State.FINISHED
    assert runs.count_calls(run)["ok"] == 6


def test_three_stories_that_are_too_long_stop_the_run_if_none_is_answered(eight: Study, standin: StandIn) -> None:
    standin.reply = lambda hit: LONG["vllm"]

    run = runs.drain(started(eight, judge_at(standin)))

    assert (run.state, len(standin.hits)) == (Run.State.STOPPED, 3)
    assert "too long for the model" in run.note


def test_the_three_probes_are_about_three_stories_though_two_groups_share_one(standin: StandIn) -> None:
    study = factories.study(n_groups=4, n_stories=1, n_items=1, comparative=False, planned=False)
    first, second, *_ = study.groups.order_by("code")
    second.stories.set(first.stories.all())
    factories.plan(study)

    run = runs.drain(started(study, judge_at(standin, n_at_once=3)))

    probes = run.calls.filter(attempts__is_probe=True).values_list("story__code", flat=True)
    assert sorted(probes) == ["p1s1", "p3s1", "p4s1"]


def test_refusals_of_one_story_before_five_personas_are_that_storys(standin: StandIn) -> None:
    """Each persona has a place of its own."""
    study = sendable(factories.study(n_stories=1, n_items=3, comparative=False))
    judge = judge_at(standin, n_at_once=1)
    Prompt.objects.filter(pk=judge.prompt_id).update(personas="five")
    personas = [{"name": f"p{n}", "text": f"You are number {n}."} for n in range(5)]
    five = PersonaSet.objects.create(name="five", version="1", personas=personas)
    run = runs.start(study, Judge.objects.get(pk=judge.pk), by="tests", scope=Scope(persona_set=five))
    standin.script = [told.YES] * 2
    standin.reply = lambda hit: UNKNOWN_WORDS

    run = runs.drain(run)

    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 2, "provider_error": 13})
    assert_untouched(judge.endpoint)


def test_refusals_are_equal_whatever_numbers_of_requests_they_carry(standin: StandIn) -> None:
    study = factories.study(n_stories=8, n_items=1, comparative=False)
    standin.script = [told.YES] * 3

    def refuse(hit: Hit) -> Reply:
        return Reply(f'{{"error": "temperature must be 1", "request_id": "req_01{len(standin.hits)}x"}}', status=400)

    standin.reply = refuse

    run = runs.drain(started(study, judge_at(standin, n_at_once=1)))

    assert (run.state, len(standin.hits)) == (Run.State.WAITING, 8)
    assert runs.count_calls(run) == {"planned": 5, "ok": 3}


def test_what_a_filter_stopped_is_recorded_as_declined(eight: Study, standin: StandIn) -> None:
    run = started(eight, judge_at(standin))
    standin.reply = answering(run, {asked_in_order(run)[0]: BLOCKS["openai"]})

    run = runs.drain(run)

    assert answers(run) == {"yes": 14, "declined": 2}
    assert_everything_ended_once(run)


def test_a_filter_that_stops_one_story_after_another_asks_for_a_person(eight: Study, standin: StandIn) -> None:
    standin.reply = lambda hit: BLOCKS["xai"]

    run = runs.drain(started(eight, judge_at(standin, n_at_once=1)))

    assert (run.state, runs.count_calls(run)) == (Run.State.WAITING, {"blocked": 5, "planned": 11})
    assert (run.n_probes_answered, run.n_probes_failed) == (0, 0)
    assert Endpoint.objects.get().needs_attention == BLOCKED_IN_A_ROW


def test_where_few_stories_are_left_fewer_forbidden_ones_ask_for_a_person(standin: StandIn) -> None:
    study = factories.study(n_stories=3, n_items=2, comparative=False)
    standin.script, standin.reply = [told.YES] * 3, lambda hit: told.FORBIDDEN

    run = runs.drain(started(study, judge_at(standin, n_at_once=1)))

    assert (run.state, runs.count_calls(run), len(standin.hits)) == (Run.State.WAITING, {"ok": 3, "planned": 3}, 5)
    assert Endpoint.objects.get().needs_attention


def test_a_story_that_is_too_long_counts_once_in_whichever_order_its_calls_end(standin: StandIn) -> None:
    run = started(factories.study(n_stories=1, n_items=4, comparative=False), judge_at(standin, n_at_once=1))
    standin.script, standin.reply = [told.BUSY], lambda hit: LONG["vllm"]

    run = runs.drain(run)

    assert (run.state, runs.count_calls(run), run.n_probes_failed) == (Run.State.FINISHED, {"too_large": 4}, 1)
