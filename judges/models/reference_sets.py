"""Stories that others are measured against: named, and written down once, so that a score can be computed again."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from studies.models import Study


class ReferenceSet(models.Model):
    study = models.ForeignKey(
        Study,
        verbose_name=_("study"),
        on_delete=models.CASCADE,
        related_name="reference_sets",
        help_text=_("Whose stories are measured against it."),
    )
    name = models.CharField(_("name"), max_length=80)
    # A set of the study's own stories goes with it; one of another's keeps that study, until the set is deleted.
    corpus = models.ForeignKey(
        Study, verbose_name=_("stories of"), on_delete=models.RESTRICT, related_name="+", help_text=_("Whose it holds.")
    )
    embedding = models.CharField(_("embedding"), max_length=200)
    version = models.CharField(_("version"), max_length=120)
    stories = models.JSONField(_("stories"), help_text=_("Of each story its code and the hash of its text, by code."))
    sha256 = models.CharField(_("sha256"), max_length=64, help_text=_("Of the stories, the embedding and its version."))
    by = models.CharField(_("by"), max_length=150)
    at = models.DateTimeField(_("at"))

    class Meta:
        verbose_name = _("reference set")
        verbose_name_plural = _("reference sets")
        ordering = ["study", "name"]
        constraints = [models.UniqueConstraint(fields=["study", "name"], name="reference_set_once")]

    def __str__(self) -> str:
        return self.name
