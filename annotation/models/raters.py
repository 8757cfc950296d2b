"""Who answers: raters, how they came, what they agreed to, and, kept apart, who they are."""

from __future__ import annotations

from django.db import models
from django.db.models import Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce
from django.utils.translation import gettext_lazy as _

from studies.layouts.items import CheckOptions
from studies.models import Step, StoryGroup, Study
from studies.vocabulary import OnFailure

WRITER_NAME = ("participant ", " of ")  # as a source: before a person's code, and before the study


class Identity(models.Model):
    name = models.CharField(_("name"), max_length=200, blank=True)
    email = models.EmailField(_("email"), blank=True)
    platform = models.CharField(_("platform"), max_length=40, blank=True)
    platform_id = models.CharField(_("platform id"), max_length=120, blank=True)
    payment = models.TextField(_("payment"), blank=True)

    class Meta:
        verbose_name = _("identity")
        verbose_name_plural = _("identities")

    def __str__(self) -> str:
        return f"identity {self.pk}"


class Rater(models.Model):
    class Kind(models.TextChoices):
        PERSON = "person", _("Person")
        MODEL = "model", _("Model")
        METRIC = "metric", _("Metric")

    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="raters")
    code = models.CharField(_("code"), max_length=80)
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices, default=Kind.PERSON)
    is_simulated = models.BooleanField(_("is simulated"), default=False)
    # Repeats the rater's consents, by the SHA-256 of each text, so that whoever reads the rater knows them.
    consented_to = models.JSONField(_("consented to"), default=list, blank=True, editable=False)
    identity = models.ForeignKey(
        Identity, verbose_name=_("identity"), on_delete=models.SET_NULL, null=True, blank=True, related_name="raters"
    )
    # A session knows how many it was when it began, and ends when there is one more.
    n_links_replaced = models.PositiveIntegerField(_("links replaced"), default=0, editable=False)
    row = models.PositiveIntegerField(
        _("row"),
        null=True,
        blank=True,
        editable=False,
        help_text=_("The row of places that the rater holds, to read along it; nobody else holds it meanwhile."),
    )
    arrived_at = models.DateTimeField(_("arrived at"), auto_now_add=True)

    class Meta:
        verbose_name = _("rater")
        verbose_name_plural = _("raters")
        ordering = ["study", "code"]
        constraints = [
            models.UniqueConstraint(fields=["study", "code"], name="rater_code_once"),
            models.UniqueConstraint(fields=["study", "row"], name="row_held_once"),
        ]

    def __str__(self) -> str:
        return self.code

    @property
    def source_name(self) -> str:
        """What stories that the rater wrote have as their source: a person by code and study, a model by its name."""
        if self.kind == self.Kind.MODEL:
            return self.code
        before, between = WRITER_NAME
        return f"{before}{self.code}{between}{self.study.slug}"


