"""Runs of many calls: a worker looks, plans and approves, its page says how far it is, and nothing is half done."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Assignment, Rater, Seat
from judges import catalogue, runs, tasks
from judges.models import Call, Endpoint, Judge, PersonaSet, Prompt, Run, Text
from judges.planning import Scope
from judges.runs import approvals, planning_jobs
from judges.runs.planning_jobs import PLAN_CHANGED
from judges.runs.preparation import PreparedRun
from studies import jobs, story_edits
from studies.models import Study, StudyJob
from tests import factories
from tests.judges.views.pages import act, page, words

pytestmark = pytest.mark.django_db
NEW = "/studies/plums/runs/new/"
POLL = {"HX-Request": "true", "HX-Target": "job"}
LOOKS, PLANS, APPROVES = (
    "What it would be asked is being prepared.",
    "The run is being planned.",
    "The run is being approved.",
)


class Killed(BaseException):
    """What ends a worker in the middle, which nobody catches."""


@pytest.fixture
def study() -> Study:
    return factories.study(n_stories=2, n_items=1)


@pytest.fixture
def judge() -> Judge:
    return catalogue.make_stub_judge()


@pytest.fixture(autouse=True)
def told(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of which jobs a worker was told, where more than one call is more than a request does."""
    pks: list[int] = []
    monkeypatch.setattr(planning_jobs, "CALLS_AT_ONCE", 1)
    monkeypatch.setattr(jobs, "_send", lambda job, **_: pks.append(job.pk))
    return pks


def ask(client: Client, judge: Judge, **values: Any) -> StudyJob:
    """The job that plans, after a researcher has asked for a run."""
    client.force_login(User.objects.filter(username="researcher").first() or factories.staff("researcher"))
    answer = client.post(NEW, {"judge": judge.pk} | values)
    assert answer.headers["Location"] == f"{NEW}?planning={judge.pk}"
    return StudyJob.objects.get(task=planning_jobs.PLAN)


def test_a_look_at_many_calls_is_a_workers_and_the_page_shows_it(client: Client, study: Study, judge: Judge) -> None:
    address = f"{NEW}?judge={judge.pk}"
    assert LOOKS in page(client, "researcher", address)
    assert LOOKS in client.get(address, headers=POLL).text
    assert "Approve and start" not in client.get(address).text

    tasks.preview_run(StudyJob.objects.get().pk)

    assert client.get(address, headers=POLL).headers["HX-Redirect"] == address
    html = page(client, "researcher", address)
    assert "stub would be asked 5 times" in words(html)
    assert "Is it good in way 1?" in html
    assert 'name="n_calls" value="5"' in html
    assert not Run.objects.exists()


