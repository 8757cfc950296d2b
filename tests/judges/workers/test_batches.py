"""Runs that hand in their calls as batches: each answered once, at half the price, whatever happens in between."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from judges import runs, workers
from judges.models import Attempt, Judge, ProviderBatch, Run
from judges.planning import CannotRun
from judges.providers.anthropic import AnthropicBatches
from judges.providers.gemini import GeminiBatches
from judges.providers.openai import OpenAIBatches
from judges.providers.openai_responses import ResponsesBatches
from judges.settlement import erasure
from judges.workers import batches
from studies.models import Study
from tests.judges import standin as told
from tests.judges.conftest import answers, assert_everything_ended_once, judge_at, sendable
from tests.judges.planning.test_budget import price
from tests.judges.standin import Reply, StandIn

pytestmark = pytest.mark.django_db
NOW = timezone.now()
State = ProviderBatch.State
CLIENTS = {
    "openai": OpenAIBatches,
    "openai-responses": ResponsesBatches,
    "anthropic": AnthropicBatches,
    "gemini": GeminiBatches,
}
every_one = pytest.mark.parametrize("adapter", CLIENTS)
by_lines = pytest.mark.parametrize("adapter", ["openai", "anthropic"])


def judge_of(standin: StandIn, adapter: str) -> Judge:
    judge = judge_at(standin)
    judge.required_endpoint.adapter = adapter
    judge.required_endpoint.save()
    type(judge.required_endpoint).objects.update(is_allowed=True, key_variable="STANDIN_API_KEY")
    judge.parameters = {"temperature": 0, "max_tokens": 100}
    judge.save()
    return Judge.objects.get(pk=judge.pk)


def probed(study: Study, judge: Judge, **more: Any) -> Run:
    """A run of eight calls of which three were sent one by one."""
    run = runs.start(sendable(study), judge, by="tests", sends_batches=True, **more)
    workers.work(judge.required_endpoint, only=run)
    run.refresh_from_db()
    return run


def advance(run: Run, *minutes: float) -> list[str]:
    """The state of the run's last batch after each step, so many minutes after the first."""
    states = []
    for minute in minutes:
        batches.advance(Run.objects.get(pk=run.pk), at=NOW + timedelta(minutes=minute))
        states.append(ProviderBatch.objects.latest("pk").state)
    return states


@every_one
def test_probes_go_first_and_the_rest_in_one_batch(study: Study, standin: StandIn, adapter: str) -> None:
    run = probed(study, judge_of(standin, adapter))
    assert runs.count_calls(run) == {"planned": 5, "ok": 3}

    assert advance(run, 0, 2, 4) == [State.WORKING, State.WORKING, State.ENDED]
    advance(run, 6)

    run.refresh_from_db()
    assert (run.state, answers(run), len(standin.hits)) == (Run.State.FINISHED, {"yes": 8}, 8)
    assert ProviderBatch.objects.get().n_calls == 5
    assert_everything_ended_once(run)


def test_a_command_waits_for_its_batches(study: Study, standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "POLL_SECONDS", 0.01)

    run = runs.drain(runs.start(sendable(study), judge_of(standin, "openai"), by="tests", sends_batches=True))

    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 8})


def test_a_call_of_a_batch_costs_half_and_keeps_half_aside(study: Study, standin: StandIn) -> None:
    judge = judge_of(standin, "openai")
    price(judge)
    run = probed(study, judge)
    advance(run, 0, 2, 4)

    in_batch = Attempt.objects.filter(worker=ProviderBatch.objects.get().name)
    alone = Attempt.objects.exclude(pk__in=in_batch)
    assert set(in_batch.values_list("cost", flat=True)) == {Decimal("0.000026")}
    assert set(alone.values_list("cost", flat=True)) == {Decimal("0.000052")}
    assert in_batch[0].reserved < alone[0].reserved


