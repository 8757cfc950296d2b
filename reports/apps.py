from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class ReportsConfig(AppConfig):
    name = "reports"
    verbose_name = gettext_lazy("Reports")

    def ready(self) -> None:
        from annotation.participation.withdrawal import erased
        from reports.export.issues import forget_bytes
        from reports.rationales.codings import forget_reasons

        erased.connect(forget_bytes)
        erased.connect(forget_reasons)
