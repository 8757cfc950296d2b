"""What a provider billed, as somebody entered it beside the ledger."""

from __future__ import annotations

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from judges.models.endpoints import Endpoint
from judges.models.runs import Run


class Bill(models.Model):
    """Rows are only added: a correction is another bill, and of a run the last one holds."""

    run = models.ForeignKey(
        Run,
        verbose_name=_("run"),
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="bills",
        help_text=_("Of all that it had sent when the bill was entered; or name an endpoint and days."),
    )
    endpoint = models.ForeignKey(
        Endpoint, verbose_name=_("endpoint"), on_delete=models.CASCADE, null=True, blank=True, related_name="bills"
    )
    first_day = models.DateField(_("first day"), null=True, blank=True)
    last_day = models.DateField(_("last day"), null=True, blank=True)
    # Of a run. Attempts are counted by their ids: the clocks of those who send them differ.
    last_attempt = models.PositiveBigIntegerField(_("id of the last attempt"), default=0, editable=False)
    amount = models.DecimalField(
        _("amount"),
        max_digits=14,
        decimal_places=6,
        validators=[MinValueValidator(0)],
        help_text=_("In US dollars."),
    )
    source = models.CharField(_("file"), max_length=200, blank=True, help_text=_("Whose costs were added up."))
    entered_by = models.CharField(_("entered by"), max_length=150)
    entered_at = models.DateTimeField(_("entered at"), default=timezone.now)

    class Meta:
        verbose_name = _("bill")
        verbose_name_plural = _("bills")
        ordering = ["-entered_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(run__isnull=False, endpoint__isnull=True)
                # Days that are null would pass: a check that is unknown holds.
                | Q(
                    run__isnull=True,
                    endpoint__isnull=False,
                    first_day__isnull=False,
                    last_day__isnull=False,
                    first_day__lte=F("last_day"),
                ),
                name="bill_of_a_run_or_of_days_at_an_endpoint",
            )
        ]

    def __str__(self) -> str:
        return f"{self.amount} USD"
