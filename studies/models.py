"""What is asked, about which texts, in which order of steps.

A **study** shows **stories** in **groups** and asks **instruments** made of **items**, in **steps**.

Source         who wrote: a person or a model, by name and kind.
Story          a text as raters see it, under a code that says nothing; withheld if we have answers but no right to it.
Provenance     where a story comes from. Kept apart: code that serves raters never reads this table.
StoryGroup     stories that are read together; a story can stand in several groups (pairs).
Instrument     a published questionnaire in one version; once published it never changes.
Item           one question of an instrument.
Cloze          a text with blanks, and the instruments that it becomes: one to fill it, one to judge what was filled.
Study          what runs: its stories, its groups, its design.
ProtocolVersion  the steps as frozen on a day, as canonical JSON with a hash. Not frozen: the draft.
Step           one part of the protocol: a text to agree to or read, or an instrument to answer. A metric's values stand
               in a step of their own, which is no part of the protocol.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from studies import hashing, layouts, vocabulary
from studies.documents.cloze import ClozeDocument, parse_cloze
from studies.publication import ItemQuerySet, explain_published, explain_published_item


class Source(models.Model):
    Kind = vocabulary.SourceKind

    name = models.CharField(_("name"), max_length=200, unique=True)
    kind = models.CharField(_("kind"), max_length=20, choices=Kind.choices, default=Kind.OTHER)

    class Meta:
        verbose_name = _("source")
        verbose_name_plural = _("sources")

    def __str__(self) -> str:
        return self.name


class Instrument(models.Model):
    class Status(models.TextChoices):
        DRAFT = "draft", _("Draft")
        PUBLISHED = "published", _("Published")

    slug = models.SlugField(_("slug"), max_length=80)
    version = models.CharField(_("version"), max_length=40)
    title = models.CharField(_("title"), max_length=200)
    language = models.CharField(_("language"), max_length=12, default="en")
    citation = models.TextField(_("citation"), blank=True)
    note = models.TextField(_("note"), blank=True, help_text=_("What a designer should know before using it."))
    status = models.CharField(_("status"), max_length=12, choices=Status.choices, default=Status.DRAFT)
    fingerprint = models.CharField(_("fingerprint"), max_length=64, blank=True, editable=False)

    FINAL = ("slug", "version", "title", "language", "status", "fingerprint")

    class Meta:
        verbose_name = _("instrument")
        verbose_name_plural = _("instruments")
        ordering = ["slug", "version"]
        constraints = [models.UniqueConstraint(fields=["slug", "version"], name="instrument_version_once")]

    def __str__(self) -> str:
        return f"{self.slug} {self.version}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Raises AlreadyPublished if a published instrument would ask something else. Citation and note can change."""
        published = Instrument.objects.filter(pk=self.pk, status=self.Status.PUBLISHED)
        if (stored := published.values(*self.FINAL).first()) and _differ(self, stored):
            raise explain_published(self)
        super().save(*args, **kwargs)


def _differ(row: models.Model, stored: dict[str, Any]) -> bool:
    return any(getattr(row, name) != value for name, value in stored.items())


