"""Judges: a model at an endpoint with its prompt and parameters, or a metric in one version."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.models import Rater
from judges import metrics

# The first migration names the checks as they stood in this file.
from judges.models.checks import FrozenOnceUsed, check_address, check_metric, check_provider
from judges.models.endpoints import Endpoint
from judges.models.prompts import Prompt
from judges.providers import (
    HIGHEST_REPLY_LIMIT,
    REASONING_EFFORT,
    REASONING_EFFORTS,
    Provider,
    is_reply_limit,
)

__all__ = ["Judge", "check_address", "check_metric", "check_provider", "is_judging"]


def is_judging(path: str = "") -> Q:
    """Whether a judge judges: it neither tries a prompt, nor writes texts, nor measures them.

    path : to the judge, such as "judge__"
    """
    return Q(**{f"{path}{flag}": False for flag in ("is_trial", "is_writer", "is_measurer")})


class JudgeQuerySet(models.QuerySet["Judge"]):
    def judging(self) -> JudgeQuerySet:
        return self.filter(is_judging())


class Judge(FrozenOnceUsed):
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
        help_text=_("Instead of endpoint, model and prompt."),
    )
    is_trial = models.BooleanField(
        _("only tries a prompt"),
        default=False,
        editable=False,
        help_text=_("It was made to choose among prompts; no report or list counts it."),
    )
    is_writer = models.BooleanField(
        _("only writes texts"),
        default=False,
        editable=False,
        help_text=_("It was made for a generation of texts; it judges nothing, and no report or list counts it."),
    )
    is_measurer = models.BooleanField(
        _("only measures texts"),
        default=False,
        editable=False,
        help_text=_(
            "It was made to ask for log-probabilities or vectors; it judges nothing, and no report or list counts it."
        ),
    )
    metric_version = models.CharField(_("version of the metric"), max_length=40, blank=True, editable=False)

    objects = JudgeQuerySet.as_manager()

    class Meta:
        verbose_name = _("judge")
        verbose_name_plural = _("judges")
        ordering = ["slug"]
        constraints = [
            models.CheckConstraint(
                condition=(
                    Q(metric="", metric_version="", endpoint__isnull=False)
                    & (Q(prompt__isnull=False) | Q(is_measurer=True))
                )
                | (~Q(metric="") & ~Q(metric_version="") & Q(endpoint__isnull=True, prompt__isnull=True, model="")),
                name="judge_is_a_model_or_a_metric",
                violation_error_message=_("A judge is either a model with endpoint and prompt, or a metric."),
            )
        ]

    def __str__(self) -> str:
        return self.slug

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

    @property
    def repeats_itself(self) -> bool:
        """Whether it gives one reply however often it is asked: with a seed, at temperature 0."""
        return "seed" in self.parameters and self.parameters.get("temperature") == 0

    @property
    def is_from_log(self) -> bool:
        """Whether its replies came in with a log of another tool, so that it can be asked nothing further."""
        return self.endpoint is not None and self.endpoint.is_of_logs

    @property
    def protocol(self) -> str:
        """How its replies are read; "" of a metric."""
        return self.prompt.protocol if self.prompt else ""

    @property
    def leaves_temperature(self) -> bool:
        """Whether it is a model that is asked at whatever temperature its provider takes."""
        is_asked = self.endpoint is not None and not self.is_stub and not self.is_from_log
        return is_asked and "temperature" not in self.parameters

    def parameters_of(self, repeat: int) -> dict[str, Any]:
        """What is sent along with that repeat of a reading: the judge's parameters, a seed raised by one for each.

        With one seed a model that honours it would say the same again, and repeats would measure nothing.
        """
        parameters: dict[str, Any] = dict(self.parameters)
        if isinstance(seed := parameters.get("seed"), int):
            parameters["seed"] = seed + repeat - 1
        return parameters

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
        needed = ("endpoint", "model") if self.is_measurer else ("endpoint", "model", "prompt")
        if errors := {name: message for name in needed if not getattr(self, name)}:
            raise ValidationError(errors)
        provider = (self.endpoint and self.endpoint.provider) or Provider
        if names := [name for name in provider.own_fields if name in self.parameters]:
            message = gettext("%(names)s: set by Quire itself.") % {"names": ", ".join(names)}
            raise ValidationError({"parameters": message})
        if names := [name for name in provider.unknown_fields if name in self.parameters]:
            message = gettext("%(names)s: %(provider)s does not take it. Leave it out.")
            raise ValidationError({"parameters": message % {"names": ", ".join(names), "provider": provider.title}})
        if not isinstance(self.parameters.get(REASONING_EFFORT, ""), str):
            message = gettext("%(name)s: a word, such as %(words)s.")
            values = {"name": REASONING_EFFORT, "words": ", ".join(REASONING_EFFORTS)}
            raise ValidationError({"parameters": message % values})
        if names := [name for name in provider.object_fields if not isinstance(self.parameters.get(name, {}), dict)]:
            message = gettext("%(names)s: a JSON object.") % {"names": ", ".join(names)}
            raise ValidationError({"parameters": message})
        if not isinstance(self.parameters.get("seed", 0), int):
            raise ValidationError({"parameters": gettext("seed: a whole number; each repeat is sent the next one.")})
        if any(name in self.parameters and not is_reply_limit(self.parameters[name]) for name in provider.reply_limits):
            message = gettext("%(names)s: a whole number from 1 to %(most)d; leave it out for no limit.")
            limits = {"names": ", ".join(provider.reply_limits), "most": HIGHEST_REPLY_LIMIT}
            raise ValidationError({"parameters": message % limits})
        # Its code stands in tables, exports and pictures, far from where its endpoint could be looked up.
        if self.is_stub and "stub" not in self.slug:
            message = gettext("A judge without a model must say so: its name needs “stub” in it.")
            raise ValidationError({"slug": message})
