from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate, pre_migrate
from django.utils.translation import gettext_lazy


def protect_history(using: str, **_: Any) -> None:
    """Put the triggers back after every migration: on SQLite an altered table is rebuilt, and loses them."""
    from annotation.models import payments
    from annotation.responses import history
    from studies import triggers

    triggers.install([*history.TRIGGERS, *payments.TRIGGERS], using)


def lift_triggers(using: str, **_: Any) -> None:
    """On SQLite an altered table is rebuilt under its name, which no trigger of another table may name meanwhile."""
    from annotation.models import payments
    from annotation.responses import history
    from studies import triggers

    if connections[using].vendor == "sqlite":
        triggers.lift([*history.TRIGGERS, *payments.TRIGGERS], using)


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = gettext_lazy("Annotation")

    def ready(self) -> None:
        pre_migrate.connect(lift_triggers, sender=self)
        post_migrate.connect(protect_history, sender=self)
