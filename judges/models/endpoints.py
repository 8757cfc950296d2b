"""Where models are reached, how many calls each place bears, and what they cost there."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from judges import addresses, providers
from judges.models.checks import check_address, check_provider
from judges.models.notes import write_note
from judges.providers import Provider

# No answer to a question is as long as this; whatever is, must not fill the memory of a worker.
MOST_BYTES = 4_000_000


class Endpoint(models.Model):
    # In place of an address: of all that other tools have sent, whose logs came in. Nothing can be sent there.
    LOGS = "log:"
    MOVED = _(
        "The address has changed, so its key and permission were removed. An administrator must enter the "
        "key and allow it again."
    )

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
        _("calls at once"), default=4, validators=[MinValueValidator(1), MaxValueValidator(1024)]
    )
    timeout_seconds = models.PositiveSmallIntegerField(
        _("timeout seconds"), default=120, validators=[MinValueValidator(1), MaxValueValidator(3600)]
    )

    max_body_bytes = models.PositiveIntegerField(
        _("most bytes of a reply"),
        default=MOST_BYTES,
        validators=[MinValueValidator(1_000)],
        help_text=_("Whatever is longer is no answer."),
    )
    requests_per_minute = models.PositiveIntegerField(
        _("requests per minute"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    tokens_per_minute = models.PositiveIntegerField(
        _("tokens per minute"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    # What follows is written by the workers; all of them together keep to it.
    learnt_at_once = models.PositiveSmallIntegerField(
        _("calls at once that it bore"), null=True, blank=True, editable=False
    )
    resting_until = models.DateTimeField(_("resting until"), null=True, blank=True, editable=False)
    resting_reason = models.TextField(_("resting because"), blank=True, editable=False)
    n_rests = models.PositiveSmallIntegerField(_("rests without an answer between"), default=0, editable=False)
    # In English, with places for the values: it is translated when it is shown.
    needs_attention = models.TextField(
        _("needs attention"), blank=True, editable=False, help_text=_("Nothing is sent before a person has looked.")
    )
    attention_values = models.JSONField(_("values of that"), default=dict, blank=True, editable=False)
    minute_began = models.DateTimeField(_("minute began"), null=True, blank=True, editable=False)
    n_requests_in_minute = models.PositiveIntegerField(_("requests in this minute"), default=0, editable=False)
    n_tokens_in_minute = models.PositiveIntegerField(_("tokens in this minute"), default=0, editable=False)

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
    def attention(self) -> str:
        """What a person has to see to, in the language of whoever reads; "" if nothing."""
        return write_note(self.needs_attention, self.attention_values)

    @property
    def is_stub(self) -> bool:
        """Whether nothing is reached, and answers are drawn by chance."""
        return self.provider is not None and self.provider.is_stub

    @property
    def is_of_logs(self) -> bool:
        """Whether it stands for what other tools have sent, so that it can never be asked."""
        return self.base_url == self.LOGS

    @property
    def takes_batches(self) -> bool:
        """Whether calls can be handed in many at once."""
        return self.provider is not None and self.provider.takes_batches

    @property
    def provider(self) -> Provider | None:
        """What speaks to it; None if its file is no longer there."""
        return providers.all_providers().get(self.adapter)


class Share(models.Model):
    endpoint = models.ForeignKey(Endpoint, verbose_name=_("endpoint"), on_delete=models.CASCADE, related_name="shares")
    worker = models.CharField(_("worker"), max_length=32)
    n = models.PositiveSmallIntegerField(_("calls at once"), default=0)
    until = models.DateTimeField(_("until"))
    is_leaving = models.BooleanField(_("is leaving"), default=False, help_text=_("Its worker begins no more calls."))

    class Meta:
        verbose_name = _("share")
        verbose_name_plural = _("shares")
        constraints = [models.UniqueConstraint(fields=["endpoint", "worker"], name="share_once_per_worker")]

    def __str__(self) -> str:
        return f"{self.n} of {self.endpoint_id}"


class Price(models.Model):
    adapter = models.CharField(
        _("adapter"), max_length=40, blank=True, help_text=_("Of every endpoint of that kind; or name one endpoint.")
    )
    endpoint = models.ForeignKey(
        Endpoint, verbose_name=_("endpoint"), on_delete=models.CASCADE, null=True, blank=True, related_name="prices"
    )
    model = models.CharField(_("model"), max_length=200)
    usd_per_million_in = models.DecimalField(_("USD per million tokens in"), max_digits=12, decimal_places=6)
    usd_per_million_out = models.DecimalField(_("USD per million tokens out"), max_digits=12, decimal_places=6)
    usd_per_million_cached = models.DecimalField(
        _("USD per million tokens cached"),
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        help_text=_("Empty: as other tokens in."),
    )
    usd_per_million_cache_written = models.DecimalField(
        _("USD per million tokens written to the cache"),
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        help_text=_("Empty: as other tokens in; at Anthropic 1.25 times as much."),
    )
    valid_from = models.DateField(_("valid from"))

    class Meta:
        verbose_name = _("price")
        verbose_name_plural = _("prices")
        ordering = ["model", "-valid_from"]
        constraints = [
            models.CheckConstraint(
                condition=(Q(adapter="") & Q(endpoint__isnull=False)) | (~Q(adapter="") & Q(endpoint__isnull=True)),
                name="price_of_an_adapter_or_an_endpoint",
                violation_error_message=_("A price is either of an adapter or of one endpoint."),
            ),
            models.UniqueConstraint(
                fields=["adapter", "model", "valid_from"],
                condition=Q(endpoint__isnull=True),
                name="price_once_per_adapter",
                violation_error_message=_("This model has a price from that day on; change that one, or its day."),
            ),
            models.UniqueConstraint(
                fields=["endpoint", "model", "valid_from"],
                condition=Q(endpoint__isnull=False),
                name="price_once_per_endpoint",
                violation_error_message=_("This model has a price from that day on; change that one, or its day."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model} {self.valid_from}"
