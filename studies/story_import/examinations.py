"""The examination of a long file by a worker, and what of it is kept for the page."""

from __future__ import annotations

from dataclasses import astuple
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from studies import jobs
from studies.incoming_tables import uploads
from studies.incoming_tables.problems import RowProblem, WayOut
from studies.models import StoryImport, StudyJob
from studies.story_import import imports
from studies.story_import.columns import restore_choices
from studies.story_import.problems import Examination, examine

EXAMINE = "studies.tasks.examine_stories"


def find(story_import: StoryImport) -> StudyJob | None:
    """The job that examines the file as its columns and the study are now, in the language of now."""
    return jobs.find(story_import.study, EXAMINE, _find_inputs(story_import))


def ask(story_import: StoryImport, *, by: User, at: datetime) -> StudyJob:
    """Have a worker examine the file as its columns and the study are now."""
    inputs, arguments = _find_inputs(story_import), {"story_import": story_import.pk}
    return jobs.ask(story_import.study, EXAMINE, inputs, by=by, at=at, arguments=arguments)


def _find_inputs(story_import: StoryImport) -> str:
    """The hash of all that is said of the file, of how it is read, and of what its stories must fit to."""
    contents = imports.read_contents(story_import.study)
    parts = {name: sorted(part) if isinstance(part, frozenset) else part for name, part in vars(contents).items()}
    return jobs.hash_inputs(story_import.pk, story_import.reading, story_import.choices, parts, get_language())


def carry_out(pk: int) -> None:
    """Do a job of `ask`."""
    jobs.carry_out(pk, _examine, find_inputs=lambda job: _find_inputs(_load(job)))


def _load(job: StudyJob) -> StoryImport:
    story_import = StoryImport.objects.select_related("study").filter(pk=job.arguments["story_import"]).first()
    if story_import is None:
        raise jobs.WorkRefused(_("These stories are already imported, or the file was discarded."))
    return story_import


def _examine(job: StudyJob, renew: jobs.Renew) -> dict[str, Any]:
    story_import = _load(job)
    examination = examine(
        uploads.restore(story_import),
        restore_choices(story_import.choices),
        imports.read_contents(story_import.study),
        count=lambda _stage, _n_done, _n_rows: renew(),
    )
    return {
        "n_stories": examination.n_stories,
        "groups": examination.groups,
        "problems": [astuple(problem) for problem in examination.problems],
    }


def restore(job: StudyJob) -> Examination | None:
    """The examination for the page, without the stories that would come in; None while it is not done."""
    if job.outcome is None:
        return None
    problems = [
        RowProblem(level, tuple(rows), column, sentence, tuple(WayOut(label, tuple(act)) for label, act in ways_out))
        for level, rows, column, sentence, ways_out in job.outcome["problems"]
    ]
    return Examination(job.outcome["n_stories"], job.outcome["groups"], problems)
