from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class JudgesConfig(AppConfig):
    name = "judges"
    verbose_name = _("Judges")

    def ready(self) -> None:
        from annotation.design.launches import sources_examined
        from annotation.participation.withdrawal import erased
        from judges import signals, tasks
        from judges.generation.separation import collect_findings, collect_run_warnings
        from judges.settlement import handlers
        from judges.settlement.chains import DraftHandler
        from judges.settlement.erasure import forget
        from judges.settlement.surprise_results import SurpriseHandler
        from judges.settlement.vector_results import VectorHandler

        erased.connect(forget)
        sources_examined.connect(collect_findings)
        signals.run_examined.connect(collect_run_warnings)
        signals.swept.connect(tasks.queue_due)
        for handler in (DraftHandler(), SurpriseHandler(), VectorHandler()):
            handlers.register(handler)
