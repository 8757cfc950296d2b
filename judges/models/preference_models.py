"""Models that learnt from pairs which of two texts is preferred, stored with their card."""

from __future__ import annotations

import hashlib

from django.db import models
from django.utils.translation import gettext_lazy as _

from studies import hashing
from studies.models import Study


class PreferenceModel(models.Model):
    class State(models.TextChoices):
        QUEUED = "queued", _("Queued")
        TRAINED = "trained", _("Trained")
        FAILED = "failed", _("Failed")

    slug = models.SlugField(_("slug"), max_length=80, unique=True, help_text=_("Names its rater in every study."))
    study = models.ForeignKey(
        Study,
        verbose_name=_("study"),
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="preference_models",
        help_text=_("Whose votes it learnt from; none: from a folder of pairs."),
    )
    embedding = models.CharField(_("embedding"), max_length=200)
    seed = models.PositiveIntegerField(_("seed"), default=0)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.QUEUED)
    reason = models.TextField(_("reason"), blank=True, help_text=_("Why it could not be trained."))
    card = models.JSONField(_("card"), default=dict, blank=True)
    # Arrays in numpy's own format, without anything that could be run.
    content = models.BinaryField(_("content"), default=b"", editable=False)
    sha256 = models.CharField(_("sha256"), max_length=64, blank=True, editable=False)
    created_at = models.DateTimeField(_("created at"))
    created_by = models.CharField(_("created by"), max_length=150)

    class Meta:
        verbose_name = _("preference model")
        verbose_name_plural = _("preference models")
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug

    def fingerprint(self) -> str:
        """SHA-256 of content and card, as `sha256` must say."""
        return hashlib.sha256(bytes(self.content) + hashing.canonical_json(self.card).encode()).hexdigest()
