"""Raters without a browser: which models are asked, with which words, and every call that was made.

Endpoint  where a model is reached. Holds the name of the key's environment variable, never the key.
Prompt    what a model is told, in one version. Once used, it never changes.
Judge     an endpoint, a model, a prompt and parameters; or a metric in one version. Each study that it judges gets its
          own rater, of the same code.
Run       a judge at work in a study; what it does is frozen as a document before the first call.
Call      one item about one story (or a group), to be asked once; a cloze is asked for as a whole, all its items in one
          call, and a metric for all its values. All calls are rows before the first is sent.
Attempt   one sending of a call, written down before it is sent.
"""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from annotation.models import Assignment, Rater
from judges import addresses, metrics, prompts, providers
from judges.providers import Provider
from studies.models import Item, Step, Story, Study


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
        return self.pk is not None and Run.objects.filter(judge__prompt=self.pk).exists()

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


class Run(models.Model):
    class State(models.TextChoices):
        RUNNING = "running", _("Running")
        STOPPED = "stopped", _("Stopped")
        FINISHED = "finished", _("Finished")

    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="runs")
    judge = models.ForeignKey(Judge, verbose_name=_("judge"), on_delete=models.PROTECT, related_name="runs")
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.RUNNING)
    note = models.TextField(_("note"), blank=True, help_text=_("Why it was stopped."))
    document = models.TextField(_("document"), editable=False, help_text=_("What is run, as canonical JSON."))
    sha256 = models.CharField(_("sha256"), max_length=64, editable=False)
    created_by = models.CharField(_("created by"), max_length=150)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)
    n_planned = models.PositiveIntegerField(_("calls"))
    busy_until = models.DateTimeField(
        _("busy until"), null=True, blank=True, help_text=_("A worker has it in hand, or soon will.")
    )

    class Meta:
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        ordering = ["-created_at", "-pk"]
        constraints = [
            # One value per rater and unit. Repeats will be seats and runs of their own, once they are asked for.
            models.UniqueConstraint(fields=["study", "judge"], name="judge_runs_once_per_study")
        ]

    def __str__(self) -> str:
        return f"{self.judge_id and self.judge.slug} in {self.study_id and self.study.slug}"

    @property
    def withheld(self) -> list[str]:
        """Codes of the stories that it leaves out, since their texts are withheld."""
        return list(json.loads(self.document).get("withheld", []))


class Call(models.Model):
    class State(models.TextChoices):
        PLANNED = "planned", _("Planned")
        LEASED = "leased", _("Leased")
        OK = "ok", _("Ok")
        REFUSED = "refused", _("Refused")
        BLOCKED = "blocked", _("Blocked")
        TRUNCATED = "truncated", _("Truncated")
        UNREADABLE = "unreadable", _("Unreadable")
        OUT_OF_RANGE = "out_of_range", _("out of range")
        PROVIDER_ERROR = "provider_error", _("provider error")

    PENDING = (State.PLANNED, State.LEASED)

    run = models.ForeignKey(Run, verbose_name=_("run"), on_delete=models.CASCADE, related_name="calls")
    assignment = models.ForeignKey(
        Assignment, verbose_name=_("assignment"), on_delete=models.CASCADE, related_name="calls"
    )
    step = models.ForeignKey(Step, verbose_name=_("step"), on_delete=models.PROTECT)
    item = models.ForeignKey(
        Item,
        verbose_name=_("item"),
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        help_text=_("None: all of the step."),
    )
    story = models.ForeignKey(Story, verbose_name=_("story"), on_delete=models.PROTECT, null=True, blank=True)
    state = models.CharField(_("state"), max_length=20, choices=State.choices, default=State.PLANNED)
    lease = models.CharField(_("lease"), max_length=32, blank=True, help_text=_("Whose it is while it is leased."))
    lease_until = models.DateTimeField(_("lease until"), null=True, blank=True)
    not_before = models.DateTimeField(
        _("not before"), null=True, blank=True, help_text=_("When it may be tried again.")
    )
    n_failures = models.PositiveSmallIntegerField(_("n failures"), default=0)
    request = models.JSONField(_("request"))
    # Text, not JSON: it is kept as it came, and JSON may spell characters that PostgreSQL's JSON cannot hold.
    response = models.TextField(_("response"), blank=True, help_text=_("The body of the reply, as it came."))
    reason = models.TextField(_("reason"), blank=True)
    n_tokens_in = models.PositiveIntegerField(_("n tokens in"), null=True, blank=True)
    n_tokens_out = models.PositiveIntegerField(_("n tokens out"), null=True, blank=True)
    sent_at = models.DateTimeField(_("sent at"), null=True, blank=True)
    answered_at = models.DateTimeField(_("answered at"), null=True, blank=True)

    class Meta:
        verbose_name = _("call")
        verbose_name_plural = _("calls")
        indexes = [models.Index(fields=["run", "state"], name="call_by_run_and_state")]
        constraints = [
            # A missing story is not equal to itself in SQL, hence two constraints.
            models.UniqueConstraint(
                fields=["run", "assignment", "step", "item", "story"],
                condition=Q(story__isnull=False),
                name="call_once_per_story",
            ),
            models.UniqueConstraint(
                fields=["run", "assignment", "step", "item"],
                condition=Q(story__isnull=True),
                name="call_once_without_story",
            ),
            models.UniqueConstraint(
                fields=["run", "assignment", "step"],
                condition=Q(item__isnull=True, story__isnull=True),
                name="call_once_for_all_items",
            ),
            models.UniqueConstraint(
                fields=["run", "assignment", "step", "story"],
                condition=Q(item__isnull=True, story__isnull=False),
                name="call_once_for_all_items_of_a_story",
            ),
            models.CheckConstraint(
                condition=Q(state="leased", lease_until__isnull=False) | ~Q(state="leased"), name="lease_has_an_end"
            ),
        ]

    def __str__(self) -> str:
        return f"call {self.pk}"


class Attempt(models.Model):
    class Outcome(models.TextChoices):
        IN_FLIGHT = "", _("in flight")
        ANSWERED = "answered", _("Answered")
        FAILED = "failed", _("Failed")
        UNKNOWN = "unknown_outcome", _("unknown: sent, and nobody heard")
        LATE = "late", _("late: answered, but no longer waited for")

    call = models.ForeignKey(Call, verbose_name=_("call"), on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveSmallIntegerField(_("number"))
    sent_at = models.DateTimeField(_("sent at"))
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    outcome = models.CharField(
        _("outcome"), max_length=20, choices=Outcome.choices, blank=True, default=Outcome.IN_FLIGHT
    )
    reason = models.TextField(_("reason"), blank=True)

    class Meta:
        verbose_name = _("attempt")
        verbose_name_plural = _("attempts")
        ordering = ["call", "number"]
        constraints = [models.UniqueConstraint(fields=["call", "number"], name="attempt_number_once")]

    def __str__(self) -> str:
        return f"attempt {self.call_id}/{self.number}"
