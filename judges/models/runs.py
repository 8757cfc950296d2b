"""A judge at work: its runs, and each reading of a seat that a run makes."""

from __future__ import annotations

import json
from typing import Any

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.models import Assignment
from judges.interventions import find_of_reading
from judges.models.judges import Judge, is_judging
from judges.models.notes import write_note
from judges.models.prompts import PersonaSet, Prompt
from studies.models import Study


def planned_order() -> list[str]:
    """The orders of a run that asks for no others."""
    return [Reading.Order.PLANNED.value]


def is_judging_run(path: str = "") -> Q:
    """Whether a run is of a judge that judges, and about the study's stories: not a check for drift.

    path : to the run, such as "call__run__"
    """
    return is_judging(f"{path}judge__") & Q(**{f"{path}drift_check": None})


class RunQuerySet(models.QuerySet["Run"]):
    def judging(self) -> RunQuerySet:
        return self.filter(is_judging_run())


class Run(models.Model):
    class State(models.TextChoices):
        PLANNED = "planned", _("Planned")
        RUNNING = "running", _("Running")
        PAUSED = "paused", _("Paused")
        WAITING = "waiting", _("waiting for a person")
        STOPPED = "stopped", _("Stopped")
        FINISHED = "finished", _("Finished")

    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="runs")
    judge = models.ForeignKey(Judge, verbose_name=_("judge"), on_delete=models.PROTECT, related_name="runs")
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.RUNNING)
    # In English, with places for the values: it is translated when it is shown.
    note_sentence = models.TextField(_("note"), blank=True, help_text=_("Why it does not go on, and what would help."))
    note_values = models.JSONField(_("values of the note"), default=dict, blank=True, editable=False)
    selection = models.JSONField(
        _("selection"), default=list, blank=True, help_text=_("Codes of stories; none: all that may be sent.")
    )
    asks = models.CharField(_("asks"), max_length=10, choices=Prompt.Asks.choices, default=Prompt.Asks.ITEM)
    orders = models.JSONField(_("orders"), default=planned_order, help_text=_("planned, reversed, or both."))
    persona_set = models.ForeignKey(
        PersonaSet,
        verbose_name=_("set of personas"),
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="runs",
    )
    n_repeats = models.PositiveSmallIntegerField(_("repeats"), default=1, validators=[MinValueValidator(1)])
    sends_batches = models.BooleanField(
        _("hands in batches"), default=False, help_text=_("At half the price, answered within a day.")
    )
    resends_unknown = models.BooleanField(
        _("sends again"), default=True, help_text=_("What was sent, and whose answer nobody heard; else it is held.")
    )
    estimate = models.JSONField(_("estimate"), default=dict, blank=True, editable=False)
    budget = models.DecimalField(
        _("budget"), max_digits=12, decimal_places=4, null=True, blank=True, help_text=_("In US dollars.")
    )
    approved_by = models.CharField(_("approved by"), max_length=150, blank=True)
    approved_at = models.DateTimeField(_("approved at"), null=True, blank=True)
    canary = models.CharField(
        _("canary"),
        max_length=40,
        blank=True,
        editable=False,
        help_text=_("A code in its fences that must not come back."),
    )
    document = models.TextField(_("document"), editable=False, help_text=_("What is run, as canonical JSON."))
    sha256 = models.CharField(_("sha256"), max_length=64, editable=False)
    created_by = models.CharField(_("created by"), max_length=150)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)
    n_planned = models.PositiveIntegerField(_("calls"))
    # Since it was last started or resumed.
    n_probes_answered = models.PositiveSmallIntegerField(_("probes answered"), default=0, editable=False)
    n_probes_failed = models.PositiveSmallIntegerField(_("probes failed"), default=0, editable=False)
    busy_until = models.DateTimeField(
        _("busy until"), null=True, blank=True, help_text=_("A worker has it in hand, or soon will.")
    )

    objects = RunQuerySet.as_manager()

    class Meta:
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        ordering = ["-created_at", "-pk"]
        constraints = [
            # Whatever a further run would ask, the one that is under way may still ask or change.
            models.UniqueConstraint(
                fields=["study", "judge"], condition=~Q(state="finished"), name="one_unfinished_run_per_judge"
            )
        ]

    def __str__(self) -> str:
        return f"{self.judge_id and self.judge.slug} in {self.study_id and self.study.slug}"

    @property
    def note(self) -> str:
        """Why it does not go on, in the language of whoever reads; what a provider said in it stays as it was said."""
        return write_note(self.note_sentence, self.note_values)

    @property
    def frozen(self) -> dict[str, Any]:
        """Its document, read."""
        return dict(json.loads(self.document))

    @property
    def adapter(self) -> str:
        """By which provider its endpoint was reached when it was started; "" of a metric."""
        return str(self.frozen.get("endpoint", {}).get("adapter", ""))

    @property
    def reply_protocol(self) -> str:
        """How its replies are read."""
        return str(self.frozen.get("prompt", {}).get("protocol", "reasoning_first"))

    @property
    def interventions(self) -> list[str]:
        """Titles of the changes with which its stories are read once more."""
        kinds = {name: find_of_reading(name) for name in self.frozen.get("interventions", [])}
        return [str(kind.title) if kind else name for name, kind in kinds.items()]

    @property
    def log(self) -> dict[str, Any]:
        """The file of another tool that its replies came in with, and what was left out of it; empty of other runs."""
        return dict(self.frozen.get("log", {}))

    @property
    def withheld(self) -> list[str]:
        """Codes of the stories that it leaves out, since their texts are withheld."""
        return list(self.frozen.get("withheld", []))


class Reading(models.Model):
    class Order(models.TextChoices):
        PLANNED = "planned", _("as planned")
        REVERSED = "reversed", _("the other way round")

    run = models.ForeignKey(Run, verbose_name=_("run"), on_delete=models.CASCADE, related_name="readings")
    assignment = models.OneToOneField(
        Assignment, verbose_name=_("assignment"), on_delete=models.CASCADE, related_name="reading"
    )
    order = models.CharField(_("order"), max_length=10, choices=Order.choices, default=Order.PLANNED)
    persona = models.CharField(_("persona"), max_length=80, blank=True)
    repeat = models.PositiveSmallIntegerField(_("repeat"), default=1, validators=[MinValueValidator(1)])
    intervention = models.CharField(
        _("intervention"),
        max_length=60,
        blank=True,
        help_text=_("With which change its stories are read, slug and version; no other result counts the answers."),
    )

    class Meta:
        verbose_name = _("judge’s place")
        verbose_name_plural = _("judges’ places")
        ordering = ["run", "pk"]

    def __str__(self) -> str:
        return " ".join(filter(None, (f"reading {self.repeat} {self.order}", self.persona, self.intervention)))
