from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy


def protect_history(using: str, **_: Any) -> None:
    """Put the triggers back after every migration: on SQLite an altered table is rebuilt, and loses them."""
    from annotation.responses import history
    from studies import triggers

    triggers.install(history.TRIGGERS, using)


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = gettext_lazy("Annotation")

    def ready(self) -> None:
        post_migrate.connect(protect_history, sender=self)
