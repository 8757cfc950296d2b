from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy

from studies import labels


def create_roles(using: str, **more: Any) -> None:
    """Make the staff's roles, or put them back as the table says."""
    from reports import roles

    roles.create(using, **more)


class ReportsConfig(AppConfig):
    name = "reports"
    verbose_name = gettext_lazy("Reports")

    def ready(self) -> None:
        labels.translate(self)
        post_migrate.connect(create_roles, sender=self)
