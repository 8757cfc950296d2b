from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class JudgesConfig(AppConfig):
    name = "judges"
    verbose_name = _("Judges")

    def ready(self) -> None:
        from annotation.participation.withdrawal import erased
        from judges.settlement.erasure import forget

        erased.connect(forget)
