from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from celery import current_app
from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone

from config import tasks

pytestmark = pytest.mark.django_db


def test_sessions_that_have_ended_and_old_attempts_are_deleted_and_no_others() -> None:
    now = timezone.now()
    for key, ends in (("ended", now - timedelta(seconds=1)), ("open", now + timedelta(hours=1))):
        Session.objects.create(session_key=key, session_data="", expire_date=ends)
    for name, age in (("old", timedelta(days=2)), ("new", settings.AXES_COOLOFF_TIME)):
        attempt = AccessAttempt.objects.create(username=name, failures_since_start=1)
        AccessAttempt.objects.filter(pk=attempt.pk).update(attempt_time=now - age)

    assert tasks.clean() == 1

    assert list(Session.objects.values_list("session_key", flat=True)) == ["open"]
    assert list(AccessAttempt.objects.values_list("username", flat=True)) == ["new"]


def test_every_task_of_the_schedule_is_one_that_workers_know() -> None:
    current_app.loader.import_default_modules()
    scheduled = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}

    assert {"annotation.tasks.sweep_places", "config.tasks.clean", "studies.tasks.sweep_jobs"} <= scheduled
    assert scheduled <= set(current_app.tasks)
