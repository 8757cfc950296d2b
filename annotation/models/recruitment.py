"""How people come who are recruited by Prolific: the address of the study there, its codes, and who arrived by it;
and who waits for a place."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.mails import InvitationMail
from annotation.models.raters import Identity, Invitation, Rater
from annotation.models.seats import new_code
from studies.models import Study


class ProlificRecruitment(models.Model):
    study = models.OneToOneField(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="prolific")
    key = models.CharField(_("key"), max_length=16, unique=True, default=new_code, editable=False)
    is_open = models.BooleanField(_("lets people in from Prolific"), default=False)
    completed_code = models.CharField(_("code of completion"), max_length=40, blank=True)
    ended_code = models.CharField(_("code of no consent and screening out"), max_length=40, blank=True)
    full_code = models.CharField(_("code of no place and no time"), max_length=40, blank=True)
    minutes = models.PositiveSmallIntegerField(
        _("maximum minutes"), null=True, blank=True, help_text=_("After which Prolific lets nobody go on.")
    )
    most_people = models.PositiveSmallIntegerField(_("most people from Prolific"), null=True, blank=True)
    prolific_study = models.CharField(_("study id at Prolific"), max_length=60, blank=True)

    class Meta:
        verbose_name = _("recruitment by Prolific")
        verbose_name_plural = _("recruitments by Prolific")

    def __str__(self) -> str:
        return f"Prolific of {self.study_id}"

    @property
    def codes(self) -> tuple[str, str, str]:
        """The three codes: completed; no consent or screened out; no place or no time."""
        return self.completed_code, self.ended_code, self.full_code

    @property
    def is_ready(self) -> bool:
        """Whether people are let in: it is switched on, and whoever comes can be given a code."""
        return self.is_open and all(self.codes)


class ProlificArrival(models.Model):
    class Outcome(models.TextChoices):
        DECLINED = "declined", _("declined to consent")
        SCREENED_OUT = "screened", _("screened out")
        NO_PLACE = "no_place", _("found no place")
        TIMED_OUT = "timed_out", _("stopped after the time was over")

    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="arrivals")
    # Of the study and the participant, so that the database itself lets nobody in twice; empty of meaning once erased.
    participant_sha256 = models.CharField(_("participant sha256"), max_length=64, editable=False)
    identity = models.ForeignKey(
        Identity, verbose_name=_("identity"), on_delete=models.SET_NULL, null=True, blank=True, related_name="arrivals"
    )
    invitation = models.OneToOneField(
        Invitation,
        verbose_name=_("invitation"),
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="arrival",
        help_text=_("None of whoever found no place at the door."),
    )
    session = models.CharField(_("session"), max_length=60, blank=True, help_text=_("The submission at Prolific."))
    session_began_at = models.DateTimeField(_("session began at"))
    outcome = models.CharField(_("outcome"), max_length=10, choices=Outcome.choices, blank=True)
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)

    class Meta:
        verbose_name = _("arrival from Prolific")
        verbose_name_plural = _("arrivals from Prolific")
        constraints = [
            models.UniqueConstraint(fields=["study", "participant_sha256"], name="participant_arrives_once"),
        ]

    def __str__(self) -> str:
        return f"arrival {self.pk}"


class WaitingPerson(models.Model):
    """Somebody who found no place and wants to be written to when one is free; deleted when the study closes."""

    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="waiting_people")
    rater = models.OneToOneField(Rater, verbose_name=_("rater"), on_delete=models.CASCADE, related_name="waits")
    identity = models.ForeignKey(
        Identity,
        verbose_name=_("identity"),
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="waits",
        help_text=_("To whom it is sent; seen by stewards only."),
    )
    site = models.CharField(_("site"), max_length=200, help_text=_("Where the page stood on which it was asked for."))
    joined_at = models.DateTimeField(_("joined at"))
    offered_at = models.DateTimeField(
        _("offered at"), null=True, blank=True, help_text=_("When a place was held for them; empty while they wait.")
    )
    offered_until = models.DateTimeField(_("offered until"), null=True, blank=True)
    mail_state = models.CharField(_("mail"), max_length=10, choices=InvitationMail.State.choices, blank=True)
    attempted_at = models.DateTimeField(_("attempted at"), null=True, blank=True)

    class Meta:
        verbose_name = _("person waiting for a place")
        verbose_name_plural = _("people waiting for a place")
        ordering = ["joined_at", "pk"]

    def __str__(self) -> str:
        return f"waiting person {self.pk}"
