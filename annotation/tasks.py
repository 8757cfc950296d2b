"""Celery tasks. They take ids only; all state is in the database, so a lost or repeated message does no harm."""

from celery import shared_task
from django.utils import timezone

from annotation.design import precision
from annotation.participation import applications, mails, overdue, waiting_list


@shared_task  # type: ignore[untyped-decorator]
def send_mail(mail_id: int) -> None:
    """Attempt to send that mail; nothing if somebody has tried before."""
    mails.send(mail_id, at=timezone.now())


@shared_task  # type: ignore[untyped-decorator]
def send_refusal(application_id: int) -> None:
    """Attempt to send that applicant the refusal; nothing if somebody has tried before."""
    applications.send_refusal(application_id, at=timezone.now())


@shared_task  # type: ignore[untyped-decorator]
def send_offer(person_id: int) -> None:
    """Attempt to tell that waiting person of the place held for them; nothing if somebody has tried before."""
    waiting_list.send_offer(person_id, at=timezone.now())


@shared_task  # type: ignore[untyped-decorator]
def sweep_places() -> None:
    """Take back the places whose time is over, and offer free ones to those who wait."""
    overdue.sweep(at=timezone.now())


@shared_task  # type: ignore[untyped-decorator]
def sweep_mails() -> None:
    """Mark mails whose delivery is unknown, and queue those left waiting by a lost message."""
    mails.sweep(at=timezone.now())
    applications.sweep(at=timezone.now())
    waiting_list.sweep_mails(at=timezone.now())


@shared_task  # type: ignore[untyped-decorator]
def compute_precision(job_id: int) -> None:
    """Simulate how exact a study will be; nothing if that is done or another worker is at it."""
    precision.compute(job_id)
