"""Who would like to take part: the page on which people apply, and what they wrote there."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.mails import InvitationMail
from annotation.models.raters import Identity, Invitation
from annotation.models.seats import new_code
from studies.models import Instrument, Study


class ApplicationCall(models.Model):
    study = models.OneToOneField(
        Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="application_call"
    )
    key = models.CharField(_("key"), max_length=16, unique=True, default=new_code, editable=False)
    is_open = models.BooleanField(_("people may apply"), default=False)
    text = models.TextField(_("what applicants are told"), blank=True)
    instrument = models.ForeignKey(
        Instrument,
        verbose_name=_("questions of eligibility"),
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
    )
    kept_days = models.PositiveSmallIntegerField(
        _("days kept"), default=90, validators=[MinValueValidator(1), MaxValueValidator(730)]
    )

    class Meta:
        verbose_name = _("call for applications")
        verbose_name_plural = _("calls for applications")

    def __str__(self) -> str:
        return f"call of {self.study_id}"


class Application(models.Model):
    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        INELIGIBLE = "ineligible", _("not eligible")
        ACCEPTED = "accepted", _("accepted")
        DECLINED = "declined", _("declined")

    call = models.ForeignKey(
        ApplicationCall, verbose_name=_("call"), on_delete=models.CASCADE, related_name="applications"
    )
    number = models.PositiveIntegerField(_("number"), help_text=_("Its name for whoever decides."))
    email_sha256 = models.CharField(_("email sha256"), max_length=64, editable=False)
    identity = models.ForeignKey(
        Identity,
        verbose_name=_("identity"),
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="applications",
        help_text=_("None of whoever is not eligible: their name and address are not kept."),
    )
    answers = models.JSONField(_("answers"), default=dict, help_text=_("By the key of the item."))
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.WAITING)
    n_times = models.PositiveSmallIntegerField(_("times applied"), default=1)
    applied_at = models.DateTimeField(_("applied at"))
    decided_at = models.DateTimeField(_("decided at"), null=True, blank=True)
    decided_by = models.CharField(_("decided by"), max_length=150, blank=True)
    words = models.TextField(_("words of the refusal"), blank=True)
    invitation = models.OneToOneField(
        Invitation, verbose_name=_("invitation"), on_delete=models.SET_NULL, null=True, blank=True
    )
    # Of the mail that says no; the invitation has its own.
    mail_state = models.CharField(_("mail"), max_length=10, choices=InvitationMail.State.choices, blank=True)
    attempted_at = models.DateTimeField(_("attempted at"), null=True, blank=True)

    class Meta:
        verbose_name = _("application")
        verbose_name_plural = _("applications")
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["call", "email_sha256"], name="one_application_for_an_address"),
            models.UniqueConstraint(fields=["call", "number"], name="application_number_once"),
        ]

    def __str__(self) -> str:
        return f"application {self.pk}"
