"""Commands in processes of their own, and what a worker was asked for done by one."""

import subprocess
import sys
import threading
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from studies import processes
from studies.models import StudyJob
from tests import factories
from tests.factories import NOON


def test_a_process_of_its_own_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    children: list[subprocess.Popen[bytes]] = []

    class Recorded(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, command: list[str], **options: Any) -> None:
            super().__init__(["true"], **options)
            commands.append(command)
            children.append(self)

    monkeypatch.setattr(processes.subprocess, "Popen", Recorded)
    before = set(threading.enumerate())

    processes.start_command("work_off", "studies.tasks.compare_typing", "7")
    for thread in set(threading.enumerate()) - before:
        thread.join()

    assert [child.returncode for child in children] == [0]
    ((python, script, *words),) = commands
    assert (python, words) == (sys.executable, ["work_off", "studies.tasks.compare_typing", "7"])
    assert script.endswith("/manage.py")


@pytest.mark.django_db
def test_what_a_worker_was_asked_for_is_done_by_a_command() -> None:
    study = factories.study(n_groups=1, n_stories=2, planned=False, state="draft")
    job = StudyJob.objects.create(
        study=study,
        user=factories.staff("designer"),
        task="judges.laboratory.tasks.measure_texts",
        asked_at=NOON,
        queued_at=NOON,
    )

    call_command("work_off", job.task, job.pk)

    job.refresh_from_db()
    assert (job.outcome, job.leased_until) == (None, None)
    assert "was changed in the meantime" in job.problem, "its inputs are not those of now"


def test_a_task_that_is_none_is_refused() -> None:
    with pytest.raises(CommandError, match=r"there is no task studies\.tasks\.nothing"):
        call_command("work_off", "studies.tasks.nothing", 1)
