"""What was changed of a study after its launch, change by change; rows are only added."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from studies import facts
from studies.models.facts import StudyFacts
from studies.models.studies import ProtocolVersion, Study


class Amendment(StudyFacts):
    """What a study says from that moment on: all that can be amended, changed or not, with the reason.

    The columns that the study has too are the only values that the database lets the study take. Each row is bound to
    the one before by its digest.
    """

    class HoldsFor(models.TextChoices):
        NEWCOMERS = "newcomers", _("those who begin from now on")
        EVERYBODY = "everybody", _("everybody, also those at work")

    # Of the study, as it stands in both tables.
    FIELDS = ("title", *facts.COLUMNS, "seats_per_group", "facts")

    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="amendments")
    number = models.PositiveSmallIntegerField(_("number"))
    # None where the document of the protocol stays the same, as with another deadline.
    version = models.OneToOneField(
        ProtocolVersion,
        verbose_name=_("version"),
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="amendment",
    )
    reason = models.CharField(_("reason"), max_length=300)
    holds_for = models.CharField(_("holds for"), max_length=10, choices=HoldsFor.choices)
    at = models.DateTimeField(_("at"))
    by = models.CharField(_("by"), max_length=150)
    title = models.CharField(_("title"), max_length=200)
    seats_per_group = models.PositiveSmallIntegerField(_("places per group"))
    closes_at = models.DateTimeField(_("closes at"), null=True, blank=True)
    words = models.JSONField(_("words"), help_text=_("Title and text of every step, by its key, as they were typed."))
    changes = models.JSONField(_("changes"), help_text=_("Each place with what stood there and what stands there."))
    previous = models.CharField(_("digest of the one before"), max_length=64, blank=True)
    digest = models.CharField(_("digest"), max_length=64)

    class Meta:
        verbose_name = _("amendment")
        verbose_name_plural = _("amendments")
        ordering = ["study", "number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="amendment_number_once"),
            models.UniqueConstraint(fields=["study", "previous"], name="amendment_follows_one"),
            models.CheckConstraint(condition=~Q(reason=""), name="amendment_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"amendment {self.number} of {self.study_id}"

    @property
    def content(self) -> dict[str, Any]:
        """All that it says, for its digest."""
        names = ("number", "reason", "holds_for", "by", *self.FIELDS, "words", "changes", "previous")
        content = {name: getattr(self, name) for name in names}
        # Only where it says something, so that amendments that were made before it was there keep their digest.
        if not self.facts:
            del content["facts"]
        return content | {
            "study": self.study.slug,
            "version": self.version.sha256 if self.version else "",
            "at": self.at.isoformat(),
            "closes_at": self.closes_at.isoformat() if self.closes_at else "",
        }
