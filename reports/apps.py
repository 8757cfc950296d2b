from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class ReportsConfig(AppConfig):
    name = "reports"
    verbose_name = gettext_lazy("Reports")
