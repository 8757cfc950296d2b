"""Long files of stories, brought in by a worker: asked for once however often somebody clicks, counted, and taken over
from the dead.

Counted is what comes before the transaction, which is most of the work. Within it nothing could be: on SQLite one
transaction writes at a time, and the count would wait for the stories.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import kombu.exceptions
from celery import current_app
from django.db import transaction
from django.db.models import Q
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from studies.models import StoryImport, StoryIntake
from studies.story_edits import StoriesFinal
from studies.story_import import uploads
from studies.story_import.errors import ImportRefused
from studies.story_import.files import StoryTable
from studies.vocabulary import IntakeStage

log = logging.getLogger(__name__)
# A thousand stories of a thousand words are in within a second on an idle machine, and within a few on a busy one: less
# than it takes to tell a worker and to ask how far it is. Five million letters are as many words.
LONG_ROWS = 1_000
LONG_LETTERS = 5_000_000
LEASE = timedelta(minutes=1)  # renewed with every count
WRITING_LEASE = timedelta(minutes=5)  # of the transaction, in which nothing is counted
PATIENCE = timedelta(seconds=15)  # until another worker is told, and the page says that none has come
COUNT_SECONDS = 0.5  # a count costs others a turn to write


def is_long(table: StoryTable) -> bool:
    """Whether a worker brings it in, rather than the request."""
    return len(table.rows) > LONG_ROWS or sum(len(cell) for _n, row in table.rows for cell in row) > LONG_LETTERS


def ask(upload: StoryImport, *, at: datetime) -> None:
    """Have a worker bring the stories in: one is told, unless one was and has not failed."""
    anew = {
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
        _row, is_new = StoryIntake.objects.get_or_create(upload=upload, defaults=anew)
        has_failed = ~Q(problem="")
        if is_new or StoryIntake.objects.filter(has_failed, pk=upload.pk).update(**anew):
            transaction.on_commit(lambda: _send(upload.pk))


def remind(intake: StoryIntake, *, at: datetime) -> None:
    """Tell another worker if the last that was told has not come, or has died."""
    if intake.is_under_way and is_idle(intake, at=at) and intake.queued_at <= at - PATIENCE:
        waiting = StoryIntake.objects.filter(_is_idle(at), pk=intake.pk, queued_at=intake.queued_at)
        if waiting.update(queued_at=at):
            transaction.on_commit(lambda: _send(intake.pk))


def _send(pk: int) -> None:
    try:
        current_app.send_task("studies.tasks.bring_in_stories", args=[pk])
    except (kombu.exceptions.OperationalError, OSError) as error:
        log.warning("stories %s could not be queued (%s)", pk, type(error).__name__)


def is_idle(intake: StoryIntake, *, at: datetime) -> bool:
    """Whether nobody is at it."""
    return intake.leased_until is None or intake.leased_until <= at


def _is_idle(at: datetime) -> Q:
    return Q(problem="", ended_at=None) & (Q(leased_until=None) | Q(leased_until__lte=at))


def take_back(intake: StoryIntake) -> bool:
    """Whether nothing comes in, and the file waits for its columns again; not if it was in already."""
    return bool(StoryIntake.objects.filter(pk=intake.pk, ended_at=None).delete()[0])


class TurnLost(Exception):
    """The stories were taken back, or somebody else is at them."""


@dataclass
class IntakeTurn:
    """Whose turn it is, known by the lease that this one has set; nobody else has the same."""

    pk: int
    lease: datetime
    stage: str = ""
    counted_at: float = field(default_factory=time.monotonic)

    def count(self, stage: IntakeStage, n_done: int, n_rows: int) -> None:
        """Write down how far it is, now and then. Raises TurnLost."""
        if stage != self.stage or time.monotonic() - self.counted_at >= COUNT_SECONDS:
            self.stage, self.counted_at = stage, time.monotonic()
            self._renew(LEASE, stage=stage, n_rows_done=n_done, n_rows=n_rows)

    def begin_writing(self, n_rows: int) -> None:
        """Write down that all rows are through, and that nothing more will be counted. Raises TurnLost."""
        self._renew(WRITING_LEASE, stage=IntakeStage.WRITING, n_rows_done=n_rows, n_rows=n_rows)

    def _renew(self, lease: timedelta, **values: object) -> None:
        until = timezone.now() + lease
        if not StoryIntake.objects.filter(pk=self.pk, leased_until=self.lease).update(leased_until=until, **values):
            raise TurnLost
        self.lease = until

    def hold(self) -> StoryIntake:
        """The row, which nobody takes over or takes back until the transaction is over. Raises TurnLost."""
        row = StoryIntake.objects.select_for_update().filter(pk=self.pk, leased_until=self.lease).first()
        if row is None:
            raise TurnLost
        return row

    def give_up(self, problem: str) -> None:
        """Write down why nothing came in."""
        StoryIntake.objects.filter(pk=self.pk, leased_until=self.lease).update(leased_until=None, problem=problem)


def carry_out(pk: int) -> None:
    """Bring the stories in, or write down why not; nothing if they are in, taken back, or somebody is at them."""
    at = timezone.now()
    turn = IntakeTurn(pk, at + LEASE)
    if not StoryIntake.objects.filter(_is_idle(at), pk=pk).update(leased_until=turn.lease):
        return
    upload = StoryImport.objects.select_related("study", "user", "intake").get(pk=pk)
    with translation.override(upload.intake.language):
        try:
            _bring_in(upload, turn)
        except TurnLost:
            return
        except (ImportRefused, StoriesFinal) as error:
            turn.give_up(str(error))
        except Exception as error:
            log.exception("stories %s did not come in", pk)
            sentence = _(
                "It broke off by a mistake of Quire’s (%(mistake)s). The file is kept. Bring it in "
                "once more; if it breaks off again, tell whoever runs this server."
            )
            turn.give_up(sentence % {"mistake": type(error).__name__})


def _bring_in(upload: StoryImport, turn: IntakeTurn) -> None:
    prepared = uploads.prepare(upload, count=turn.count)
    examination = prepared.examination
    turn.begin_writing(examination.n_stories)
    with transaction.atomic():
        row = turn.hold()
        uploads.write(upload, prepared)
        row.leased_until, row.ended_at = None, timezone.now()
        row.n_stories, row.n_groups = examination.n_stories, len(examination.groups)
        row.save()
        # Whoever looks is told what came in; the file is not needed for that.
        StoryImport.objects.filter(pk=upload.pk).update(table="", choices={})
