"""Measures by source that a worker takes, where the texts are too many letters for a request."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User

from judges.laboratory.source_measures import SourceMeasure, SourceValues, measure_sources
from studies import formatting, jobs
from studies.models import Study, StudyJob
from studies.typography.features import SIGNS

MEASURE = "judges.laboratory.tasks.measure_texts"


def find(study: Study) -> StudyJob | None:
    """The job that measures the texts as they are now."""
    return jobs.find(study, MEASURE, jobs.hash_texts(study))


def ask(study: Study, *, by: User, at: datetime) -> StudyJob:
    """Have a worker measure the texts as they are now."""
    texts = jobs.hash_texts(study)
    return jobs.ask(study, MEASURE, texts, by=by, at=at, arguments={"texts": texts})


def is_outdated(study: Study) -> bool:
    """Whether texts were changed since somebody asked to have them measured."""
    return jobs.is_outdated(study, MEASURE)


def carry_out(pk: int) -> None:
    """Do a job of `ask`."""
    jobs.carry_out(pk, _measure, find_inputs=lambda job: jobs.hash_texts(job.study))


def _measure(job: StudyJob, renew: jobs.Renew) -> list[dict[str, Any]]:
    measures = measure_sources(formatting.read_texts_by_source(job.study), on_step=renew)
    return [asdict(measure) | {"sign": measure.sign.key if measure.sign else ""} for measure in measures]


def restore(job: StudyJob) -> list[SourceMeasure]:
    """The measures as they were kept; none while they are not taken."""
    sign_by_key = {sign.key: sign for sign in SIGNS}
    return [
        SourceMeasure(
            **document
            | {
                "by_source": tuple(SourceValues(**values) for values in document["by_source"]),
                "sign": sign_by_key.get(document["sign"]),
            }
        )
        for document in job.outcome or ()
    ]
