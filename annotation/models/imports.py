"""Files that somebody brings: waiting until they are confirmed, and what is kept of answers that came in."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from studies.models import Study, WaitingFile, WaitingFiles


class BroughtFile(WaitingFile):
    """A file of answers or scores. It may hold what raters wrote, so it goes too when a rater withdraws."""

    class Purpose(models.TextChoices):
        ANSWERS = "answers", _("Answers")
        SCORES = "scores", _("Scores")

    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="brought_files")
    purpose = models.CharField(_("purpose"), max_length=10, choices=Purpose.choices)
    sha256 = models.CharField(_("hash of the file"), max_length=64)

    objects = WaitingFiles["BroughtFile"]()

    class Meta:
        verbose_name = _("file to be brought in")
        verbose_name_plural = _("files to be brought in")

    def __str__(self) -> str:
        return f"{self.purpose} for {self.study_id}"


class AnswerImport(models.Model):
    """Rows are only added: what the answers were read from, and how."""

    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="answer_imports")
    at = models.DateTimeField(_("at"))
    by = models.CharField(_("by"), max_length=150)
    file_name = models.CharField(_("file name"), max_length=200)
    sha256 = models.CharField(_("hash of the file"), max_length=64)
    mapping = models.TextField(_("mapping"), help_text=_("How the columns were read, as TOML."))
    n_rows = models.PositiveIntegerField(_("rows"))
    n_raters = models.PositiveIntegerField(_("raters"))
    n_responses = models.PositiveIntegerField(_("answers"))

    class Meta:
        verbose_name = _("import of answers")
        verbose_name_plural = _("imports of answers")
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"import {self.pk} in {self.study_id}"