class Invitation(models.Model):
    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="invitations")
    label = models.CharField(
        _("label"), max_length=120, blank=True, help_text=_("For the designer's own orientation; never a name.")
    )
    token_sha256 = models.CharField(_("token sha256"), max_length=64, unique=True, editable=False)
    # The link follows from this, the row's id and the server's key, so that a mail can be written without keeping it.
    nonce = models.CharField(_("nonce"), max_length=32, blank=True, editable=False)
    identity = models.ForeignKey(
        Identity,
        verbose_name=_("identity"),
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="invitations",
        help_text=_("To whom it is sent; seen by stewards only."),
    )
    replaces = models.ForeignKey(
        "self",
        verbose_name=_("replaces"),
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="replaced_by",
        help_text=_("The invitation of somebody who will not go on."),
    )
    groups = models.ManyToManyField(
        StoryGroup, verbose_name=_("groups"), blank=True, help_text=_("If given, the holder gets these groups only.")
    )
    rater = models.OneToOneField(
        Rater, verbose_name=_("rater"), on_delete=models.SET_NULL, null=True, blank=True, related_name="invitation"
    )
    issued_at = models.DateTimeField(_("issued at"), auto_now_add=True)
    handed_over_at = models.DateTimeField(
        _("handed over at"),
        null=True,
        blank=True,
        editable=False,
        help_text=_("When its link was first shown to be passed on, or sent. Until then the person is only noted."),
    )
    expires_at = models.DateTimeField(_("expires at"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True)

    class Meta:
        verbose_name = _("invitation")
        verbose_name_plural = _("invitations")

    def __str__(self) -> str:
        return self.label or f"invitation {self.pk}"


class ReplacedLink(models.Model):
    invitation = models.ForeignKey(
        Invitation, verbose_name=_("invitation"), on_delete=models.CASCADE, related_name="replaced_links"
    )
    token_sha256 = models.CharField(_("token sha256"), max_length=64, unique=True, editable=False)
    at = models.DateTimeField(_("at"))

    class Meta:
        verbose_name = _("replaced link")
        verbose_name_plural = _("replaced links")

    def __str__(self) -> str:
        return f"replaced link of {self.invitation_id}"


class Consent(models.Model):
    rater = models.ForeignKey(Rater, verbose_name=_("rater"), on_delete=models.CASCADE, related_name="consents")
    step = models.ForeignKey(Step, verbose_name=_("step"), on_delete=models.PROTECT)
    text_sha256 = models.CharField(_("text sha256"), max_length=64)
    at = models.DateTimeField(_("at"), auto_now_add=True)

    class Meta:
        verbose_name = _("consent")
        verbose_name_plural = _("consents")
        constraints = [models.UniqueConstraint(fields=["rater", "text_sha256"], name="consent_once_per_text")]

    def __str__(self) -> str:
        return f"consent of {self.rater_id}"


class Withdrawal(models.Model):
    rater = models.OneToOneField(Rater, verbose_name=_("rater"), on_delete=models.CASCADE, related_name="withdrawal")
    at = models.DateTimeField(_("at"), auto_now_add=True)

    class Meta:
        verbose_name = _("withdrawal")
        verbose_name_plural = _("withdrawals")

    def __str__(self) -> str:
        return f"withdrawal of {self.rater_id}"


class StepTaken(models.Model):
    rater = models.ForeignKey(Rater, verbose_name=_("rater"), on_delete=models.CASCADE, related_name="steps_taken")
    step = models.ForeignKey(Step, verbose_name=_("step"), on_delete=models.PROTECT)
    attempt = models.PositiveSmallIntegerField(_("attempt"), default=1)
    wrong = models.JSONField(
        _("wrong"),
        default=list,
        blank=True,
        help_text=_("Of a check, the keys of the items that were not answered rightly."),
    )
    at = models.DateTimeField(_("at"), auto_now_add=True)

    class Meta:
        verbose_name = _("step taken")
        verbose_name_plural = _("steps taken")
        constraints = [models.UniqueConstraint(fields=["rater", "step", "attempt"], name="step_taken_once_per_attempt")]

    def __str__(self) -> str:
        return f"step {self.step_id} taken by {self.rater_id}"

    @property
    def is_last(self) -> bool:
        """Whether a check cannot be tried again. Its step is read."""
        return self.attempt >= CheckOptions.read(self.step.options).attempts

    @property
    def lets_on(self) -> bool:
        """Whether the rater goes on: nothing was wrong, or it was the last attempt at a check that only flags."""
        return not self.wrong or (self.is_last and not CheckOptions.read(self.step.options).ends)

    @classmethod
    def failures(cls) -> models.QuerySet[StepTaken]:
        """The last attempts at checks that were not passed."""
        n_attempts = Cast(KeyTextTransform("attempts", "step__options"), models.IntegerField())
        return cls.objects.exclude(wrong=[]).filter(attempt=Coalesce(n_attempts, Value(CheckOptions().attempts)))

    @classmethod
    def ends(cls) -> models.QuerySet[StepTaken]:
        """Those failures after which the rater goes no further."""
        rule = Value(CheckOptions().on_failure, models.TextField())
        on_failure = Coalesce(KeyTextTransform("on_failure", "step__options"), rule)
        return cls.failures().annotate(on_failure=on_failure).filter(on_failure=OnFailure.END)
