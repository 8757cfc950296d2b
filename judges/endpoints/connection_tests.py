"""Trying an endpoint by one tiny request: asked for by a page, made by a worker, kept as a row."""

from __future__ import annotations

import logging

import kombu.exceptions
from celery import current_app
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from judges import providers
from judges.models import ConnectionTest, Endpoint

log = logging.getLogger(__name__)


def ask(endpoint: Endpoint, model: str, *, by: str) -> ConnectionTest:
    """A test that waits for a worker, who is told once it is committed."""
    test = ConnectionTest.objects.create(endpoint=endpoint, model=model, asked_by=by)
    transaction.on_commit(lambda: _queue(test))
    return test


def _queue(test: ConnectionTest) -> None:
    try:
        current_app.send_task("judges.tasks.test_connection", args=[test.pk])
    except (kombu.exceptions.OperationalError, OSError) as error:
        log.warning("connection test %s could not be queued (%s)", test.pk, type(error).__name__)


def run(test: ConnectionTest) -> ConnectionTest:
    """The test after it has been made, here and now. Calls the endpoint. A test that was made before stays as it is."""
    if test.ended_at is not None:
        return test
    endpoint = test.endpoint
    result = providers.check(
        endpoint.adapter,
        test.model,
        base_url=endpoint.base_url,
        key_variable=endpoint.key_variable,
        timeout_seconds=endpoint.timeout_seconds,
        max_body_bytes=endpoint.max_body_bytes,
        allowed=settings.ALLOWED_PRIVATE_ENDPOINTS,
    )
    test.kind = str(result.kind or "")
    test.detail, test.answered_by, test.is_asked_model = result.detail, result.model, result.is_asked_model
    test.ended_at = timezone.now()
    test.save()
    return test
