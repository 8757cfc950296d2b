"""Which of several prompts a model judges pairs with: what is tried on which pairs, and what came of it."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from judges.models.judges import Judge
from judges.models.prompts import Prompt
from judges.models.runs import Run
from studies.models import Study


class PromptChoice(models.Model):
    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="prompt_choices")
    judge = models.ForeignKey(
        Judge,
        verbose_name=_("judge"),
        on_delete=models.PROTECT,
        related_name="prompt_choices",
        help_text=_("Whose endpoint, model and parameters are tried."),
    )
    step = models.CharField(_("step"), max_length=80, help_text=_("The key of the step that asks about pairs."))
    item = models.CharField(_("item"), max_length=80, help_text=_("The key of the question in it."))
    share = models.FloatField(_("share set apart"))
    seed = models.BigIntegerField(_("seed"), default=0)
    validation = models.JSONField(_("tried on"), default=list, help_text=_("Codes of the groups set apart."))
    judged = models.JSONField(_("judged"), default=list, help_text=_("Codes of all other groups."))
    created_by = models.CharField(_("created by"), max_length=150)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    approved_by = models.CharField(_("approved by"), max_length=150, blank=True)
    approved_at = models.DateTimeField(_("approved at"), null=True, blank=True)
    prompt = models.ForeignKey(
        Prompt,
        verbose_name=_("chosen prompt"),
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="choices_won",
    )
    decided_at = models.DateTimeField(_("decided at"), null=True, blank=True)
    # The other pairs, judged with the chosen prompt.
    run = models.OneToOneField(
        Run,
        verbose_name=_("run"),
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="chosen_by",
    )
    held_out = models.JSONField(_("on the other pairs"), default=dict, blank=True, editable=False)
    evaluated_at = models.DateTimeField(_("evaluated at"), null=True, blank=True)

    class Meta:
        verbose_name = _("choice of a prompt")
        verbose_name_plural = _("choices of prompts")
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"prompt of {self.judge_id and self.judge.slug} in {self.study_id and self.study.slug}"

    @property
    def document(self) -> dict[str, Any]:
        """What was chosen and by what, for the document of the run that it decides."""
        trials = sorted(self.trials.select_related("prompt"), key=lambda trial: str(trial.prompt))
        return {
            "prompt": str(self.prompt),
            "accuracy": {str(trial.prompt): trial.result.get("accuracy") for trial in trials},
            "validation": list(self.validation),
            "seed": self.seed,
        }


class PromptTrial(models.Model):
    """One of the prompts, with the run that tries it."""

    choice = models.ForeignKey(
        PromptChoice, verbose_name=_("choice of a prompt"), on_delete=models.CASCADE, related_name="trials"
    )
    prompt = models.ForeignKey(Prompt, verbose_name=_("prompt"), on_delete=models.PROTECT, related_name="trials")
    run = models.OneToOneField(Run, verbose_name=_("run"), on_delete=models.CASCADE, related_name="trial_of")
    result = models.JSONField(_("result"), default=dict, blank=True, editable=False)

    class Meta:
        verbose_name = _("trial of a prompt")
        verbose_name_plural = _("trials of prompts")
        ordering = ["choice", "pk"]
        constraints = [models.UniqueConstraint(fields=["choice", "prompt"], name="one_trial_per_prompt")]

    def __str__(self) -> str:
        return f"{self.prompt_id and self.prompt}"
