"""What raters are owed and were paid: kept apart from answers, written by stewards, corrected by further rows alone."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.raters import Rater
from studies.models import Study
from studies.triggers import Trigger, any_changed

KEPT = ("id", "rater_id", "amount", "paid_on", "corrects_id", "by", "at")
SENTENCE = "A payment that was entered is not changed; add a correction."
TRIGGERS = [
    Trigger("payments_stay", "annotation_payment", "UPDATE", any_changed(KEPT), SENTENCE),
    Trigger("payments_are_kept", "annotation_payment", "DELETE", 'OLD."id" IS NOT NULL', SENTENCE),
]


class PayRate(models.Model):
    class Part(models.TextChoices):
        NOTHING = "nothing", _("nothing")
        FIXED = "fixed", _("an amount for each group begun")
        HOURS = "hours", _("an amount for each active hour")

    study = models.OneToOneField(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="pay_rate")
    currency = models.CharField(_("currency"), max_length=10)
    per_group = models.DecimalField(_("for a submitted group"), max_digits=8, decimal_places=2)
    part = models.CharField(_("for a part"), max_length=10, choices=Part.choices, default=Part.NOTHING)
    part_amount = models.DecimalField(_("amount for a part"), max_digits=8, decimal_places=2, null=True, blank=True)

    class Meta:
        verbose_name = _("rate of pay")
        verbose_name_plural = _("rates of pay")
        constraints = [
            models.CheckConstraint(
                condition=Q(part="nothing", part_amount=None) | (~Q(part="nothing") & Q(part_amount__isnull=False)),
                name="amount_for_a_part_if_it_is_paid",
            )
        ]

    def __str__(self) -> str:
        return f"rate of pay of {self.study_id}"


class Payment(models.Model):
    """One entry of the ledger. Rows are only added; a correction is the difference, with its reason."""

    rater = models.ForeignKey(Rater, verbose_name=_("rater"), on_delete=models.PROTECT, related_name="payments")
    amount = models.DecimalField(_("amount"), max_digits=8, decimal_places=2)
    paid_on = models.DateField(_("paid on"))
    reference = models.CharField(_("reference"), max_length=120, blank=True)
    corrects = models.ForeignKey(
        "self",
        verbose_name=_("corrects"),
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="corrections",
    )
    reason = models.CharField(_("reason of the correction"), max_length=300, blank=True)
    by = models.CharField(_("by"), max_length=150)
    at = models.DateTimeField(_("entered at"))

    class Meta:
        verbose_name = _("payment")
        verbose_name_plural = _("payments")
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"payment {self.pk}"
