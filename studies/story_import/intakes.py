"""Long files of stories, brought in by a worker: once however often somebody clicks, with progress, and taken over from
a worker that died.

Rows are counted before the transaction, where most of the work is done. Within it they cannot be: SQLite lets one
transaction write at a time, so that the count would wait for the stories.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from studies import jobs, processes
from studies.incoming_tables.errors import ImportRefused
from studies.incoming_tables.tables import IncomingTable
from studies.models import StoryImport, StoryIntake
from studies.story_edits import StoriesFinal
from studies.story_import import imports
from studies.vocabulary import IntakeStage

log = logging.getLogger(__name__)
BRING_IN = "studies.tasks.bring_in_stories"
# A thousand stories of a thousand words are in within a second on an idle machine, and within a few on a busy one: less
# than it takes to tell a worker and to ask how far it is. Five million letters are as many words.
LONG_ROWS = 1_000
LONG_LETTERS = 5_000_000
# Ten thousand rows of a sentence each take two and a half seconds to examine, at every look at their page.
MANY_ROWS = 5_000
LEASE = timedelta(minutes=1)  # renewed with every count
WRITING_LEASE = timedelta(minutes=5)  # of the transaction, in which nothing is counted
COUNT_SECONDS = 0.5  # between two counts, during each of which nobody else can write on SQLite


def is_long(table: IncomingTable) -> bool:
    """Whether a worker brings it in, rather than the request."""
    return len(table.rows) > LONG_ROWS or takes_long_to_examine(table)


def takes_long_to_examine(table: IncomingTable) -> bool:
    """Whether it has so many rows or letters that a worker examines it, too."""
    return len(table.rows) > MANY_ROWS or sum(len(cell) for _n, row in table.rows for cell in row) > LONG_LETTERS


def ask(story_import: StoryImport, *, at: datetime) -> None:
    """Have a worker bring the stories in; nothing if one was asked already and has not failed."""
    fresh_values = {
        "language": translation.get_language() or "en",
        "asked_at": at,
        "queued_at": at,
        "leased_until": None,
        "stage": "",
        "n_rows": 0,
        "n_rows_done": 0,
        "problem": "",
    }
    with transaction.atomic():
        _row, is_new = StoryIntake.objects.get_or_create(story_import=story_import, defaults=fresh_values)
        has_failed = ~Q(problem="")
        if is_new or StoryIntake.objects.filter(has_failed, pk=story_import.pk).update(**fresh_values):
            transaction.on_commit(lambda: _send(story_import.pk))


def remind(intake: StoryIntake, *, at: datetime) -> None:
    """Ask another worker if the last one that was asked has not come, or has died."""
    if intake.is_under_way and jobs.is_idle(intake, at=at) and intake.queued_at <= at - jobs.PATIENCE:
        waiting = StoryIntake.objects.filter(jobs.idle(at), pk=intake.pk, queued_at=intake.queued_at)
        if waiting.update(queued_at=at):
            transaction.on_commit(lambda: _send(intake.pk))


def start_process(intake: StoryIntake, *, at: datetime) -> None:
    """Bring the stories in without a worker, in a process of its own; nothing if somebody is at it."""
    fresh_values = {"asked_at": at, "queued_at": at, "leased_until": None}
    if StoryIntake.objects.filter(jobs.idle(at), pk=intake.pk).update(**fresh_values):
        transaction.on_commit(lambda: processes.start_command("work_off", BRING_IN, str(intake.pk)))


def _send(pk: int) -> None:
    jobs.tell_worker(BRING_IN, pk)


def cancel(intake: StoryIntake) -> bool:
    """Let nothing come in, so that the file waits for its columns again. False if its stories were in already."""
    return bool(StoryIntake.objects.filter(pk=intake.pk, ended_at=None).delete()[0])


@dataclass
class IntakeLease:
    """The right to bring a file in, which one worker holds at a time and renews: known by the end that it has set."""

    pk: int
    until: datetime
    stage: str = ""
    counted_at: float = field(default_factory=time.monotonic)

    def count(self, stage: IntakeStage, n_done: int, n_rows: int) -> None:
        """Store how far it is, every `COUNT_SECONDS` and at each new stage. Raises LeaseLost."""
        if stage != self.stage or time.monotonic() - self.counted_at >= COUNT_SECONDS:
            self.stage, self.counted_at = stage, time.monotonic()
            self._renew(LEASE, stage=stage, n_rows_done=n_done, n_rows=n_rows)

    def begin_writing(self, n_rows: int) -> None:
        """Store that all rows are examined, and that nothing more will be counted. Raises LeaseLost."""
        self._renew(WRITING_LEASE, stage=IntakeStage.WRITING, n_rows_done=n_rows, n_rows=n_rows)

    def _renew(self, duration: timedelta, **values: object) -> None:
        until = timezone.now() + duration
        if not StoryIntake.objects.filter(pk=self.pk, leased_until=self.until).update(leased_until=until, **values):
            raise jobs.LeaseLost
        self.until = until

    def hold(self) -> StoryIntake:
        """The row, which nobody takes over or cancels until the transaction is over. Raises LeaseLost."""
        row = StoryIntake.objects.select_for_update().filter(pk=self.pk, leased_until=self.until).first()
        if row is None:
            raise jobs.LeaseLost
        return row

    def record_problem(self, problem: str) -> None:
        """Store why nothing came in, and end the lease."""
        StoryIntake.objects.filter(pk=self.pk, leased_until=self.until).update(leased_until=None, problem=problem)


def carry_out(pk: int) -> None:
    """Bring the stories in, or store why not; nothing if they are in, cancelled, or another worker holds them."""
    at = timezone.now()
    lease = IntakeLease(pk, at + LEASE)
    if not StoryIntake.objects.filter(jobs.idle(at), pk=pk).update(leased_until=lease.until):
        return
    story_import = (
        StoryImport.objects.select_related("study", "user", "intake").filter(pk=pk, intake__isnull=False).first()
    )
    if story_import is None:  # cancelled since
        return
    with translation.override(story_import.intake.language):
        try:
            _bring_in(story_import, lease)
        except jobs.LeaseLost:
            return
        except (ImportRefused, StoriesFinal) as error:
            lease.record_problem(str(error))
        except Exception as error:
            log.exception("stories %s did not come in", pk)
            sentence = _(
                "There was an error in Quire (%(error)s). The file is kept. Try again; if it fails again, tell the "
                "administrator of this server."
            )
            lease.record_problem(sentence % {"error": type(error).__name__})


def _bring_in(story_import: StoryImport, lease: IntakeLease) -> None:
    prepared = imports.prepare(story_import, count=lease.count)
    examination = prepared.examination
    lease.begin_writing(examination.n_stories)
    with transaction.atomic():
        row = lease.hold()
        imports.write(story_import, prepared)
        row.leased_until, row.ended_at = None, timezone.now()
        row.n_stories, row.n_groups = examination.n_stories, len(examination.groups)
        row.save()
        # The page still says what came in; neither the file is needed for that, nor what was found in it.
        StoryImport.objects.filter(pk=story_import.pk).update(table="", content=b"", choices={})
        jobs.forget_of(story_import=story_import.pk)
