"""Long work that a page asks a worker for, and what came of it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from studies.models.studies import Study


class StudyJob(models.Model):
    """Work for a page of a study that takes too long for a request. What came of it may name sources and quote texts,
    so it is kept apart as provenance is: seen by those who may know, in no export, gone after a day; an expected
    precision stays until the next ones."""

    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="jobs")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, verbose_name=_("account"), on_delete=models.CASCADE, related_name="+"
    )
    task = models.CharField(_("task"), max_length=100, help_text=_("Celery’s name of what is to be done."))
    arguments = models.JSONField(_("arguments"), default=dict, blank=True)
    inputs = models.CharField(
        _("inputs"),
        max_length=64,
        help_text=_("SHA-256 of all that the result is based on; with other inputs it is no longer valid."),
    )
    language = models.CharField(
        _("language"), max_length=12, help_text=_("Of the person who asked, for words in the result.")
    )
    asked_at = models.DateTimeField(_("asked at"))
    queued_at = models.DateTimeField(_("queued at"), help_text=_("When a worker was last told."))
    leased_until = models.DateTimeField(
        _("leased until"), null=True, blank=True, help_text=_("Whoever is at it renews this; afterwards others may.")
    )
    problem = models.TextField(_("problem"), blank=True, help_text=_("Why it was not done."))
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    outcome = models.JSONField(_("outcome"), null=True, blank=True)

    class Meta:
        verbose_name = _("long work for a page")
        verbose_name_plural = _("long work for pages")
        constraints = [models.UniqueConstraint(fields=["study", "task", "inputs"], name="study_job_once_per_inputs")]

    def __str__(self) -> str:
        return f"{self.task} for study {self.study_id}"

    @property
    def is_under_way(self) -> bool:
        """Whether it was asked for, and has neither ended nor failed."""
        return not self.problem and self.ended_at is None
