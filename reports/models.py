"""What results were computed, of what, when and by whom.

Report  one result of one study as JSON, with a fingerprint of everything it was computed from.
"""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from studies.models import Study


class Report(models.Model):
    class Kind(models.TextChoices):
        RESULTS = "results", _("what the study amounts to")
        RELEASE = "release", _("which files of a public release were brought in")

    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="reports")
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices, default=Kind.RESULTS)
    fingerprint = models.CharField(
        _("fingerprint"), max_length=64, help_text=_("SHA-256 of the inputs; the same inputs are computed once.")
    )
    result = models.JSONField(_("result"))
    made_at = models.DateTimeField(_("made at"))
    made_by = models.CharField(_("made by"), max_length=150, help_text=_("Who asked for it, or the nightly schedule."))

    class Meta:
        verbose_name = _("report")
        verbose_name_plural = _("reports")
        ordering = ["study", "kind", "-made_at", "-pk"]
        constraints = [models.UniqueConstraint(fields=["study", "kind", "fingerprint"], name="report_once_per_inputs")]
        permissions = [("see_by_source", "Can see results by source")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.study_id}, {self.made_at:%Y-%m-%d %H:%M}"
