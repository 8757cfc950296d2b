import io
import re
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Response
from judges import catalogue, prompts, runs, tasks
from judges.models import PersonaSet, Prompt, Run
from tests import factories
from tests.judges import standin as told
from tests.judges.conftest import judge_at, sendable
from tests.judges.planning.test_budget import price
from tests.judges.standin import StandIn

pytestmark = pytest.mark.django_db


def run_judges(*args: Any) -> str:
    out = io.StringIO()
    call_command("run_judges", *args, stdout=out)
    return out.getvalue()


def exit_code(*args: Any) -> int:
    with pytest.raises(CommandError) as error:
        run_judges(*args)
    return error.value.returncode


def test_with_wait_the_stub_answers_everything_and_nobody_looks_at_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    factories.study(comparative=False)

    output = run_judges("plums", "--judge", "stub", "--wait")

    assert output == "stub in plums: finished. 8 of 8 calls done: 8 ok\n"
    assert capsys.readouterr() == ("", "")
    assert Response.objects.filter(outcome="answered").count() == 8


def test_a_dry_run_says_what_it_would_take_and_starts_nothing(standin: StandIn) -> None:
    study = sendable(factories.study(comparative=False))
    judge = judge_at(standin)
    without_price = run_judges("plums", "--judge", "model-1", "--dry-run")
    price(judge)

    output = run_judges("plums", "--judge", "model-1", "--dry-run", "--stories", "p1s1")

    assert re.fullmatch(
        r"model-1 in plums: 2 calls to be sent, about [\d,]+ tokens in and 600 out, "
        r"about \$ 0.01, at most \$ 5.2\d, about 1 min\n",
        output,
    )
    assert "8 calls to be sent" in without_price
    assert "cost unknown, since the model has no price" in without_price
    assert (Run.objects.count(), study.raters.count(), standin.hits) == (0, 0, [])


def test_what_may_cost_something_needs_a_yes(standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    sendable(factories.study(comparative=False))
    judge_at(standin)

    assert exit_code("plums", "--judge", "model-1", "--wait") == 1
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda question: "n")
    assert exit_code("plums", "--judge", "model-1", "--wait") == 1
    assert (Run.objects.count(), standin.hits) == (0, [])

    monkeypatch.setattr("builtins.input", lambda question: "y")
    assert "8 of 8 calls done: 8 ok" in run_judges("plums", "--judge", "model-1", "--wait")
    assert Run.objects.get().approved_by == "run_judges"


def test_a_run_that_waits_for_approval_is_approved_with_its_estimate_shown(standin: StandIn) -> None:
    study = sendable(factories.study(comparative=False))
    judge = judge_at(standin)
    price(judge)
    run = runs.plan(study, judge, by="ann")

    assert exit_code("plums", "--judge", "model-1", "--wait") == 1
    assert standin.hits == []
    assert exit_code("plums", "--judge", "model-1", "--stories", "p1s1", "--yes") == 1
    run_judges("plums", "--judge", "model-1", "--wait", "--yes", "--budget", "3.5")

    run.refresh_from_db()
    assert (run.state, run.budget, run.approved_by) == (Run.State.FINISHED, Decimal("3.5"), "run_judges")


