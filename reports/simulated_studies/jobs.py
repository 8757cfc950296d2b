"""Simulated studies that a worker carries out for a page, one account's at a time: they replace its rehearsal."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from reports.figures.codec import Undecodable, decode, encode
from reports.simulated_studies.plantings import CannotPlant
from reports.simulated_studies.summaries import SimulatedStudy
from reports.simulated_studies.trials import CopyGone, Trial, run_trial
from studies import jobs, protocol
from studies.access import access_to
from studies.lifecycle import NotReady
from studies.models import Study, StudyJob

SIMULATE = "reports.tasks.simulate_study"
SEES_SOURCES = "studies.view_provenance"


def find(study: Study, *, by: User, sees_sources: bool) -> StudyJob | None:
    """What this account asked to be simulated last, if it may still see what that says. One query."""
    mine = StudyJob.objects.filter(study=study, task=SIMULATE, user=by).order_by("-asked_at", "-pk").first()
    return mine if mine and (sees_sources or not mine.arguments["sees_sources"]) else None


def ask(study: Study, trial: Trial, *, by: User, sees_sources: bool, at: datetime) -> StudyJob:
    """Have a worker simulate it; of one account one at a time, so that what is under way is given back."""
    under_way = StudyJob.objects.filter(study=study, task=SIMULATE, user=by, problem="", ended_at=None).first()
    if under_way:
        return under_way
    StudyJob.objects.filter(study=study, task=SIMULATE, user=by).delete()
    arguments = {"n": trial.n, "seed": trial.seed, "effect": trial.effect, "sees_sources": sees_sources}
    return jobs.ask(study, SIMULATE, _hash_inputs(study, by, arguments), by=by, at=at, arguments=arguments)


def carry_out(pk: int) -> None:
    """Do a job of `ask`."""
    jobs.carry_out(pk, _simulate, find_inputs=lambda job: _hash_inputs(job.study, job.user, job.arguments))


def read_outcome(job: StudyJob) -> SimulatedStudy | None:
    """What the simulation came to; None while it is not done, or if another version kept it."""
    if job.outcome is None:
        return None
    try:
        summary: SimulatedStudy = decode(SimulatedStudy, job.outcome)
    except Undecodable:
        return None
    return summary


def read_trial(job: StudyJob) -> Trial:
    """What was asked for."""
    return Trial(n=job.arguments["n"], seed=job.arguments["seed"], effect=job.arguments["effect"])


def _hash_inputs(study: Study, by: User, arguments: dict[str, Any]) -> str:
    # A launched study has no rehearsals, and drawn halves are called something in each language.
    is_draft = Study.objects.filter(pk=study.pk, state=Study.State.DRAFT).exists()
    asked_for = protocol.hash_rows(protocol.read_rows(protocol.latest(study)))
    return jobs.hash_inputs(jobs.hash_texts(study), asked_for, is_draft, by.pk, arguments, get_language())


def _simulate(job: StudyJob, renew: jobs.Renew) -> Any:
    sees_sources = bool(job.arguments["sees_sources"]) and access_to(job.study, job.user).may(SEES_SOURCES)
    try:
        summary = run_trial(
            job.study, read_trial(job), by=job.user, sees_sources=sees_sources, at=timezone.now(), before_each=renew
        )
    except (NotReady, CannotPlant, CopyGone) as error:
        raise jobs.WorkRefused(_("Nothing was simulated: %(why)s") % {"why": error}) from None
    return encode(summary)
