import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Response
from judges import catalogue, prompts, runs, tasks
from judges.models import Run
from tests import factories
from tests.judges import standin as told
from tests.judges.conftest import judge_at, sendable
from tests.judges.standin import StandIn

pytestmark = pytest.mark.django_db


def run_judges(*args: Any) -> str:
    out = io.StringIO()
    call_command("run_judges", *args, stdout=out)
    return out.getvalue()


def test_with_wait_the_stub_answers_everything_and_progress_is_shown() -> None:
    factories.study(comparative=False)

    said = run_judges("plums", "--judge", "stub", "--wait")

    assert "3 of 8 calls done: 3 ok" in said, "the probes come first"
    assert said.endswith("stub in plums: finished. 8 of 8 calls done: 8 ok\n")
    assert Response.objects.filter(outcome="answered").count() == 8


def test_without_wait_the_workers_are_told(queued: list[int], django_capture_on_commit_callbacks: Any) -> None:
    factories.study(comparative=False)

    with django_capture_on_commit_callbacks(execute=True):
        said = run_judges("plums", "--judge", "stub")

    assert said == "stub in plums: 8 calls planned; the workers have been told.\n"
    assert queued == [Run.objects.get().judge.endpoint_id]
    assert Response.objects.count() == 0


def test_a_second_time_there_is_nothing_left_to_do() -> None:
    factories.study(comparative=False)
    run_judges("plums", "--judge", "stub", "--wait")

    assert run_judges("plums", "--judge", "stub", "--wait") == (
        "stub in plums: finished already. 8 of 8 calls done: 8 ok\n"
    )
    assert Response.objects.count() == 8


def test_the_same_command_goes_on_where_a_run_stopped(standin: StandIn) -> None:
    sendable(factories.study(comparative=False))
    judge_at(standin, n_at_once=1)
    standin.script = [told.YES] * 4 + [told.NO_KEY]

    with pytest.raises(CommandError, match=r"HTTP 401.* The same command goes on from here"):
        run_judges("plums", "--judge", "model-1", "--wait")

    assert "8 of 8 calls done: 8 ok" in run_judges("plums", "--judge", "model-1", "--wait")
    assert Response.objects.count() == 8


def test_an_unknown_study_or_judge_is_refused_with_those_there_are() -> None:
    factories.study()
    catalogue.make_stub_judge()

    with pytest.raises(CommandError, match="no study “pears”; there are: plums"):
        run_judges("pears", "--judge", "stub")
    with pytest.raises(CommandError, match="no judge “gpt”; there are: stub"):
        run_judges("plums", "--judge", "gpt")


def test_what_stands_in_the_way_is_said(standin: StandIn) -> None:
    factories.study()
    judge_at(standin)

    with pytest.raises(CommandError, match="not marked as free to be sent"):
        run_judges("plums", "--judge", "model-1", "--wait")
    assert standin.hits == []


def test_load_prompts_names_what_it_loaded() -> None:
    out = io.StringIO()

    call_command("load_prompts", stdout=out)

    names = [f"{prompt.name} {prompt.version}" for prompt in prompts.load_built_in()]
    assert out.getvalue().splitlines() == [*names, "pds 1"]
    assert "plain-verdict-first 1" in names


def test_a_task_works_a_run_off(queued: list[int]) -> None:
    run = runs.start(factories.study(comparative=False), catalogue.make_stub_judge(), by="tests")

    tasks.work(run.judge.endpoint_id)

    run.refresh_from_db()
    assert (run.state, queued) == (Run.State.FINISHED, [])


def test_a_task_whose_turn_is_over_queues_the_run_again(queued: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "TURN_SECONDS", 0)
    run = runs.start(factories.study(comparative=False), catalogue.make_stub_judge(), by="tests")

    tasks.work(run.judge.endpoint_id)

    assert queued == [run.judge.endpoint_id]


def test_a_task_about_an_endpoint_that_is_gone_does_nothing() -> None:
    tasks.work(12345)

    assert not Run.objects.exists()


def test_the_sweep_is_what_the_schedule_names(settings: Any, queued: list[int]) -> None:
    run = runs.start(factories.study(comparative=False), catalogue.make_stub_judge(), by="tests")

    tasks.sweep()

    assert queued == [run.judge.endpoint_id]
    assert settings.CELERY_BEAT_SCHEDULE["sweep runs"]["task"] == tasks.sweep.name
    assert tasks.work.name == "judges.tasks.work"
