"""How far long work for a page is: what the page says of it, and what its part asks every two seconds."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from studies import jobs
from studies.models import StudyJob

PART = "job"  # of the page, by which htmx says what asks


@dataclass(frozen=True)
class JobProgress:
    """What a page says of a job. doing : what is done, as a sentence"""

    doing: str
    problem: str
    is_under_way: bool
    is_idle: bool
    has_died: bool
    is_overdue: bool


def follow(job: StudyJob, doing: str) -> JobProgress:
    """How far the job is; another worker is told where none has come."""
    at = timezone.now()
    is_idle = jobs.is_idle(job, at=at)
    jobs.remind(job, at=at)
    return JobProgress(
        doing,
        job.problem,
        job.is_under_way,
        is_idle,
        has_died=is_idle and job.leased_until is not None,
        is_overdue=is_idle and job.asked_at <= at - jobs.PATIENCE,
    )


def is_poll(request: HttpRequest) -> bool:
    """Whether htmx asks for the part of the page that says how far a job is."""
    return request.method == "GET" and request.htmx.target == PART  # type: ignore[attr-defined]


def answer_poll(request: HttpRequest, progress: JobProgress | None) -> HttpResponse:
    """The part of the page that says how far it is.

    Where nothing is under way any more it asks no more, but once for the page, of which it takes what was found.
    """
    job = progress if progress and progress.is_under_way else None
    return render(request, "studies/job.html", {"job": job, "address": request.get_full_path()})