def test_a_batch_is_no_larger_than_the_budget_bears(study: Study, standin: StandIn) -> None:
    judge = judge_of(standin, "openai")
    Judge.objects.update(parameters={"max_tokens": 3})
    judge.refresh_from_db()
    price(judge, "0", "10000")  # every reply costs what it may cost at most: 3 cents, in a batch half of that
    run = probed(study, judge, budget=Decimal("0.13"))

    advance(run, 0, 2, 4)
    batches.advance(run, at=NOW + timedelta(minutes=6))

    run.refresh_from_db()
    assert (run.state, runs.count_calls(run)) == (Run.State.WAITING, {"ok": 5, "budget_stopped": 3})


def test_a_batch_is_written_in_small_parts_and_handed_in_whole(
    study: Study, standin: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "N_WRITTEN_AT_ONCE", 2)
    run = probed(study, judge_of(standin, "openai"))

    advance(run, 0, 2, 4)

    assert [batch.n_calls for batch in ProviderBatch.objects.all()] == [5]
    assert runs.count_calls(run) == {"ok": 8}


@pytest.mark.parametrize(("n_parts", "sizes"), [(0, [0, 5]), (1, [2, 3])])
def test_what_was_written_when_its_worker_died_is_the_batch(
    study: Study, standin: StandIn, monkeypatch: pytest.MonkeyPatch, n_parts: int, sizes: list[int]
) -> None:
    monkeypatch.setattr(batches, "N_WRITTEN_AT_ONCE", 2)
    run = probed(study, judge_of(standin, "openai"))
    write, parts = batches._write_more, iter(range(n_parts))

    def dying(*args: Any, **more: Any) -> Any:
        if next(parts, None) is None:
            raise KeyboardInterrupt
        return write(*args, **more)

    with monkeypatch.context() as killed:
        killed.setattr(batches, "_write_more", dying)
        with pytest.raises(KeyboardInterrupt):
            batches.advance(run, at=NOW)
    assert advance(run, 1) == [State.WRITTEN], "it may still be at it"

    advance(run, 11, 13, 15, 17, 19, 21)

    assert [batch.n_calls for batch in ProviderBatch.objects.order_by("pk")] == sizes
    assert (runs.count_calls(run), len(standin.hits)) == ({"ok": 8}, 8)
    assert_everything_ended_once(run)


def test_an_estimate_in_batches_is_half_of_all_but_the_calls_that_go_first(study: Study, standin: StandIn) -> None:
    judge = judge_of(standin, "openai")
    price(judge)

    alone = runs.plan(sendable(study), judge, by="tests").estimate
    runs.discard(Run.objects.get())
    batched = runs.plan(study, judge, by="tests", sends_batches=True).estimate

    # Three of eight calls at the whole price, five at half of it.
    assert Decimal(batched["cost"]) == Decimal(alone["cost"]) * Decimal("0.6875")
    assert Decimal(batched["worst_cost"]) == Decimal(alone["worst_cost"]) * Decimal("0.6875")


def test_what_a_batch_did_not_answer_goes_into_the_next(study: Study, standin: StandIn) -> None:
    standin.script = [*[told.YES] * 3, told.YES, told.PROSE, told.BUSY, told.YES, told.YES]
    run = probed(study, judge_of(standin, "openai"))

    advance(run, 0, 2, 4, 60, 62, 64, 66)

    run.refresh_from_db()
    assert [batch.n_calls for batch in ProviderBatch.objects.all()] == [5, 2]
    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 8})
    assert_everything_ended_once(run)


@every_one
@pytest.mark.parametrize("end", ["expired", "cancelled"])
def test_what_was_answered_of_a_batch_that_did_not_come_to_its_end_counts_and_the_rest_goes_into_the_next(
    study: Study, standin: StandIn, adapter: str, end: str
) -> None:
    run = probed(study, judge_of(standin, adapter))
    standin.batches.end, standin.batches.n_answered = end, 2
    advance(run, 0, 2, 4)
    assert runs.count_calls(run) == {"planned": 3, "ok": 5}
    assert Attempt.objects.filter(outcome=Attempt.Outcome.FAILED).count() == 3

    standin.batches.end = "completed"
    advance(run, 60, 62, 64, 66)

    run.refresh_from_db()
    assert [batch.n_calls for batch in ProviderBatch.objects.order_by("pk")] == [5, 3]
    assert (run.state, runs.count_calls(run), len(standin.hits)) == (Run.State.FINISHED, {"ok": 8}, 8)
    assert_everything_ended_once(run)


