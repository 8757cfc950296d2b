"""Which texts were released for sending to outside providers: by whom, when and why."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from studies.models import Study


class TextRelease(models.Model):
    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="releases")
    codes = models.JSONField(_("stories"), help_text=_("Codes of the stories."))
    licence = models.CharField(_("licence"), max_length=200, blank=True)
    reason = models.TextField(_("reason"))
    by = models.CharField(_("by"), max_length=150)
    at = models.DateTimeField(_("at"), default=timezone.now)

    class Meta:
        verbose_name = _("release of texts")
        verbose_name_plural = _("releases of texts")
        ordering = ["study", "pk"]

    def __str__(self) -> str:
        return f"release {self.pk} in {self.study_id}"
