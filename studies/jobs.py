"""Work that takes too long for a request: a page asks, a worker does it once however many ask, and what came of it is
kept as long as it rests on what is stored now.

A job is known by its study, its task and a hash of its inputs. A page that finds none for the inputs of now asks for
one; once a text has changed, the hash is another one, and what was kept is found no more.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeAlias

import kombu.exceptions
from celery import current_app
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from studies import hashing, processes
from studies.models import StoryIntake, Study, StudyJob

log = logging.getLogger(__name__)
LEASE = timedelta(minutes=3)  # renewed between the steps of the work
RENEWAL_SECONDS = 20.0
PATIENCE = timedelta(seconds=15)  # until another worker is told, and the page says that none has come
KEPT = timedelta(days=1)
DECIDED = "decided"  # argument of a job that does what a person decided: kept until it has ended or failed
LASTS = "lasts"  # argument of a job whose outcome is kept until its own page deletes it
BROKEN = gettext_noop(
    "There was an error in Quire (%(error)s). Try again; if it fails again, tell the administrator of this server."
)
EDITION = 1  # counts up when outcomes hold something else for the same inputs: those that are kept are found no more
# Called between the steps of the work, so that nobody else begins it. Raises LeaseLost.
Renew: TypeAlias = Callable[[], None]


class WorkRefused(Exception):
    """The work is not done; the message says why, in words for the page."""


class LeaseLost(Exception):
    """The job is gone, or another worker has taken it over."""


def hash_texts(study: Study) -> str:
    """SHA-256 of the texts of the study and who wrote each: another one as soon as any of it changes. One query."""
    rows = study.stories.order_by("code").values_list("code", "sha256", "is_withheld", "provenance__source__name")
    return hash_inputs(list(map(list, rows)))


def hash_inputs(*inputs: Any) -> str:
    """SHA-256 of what an outcome rests on. inputs : as JSON has them"""
    return hashing.sha256(hashing.canonical_json([EDITION, *inputs]))


def find(study: Study, task: str, inputs: str) -> StudyJob | None:
    """The job for these inputs, at whatever stage it is."""
    return StudyJob.objects.filter(study=study, task=task, inputs=inputs).first()


def find_last(study: Study, task: str) -> StudyJob | None:
    """The job of that task that was asked for last, whatever its inputs."""
    return StudyJob.objects.filter(study=study, task=task).order_by("-asked_at", "-pk").first()


def is_outdated(study: Study, task: str) -> bool:
    """Whether the job of that task that was asked for last is of other texts than those of now. Two queries.

    Such jobs name theirs in the argument `texts`.
    """
    job = find_last(study, task)
    return job is not None and job.arguments.get("texts") != hash_texts(study)


def ask(
    study: Study, task: str, inputs: str, *, by: User, at: datetime, arguments: Mapping[str, Any] | None = None
) -> StudyJob:
    """Have a worker do it; nothing new if one was told already and has not failed."""
    forget_old(at=at)
    fresh_values: dict[str, Any] = {
        "user": by,
        "arguments": dict(arguments or {}),
        "language": translation.get_language() or "en",
        "asked_at": at,
        "queued_at": at,
        "leased_until": None,
        "problem": "",
    }
    with transaction.atomic():
        job, is_new = StudyJob.objects.get_or_create(study=study, task=task, inputs=inputs, defaults=fresh_values)
        if is_new or StudyJob.objects.filter(~Q(problem=""), pk=job.pk).update(**fresh_values):
            transaction.on_commit(lambda: _send(job))
    job.refresh_from_db()
    return job


def remind(job: StudyJob, *, at: datetime) -> None:
    """Tell another worker if the last one has not come, or has died; on an embedded site also start a process."""
    if job.is_under_way and is_idle(job, at=at) and job.queued_at <= at - PATIENCE:
        waiting = StudyJob.objects.filter(idle(at), pk=job.pk, queued_at=job.queued_at)
        if waiting.update(queued_at=at):
            transaction.on_commit(lambda: _send(job, is_repeated=True))


def sweep(*, at: datetime) -> int:
    """Tell a worker of every job that was left lying, whether or not its page is open; how many there were."""
    waiting = list(StudyJob.objects.filter(idle(at), queued_at__lte=at - PATIENCE))
    for job in waiting:
        remind(job, at=at)
    return len(waiting)


def tell_worker(task: str, pk: int) -> None:
    """Put the task for that row into the queue. Where that fails, the next look at the page tells again."""
    try:
        current_app.send_task(task, args=[pk])
    except (kombu.exceptions.OperationalError, OSError) as error:
        log.warning("%s of row %s could not be queued (%s)", task, pk, type(error).__name__)


def _send(job: StudyJob, *, is_repeated: bool = False) -> None:
    tell_worker(job.task, job.pk)
    if is_repeated and settings.IS_EMBEDDED:
        processes.start_command("work_off", job.task, str(job.pk))


def is_idle(job: StudyJob | StoryIntake, *, at: datetime) -> bool:
    """Whether nobody is at it."""
    return job.leased_until is None or job.leased_until <= at


def idle(at: datetime) -> Q:
    """Which rows wait for somebody to be at them."""
    return Q(problem="", ended_at=None) & (Q(leased_until=None) | Q(leased_until__lte=at))


def forget_old(*, at: datetime) -> int:
    """Delete what was asked for a day ago or longer, but for outcomes that last and decisions that are still to be
    carried out; how many there were."""
    lasting = Q(arguments__has_key=LASTS, ended_at__isnull=False)
    undone = Q(arguments__has_key=DECIDED, ended_at=None, problem="")
    kept = StudyJob.objects.filter(lasting | undone)
    return StudyJob.objects.filter(asked_at__lt=at - KEPT).exclude(pk__in=kept.values("pk")).delete()[0]


def forget(study: Study, task: str) -> None:
    """Delete the jobs of that task that have ended or failed."""
    StudyJob.objects.filter(~Q(problem="") | Q(ended_at__isnull=False), study=study, task=task).delete()


def forget_of(**arguments: Any) -> None:
    """Delete the jobs that were asked for with these arguments, at whatever stage they are."""
    StudyJob.objects.filter(**{f"arguments__{name}": value for name, value in arguments.items()}).delete()


@dataclass
class JobLease:
    """The right to do a job, which one worker holds at a time and renews: known by the end that it has set."""

    pk: int
    until: datetime
    renewed_at: float = field(default_factory=time.monotonic)

    def renew(self) -> None:
        """Put off its end, every `RENEWAL_SECONDS`. Raises LeaseLost."""
        if time.monotonic() - self.renewed_at < RENEWAL_SECONDS:
            return
        until, self.renewed_at = timezone.now() + LEASE, time.monotonic()
        if not StudyJob.objects.filter(pk=self.pk, leased_until=self.until).update(leased_until=until):
            raise LeaseLost
        self.until = until

    def hold(self) -> None:
        """Let nobody take the job over until the transaction is over. Raises LeaseLost."""
        if not StudyJob.objects.select_for_update().filter(pk=self.pk, leased_until=self.until).exists():
            raise LeaseLost

    def end(self, **values: Any) -> None:
        """Store what came of it, unless another worker has taken it over."""
        StudyJob.objects.filter(pk=self.pk, leased_until=self.until).update(leased_until=None, **values)


def carry_out(
    pk: int,
    work: Callable[[StudyJob, Renew], Any],
    *,
    find_inputs: Callable[[StudyJob], str] | None = None,
    write: Callable[[StudyJob, Any], Any] = lambda _job, outcome: outcome,
) -> None:
    """Do the job and store what came of it, or why not; nothing if it is done, or somebody is at it.

    work : gives what came of it, as JSON has it, in the language of the person who asked. Raises WorkRefused
    find_inputs : the hash of the inputs of now. Where it is another one at the beginning, nobody needs the outcome any
        more; where at the end, the outcome is of neither state. In both cases the job ends without one
    write : puts what the work gave into the study, and gives what came of that; in the transaction that stores it, so
        that there is never the one without the other. Raises WorkRefused
    """
    at = timezone.now()
    lease = JobLease(pk, at + LEASE)
    if not StudyJob.objects.filter(idle(at), pk=pk).update(leased_until=lease.until):
        return
    job = StudyJob.objects.select_related("study", "user").filter(pk=pk).first()
    if job is None:  # the file that it was about is gone since
        return
    with translation.override(job.language):
        try:
            _require_same_inputs(job, find_inputs)
            outcome = work(job, lease.renew)
            _require_same_inputs(job, find_inputs)
            with transaction.atomic():
                lease.hold()
                lease.end(outcome=write(job, outcome), ended_at=timezone.now())
        except LeaseLost:
            return
        except WorkRefused as error:
            lease.end(problem=str(error))
        except Exception as error:
            log.exception("job %s, %s, was not done", pk, job.task)
            lease.end(problem=_(BROKEN) % {"error": type(error).__name__})


def _require_same_inputs(job: StudyJob, find_inputs: Callable[[StudyJob], str] | None) -> None:
    if find_inputs is not None and find_inputs(job) != job.inputs:
        raise WorkRefused(
            _("Something that this depends on was changed in the meantime, so nothing was kept. Try again.")
        )
