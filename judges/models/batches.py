"""Many calls of a run that were handed in to a provider at once."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from judges.models.runs import Run


class ProviderBatch(models.Model):
    class State(models.TextChoices):
        WRITTEN = "written", _("to be handed in")
        HANDED_IN = "handed_in", _("handed in, its number not heard yet")
        WORKING = "working", _("at work")
        ENDED = "ended", _("Ended")
        FAILED = "failed", _("not taken by the provider")
        LOST = "lost", _("lost: nobody knows whether it was taken")

    OPEN = (State.WRITTEN, State.HANDED_IN, State.WORKING)

    run = models.ForeignKey(Run, verbose_name=_("run"), on_delete=models.CASCADE, related_name="batches")
    name = models.CharField(
        _("name"), max_length=32, unique=True, help_text=_("By which it is looked for; the worker of its attempts.")
    )
    number = models.CharField(_("number at the provider"), max_length=200, blank=True)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.WRITTEN)
    reason = models.TextField(_("reason"), blank=True)
    n_calls = models.PositiveIntegerField(_("calls"))
    created_at = models.DateTimeField(_("created at"))
    due_at = models.DateTimeField(_("due at"), help_text=_("When it is to be looked at next."))
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)

    class Meta:
        verbose_name = _("batch at a provider")
        verbose_name_plural = _("batches at providers")
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["run"],
                condition=models.Q(state__in=["written", "handed_in", "working"]),
                name="one_open_batch_per_run",
            )
        ]

    def __str__(self) -> str:
        return self.number or self.name
