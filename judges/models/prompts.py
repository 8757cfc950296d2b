"""With which words models are asked, and as whom."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from judges import prompts
from judges.models.checks import FrozenOnceUsed


class Prompt(FrozenOnceUsed):
    class Protocol(models.TextChoices):
        REASONING_FIRST = "reasoning_first", _("reasoning first, the verdict last")
        VERDICT_FIRST = "verdict_first", _("the verdict first")

    class Asks(models.TextChoices):
        ITEM = "item", _("one item at a time")
        STORY = "story", _("all items about a story in one call")

    class Source(models.TextChoices):
        PAPER = "paper", pgettext_lazy("source", "Paper")
        REPOSITORY = "repository", _("Repository")
        OWN = "own", _("Own")

    CONTENT = (
        *("name", "version", "system", "template", "protocol", "asks", "personas", "is_structured", "item_types"),
        *("source", "citation", "place", "missing", "is_verbatim"),
    )

    name = models.SlugField(_("name"), max_length=80)
    version = models.CharField(_("version"), max_length=40)
    system = models.TextField(_("system"), blank=True)
    template = models.TextField(
        _("template"), help_text=_("Jinja. Knows stories (fenced), premise, background, instruction, question, words.")
    )
    protocol = models.CharField(
        _("protocol"), max_length=20, choices=Protocol.choices, default=Protocol.REASONING_FIRST
    )
    asks = models.CharField(_("asks"), max_length=10, choices=Asks.choices, default=Asks.ITEM)
    personas = models.SlugField(
        _("personas"), max_length=80, blank=True, help_text=_("Name of the set whose personas it takes; none if empty.")
    )
    is_structured = models.BooleanField(
        _("is structured"), default=False, help_text=_("The server is told the form of the answer.")
    )
    item_types = models.JSONField(
        _("types of items"), default=list, blank=True, help_text=_("The only ones that it can ask; none: all.")
    )
    source = models.CharField(_("source"), max_length=12, choices=Source.choices, default=Source.OWN)
    citation = models.TextField(_("citation"), blank=True)
    place = models.TextField(_("page or section"), blank=True, help_text=_("Where in its source it is printed."))
    missing = models.TextField(_("missing"), blank=True, help_text=_("What its source does not print."))
    is_verbatim = models.BooleanField(_("is verbatim"), default=False, help_text=_("Word for word as in its source."))

    class Meta:
        verbose_name = _("prompt")
        verbose_name_plural = _("prompts")
        ordering = ["name", "version"]
        constraints = [models.UniqueConstraint(fields=["name", "version"], name="prompt_version_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    def is_used(self) -> bool:
        return self.pk is not None and self.judges.filter(runs__isnull=False).exists()

    def clean(self) -> None:
        try:
            prompts.check_templates(self.system, self.template)
        except prompts.InvalidPrompt as error:
            raise ValidationError(str(error)) from None
        self.asks = prompts.shape_of(self.template).asks


class PersonaSet(FrozenOnceUsed):
    CONTENT = ("name", "version", "source", "citation", "is_verbatim", "personas")

    name = models.SlugField(_("name"), max_length=80)
    version = models.CharField(_("version"), max_length=40)
    source = models.CharField(_("source"), max_length=12, choices=Prompt.Source.choices, default=Prompt.Source.OWN)
    citation = models.TextField(_("citation"), blank=True)
    is_verbatim = models.BooleanField(_("is verbatim"), default=False, help_text=_("Word for word as in its source."))
    personas = models.JSONField(_("personas"), help_text=_("A list of objects with name and text, the first first."))

    class Meta:
        verbose_name = _("set of personas")
        verbose_name_plural = _("sets of personas")
        ordering = ["name", "version"]
        constraints = [models.UniqueConstraint(fields=["name", "version"], name="persona_set_version_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def text_by_name(self) -> dict[str, str]:
        """What each persona is told to be, in the set's order."""
        return {persona["name"]: persona["text"] for persona in self.personas}

    def is_used(self) -> bool:
        return self.pk is not None and self.runs.exists()

    def clean(self) -> None:
        message = gettext("A list of objects with a name and a text each, no name twice and none empty.")
        try:
            names = [persona["name"] for persona in self.personas]
            words = [*names, *(persona["text"] for persona in self.personas)]
        except (TypeError, KeyError):
            raise ValidationError({"personas": message}) from None
        is_sound = names and len(set(names)) == len(names) and all(isinstance(word, str) and word for word in words)
        if not is_sound:
            raise ValidationError({"personas": message})
