"""Mails to raters: their wording, of each study, and every attempt to send one."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.raters import Invitation
from studies.models import Study


class MailKind(models.TextChoices):
    INVITATION = "invitation", _("Invitation")
    REMINDER = "reminder", _("Reminder")


class MailTemplate(models.Model):
    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="mail_templates")
    kind = models.CharField(_("kind"), max_length=10, choices=MailKind.choices)
    subject = models.CharField(_("subject"), max_length=200)
    text = models.TextField(_("text"))

    class Meta:
        verbose_name = _("template of mails")
        verbose_name_plural = _("templates of mails")
        constraints = [models.UniqueConstraint(fields=["study", "kind"], name="mail_template_once_per_kind")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.study_id}"


class InvitationMail(models.Model):
    class State(models.TextChoices):
        WAITING = "waiting", _("waiting to be sent")
        ATTEMPTED = "attempted", _("being sent")
        SENT = "sent", _("sent")
        REFUSED = "refused", _("not sent")
        UNKNOWN = "unknown", _("perhaps sent")

    UNDER_WAY = (State.WAITING, State.ATTEMPTED)

    invitation = models.ForeignKey(
        Invitation, verbose_name=_("invitation"), on_delete=models.CASCADE, related_name="mails"
    )
    kind = models.CharField(_("kind"), max_length=10, choices=MailKind.choices)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.WAITING)
    site = models.CharField(_("site"), max_length=200, help_text=_("Where the page stood on which it was asked for."))
    asked_at = models.DateTimeField(_("asked at"))
    attempted_at = models.DateTimeField(_("attempted at"), null=True, blank=True)
    message = models.CharField(
        _("message"), max_length=500, blank=True, help_text=_("Why it was not sent, without the address.")
    )

    class Meta:
        verbose_name = _("mail to a rater")
        verbose_name_plural = _("mails to raters")
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["invitation"],
                condition=Q(state__in=["waiting", "attempted"]),
                name="one_mail_under_way_per_invitation",
            )
        ]

    def __str__(self) -> str:
        return f"mail {self.pk}"
