from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from studies import labels


class JudgesConfig(AppConfig):
    name = "judges"
    verbose_name = _("Judges")

    def ready(self) -> None:
        labels.translate(self)
        from annotation.withdrawal import erased
        from judges.erasing import forget

        erased.connect(forget)
