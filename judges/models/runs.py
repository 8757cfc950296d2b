"""A judge at work: its runs, every call of theirs, and every sending of a call."""

from __future__ import annotations

import json

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.models import Assignment
from judges.models.judges import Judge
from studies.models import Item, Step, Story, Study


class Run(models.Model):
    class State(models.TextChoices):
        RUNNING = "running", _("Running")
        STOPPED = "stopped", _("Stopped")
        FINISHED = "finished", _("Finished")

    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="runs")
    judge = models.ForeignKey(Judge, verbose_name=_("judge"), on_delete=models.PROTECT, related_name="runs")
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.RUNNING)
    note = models.TextField(_("note"), blank=True, help_text=_("Why it was stopped."))
    document = models.TextField(_("document"), editable=False, help_text=_("What is run, as canonical JSON."))
    sha256 = models.CharField(_("sha256"), max_length=64, editable=False)
    created_by = models.CharField(_("created by"), max_length=150)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)
    n_planned = models.PositiveIntegerField(_("calls"))
    busy_until = models.DateTimeField(
        _("busy until"), null=True, blank=True, help_text=_("A worker has it in hand, or soon will.")
    )

    class Meta:
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        ordering = ["-created_at", "-pk"]
        constraints = [
            # One value per rater and unit. Repeats will be seats and runs of their own, once they are asked for.
            models.UniqueConstraint(fields=["study", "judge"], name="judge_runs_once_per_study")
        ]

    def __str__(self) -> str:
        return f"{self.judge_id and self.judge.slug} in {self.study_id and self.study.slug}"

    @property
    def withheld(self) -> list[str]:
        """Codes of the stories that it leaves out, since their texts are withheld."""
        return list(json.loads(self.document).get("withheld", []))


class Call(models.Model):
    class State(models.TextChoices):
        PLANNED = "planned", _("Planned")
        LEASED = "leased", _("Leased")
        OK = "ok", _("Ok")
        REFUSED = "refused", _("Refused")
        BLOCKED = "blocked", _("Blocked")
        TRUNCATED = "truncated", _("Truncated")
        UNREADABLE = "unreadable", _("Unreadable")
        OUT_OF_RANGE = "out_of_range", _("out of range")
        PROVIDER_ERROR = "provider_error", _("provider error")

    PENDING = (State.PLANNED, State.LEASED)

    run = models.ForeignKey(Run, verbose_name=_("run"), on_delete=models.CASCADE, related_name="calls")
    assignment = models.ForeignKey(
        Assignment, verbose_name=_("assignment"), on_delete=models.CASCADE, related_name="calls"
    )
    step = models.ForeignKey(Step, verbose_name=_("step"), on_delete=models.PROTECT)
    item = models.ForeignKey(
        Item,
        verbose_name=_("item"),
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        help_text=_("None: all of the step."),
    )
    story = models.ForeignKey(Story, verbose_name=_("story"), on_delete=models.PROTECT, null=True, blank=True)
    state = models.CharField(_("state"), max_length=20, choices=State.choices, default=State.PLANNED)
    lease = models.CharField(_("lease"), max_length=32, blank=True, help_text=_("Whose it is while it is leased."))
    lease_until = models.DateTimeField(_("lease until"), null=True, blank=True)
    not_before = models.DateTimeField(
        _("not before"), null=True, blank=True, help_text=_("When it may be tried again.")
    )
    n_failures = models.PositiveSmallIntegerField(_("n failures"), default=0)
    request = models.JSONField(_("request"))
    # Text, not JSON: it is kept as it came, and JSON may spell characters that PostgreSQL's JSON cannot hold.
    response = models.TextField(_("response"), blank=True, help_text=_("The body of the reply, as it came."))
    reason = models.TextField(_("reason"), blank=True)
    n_tokens_in = models.PositiveIntegerField(_("n tokens in"), null=True, blank=True)
    n_tokens_out = models.PositiveIntegerField(_("n tokens out"), null=True, blank=True)
    sent_at = models.DateTimeField(_("sent at"), null=True, blank=True)
    answered_at = models.DateTimeField(_("answered at"), null=True, blank=True)

    class Meta:
        verbose_name = _("call")
        verbose_name_plural = _("calls")
        indexes = [models.Index(fields=["run", "state"], name="call_by_run_and_state")]
        constraints = [
            # A missing story is not equal to itself in SQL, hence two constraints.
            models.UniqueConstraint(
                fields=["run", "assignment", "step", "item", "story"],
                condition=Q(story__isnull=False),
                name="call_once_per_story",
            ),
            models.UniqueConstraint(
                fields=["run", "assignment", "step", "item"],
                condition=Q(story__isnull=True),
                name="call_once_without_story",
            ),
            models.UniqueConstraint(
                fields=["run", "assignment", "step"],
                condition=Q(item__isnull=True, story__isnull=True),
                name="call_once_for_all_items",
            ),
            models.UniqueConstraint(
                fields=["run", "assignment", "step", "story"],
                condition=Q(item__isnull=True, story__isnull=False),
                name="call_once_for_all_items_of_a_story",
            ),
            models.CheckConstraint(
                condition=Q(state="leased", lease_until__isnull=False) | ~Q(state="leased"), name="lease_has_an_end"
            ),
        ]

    def __str__(self) -> str:
        return f"call {self.pk}"


class Attempt(models.Model):
    class Outcome(models.TextChoices):
        IN_FLIGHT = "", _("in flight")
        ANSWERED = "answered", _("Answered")
        FAILED = "failed", _("Failed")
        UNKNOWN = "unknown_outcome", _("unknown: sent, and nobody heard")
        LATE = "late", _("late: answered, but no longer waited for")

    call = models.ForeignKey(Call, verbose_name=_("call"), on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveSmallIntegerField(_("number"))
    sent_at = models.DateTimeField(_("sent at"))
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    outcome = models.CharField(
        _("outcome"), max_length=20, choices=Outcome.choices, blank=True, default=Outcome.IN_FLIGHT
    )
    reason = models.TextField(_("reason"), blank=True)

    class Meta:
        verbose_name = _("attempt")
        verbose_name_plural = _("attempts")
        ordering = ["call", "number"]
        constraints = [models.UniqueConstraint(fields=["call", "number"], name="attempt_number_once")]

    def __str__(self) -> str:
        return f"attempt {self.call_id}/{self.number}"
