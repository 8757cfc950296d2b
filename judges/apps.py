from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class JudgesConfig(AppConfig):
    name = "judges"
    verbose_name = _("Judges")

    def ready(self) -> None:
        from annotation.design.launches import sources_examined
        from annotation.participation.withdrawal import erased
        from judges.generation.separation import collect_findings
        from judges.settlement.erasure import forget

        erased.connect(forget)
        sources_examined.connect(collect_findings)
