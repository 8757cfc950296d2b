"""Typing compared and made alike by a worker, where the texts are too many letters for a request."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from studies import formatting, jobs, story_edits
from studies.action_log import log_action
from studies.formatting import TypingReport
from studies.models import Study, StudyJob

COMPARE, NORMALISE = "studies.tasks.compare_typing", "studies.tasks.normalise_typing"


def find_comparison(study: Study) -> StudyJob | None:
    """The job that compares the texts as they are now, in the language of now."""
    return jobs.find(study, COMPARE, _inputs_of_comparison(study))


def ask_for_comparison(study: Study, *, by: User, at: datetime) -> StudyJob:
    """Have a worker compare the texts as they are now."""
    arguments = {"texts": jobs.hash_texts(study)}
    return jobs.ask(study, COMPARE, _inputs_of_comparison(study), by=by, at=at, arguments=arguments)


def is_comparison_outdated(study: Study) -> bool:
    """Whether texts were changed since somebody asked to have them compared."""
    return jobs.is_outdated(study, COMPARE)


def _inputs_of_comparison(study: Study) -> str:
    # Differences between sources are written in words, so that each language has its own.
    return jobs.hash_inputs(jobs.hash_texts(study), get_language())


def compare(pk: int) -> None:
    """Do a job of `ask_for_comparison`."""
    jobs.carry_out(
        pk,
        lambda job, renew: formatting.report_typing(job.study, on_step=renew).as_json(),
        find_inputs=lambda job: _inputs_of_comparison(job.study),
    )


def read_comparison(job: StudyJob) -> TypingReport | None:
    """What the comparison came to; None while it is not done."""
    return TypingReport.from_json(job.outcome) if job.outcome is not None else None


def find_normalisation(study: Study) -> StudyJob | None:
    """The job that makes texts of the study alike, or that made or was to make them what they are now.

    Where they were changed since, it is of no texts that anybody sees.
    """
    job = jobs.find_last(study, NORMALISE)
    if job is None or job.is_under_way:
        return job
    texts = (job.arguments if job.problem else job.outcome or {}).get("texts")
    return job if texts == jobs.hash_texts(study) else None


def count_changed(normalisation: StudyJob) -> int:
    """How many texts it made alike."""
    return int((normalisation.outcome or {}).get("n_changed", 0))


def ask_for_normalisation(study: Study, kinds: list[str], *, by: User, at: datetime) -> StudyJob:
    """Have a worker make these kinds of typing alike. Raises CannotNormalise while others are being made alike."""
    last = jobs.find_last(study, NORMALISE)
    if last is not None and last.is_under_way:
        if last.arguments["kinds"] != kinds:
            raise formatting.CannotNormalise(_("Typing is already being made alike. Choose again when that is done."))
        return last
    jobs.forget(study, NORMALISE)  # the same may be wanted again, of texts that were put back
    texts = jobs.hash_texts(study)
    arguments = {"kinds": kinds, "texts": texts, jobs.DECIDED: True}
    return jobs.ask(study, NORMALISE, jobs.hash_inputs(texts, kinds), by=by, at=at, arguments=arguments)


def normalise(pk: int) -> None:
    """Do a job of `ask_for_normalisation`."""
    jobs.carry_out(pk, _find_changes, write=_write_changes)


def _find_changes(job: StudyJob, renew: jobs.Renew) -> dict[str, str]:
    try:
        story_edits.require_editable(job.study)
        return formatting.find_changes(job.study, job.arguments["kinds"], on_step=renew)
    except (formatting.CannotNormalise, story_edits.StoriesFinal) as error:
        raise _refuse(error) from None


def _write_changes(job: StudyJob, after_by_text: dict[str, str]) -> dict[str, Any]:
    try:
        n_changed = _write(job.study, after_by_text, job.arguments["kinds"], by=job.user)
    except formatting.CannotNormalise as error:
        raise _refuse(error) from None
    return {"n_changed": n_changed, "texts": jobs.hash_texts(job.study)}


def _refuse(error: Exception) -> jobs.WorkRefused:
    return jobs.WorkRefused(_("Nothing was made alike: %(why)s") % {"why": error})


def normalise_texts(study: Study, kinds: list[str], *, by: User) -> int:
    """How many texts of the draft were made alike, which the log of actions says.

    Raises CannotNormalise, or StoriesFinal.
    """
    story_edits.require_editable(study)
    return _write(study, formatting.find_changes(study, kinds), kinds, by=by)


@transaction.atomic
def _write(study: Study, after_by_text: dict[str, str], kinds: list[str], *, by: User) -> int:
    n_changed = formatting.write_texts(study, after_by_text)
    log_action(study, f"normalised: {', '.join(kinds)}", by=by)
    return n_changed