class Item(models.Model):
    Rationale = vocabulary.Rationale
    Unit = vocabulary.RationaleUnit

    instrument = models.ForeignKey(
        Instrument, verbose_name=_("instrument"), on_delete=models.CASCADE, related_name="items"
    )
    position = models.PositiveSmallIntegerField(_("position"))
    key = models.SlugField(_("key"), max_length=80)
    type = models.CharField(_("type"), max_length=20)
    dimension = models.CharField(_("dimension"), max_length=80, blank=True)
    title = models.CharField(_("title"), max_length=200, blank=True)
    question = models.TextField(_("question"))
    background = models.TextField(
        _("background"), blank=True, help_text=_("The expanded measure that raters and models read above the question.")
    )
    help = models.TextField(_("help"), blank=True, help_text=_("A hint beside the controls."))
    instruction = models.TextField(_("instruction"), blank=True, help_text=_("Told to models only."))
    options = models.JSONField(_("options"), default=list, blank=True)
    settings = models.JSONField(_("settings"), default=dict, blank=True)
    rationale = models.CharField(_("rationale"), max_length=10, choices=Rationale.choices, default=Rationale.NONE)
    rationale_least = models.PositiveSmallIntegerField(_("rationale least"), default=0)
    rationale_unit = models.CharField(_("rationale unit"), max_length=10, choices=Unit.choices, default=Unit.SENTENCES)
    rationale_label = models.CharField(
        _("rationale label"),
        max_length=120,
        blank=True,
        help_text=_("Above the field for reasons, in place of Quire’s own words."),
    )
    suggested = models.CharField(
        _("suggested"), max_length=120, blank=True, help_text=_("A length that is suggested, never enforced.")
    )
    is_skippable = models.BooleanField(_("is skippable"), default=False)
    quoted = models.JSONField(_("quoted"), default=list, blank=True, help_text=_("Fields that quote the source."))
    adapted = models.JSONField(_("adapted"), default=list, blank=True, help_text=_("Fields written or adapted here."))

    # All but what only says where the words come from.
    MAY_CHANGE = ("quoted", "adapted")

    objects = ItemQuerySet.as_manager()

    class Meta:
        verbose_name = _("item")
        verbose_name_plural = _("items")
        ordering = ["instrument", "position"]
        constraints = [
            models.UniqueConstraint(fields=["instrument", "key"], name="item_key_once"),
            models.UniqueConstraint(fields=["instrument", "position"], name="item_position_once"),
        ]

    def __str__(self) -> str:
        return self.title or self.key

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Raises AlreadyPublished if a published instrument would ask something else."""
        if self.is_published():
            names = [f.attname for f in self._meta.concrete_fields if f.name not in self.MAY_CHANGE]
            stored = Item.objects.filter(pk=self.pk).values(*names).first()
            if stored is None or _differ(self, stored):
                raise explain_published_item(self, "never changes")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        if self.is_published():
            raise explain_published_item(self, "stays")
        return super().delete(*args, **kwargs)

    def is_published(self) -> bool:
        """Whether it belongs to a published instrument, or would be moved into or out of one."""
        is_its_instrument = Q(pk=self.instrument_id) | Q(items=self.pk) if self.pk else Q(pk=self.instrument_id)
        return Instrument.objects.filter(is_its_instrument, status=Instrument.Status.PUBLISHED).exists()


class Cloze(models.Model):
    slug = models.SlugField(_("slug"), max_length=80)
    version = models.CharField(_("version"), max_length=40)
    title = models.CharField(_("title"), max_length=200)
    document = models.TextField(_("document"), help_text=_("All of it as TOML; docs/cloze.md explains every key."))
    # Both or neither: it is a draft until it is published as these.
    filling = models.OneToOneField(
        Instrument, verbose_name=_("filling"), on_delete=models.PROTECT, null=True, blank=True, related_name="cloze"
    )
    judging = models.ForeignKey(
        Instrument, verbose_name=_("judging"), on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )

    FINAL = ("slug", "version", "title", "document", "filling_id", "judging_id")

    class Meta:
        verbose_name = _("cloze")
        ordering = ["slug", "version"]
        verbose_name_plural = _("clozes")
        constraints = [
            models.UniqueConstraint(fields=["slug", "version"], name="cloze_version_once"),
            models.CheckConstraint(
                condition=Q(filling__isnull=True, judging__isnull=True)
                | Q(filling__isnull=False, judging__isnull=False),
                name="cloze_has_both_instruments_or_none",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.slug} {self.version}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Raises AlreadyPublished if a published cloze would change, DocumentError if the document cannot be."""
        published = Cloze.objects.filter(pk=self.pk).exclude(filling=None)
        if (stored := published.values(*self.FINAL).first()) and _differ(self, stored):
            raise explain_published(self)
        self.slug, self.version, self.title = self.parsed.slug, self.parsed.version, self.parsed.title
        super().save(*args, **kwargs)

    @property
    def is_published(self) -> bool:
        return self.filling_id is not None

    @property
    def parsed(self) -> ClozeDocument:
        """What the document says. Raises DocumentError."""
        return _parsed(self.document)

    @property
    def skeleton(self) -> str:
        """The text with a marker for every blank, as the story of a group to be filled."""
        return self.parsed.marked_text


@lru_cache(maxsize=32)
def _parsed(document: str) -> ClozeDocument:
    # Read with every page and every save of a rater who fills it; what comes back is frozen, so it can be shared.
    return parse_cloze(document, "document")


