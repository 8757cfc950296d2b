"""A log of another tool on its way in."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from studies.models import Study, WaitingTable


class BroughtLog(WaitingTable):
    """It holds the stories that were sent, so it goes too when the writer of one withdraws."""

    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="brought_logs")
    sha256 = models.CharField(_("hash of the file"), max_length=64)

    class Meta:
        verbose_name = _("log to be brought in")
        verbose_name_plural = _("logs to be brought in")

    def __str__(self) -> str:
        return f"log for {self.study_id}"
