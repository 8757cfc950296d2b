from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_delete, post_migrate, pre_migrate
from django.utils.translation import gettext_lazy as _


def install_triggers(using: str, **_: Any) -> None:
    """Put the triggers of frozen protocols back after every migration."""
    from studies import triggers
    from studies.protocol.triggers import TRIGGERS

    triggers.install(TRIGGERS, using)


def lift_triggers(using: str, **_: Any) -> None:
    """On SQLite an altered table is rebuilt under its name, which no trigger of another table may name meanwhile."""
    from studies import triggers
    from studies.protocol.triggers import TRIGGERS

    if connections[using].vendor == "sqlite":
        triggers.lift(TRIGGERS, using)


def forget_examinations(instance: Any, **_: Any) -> None:
    """What was found in a file of stories quotes them and names their sources: it goes with the file."""
    from studies import jobs

    jobs.forget_of(story_import=instance.pk)


class StudiesConfig(AppConfig):
    name = "studies"
    verbose_name = _("Studies")

    def ready(self) -> None:
        pre_migrate.connect(lift_triggers, sender=self)
        post_migrate.connect(install_triggers, sender=self)
        post_delete.connect(forget_examinations, sender=self.get_model("StoryImport"))
