"""Rehearsals: the copy of a draft in which one of its makers is a rater. It is planned, frozen and opened as studies
are; who rehearses has a copy of their own, and nobody else comes into it."""

from collections.abc import Sequence
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.design import deletion, launches
from annotation.models import Assignment
from studies import protocol, rehearsals
from studies.lifecycle import NotReady
from studies.models import Study
from studies.protocol import Finding, Purpose
from studies.rehearsals import MADE_AT_ONCE, CopySize

# The rater who is the designer. Marked as simulated: what they say is nobody's judgement of the stories.
CODE = "rehearsal"


def find_obstacles(findings: Sequence[Finding]) -> list[Finding]:
    """Those of the study's findings that leave nothing to rehearse; less than hinders a launch."""
    return protocol.select_errors(findings, Purpose.REHEARSAL)


def find_rehearsal(study: Study, user: User) -> Study | None:
    """That account's rehearsal of the study; None if it has none."""
    return Study.every.filter(rehearsal_of=study, rehearsed_by=user.pk).first()


@transaction.atomic
def renew(study: Study, *, by: User | None, sees_sources: bool, at: datetime, size: CopySize = MADE_AT_ONCE) -> Study:
    """That account's rehearsal of the study as it is now, open; one that was there before is gone. Raises NotReady.

    by : None for a copy that no page shows; it replaces others of that kind
    sees_sources : whether the account may know who wrote the stories; otherwise the copy does not say it
    """
    # Of two windows at once the second waits here, and takes away what the first one made.
    locked = Study.objects.select_for_update().filter(pk=study.pk, state=Study.State.DRAFT).first()
    if locked is None:
        sentence = _(
            "%(study)s is launched, so there is nothing to rehearse. To have it as a draft again, choose Save as a "
            "file on its overview, and open that under New study, From a study file."
        )
        raise NotReady(sentence % {"study": study.slug})
    if by:
        deletion.delete_rehearsals(locked, by=by.pk)
    else:
        deletion.delete_copies_without_account(locked)
    rehearsal = rehearsals.copy_study(locked, by=by, sees_sources=sees_sources, at=at, size=size)
    if not rehearsal.groups.exists():
        raise NotReady(_("it has no group of stories that can be read"))
    return launches.launch(rehearsal, by=by.get_username() if by else "simulate", at=at)


def is_outdated(rehearsal: Study, study: Study) -> bool:
    """Whether the study has been changed since the copy was made."""
    return rehearsal.rehearsed_sha256 != protocol.hash_rows(protocol.read_rows(protocol.latest(study)))


def add_rehearsal_finding(findings: Sequence[Finding], study: Study) -> list[Finding]:
    """The findings of a draft, and whether nobody has walked through it as it is now. One query as long as nobody has
    walked through it at all."""
    if not study.is_draft or find_obstacles(findings):
        return list(findings)
    walked = set(
        Assignment.objects.filter(
            study__rehearsal_of=study, rater__code=CODE, status=Assignment.Status.SUBMITTED, seat__isnull=False
        ).values_list("study__rehearsed_sha256", flat=True)
    )
    if not walked:
        sentence = _("nobody has rehearsed it yet")
    elif protocol.hash_rows(protocol.read_rows(protocol.latest(study))) not in walked:
        sentence = _("it was changed after it was last rehearsed")
    else:
        return list(findings)
    way_out = _("walk through it as a rater, to the end of a group")
    return [*findings, Finding("warning", "", sentence, way_out, frozenset({Purpose.LAUNCH}), "rehearsal")]