class Study(models.Model):
    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        LIVE = "live", _("Live")
        PAUSED = "paused", _("Paused")
        CLOSED = "closed", _("Closed")

    OrderPolicy = vocabulary.OrderPolicy

    slug = models.SlugField(_("slug"), max_length=80, unique=True)
    title = models.CharField(_("title"), max_length=200, help_text=_("Shown to raters."))
    language = models.CharField(_("language"), max_length=12, default="en")
    description = models.TextField(_("description"), blank=True, help_text=_("For colleagues; never shown to raters."))
    organiser = models.CharField(
        _("organiser"), max_length=200, blank=True, help_text=_("Who runs the study, as raters are told.")
    )
    contact = models.EmailField(_("contact"), blank=True)
    minutes = models.PositiveSmallIntegerField(
        _("minutes"), null=True, blank=True, help_text=_("Expected minutes for one group.")
    )
    notice = models.CharField(
        _("notice"), max_length=300, blank=True, help_text=_("Shown on every page of the study and its report.")
    )
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.DRAFT)
    seats_per_group = models.PositiveSmallIntegerField(_("seats per group"), default=3)
    order_policy = models.CharField(
        _("order policy"), max_length=10, choices=OrderPolicy.choices, default=OrderPolicy.BALANCED
    )
    seed = models.BigIntegerField(_("seed"), default=0)
    shows_premise = models.BooleanField(_("shows premise"), default=False)
    asks_recognition = models.BooleanField(
        _("asks recognition"),
        default=True,
        help_text=_(
            "Before a group for the reading desk, raters are asked whether they know one of its stories; "
            "whoever does gets another group."
        ),
    )
    groups_per_sitting = models.PositiveSmallIntegerField(
        _("groups per sitting"), default=1, help_text=_("One receipt for so many groups.")
    )
    launched_at = models.DateTimeField(_("launched at"), null=True, blank=True)
    closes_at = models.DateTimeField(_("closes at"), null=True, blank=True, help_text=_("Until when raters may work."))
    closed_at = models.DateTimeField(_("closed at"), null=True, blank=True)

    class Meta:
        verbose_name = _("study")
        ordering = ["slug"]
        verbose_name_plural = _("studies")

    def __str__(self) -> str:
        return self.slug

    @property
    def is_draft(self) -> bool:
        return self.state == self.State.DRAFT

    @property
    def is_live(self) -> bool:
        return self.state == self.State.LIVE

    @property
    def is_paused(self) -> bool:
        """Whether raters wait: nothing can be answered, nothing is lost, and all goes on once it is resumed."""
        return self.state == self.State.PAUSED

    @property
    def is_closed(self) -> bool:
        return self.state == self.State.CLOSED


class Story(models.Model):
    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="stories")
    code = models.CharField(_("code"), max_length=80, help_text=_("Names the story in data; raters never see it."))
    text = models.TextField(_("text"), blank=True)
    language = models.CharField(_("language"), max_length=12, default="en")
    n_words = models.PositiveIntegerField(_("n words"), editable=False)
    sha256 = models.CharField(
        _("sha256"), max_length=64, editable=False, help_text=_("Of the text as shown, in UTF-8.")
    )
    is_withheld = models.BooleanField(
        _("is withheld"), default=False, help_text=_("We have answers about it but no right to its text.")
    )

    class Meta:
        verbose_name = _("story")
        ordering = ["study", "code"]
        verbose_name_plural = _("stories")
        constraints = [
            models.UniqueConstraint(fields=["study", "code"], name="story_code_once"),
            models.CheckConstraint(
                condition=(Q(is_withheld=True) & Q(text="")) | (Q(is_withheld=False) & ~Q(text="")),
                name="story_has_text_or_is_withheld",
            ),
        ]

    def __str__(self) -> str:
        return self.code

    def save(self, *args: Any, **kwargs: Any) -> None:
        measure(self)
        super().save(*args, **kwargs)


def measure(story: Story) -> Story:
    """The same story with its word count and hash taken from its text."""
    story.n_words = len(story.text.split())
    story.sha256 = hashing.sha256(story.text)
    return story


class Provenance(models.Model):
    story = models.OneToOneField(
        Story, verbose_name=_("story"), on_delete=models.CASCADE, primary_key=True, related_name="provenance"
    )
    source = models.ForeignKey(Source, verbose_name=_("source"), on_delete=models.PROTECT, related_name="provenances")
    title = models.CharField(_("title"), max_length=300, blank=True)
    url = models.URLField(_("url"), max_length=500, blank=True)
    licence = models.CharField(_("licence"), max_length=200, blank=True)
    may_redistribute = models.BooleanField(_("may redistribute"), default=False)
    may_send_out = models.BooleanField(
        _("may send out"), default=False, help_text=_("May the text go to an outside model provider?")
    )
    factors = models.JSONField(
        _("factors"), default=dict, blank=True, help_text=_("What reports can group by, as name: value.")
    )
    raw_text = models.TextField(
        _("raw text"), blank=True, help_text=_("The text as it came; empty if it is shown as it came.")
    )
    raw_sha256 = models.CharField(
        _("raw sha256"), max_length=64, blank=True, editable=False, help_text=_("Of the raw text, in UTF-8.")
    )

    class Meta:
        verbose_name = _("provenance")
        verbose_name_plural = _("provenances")

    def __str__(self) -> str:
        # Admin logs keep str(); a source here would leak it to everyone who reads them.
        return f"provenance of {self.story_id}"