def test_the_exit_code_says_how_it_ended(standin: StandIn) -> None:
    sendable(factories.study(comparative=False))
    judge_at(standin, n_at_once=1)
    standin.script = [told.YES] * 4 + [told.NO_KEY]
    assert exit_code("plums", "--judge", "model-1", "--wait", "--yes") == 2

    standin.script = [told.REFUSED]
    assert exit_code("plums", "--judge", "model-1", "--wait") == 3
    assert exit_code("plums", "--judge", "model-1", "--wait") == 3, "as often as one asks"
    assert exit_code("pears", "--judge", "model-1") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("--budget", "much"),
        ("--budget", "nan"),
        ("--budget", "-1"),
        ("--budget", "1e99"),
        ("--repeats", "0"),
        ("--repeats", "1000000"),
        ("--repeats", "x"),
        ("--orders", "sideways"),
        ("--stories", "p9s9"),
        ("--steps", "nowhere"),
        ("--personas", "nobody"),
        ("--examples", "0"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(arguments: tuple[str, str]) -> None:
    factories.study(comparative=False)

    with pytest.raises(CommandError):
        run_judges("plums", "--judge", "stub", *arguments)
    assert not Run.objects.exists()


def test_further_stories_and_readings_are_asked_for_by_name() -> None:
    factories.study(comparative=False, n_groups=2)

    run_judges("plums", "--judge", "stub", "--wait", "--stories", "plot1", "p2s1")
    run_judges("plums", "--judge", "stub", "--wait")
    run_judges("plums", "--judge", "stub", "--wait", "--repeats", "2", "--stories", "p2s1")

    assert [run.n_planned for run in Run.objects.order_by("pk")] == [10, 6, 2]


def test_steps_personas_and_guards_are_chosen_as_on_the_page() -> None:
    factories.study(n_stories=2, n_items=1)
    judge = catalogue.make_stub_judge()
    Prompt.objects.filter(pk=judge.prompt_id).update(personas="two")
    texts = [{"name": "critic", "text": "You are a critic."}, {"name": "reader", "text": "You read."}]
    PersonaSet.objects.create(name="two", version="1", personas=texts)

    run_judges("plums", "--judge", "stub", "--steps", "tests", "--personas", "two", "--probes", "--anchors")

    run = Run.objects.get()
    # Two stories with one test, as each persona; whether each is known; three fixed texts.
    assert Counter(run.calls.values_list("kind", flat=True)) == {"answer": 4, "probe": 2, "test": 3}
    assert (run.frozen["steps"], run.persona_set and run.persona_set.name) == (["tests"], "two")


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
        run_judges("plums", "--judge", "model-1", "--wait", "--yes")

    assert "8 of 8 calls done: 8 ok" in run_judges("plums", "--judge", "model-1", "--wait")
    assert Response.objects.count() == 8


def test_a_run_is_paused_and_goes_on_by_the_same_command(standin: StandIn) -> None:
    sendable(factories.study(comparative=False))
    judge_at(standin)
    run_judges("plums", "--judge", "model-1", "--yes")

    output = run_judges("plums", "--judge", "model-1", "--pause")

    run = Run.objects.get()
    assert (run.state, str(run.note)) == ("paused", "paused by run_judges")
    assert output.startswith("model-1 in plums: paused.")
    assert "8 of 8 calls done: 8 ok" in run_judges("plums", "--judge", "model-1", "--wait")
    assert exit_code("plums", "--judge", "model-1", "--pause") == 1


def test_calls_without_a_usable_answer_are_asked_once_more_or_read_again(standin: StandIn) -> None:
    sendable(factories.study(comparative=False))
    judge_at(standin, n_at_once=1)
    standin.script = [told.YES] * 7 + [told.OUT_OF_RANGE]
    assert exit_code("plums", "--judge", "model-1", "--wait", "--yes") == 3
    n_hits = len(standin.hits)

    assert run_judges("plums", "--judge", "model-1", "--read-again") == (
        "model-1 in plums: 8 replies read again, 0 of them otherwise.\n"
    )
    assert len(standin.hits) == n_hits
    assert run_judges("plums", "--judge", "model-1", "--retry", "--wait") == (
        "model-1 in plums: 1 of 8 calls asked once more.\nmodel-1 in plums: finished. 8 of 8 calls done: 8 ok\n"
    )
    assert len(standin.hits) == n_hits + 1
    assert exit_code("plums", "--judge", "model-1", "--retry") == 1


@pytest.mark.parametrize("action", ["--pause", "--retry", "--read-again"])
def test_what_is_done_to_a_run_needs_one_and_takes_no_scope(standin: StandIn, action: str) -> None:
    sendable(factories.study(comparative=False))
    judge_at(standin)
    assert exit_code("plums", "--judge", "model-1", action) == 1
    run_judges("plums", "--judge", "model-1", "--yes", "--wait")

    assert exit_code("plums", "--judge", "model-1", action, "--repeats", "2") == 1
    assert exit_code("plums", "--judge", "model-1", action, "--dry-run") == 1


def test_an_unknown_study_or_judge_is_refused_with_those_there_are() -> None:
    factories.study()
    catalogue.make_stub_judge()

    with pytest.raises(CommandError, match=r"study “pears”.*: plums$"):
        run_judges("pears", "--judge", "stub")
    with pytest.raises(CommandError, match="no judge “gpt”; there are: stub"):
        run_judges("plums", "--judge", "gpt")


def test_what_stands_in_the_way_is_said(standin: StandIn) -> None:
    factories.study()
    judge_at(standin)

    with pytest.raises(CommandError, match=r"plums: 4 .*\(p1s1, p1s2, p1s3, p1s4\)"):
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


def test_a_task_whose_turn_is_over_gives_way_to_another_endpoint_and_queues_what_is_left(
    queued: list[int], standin: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "TURN_SECONDS", 0)
    study = sendable(factories.study(comparative=False))
    runs.start(study, judge_at(standin), by="tests")
    run = runs.start(study, catalogue.make_stub_judge(), by="tests")

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
