"""Which models and metrics are asked, where they are reached, and with which words."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from annotation.models import Rater
from judges import addresses, metrics, prompts, providers
from judges.providers import Provider


class AlreadyUsed(Exception):
    """This has been used in a run, and what was used never changes. Make another."""


def refuse_change(row: models.Model, fields: tuple[str, ...]) -> None:
    """Raise AlreadyUsed if one of the fields differs from what the database holds."""
    stored = type(row)._default_manager.filter(pk=row.pk).values(*fields).first() or {}
    if changed := [name for name, value in stored.items() if getattr(row, name) != value]:
        raise AlreadyUsed(
            f"{row} has been used in a run, so its {', '.join(changed)} cannot change; make another instead"
        )


def check_address(url: str) -> None:
    try:
        addresses.parse_address(url)
    except addresses.InvalidAddress as error:
        raise ValidationError(str(error)) from None


def check_provider(slug: str) -> None:
    try:
        providers.find_provider(slug)
    except providers.UnknownProvider as error:
        raise ValidationError(str(error)) from None


def check_metric(slug: str) -> None:
    try:
        metrics.find_metric(slug)
    except metrics.UnknownMetric as error:
        raise ValidationError(str(error)) from None


class Endpoint(models.Model):
    name = models.SlugField(_("name"), max_length=80, unique=True)
    adapter = models.CharField(_("adapter"), max_length=40, default="openai", validators=[check_provider])
    base_url = models.CharField(
        _("base url"),
        max_length=300,
        blank=True,
        validators=[check_address],
        help_text=_("For example https://api.openai.com/v1"),
    )
    key_variable = models.CharField(
        _("key variable"),
        max_length=80,
        blank=True,
        help_text=_("Name of the environment variable with the key, never the key. It ends in _API_KEY."),
        # Any other name could be a secret of Quire's own, which whoever writes the base URL would then be sent.
        validators=[RegexValidator(r"^[A-Z][A-Z0-9_]*_API_KEY\Z", _("Capitals, digits and _, ending in _API_KEY."))],
    )
    is_allowed = models.BooleanField(
        _("is allowed"), default=False, help_text=_("Judges may use it. Set by an administrator.")
    )
    is_outside = models.BooleanField(
        _("is outside"),
        default=True,
        help_text=_("Texts that go there leave the house. Stays on for a proxy of yours that passes them on."),
    )
    n_at_once = models.PositiveSmallIntegerField(
        _("calls at once"), default=4, validators=[MinValueValidator(1), MaxValueValidator(64)]
    )
    timeout_seconds = models.PositiveSmallIntegerField(
        _("timeout seconds"), default=120, validators=[MinValueValidator(1), MaxValueValidator(3600)]
    )

    class Meta:
        verbose_name = _("endpoint")
        verbose_name_plural = _("endpoints")
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=(Q(adapter="stub") & Q(base_url="")) | (~Q(adapter="stub") & ~Q(base_url="")),
                name="endpoint_has_address_unless_stub",
                violation_error_message=_("A stub has no base URL; every other endpoint needs one."),
            )
        ]
        permissions = [("allow_endpoint", "Can allow an endpoint and name its key")]

    def __str__(self) -> str:
        return f"{self.name} (stub)" if self.is_stub else self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        stored = Endpoint.objects.filter(pk=self.pk).first() if self.pk else None
        if stored and (stored.base_url, stored.adapter) != (self.base_url, self.adapter):
            # A key was given for an address. Sent to another one, it would be given away.
            self.key_variable, self.is_allowed = "", False
        super().save(*args, **kwargs)

    def clean(self) -> None:
        """Refuse a private address that is marked as allowed and that no call would reach. Asks the name service."""
        if not self.is_allowed or self.is_stub or not self.base_url:
            return
        try:
            addresses.check_reach(self.base_url, allowed=settings.ALLOWED_PRIVATE_ENDPOINTS)
        except addresses.InvalidAddress as error:
            raise ValidationError({"base_url": str(error)}) from None

    @property
    def is_stub(self) -> bool:
        """Whether nothing is reached, and answers are drawn by chance."""
        return self.provider is not None and self.provider.is_stub

    @property
    def provider(self) -> Provider | None:
        """What speaks to it; None if its file is no longer there."""
        return providers.all_providers().get(self.adapter)


class Prompt(models.Model):
    class Protocol(models.TextChoices):
        REASONING_FIRST = "reasoning_first", _("reasoning first, the verdict last")
        VERDICT_FIRST = "verdict_first", _("the verdict first")

    class Source(models.TextChoices):
        PAPER = "paper", pgettext_lazy("source", "Paper")
        REPOSITORY = "repository", _("Repository")
        OWN = "own", _("Own")

    CONTENT = ("name", "version", "system", "template", "protocol", "source", "citation", "is_verbatim")

    name = models.SlugField(_("name"), max_length=80)
    version = models.CharField(_("version"), max_length=40)
    system = models.TextField(_("system"), blank=True)
    template = models.TextField(
        _("template"), help_text=_("Jinja. Knows stories (fenced), premise, background, instruction, question, words.")
    )
    protocol = models.CharField(
        _("protocol"), max_length=20, choices=Protocol.choices, default=Protocol.REASONING_FIRST
    )
    source = models.CharField(_("source"), max_length=12, choices=Source.choices, default=Source.OWN)
    citation = models.TextField(_("citation"), blank=True)
    is_verbatim = models.BooleanField(_("is verbatim"), default=False, help_text=_("Word for word as in its source."))

    class Meta:
        verbose_name = _("prompt")
        verbose_name_plural = _("prompts")
        ordering = ["name", "version"]
        constraints = [models.UniqueConstraint(fields=["name", "version"], name="prompt_version_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.is_used():
            refuse_change(self, self.CONTENT)
        super().save(*args, **kwargs)

    @property
    def content(self) -> dict[str, Any]:
        """Everything that the prompt says of itself, as runs freeze it."""
        return {name: getattr(self, name) for name in self.CONTENT}

    def is_used(self) -> bool:
        return self.pk is not None and Judge.objects.filter(prompt=self.pk, runs__isnull=False).exists()

    def clean(self) -> None:
        try:
            prompts.check_templates(self.system, self.template)
        except prompts.InvalidPrompt as error:
            raise ValidationError(str(error)) from None


class Judge(models.Model):
    CONTENT = ("slug", "endpoint_id", "model", "prompt_id", "parameters", "metric", "metric_version")

    slug = models.SlugField(_("slug"), max_length=80, unique=True, help_text=_("Names its rater in every study."))
    endpoint = models.ForeignKey(
        Endpoint, verbose_name=_("endpoint"), on_delete=models.PROTECT, null=True, blank=True, related_name="judges"
    )
    model = models.CharField(_("model"), max_length=200, blank=True, help_text=_("As the endpoint calls it."))
    prompt = models.ForeignKey(
        Prompt, verbose_name=_("prompt"), on_delete=models.PROTECT, null=True, blank=True, related_name="judges"
    )
    parameters = models.JSONField(
        _("parameters"), default=dict, blank=True, help_text=_('Sent along, such as {"temperature": 0}.')
    )
    metric = models.CharField(
        _("metric"),
        max_length=40,
        blank=True,
        validators=[check_metric],
        help_text=_("In place of endpoint, model and prompt."),
    )
    metric_version = models.CharField(_("version of the metric"), max_length=40, blank=True, editable=False)

    class Meta:
        verbose_name = _("judge")
        verbose_name_plural = _("judges")
        ordering = ["slug"]
        constraints = [
            models.CheckConstraint(
                condition=Q(metric="", metric_version="", endpoint__isnull=False, prompt__isnull=False)
                | (~Q(metric="") & ~Q(metric_version="") & Q(endpoint__isnull=True, prompt__isnull=True, model="")),
                name="judge_is_a_model_or_a_metric",
                violation_error_message=_("A judge is either a model with endpoint and prompt, or a metric."),
            )
        ]

    def __str__(self) -> str:
        return self.slug

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.is_used():
            refuse_change(self, self.CONTENT)
        super().save(*args, **kwargs)

    @property
    def kind(self) -> Rater.Kind:
        """What its raters are."""
        return Rater.Kind.METRIC if self.metric else Rater.Kind.MODEL

    @property
    def is_stub(self) -> bool:
        """Whether its answers are drawn by chance."""
        return self.endpoint is not None and self.endpoint.is_stub

    @property
    def required_endpoint(self) -> Endpoint:
        """The endpoint of a model. Raises ValueError for a metric."""
        if self.endpoint is None:
            raise ValueError(f"{self} is a metric and has no endpoint")
        return self.endpoint

    @property
    def required_prompt(self) -> Prompt:
        """The prompt of a model. Raises ValueError for a metric."""
        if self.prompt is None:
            raise ValueError(f"{self} is a metric and has no prompt")
        return self.prompt

    def is_used(self) -> bool:
        return self.pk is not None and self.runs.exists()

    def clean(self) -> None:
        if not isinstance(self.parameters, dict):
            raise ValidationError({"parameters": gettext('A JSON object, such as {"temperature": 0}.')})
        if self.metric in metrics.all_metrics():
            self._clean_metric()
        elif not self.metric:
            self._clean_model()

    def _clean_metric(self) -> None:
        if not self.is_used():
            self.metric_version = metrics.find_metric(self.metric).version
        message = gettext("A metric has none.")
        names = ("endpoint", "model", "prompt", "parameters")
        if errors := {name: message for name in names if getattr(self, name)}:
            raise ValidationError(errors)

    def _clean_model(self) -> None:
        self.metric_version = ""
        message = forms.Field.default_error_messages["required"]
        if errors := {name: message for name in ("endpoint", "model", "prompt") if not getattr(self, name)}:
            raise ValidationError(errors)
        provider = (self.endpoint and self.endpoint.provider) or Provider
        if names := [name for name in provider.own_fields if name in self.parameters]:
            message = gettext("%(names)s: set by Quire itself.") % {"names": ", ".join(names)}
            raise ValidationError({"parameters": message})
        # Its code stands in tables, exports and pictures, far from where its endpoint could be looked up.
        if self.is_stub and "stub" not in self.slug:
            message = gettext("A judge without a model must say so: its name needs “stub” in it.")
            raise ValidationError({"slug": message})