class StoryGroup(models.Model):
    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="groups")
    code = models.CharField(_("code"), max_length=80)
    premise = models.TextField(_("premise"), blank=True)
    stories = models.ManyToManyField(Story, verbose_name=_("stories"), related_name="groups")

    class Meta:
        verbose_name = _("story group")
        verbose_name_plural = _("story groups")
        ordering = ["study", "code"]
        constraints = [models.UniqueConstraint(fields=["study", "code"], name="group_code_once")]

    def __str__(self) -> str:
        return self.code


class ProtocolVersion(models.Model):
    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveSmallIntegerField(_("number"))
    document = models.TextField(_("document"), blank=True, help_text=_("Canonical JSON, once frozen."))
    sha256 = models.CharField(_("sha256"), max_length=64, blank=True)
    reason = models.CharField(_("reason"), max_length=300, blank=True)
    frozen_at = models.DateTimeField(_("frozen at"), null=True, blank=True)
    frozen_by = models.CharField(_("frozen by"), max_length=150, blank=True)

    class Meta:
        verbose_name = _("protocol version")
        verbose_name_plural = _("protocol versions")
        ordering = ["study", "number"]
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="protocol_number_once")]

    def __str__(self) -> str:
        return f"{self.study} {self.number}"


class Step(models.Model):
    Kind = vocabulary.StepKind
    Scope = vocabulary.StepScope
    Background = vocabulary.StepBackground
    Layout = vocabulary.StepLayout

    version = models.ForeignKey(
        ProtocolVersion, verbose_name=_("version"), on_delete=models.CASCADE, related_name="steps"
    )
    position = models.PositiveSmallIntegerField(_("position"))
    key = models.SlugField(_("key"), max_length=40)
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices)
    title = models.CharField(_("title"), max_length=200, blank=True)
    text = models.TextField(
        _("text"), blank=True, help_text=_("What a consent or briefing says; above an instrument, a short lead.")
    )
    instrument = models.ForeignKey(
        Instrument, verbose_name=_("instrument"), on_delete=models.PROTECT, null=True, blank=True
    )
    scope = models.CharField(_("scope"), max_length=10, choices=Scope.choices, blank=True)
    locks = models.BooleanField(
        _("locks"), default=False, help_text=_("Answers of earlier steps cannot be changed once this one is open.")
    )
    background = models.CharField(_("background"), max_length=10, choices=Background.choices, default=Background.FOLDED)
    layout = models.CharField(_("layout"), max_length=10, choices=Layout.choices, default=Layout.ITEMS, blank=True)
    revises = models.SlugField(
        _("revises"),
        max_length=40,
        blank=True,
        help_text=_("The key of an earlier step with the same instrument; what was answered there stands here again."),
    )
    options = models.JSONField(
        _("options"), default=dict, blank=True, help_text=_("What else the layout lets the protocol choose.")
    )
    story = models.TextField(_("story"), blank=True, help_text=_("What raters practise on; it belongs to no group."))
    samples = models.JSONField(
        _("samples"),
        default=dict,
        blank=True,
        help_text=_("Sample answers to practise beside: by the key of an item its value, and why."),
    )

    class Meta:
        verbose_name = _("step")
        verbose_name_plural = _("steps")
        ordering = ["version", "position"]
        constraints = [
            models.UniqueConstraint(fields=["version", "position"], name="step_position_once"),
            models.UniqueConstraint(fields=["version", "key"], name="step_key_once"),
            models.CheckConstraint(
                condition=(Q(kind="rating", instrument__isnull=False) & ~Q(scope=""))
                | Q(kind="practice", instrument__isnull=False, scope="once")
                # It stands beside the protocol, so it can have nothing that a rater's way is made of.
                | Q(kind="metric", instrument__isnull=False, scope="", locks=False, layout="", revises="")
                | (~Q(kind__in=["rating", "practice", "metric"]) & Q(instrument__isnull=True, scope="")),
                name="rating_step_has_instrument_and_scope",
            ),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def layout_type(self) -> layouts.Layout:
        """What knows how its items are laid out. Raises LookupError if the row names no layout."""
        return layouts.find_layout(self.layout)

    def validate_constraints(self, exclude: Any = None) -> None:
        """As ever, but in the words of whoever designs instead of a constraint's name."""
        try:
            super().validate_constraints(exclude)
        except ValidationError as error:
            if "rating_step_has_instrument_and_scope" not in str(error):
                raise
            raise ValidationError(
                _(
                    "A step of kind rating needs an instrument and a scope, a practice an instrument and the scope "
                    "once; other steps have neither."
                )
            ) from None
