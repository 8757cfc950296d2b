from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from studies import labels


class StudiesConfig(AppConfig):
    name = "studies"
    verbose_name = _("Studies")

    def ready(self) -> None:
        labels.translate(self)
