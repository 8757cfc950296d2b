"""Long work for a page: asked for once, taken over from the dead, kept as long as it is of what is stored now."""

from datetime import timedelta
from typing import Any

import kombu.exceptions
import pytest
from django.core.management import call_command
from django.utils import timezone, translation

from studies import jobs, story_edits
from studies.models import StudyJob
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db
TASK = "studies.tasks.compare_typing"


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of which jobs a worker was told, and none came."""
    told: list[int] = []
    monkeypatch.setattr(jobs, "_send", lambda job, **_: told.append(job.pk))
    return told


@pytest.fixture
def job() -> StudyJob:
    study = factories.study(n_groups=1, n_stories=2, planned=False, state="draft")
    return jobs.ask(study, TASK, "a", by=factories.staff("designer"), at=timezone.now())


def test_however_many_ask_one_worker_is_told(sent: list[int], django_capture_on_commit_callbacks: Any) -> None:
    study, by = factories.study(planned=False, state="draft"), factories.staff("designer")

    with django_capture_on_commit_callbacks(execute=True):
        asked = {jobs.ask(study, TASK, "a", by=by, at=NOON).pk for _ in range(3)}

    assert [*asked] == sent


def test_what_came_of_it_is_stored_in_the_language_of_whoever_asked(job: StudyJob) -> None:
    StudyJob.objects.update(language="pt-br")

    jobs.carry_out(job.pk, lambda _job, _renew: translation.gettext("Stories"), find_inputs=lambda _job: "a")

    job.refresh_from_db()
    assert (job.outcome, job.problem, job.leased_until) == ("Histórias", "", None)
    assert not job.is_under_way
    assert jobs.find(job.study, TASK, "a") == job
    assert jobs.find(job.study, TASK, "b") is None


def test_a_job_is_done_once(job: StudyJob) -> None:
    times: list[int] = []

    for _ in range(2):
        jobs.carry_out(job.pk, lambda job, _renew: times.append(job.pk))
    StudyJob.objects.update(ended_at=None, leased_until=timezone.now() + jobs.LEASE)
    jobs.carry_out(job.pk, lambda job, _renew: times.append(job.pk))

    assert times == [job.pk]


@pytest.mark.parametrize(("seen", "times"), [("ab", 1), ("b", 0)], ids=["meanwhile", "before"])
def test_what_was_changed_meanwhile_leaves_no_outcome_and_before_is_not_begun(
    job: StudyJob, seen: str, times: int
) -> None:
    inputs, begun = iter(seen), list[int]()

    jobs.carry_out(job.pk, lambda job, _renew: begun.append(job.pk), find_inputs=lambda _job: next(inputs))

    job.refresh_from_db()
    assert (job.outcome, job.ended_at, job.is_under_way, job.leased_until) == (None, None, False, None)
    assert job.problem.startswith("Something that this depends on was changed in the meantime")
    assert begun == [job.pk] * times


@pytest.mark.parametrize("is_taken_over", [False, True])
def test_what_is_written_and_what_came_of_it_are_stored_together_or_neither(
    job: StudyJob, monkeypatch: pytest.MonkeyPatch, is_taken_over: bool
) -> None:
    end = jobs.JobLease.end

    def fail_at_the_outcome(lease: jobs.JobLease, **values: Any) -> None:
        if "outcome" in values:
            raise kombu.exceptions.OperationalError
        end(lease, **values)

    def work(job: StudyJob, _renew: jobs.Renew) -> str:
        if is_taken_over:
            StudyJob.objects.filter(pk=job.pk).update(leased_until=timezone.now() + timedelta(hours=1))
        return "Pears"

    def write(job: StudyJob, title: str) -> str:
        job.study.title = title
        job.study.save()
        return title

    with monkeypatch.context() as patch:
        if not is_taken_over:
            patch.setattr(jobs.JobLease, "end", fail_at_the_outcome)
        jobs.carry_out(job.pk, work, write=write)

    job.study.refresh_from_db()
    assert job.study.title != "Pears"
    StudyJob.objects.update(leased_until=None, problem="")
    jobs.carry_out(job.pk, lambda _job, _renew: "Pears", write=write)
    job.refresh_from_db()
    assert (job.study.title, job.outcome) == ("Pears", "Pears")


def test_a_job_that_was_left_lying_is_told_again_though_nobody_looks(
    job: StudyJob, sent: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    jobs.carry_out(jobs.ask(job.study, TASK, "b", by=job.user, at=timezone.now()).pk, lambda _job, _renew: "done")
    late = timezone.now() + jobs.PATIENCE

    with django_capture_on_commit_callbacks(execute=True):
        assert [jobs.sweep(at=at) for at in (job.queued_at, late, late)] == [0, 1, 0]

    assert sent == [job.pk]


def test_a_refusal_and_an_error_are_kept_as_words_and_the_next_who_asks_has_it_tried_again(
    job: StudyJob, sent: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    def refuse(_job: StudyJob, _renew: jobs.Renew) -> None:
        raise jobs.WorkRefused("The study is launched.")

    def fail(_job: StudyJob, _renew: jobs.Renew) -> None:
        raise ZeroDivisionError

    problems = []
    for work in (refuse, fail):
        jobs.carry_out(job.pk, work)
        job.refresh_from_db()
        problems.append(job.problem)
        with django_capture_on_commit_callbacks(execute=True):
            assert jobs.ask(job.study, TASK, "a", by=job.user, at=timezone.now()).is_under_way

    assert problems == [
        "The study is launched.",
        jobs.BROKEN % {"error": "ZeroDivisionError"},
    ]
    assert sent == [job.pk] * 2


def test_who_has_lost_the_lease_stores_nothing(job: StudyJob, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "RENEWAL_SECONDS", 0)

    def work(job: StudyJob, renew: jobs.Renew) -> str:
        renew()
        StudyJob.objects.filter(pk=job.pk).update(leased_until=timezone.now() + timedelta(hours=1))
        renew()
        return "late"

    jobs.carry_out(job.pk, work)

    job.refresh_from_db()
    assert (job.outcome, job.problem, job.is_under_way) == (None, "", True)


@pytest.mark.parametrize(("is_embedded", "n_processes"), [(True, 1), (False, 0)])
def test_a_job_that_nobody_takes_up_is_told_again_and_on_an_embedded_site_done_by_a_process(
    job: StudyJob,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
    is_embedded: bool,
    n_processes: int,
) -> None:
    monkeypatch.undo()
    settings.IS_EMBEDDED = is_embedded
    started: list[tuple[str, ...]] = []
    monkeypatch.setattr(jobs.processes, "start_command", lambda *words: started.append(words))

    def refuse(*_args: Any, **_options: Any) -> None:
        raise kombu.exceptions.OperationalError

    monkeypatch.setattr(jobs.current_app, "send_task", refuse)

    with django_capture_on_commit_callbacks(execute=True):
        jobs.remind(job, at=job.queued_at + jobs.PATIENCE - timedelta(seconds=1))
    assert started == []
    with django_capture_on_commit_callbacks(execute=True):
        jobs.remind(job, at=job.queued_at + jobs.PATIENCE)

    assert started == [("work_off", TASK, str(job.pk))] * n_processes


def test_it_is_gone_after_a_day_and_with_a_text_that_is_taken_away(job: StudyJob) -> None:
    assert jobs.forget_old(at=job.asked_at + jobs.KEPT) == 0
    other = StudyJob.objects.create(
        study=job.study, user=job.user, task=TASK, inputs="b", asked_at=NOON, queued_at=NOON - jobs.KEPT
    )
    StudyJob.objects.filter(pk=other.pk).update(asked_at=timezone.now() - jobs.KEPT * 1.01)

    call_command("forget_uploads")
    assert [*StudyJob.objects.all()] == [job]

    story_edits.erase_texts([job.study.stories.earliest("pk").pk])
    assert not StudyJob.objects.exists()


def test_texts_have_another_hash_once_one_is_changed_withheld_or_by_somebody_else(job: StudyJob) -> None:
    study = job.study
    hashes = [jobs.hash_texts(study)]

    story = study.stories.earliest("pk")
    story.text = "Another."
    story.save()
    hashes.append(jobs.hash_texts(study))
    other = study.stories.latest("pk")
    story.provenance.source = other.provenance.source
    story.provenance.save()
    hashes.append(jobs.hash_texts(study))
    story_edits.erase_texts([story.pk])
    hashes.append(jobs.hash_texts(study))

    assert len(set(hashes)) == 4
    assert jobs.hash_texts(study) == hashes[-1]
