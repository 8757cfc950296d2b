"""The Celery application: judges and the nightly reports."""

import os
from logging.config import dictConfig
from typing import Any

from celery import Celery
from celery.signals import setup_logging

from config.broker import register_transports

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
register_transports()
app = Celery("quire")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect  # type: ignore[untyped-decorator]
def configure_logging(loglevel: Any = None, **_: Any) -> None:
    """Workers write errors in the same lines as the server, in place of Celery's, which quote what a task was given."""
    from django.conf import settings

    dictConfig(settings.LOGGING)
