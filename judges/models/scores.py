"""Scores that were computed elsewhere: whose they are, which way is better, and what they were read from."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models import Rater
from judges.models.runs import Run
from studies.models import Study


class ScoreCard(models.Model):
    class Better(models.TextChoices):
        HIGHER = "higher", _("higher is better")
        LOWER = "lower", _("lower is better")

    class About(models.TextChoices):
        STORIES = "stories", _("stories")
        PAIRS = "pairs", _("pairs of stories")

    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="score_cards")
    rater = models.OneToOneField(Rater, verbose_name=_("rater"), on_delete=models.CASCADE, related_name="score_card")
    metric = models.SlugField(_("metric"), max_length=40)
    version = models.SlugField(_("version"), max_length=20)
    better = models.CharField(_("direction"), max_length=10, choices=Better.choices)
    about = models.CharField(_("about"), max_length=10, choices=About.choices)
    scored_by = models.CharField(_("scored by"), max_length=200)
    scored_on = models.DateField(_("scored on"), null=True, blank=True)
    note = models.TextField(_("note"), blank=True)
    run = models.ForeignKey(
        Run, verbose_name=_("run"), on_delete=models.SET_NULL, null=True, blank=True, related_name="score_cards"
    )
    n_scores = models.PositiveIntegerField(_("scores"))
    file_name = models.CharField(_("file name"), max_length=200)
    sha256 = models.CharField(_("hash of the file"), max_length=64)
    imported_by = models.CharField(_("brought in by"), max_length=150)
    imported_at = models.DateTimeField(_("brought in at"))

    class Meta:
        verbose_name = _("card of scores")
        verbose_name_plural = _("cards of scores")
        ordering = ["metric", "version"]
        constraints = [
            models.UniqueConstraint(fields=["study", "metric", "version"], name="scores_once_per_metric_and_version")
        ]

    def __str__(self) -> str:
        return f"{self.metric}-{self.version}"
