from django.apps import AppConfig


class LaboratoryConfig(AppConfig):
    """An app, so that its commands and tasks are found; its tables are those of `judges`."""

    name = "judges.laboratory"

    def ready(self) -> None:
        from annotation.design.launches import sources_examined
        from annotation.participation.withdrawal import erased
        from judges import signals
        from judges.laboratory import tasks
        from judges.laboratory.alignments import erasure
        from judges.laboratory.generation.separation import collect_findings, collect_run_warnings
        from judges.laboratory.settlement.chains import DraftHandler
        from judges.laboratory.settlement.surprise_results import SurpriseHandler
        from judges.laboratory.settlement.vector_results import VectorHandler
        from judges.settlement import handlers

        sources_examined.connect(collect_findings)
        signals.run_examined.connect(collect_run_warnings)
        signals.swept.connect(tasks.queue_due)
        erased.connect(erasure.forget)
        for handler in (DraftHandler(), SurpriseHandler(), VectorHandler()):
            handlers.register(handler)
