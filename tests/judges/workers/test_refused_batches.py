"""Batches that a provider does not take on: nothing is paid, the run's page says why, and nothing is asked twice."""

import html
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from judges import runs, workers
from judges.models import ProviderBatch, Run
from judges.providers import FailureKind
from studies.models import Study
from tests.judges import standin as told
from tests.judges.conftest import assert_everything_ended_once
from tests.judges.standin import StandIn
from tests.judges.workers.test_batches import State, advance, judge_of, probed

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("reply", "state", "run_state"),
    [
        (told.NO_CREDIT, State.FAILED, Run.State.WAITING),
        (told.NO_KEY, State.FAILED, Run.State.WAITING),
        (told.BUSY, State.WRITTEN, Run.State.RUNNING),
    ],
)
def test_a_batch_that_is_not_taken_costs_nothing_and_says_why(
    study: Study, standin: StandIn, monkeypatch: pytest.MonkeyPatch, reply: Any, state: str, run_state: str
) -> None:
    run = probed(study, judge_of(standin, "anthropic"))

    async def refuse(*_: Any) -> Any:
        return reply

    with monkeypatch.context() as patch:
        patch.setattr(standin.batches, "answer", refuse)
        assert advance(run, 0) == [state]

    run.refresh_from_db()
    assert run.state == run_state
    assert ProviderBatch.objects.get().reason != ""
    if run_state == Run.State.WAITING:
        runs.resume(run)
    workers.work(run.judge.required_endpoint, only=run)
    advance(run, 30, 32, 34, 36, 38)
    run.refresh_from_db()
    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 8})


@pytest.mark.parametrize(
    ("refusals", "kind", "words"),
    [
        pytest.param(
            [{"code": "model_not_found", "line": 1, "message": "The model does not exist."}],
            FailureKind.UNKNOWN_MODEL,
            "the provider did not take the batch on: The model does not exist.",
            id="unknown model",
        ),
        pytest.param(
            [{"code": "billing_hard_limit_reached", "message": "Your limit is reached."}],
            FailureKind.CREDIT,
            "the provider did not take the batch on: Your limit is reached.",
            id="no credit",
        ),
        pytest.param(
            [{"code": "invalid_json_line", "line": n, "message": "This line is not valid JSON."} for n in (1, 2)]
            + [{"code": "duplicate_custom_id"}],
            FailureKind.BAD_REQUEST,
            "the provider did not take the batch on: This line is not valid JSON. duplicate_custom_id",
            id="several lines",
        ),
        pytest.param(
            [{"code": "", "message": None}],
            FailureKind.BAD_REQUEST,
            "the provider did not take the batch on, and does not say why",
            id="says nothing",
        ),
    ],
)
def test_why_openai_did_not_take_a_batch_on_stands_on_the_runs_page_with_the_way_out(
    study: Study, standin: StandIn, admin_client: Client, refusals: Any, kind: FailureKind, words: str
) -> None:
    run = probed(study, judge_of(standin, "openai"))
    standin.batches.refusals = refusals

    assert advance(run, 0, 2) == [State.WORKING, State.FAILED]

    run.refresh_from_db()
    page = html.unescape(admin_client.get(reverse("judges:run", args=[study.slug, run.pk])).content.decode())
    assert run.state == Run.State.WAITING
    assert f"{kind.sentence} {kind.way_out} ({words})" in page
    assert run.batches.get().reason == words
    assert f">{words[0].upper()}{words[1:]}</span>" in page
    assert runs.count_calls(run) == {"ok": 3, "planned": 5}
    standin.batches.refusals = []
    runs.resume(run)
    workers.work(run.judge.required_endpoint, only=run)
    advance(run, 10, 12, 14, 16)
    run.refresh_from_db()
    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 8})


def test_a_batch_for_which_a_provider_has_no_room_yet_is_handed_in_again_by_itself(
    study: Study, standin: StandIn
) -> None:
    run = probed(study, judge_of(standin, "openai"))
    standin.batches.refusals = [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached."}]

    assert advance(run, 0, 2) == [State.WORKING, State.WRITTEN]
    standin.batches.refusals = []
    assert advance(run, 10) == [State.WRITTEN], "not before ten minutes have passed"
    assert advance(run, 15, 17, 19, 21)[-1] == State.ENDED

    run.refresh_from_db()
    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 8})
    assert ProviderBatch.objects.count() == 1
    assert_everything_ended_once(run)