@every_one
def test_a_batch_that_the_provider_does_not_keep_any_more_is_given_up_and_its_calls_go_into_the_next(
    study: Study, standin: StandIn, adapter: str
) -> None:
    run = probed(study, judge_of(standin, adapter))
    advance(run, 0)
    standin.batches.openai.clear()
    standin.batches.anthropic.clear()
    standin.batches.gemini.clear()

    assert advance(run, 2) == [State.LOST]
    assert Attempt.objects.filter(outcome=Attempt.Outcome.UNKNOWN).count() == 5
    advance(run, 10, 12, 14, 16)

    run.refresh_from_db()
    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 8})
    assert_everything_ended_once(run)


@every_one
@pytest.mark.parametrize("reply", [Reply("<html>Bad gateway</html>", status=502), Reply('{"ok": true}')])
def test_a_batch_that_may_have_been_taken_is_looked_for_before_it_is_handed_in_again(
    study: Study, standin: StandIn, monkeypatch: pytest.MonkeyPatch, adapter: str, reply: Reply
) -> None:
    run = probed(study, judge_of(standin, adapter))
    answer = standin.batches.answer

    async def take_and_lose_the_answer(method: str, route: str, *args: Any) -> Any:
        usual = await answer(method, route, *args)
        return reply if method == "POST" and route.endswith(("/batches", ":batchGenerateContent")) else usual

    with monkeypatch.context() as patch:
        patch.setattr(standin.batches, "answer", take_and_lose_the_answer)
        assert advance(run, 0) == [State.HANDED_IN]
    states = advance(run, 11, 13, 15)

    expected = [State.WORKING, State.WORKING, State.ENDED] if adapter != "anthropic" else [State.LOST]
    assert states[: len(expected)] == expected
    assert len(standin.hits) == (8 if adapter != "anthropic" else 13), "Anthropic's batches carry no name to look for"


@by_lines
def test_a_line_of_the_results_that_cannot_be_read_answers_no_call_and_spoils_no_other(
    study: Study, standin: StandIn, monkeypatch: pytest.MonkeyPatch, adapter: str
) -> None:
    run = probed(study, judge_of(standin, adapter))
    advance(run, 0, 2)
    answer = standin.batches.answer

    async def spoil(method: str, route: str, *args: Any) -> Any:
        usual = await answer(method, route, *args)
        if not route.endswith(("/content", "/results")):
            return usual
        first, *others = usual.body.splitlines()
        return Reply("\n".join([first[:30], "[]", '{"custom_id": 7}', *others]))

    with monkeypatch.context() as patch:
        patch.setattr(standin.batches, "answer", spoil)
        assert advance(run, 4) == [State.ENDED]

    assert runs.count_calls(run) == {"planned": 1, "ok": 7}


@every_one
def test_a_batch_whose_number_nobody_heard_is_found_by_its_name_or_given_up(
    study: Study, standin: StandIn, monkeypatch: pytest.MonkeyPatch, adapter: str
) -> None:
    run = probed(study, judge_of(standin, adapter))
    create = CLIENTS[adapter].create

    async def create_and_die(self: Any, *args: Any) -> str:
        await create(self, *args)
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(CLIENTS[adapter], "create", create_and_die)
        with pytest.raises(SystemExit):
            advance(run, 0)
    assert advance(run, 1) == [State.HANDED_IN], "another may still be at it"

    states = advance(run, 11, 12, 14)

    if adapter != "anthropic":
        assert states == [State.WORKING, State.WORKING, State.ENDED]
        assert len(standin.hits) == 8
    else:  # which keeps no names
        assert states[0] == State.LOST
        assert Attempt.objects.filter(outcome=Attempt.Outcome.UNKNOWN).count() == 5
    advance(run, 20, 22, 24, 26)
    run.refresh_from_db()
    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 8})