def test_a_look_at_a_study_that_is_not_frozen_writes_nothing_and_keeps_its_lease_however_long_it_takes(
    client: Client, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = factories.study(n_stories=2, n_items=1, state="draft")
    monkeypatch.setattr(jobs, "RENEWAL_SECONDS", 0)
    page(client, "researcher", f"{NEW}?judge={judge.pk}")

    with CaptureQueriesContext(connection) as queries:
        tasks.preview_run(StudyJob.objects.get().pk)

    assert (StudyJob.objects.get().outcome or {})["n_calls"] == 5
    assert not study.frozen_versions.exists()
    written = [query["sql"] for query in queries if query["sql"].startswith(("INSERT", "UPDATE", "DELETE"))]
    assert [sql for sql in written if "studies_studyjob" not in sql] == []


@pytest.mark.parametrize(
    "edit",
    [
        lambda judge: Judge.objects.update(parameters={"temperature": 0.5}),
        lambda judge: Judge.objects.update(model="another"),
        lambda judge: Prompt.objects.filter(pk=judge.prompt_id).update(system="You are strict."),
        lambda judge: Endpoint.objects.update(n_at_once=9),
        lambda judge: PersonaSet.objects.update(personas=[{"name": "a", "text": "You are kind."}]),
    ],
    ids=["parameters", "model", "prompt", "endpoint", "personas"],
)
def test_a_look_is_not_shown_once_what_would_be_asked_was_edited(
    study: Study, judge: Judge, edit: Callable[[Judge], object]
) -> None:
    personas = PersonaSet.objects.create(
        name="raters", version="1", personas=[{"name": "a", "text": "You are strict."}]
    )
    by, scope = factories.staff("researcher"), Scope(persona_set=personas)
    planning_jobs.ask_for_preview(study, judge, scope, by=by, at=timezone.now())

    edit(judge)

    personas.refresh_from_db()
    row = Judge.objects.select_related("endpoint", "prompt").get(pk=judge.pk)
    assert planning_jobs.find_preview(study, row, scope) is None


def test_a_look_with_examples_is_not_shown_once_an_answer_that_may_be_one_was_changed(
    study: Study, judge: Judge
) -> None:
    Prompt.objects.filter(pk=judge.prompt_id).update(template="{{ examples }} {{ question }}")
    judge.refresh_from_db()
    assignment = factories.assignment(study)
    factories.answer_all(assignment)
    Assignment.objects.filter(study=study).update(status="submitted")
    by = factories.staff("researcher")
    planning_jobs.ask_for_preview(study, judge, Scope(), by=by, at=timezone.now())
    assert planning_jobs.find_preview(study, judge, Scope())

    assignment.responses.update(revision=F("revision") + 1)

    assert planning_jobs.find_preview(study, judge, Scope()) is None


def test_a_look_that_failed_says_why_and_is_done_again_only_when_somebody_asks(
    client: Client, study: Study, judge: Judge
) -> None:
    address = f"{NEW}?judge={judge.pk}"
    page(client, "researcher", address)
    StudyJob.objects.update(problem="The judge was deleted.")

    html = page(client, "researcher", address)

    assert "The judge was deleted." in html
    assert "Approve and start" not in html
    assert client.get(f"{address}&again=yes").headers["Location"] == address
    assert StudyJob.objects.get().is_under_way
    StudyJob.objects.update(problem="The judge was deleted.")
    assert client.get(f"{address}&again=yes", headers=POLL).headers["HX-Redirect"] == address
    assert StudyJob.objects.get().problem


@pytest.mark.parametrize("n_groups", [1, 4])
def test_a_look_at_many_calls_costs_the_page_the_same_for_few_groups_as_for_many(
    client: Client, judge: Judge, django_assert_num_queries: Any, n_groups: int
) -> None:
    factories.study(n_groups=n_groups, n_stories=2, n_items=1)
    address = f"{NEW}?judge={judge.pk}"
    page(client, "researcher", address)
    tasks.preview_run(StudyJob.objects.get().pk)

    with django_assert_num_queries(25):
        client.get(address)


def test_a_worker_plans_and_approves_in_the_name_of_whoever_asked(client: Client, study: Study, judge: Judge) -> None:
    planning = ask(client, judge, n_calls=5, budget="1.5", n_repeats=1)
    address = f"{NEW}?planning={judge.pk}"
    assert PLANS in client.get(address).text
    assert "Runs being planned" in client.get("/studies/plums/runs/").text
    assert not Run.objects.exists()

    tasks.plan_run(planning.pk)

    run = Run.objects.get()
    assert (run.state, run.n_planned, run.calls.count(), str(run.budget)) == ("planned", 5, 5, "1.5000")
    assert client.get(address, headers=POLL).headers["HX-Redirect"] == f"/studies/plums/runs/{run.pk}/"
    html = client.get(address, follow=True).text
    assert APPROVES in html
    assert 'hx-trigger="every 2s"' in html
    assert "Approve and start" not in html

    tasks.approve_run(StudyJob.objects.get(task=planning_jobs.APPROVE).pk)

    run.refresh_from_db()
    assert (run.state, run.created_by, run.approved_by) == ("running", "researcher", "researcher")


def test_a_worker_plans_what_is_saved_for_somebody_else_and_approves_it_when_they_do(
    client: Client, study: Study, judge: Judge
) -> None:
    tasks.plan_run(ask(client, judge, do="save").pk)
    run = Run.objects.get()
    assert (run.state, StudyJob.objects.filter(task=planning_jobs.APPROVE).exists()) == ("planned", False)

    html = act(client, run, "approve")

    assert APPROVES in html
    tasks.approve_run(StudyJob.objects.get(task=planning_jobs.APPROVE).pk)
    run.refresh_from_db()
    assert run.state == "running"


def test_a_worker_that_dies_halfway_leaves_nothing_and_another_plans_it_again(
    client: Client,
    study: Study,
    judge: Judge,
    monkeypatch: pytest.MonkeyPatch,
    told: list[int],
    django_capture_on_commit_callbacks: Any,
) -> None:
    planning = ask(client, judge)
    tables = (Run, Call, Text, Seat, Rater)
    before = [model.objects.count() for model in tables]
    write = Call.objects.bulk_create

    def die(*_: object, **__: object) -> None:
        assert Run.objects.exists()
        raise Killed

    monkeypatch.setattr("judges.runs.preparation.Call.objects.bulk_create", die)
    with pytest.raises(Killed):
        tasks.plan_run(planning.pk)
    monkeypatch.setattr("judges.runs.preparation.Call.objects.bulk_create", write)

    assert [model.objects.count() for model in tables] == before
    told.clear()
    with django_capture_on_commit_callbacks(execute=True):
        jobs.sweep(at=timezone.now() + jobs.LEASE + timedelta(seconds=1))
    assert told == [planning.pk]
    StudyJob.objects.update(leased_until=None)
    tasks.plan_run(planning.pk)
    assert Run.objects.get().calls.count() == 5


def test_what_was_decided_outlives_a_weekend_without_a_worker_until_it_is_done(
    client: Client, study: Study, judge: Judge
) -> None:
    planning = ask(client, judge)
    monday = timezone.now() + timedelta(days=3)

    assert jobs.forget_old(at=monday) == 0
    tasks.plan_run(planning.pk)
    approval = StudyJob.objects.get(task=planning_jobs.APPROVE)

    assert jobs.forget_old(at=monday) == 1
    assert StudyJob.objects.get() == approval
    StudyJob.objects.update(problem="The run was discarded.")
    assert jobs.forget_old(at=monday) == 1


def test_a_budget_that_is_none_is_said_beside_what_was_looked_at_or_that_this_holds_no_more(
    client: Client, study: Study, judge: Judge
) -> None:
    page(client, "researcher", f"{NEW}?judge={judge.pk}")
    tasks.preview_run(StudyJob.objects.get().pk)

    answer = client.post(NEW, {"judge": judge.pk, "n_calls": 5, "budget": "-1"})

    assert answer.status_code == 400
    assert 'id="id_budget_error"' in answer.text
    assert 'name="n_calls" value="5"' in answer.text
    assert str(PLAN_CHANGED) not in answer.text
    StudyJob.objects.all().delete()
    assert str(PLAN_CHANGED) in client.post(NEW, {"judge": judge.pk, "budget": "-1"}).text


def test_a_plan_of_something_else_than_was_shown_is_refused_on_its_page(
    client: Client, study: Study, judge: Judge
) -> None:
    planning = ask(client, judge, n_calls=4)

    tasks.plan_run(planning.pk)

    html = client.get(f"{NEW}?planning={judge.pk}").text
    assert str(PLAN_CHANGED) in html
    assert "The run was not planned" in html
    assert not Run.objects.exists()
    assert "Runs being planned" in client.get("/studies/plums/runs/").text
    runs.plan(study, judge, by="tests")
    assert "Runs being planned" not in client.get("/studies/plums/runs/").text


@pytest.mark.parametrize(("n_calls", "is_frozen"), [(5, True), (4, False)])
def test_the_first_run_freezes_the_protocol_before_its_job_is_held_and_only_if_it_is_not_refused(
    client: Client, judge: Judge, monkeypatch: pytest.MonkeyPatch, n_calls: int, is_frozen: bool
) -> None:
    study = factories.study(n_stories=2, n_items=1, state="draft")
    planning = ask(client, judge, n_calls=n_calls, do="save")
    hold, was_frozen = jobs.JobLease.hold, list[bool]()

    def note(lease: jobs.JobLease) -> None:
        was_frozen.append(study.frozen_versions.exists())
        hold(lease)

    monkeypatch.setattr(jobs.JobLease, "hold", note)
    tasks.plan_run(planning.pk)

    assert was_frozen == [True] * is_frozen
    assert (study.frozen_versions.exists(), Run.objects.exists()) == (is_frozen, is_frozen)


@pytest.mark.parametrize("is_withdrawn", [True, False], ids=["text erased", "prompt edited"])
def test_a_run_is_not_written_once_its_words_have_changed_while_it_was_planned(
    client: Client, study: Study, judge: Judge, monkeypatch: pytest.MonkeyPatch, is_withdrawn: bool
) -> None:
    planning, prepare = ask(client, judge), approvals.prepare

    def prepare_and_change(*args: Any, **options: Any) -> PreparedRun:
        prepared = prepare(*args, **options)
        if is_withdrawn:
            story_edits.erase_texts([study.stories.earliest("pk").pk])
        else:
            Prompt.objects.update(system="You are strict.")
        return prepared

    monkeypatch.setattr(approvals, "prepare", prepare_and_change)
    tasks.plan_run(planning.pk)

    assert (Run.objects.exists(), Text.objects.exists()) == (False, False)
    # With a text all work on its study is forgotten.
    assert [*StudyJob.objects.values_list("problem", flat=True)] == [str(PLAN_CHANGED)] * (not is_withdrawn)


def test_asked_twice_a_run_is_planned_once(client: Client, study: Study, judge: Judge) -> None:
    planning = ask(client, judge)
    assert ask(client, judge) == planning

    tasks.plan_run(planning.pk)
    tasks.plan_run(planning.pk)

    assert Run.objects.count() == 1


@pytest.mark.parametrize(("by", "values"), [("researcher", {"budget": "9"}), ("helper", {})])
def test_what_is_asked_otherwise_while_a_run_of_the_judge_is_being_planned_is_refused_with_the_reason(
    client: Client, study: Study, judge: Judge, by: str, values: dict[str, str]
) -> None:
    planning = ask(client, judge)
    if by != "researcher":
        client.force_login(User.objects.create_superuser(by))

    answer = client.post(NEW, {"judge": judge.pk} | values)

    assert answer.status_code == 400
    assert "A run of stub is being planned. Wait until it is planned." in answer.text
    assert StudyJob.objects.get() == planning


def test_a_judge_whose_run_was_discarded_is_planned_anew(client: Client, study: Study, judge: Judge) -> None:
    tasks.plan_run(ask(client, judge, do="save").pk)
    runs.discard(Run.objects.get())
    assert client.get(f"{NEW}?planning={judge.pk}").headers["Location"] == "/studies/plums/runs/"

    client.post(NEW, {"judge": judge.pk, "do": "save"})
    tasks.plan_run(StudyJob.objects.get(task=planning_jobs.PLAN).pk)

    assert Run.objects.count() == 1


@pytest.mark.parametrize("nonsense", ["12345", "x", "9" * 30, ""])
def test_a_planning_that_nobody_asked_for_is_not_there(client: Client, study: Study, nonsense: str) -> None:
    page(client, "researcher", f"{NEW}?planning={nonsense}", status=404)


def test_a_prepared_run_holds_the_words_of_a_story_once(study: Study, judge: Judge) -> None:
    prepared = approvals.rehearse(study, judge)

    story = study.stories.order_by("code")[0]
    about = [call for call in prepared.plan.all_calls if call.story == story]
    contents = [text.content for text in prepared.packer.shelf.text_by_hash.values()]
    assert [(call.request, call.stories) for call in about] == [({}, {})] * 2
    assert all(story.text in prepared.packer.render(call)["messages"][-1]["content"] for call in about)
    assert sum(story.text in content for content in contents) == 2  # once of itself, once of its group
