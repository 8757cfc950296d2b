"""Celery tasks: what is cleaned up every night."""

from datetime import timedelta
from io import StringIO

from celery import shared_task
from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

# Longer than anybody waits after wrong passwords, so that no wait ends early.
ATTEMPTS_KEPT = max(timedelta(days=1), settings.AXES_COOLOFF_TIME)


@shared_task  # type: ignore[untyped-decorator]
def clean() -> int:
    """Delete expired sessions, stories that nobody took in for a day, old applications that were not accepted, and
    failed sign-ins whose waiting time is over; how many sign-ins were deleted."""
    from axes.models import AccessAttempt

    call_command("clearsessions")
    call_command("forget_uploads", stdout=StringIO())
    call_command("forget_applications", stdout=StringIO())
    before = timezone.now() - ATTEMPTS_KEPT
    return int(AccessAttempt.objects.filter(attempt_time__lt=before).delete()[0])
