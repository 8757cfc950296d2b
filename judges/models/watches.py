"""Judges that are asked about the same fixed texts every day, so that one that has changed is seen."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from judges.models.judges import Judge
from judges.models.runs import Run
from studies.models import Study


class DriftWatch(models.Model):
    study = models.ForeignKey(
        Study,
        verbose_name=_("study"),
        on_delete=models.CASCADE,
        related_name="drift_watches",
        help_text=_("Whose questions are asked."),
    )
    judge = models.ForeignKey(Judge, verbose_name=_("judge"), on_delete=models.PROTECT, related_name="drift_watches")
    budget = models.DecimalField(
        _("budget of a day"), max_digits=12, decimal_places=4, null=True, blank=True, help_text=_("In US dollars.")
    )
    recipient = models.EmailField(_("who is written to"), blank=True)
    site = models.CharField(
        _("site"), max_length=200, blank=True, help_text=_("Where the page stood on which it was begun.")
    )
    created_by = models.CharField(_("created by"), max_length=150)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    next_at = models.DateTimeField(_("next at"), default=timezone.now)
    compared_from = models.DateTimeField(
        _("compared from"), default=timezone.now, help_text=_("Checks before it are no longer compared with.")
    )
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    problem = models.TextField(_("problem"), blank=True, help_text=_("Why the latest check was not begun."))

    class Meta:
        verbose_name = _("watch of a judge")
        verbose_name_plural = _("watches of judges")
        ordering = ["study", "judge__slug", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "judge"], condition=models.Q(ended_at=None), name="one_watch_of_a_judge_in_a_study"
            )
        ]

    def __str__(self) -> str:
        return f"watch of {self.judge_id and self.judge.slug} in {self.study_id and self.study.slug}"

    @property
    def obstacle(self) -> str:
        """Why the latest check was not begun, in the language of whoever reads; "" if it was."""
        return gettext(self.problem) if self.problem else ""


class DriftCheck(models.Model):
    """One day's questions about the fixed texts, and how the answers lie beside those of the days before."""

    watch = models.ForeignKey(
        DriftWatch, verbose_name=_("watch of a judge"), on_delete=models.CASCADE, related_name="checks"
    )
    run = models.OneToOneField(Run, verbose_name=_("run"), on_delete=models.CASCADE, related_name="drift_check")
    compared_at = models.DateTimeField(_("compared at"), null=True, blank=True)
    n_answers = models.PositiveIntegerField(_("n answers"), default=0, help_text=_("That were compared."))
    n_checks = models.PositiveIntegerField(_("n checks"), default=0, help_text=_("With which they were compared."))
    distance = models.FloatField(_("distance"), null=True, blank=True, help_text=_("From the checks before, 0 to 1."))
    floor = models.FloatField(_("floor"), null=True, blank=True, help_text=_("The same among the checks before."))
    p = models.FloatField(_("p value"), null=True, blank=True)
    least_p = models.FloatField(
        _("least p value"), null=True, blank=True, help_text=_("That so few checks could show.")
    )
    has_moved = models.BooleanField(_("has moved"), default=False)
    mailed_at = models.DateTimeField(_("mailed at"), null=True, blank=True)
    mail_problem = models.CharField(_("problem of the mail"), max_length=80, blank=True)

    class Meta:
        verbose_name = _("check of a judge")
        verbose_name_plural = _("checks of judges")
        ordering = ["watch", "pk"]

    def __str__(self) -> str:
        return f"check {self.pk} of {self.watch}"

    @property
    def percent(self) -> float | None:
        """How many of a hundred comparisons with earlier answers differ; None where nothing was compared."""
        return None if self.distance is None else 100 * self.distance

    @property
    def floor_percent(self) -> float | None:
        return None if self.floor is None else 100 * self.floor