def test_half_a_batch_that_was_settled_before_a_crash_is_not_settled_again(
    study: Study, standin: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = probed(study, judge_of(standin, "openai"))
    advance(run, 0, 2)
    monkeypatch.setattr(batches, "N_SETTLED_AT_ONCE", 2)
    settle, settled = batches.settlement.settle, []

    def settle_once(ended: Any) -> Any:
        if settled:
            raise SystemExit
        settled.append(len(ended))
        return settle(ended)

    with monkeypatch.context() as patch:
        patch.setattr(batches.settlement, "settle", settle_once)
        with pytest.raises(SystemExit):
            advance(run, 4)
    assert runs.count_calls(run) == {"leased": 3, "ok": 5}

    assert advance(run, 6) == [State.ENDED]
    assert runs.count_calls(run) == {"ok": 8}
    advance(run, 8)
    assert_everything_ended_once(Run.objects.get())


def test_a_batch_is_taken_in_though_its_run_was_paused(study: Study, standin: StandIn) -> None:
    run = probed(study, judge_of(standin, "openai"))
    advance(run, 0, 2)
    runs.pause(run, "a person")

    assert advance(run, 4) == [State.ENDED]
    assert runs.count_calls(run) == {"ok": 8}


def test_workers_hear_of_batches_that_are_due_and_of_no_others(
    study: Study, standin: StandIn, queued: list[int]
) -> None:
    run = probed(study, judge_of(standin, "openai"))
    now = timezone.now()

    assert list(batches.find_due(at=now)) == [run]
    batches.advance(run, at=now)
    assert list(batches.find_due(at=now)) == []
    assert list(batches.find_due(at=now + timedelta(minutes=2))) == [run]
    queued.clear()
    runs.sweep(at=now + timedelta(minutes=2))
    assert queued == [run.pk], "no worker waits at the endpoint meanwhile"


def test_a_judge_whose_endpoint_takes_no_batches_is_refused(study: Study, standin: StandIn) -> None:
    judge = judge_at(standin)
    type(judge.required_endpoint).objects.update(adapter="stub", base_url="", key_variable="")

    with pytest.raises(CannotRun, match="its endpoint takes none"):
        runs.start(sendable(study), Judge.objects.get(), by="tests", sends_batches=True)


def test_a_run_in_batches_is_chosen_on_its_page_and_says_how_they_are_getting_on(
    study: Study, standin: StandIn, admin_client: Client
) -> None:
    judge = judge_of(standin, "openai")
    page = reverse("judges:new_run", args=[sendable(study).slug])
    assert "Submit calls as batches" in admin_client.get(page, {"judge": judge.pk}).content.decode()

    said = admin_client.post(page, {"judge": judge.pk, "sends_batches": "on", "do": "start"}, follow=True)

    run = Run.objects.get()
    assert run.sends_batches
    assert "The first batch is submitted after three successful calls." in said.content.decode()
    workers.work(judge.required_endpoint, only=run)
    advance(run, 0)
    page = reverse("judges:run", args=[study.slug, run.pk])
    assert "5 calls, at work" in admin_client.get(page).content.decode()


def test_what_a_provider_said_of_a_batch_is_forgotten_with_its_texts(study: Study, standin: StandIn) -> None:
    run = probed(study, judge_of(standin, "openai"))
    sentence = "HTTP 400: I will not read “Here is the goldfinch.”"
    run.batches.create(name="b", n_calls=5, state=State.FAILED, reason=sentence, created_at=NOW, due_at=NOW)
    runs.wait(run, sentence)

    erasure.empty_calls([study.stories.first().pk])

    run.refresh_from_db()
    assert "goldfinch" not in run.note + run.batches.get().reason
