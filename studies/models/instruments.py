"""What is asked: instruments, their items, and the cloze, which becomes two instruments."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from studies import vocabulary
from studies.documents.cloze import ClozeDocument, parse_cloze
from studies.documents.scores import ScoreDocument, parse_score
from studies.publication import ItemQuerySet, explain_published, explain_published_item, list_changed


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
    scores = models.JSONField(
        _("scores"), default=list, blank=True, help_text=_("Sums and means of its items, as its file declares them.")
    )

    FINAL = ("slug", "version", "title", "language", "scores", "status", "fingerprint")

    class Meta:
        verbose_name = _("instrument")
        verbose_name_plural = _("instruments")
        ordering = ["slug", "version"]
        constraints = [models.UniqueConstraint(fields=["slug", "version"], name="instrument_version_once")]

    def __str__(self) -> str:
        return f"{self.slug} {self.version}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Raises AlreadyPublished if a published instrument would ask something else. Citation and note can change."""
        if list_changed(self, self.FINAL, among=Instrument.objects.filter(status=self.Status.PUBLISHED)):
            raise explain_published(self)
        super().save(*args, **kwargs)

    @property
    def score_documents(self) -> list[ScoreDocument]:
        """The scores that it declares."""
        return [parse_score(table) for table in self.scores]


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

    # What only says where the words come from; all else of a published item is final.
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
            if list_changed(self, names, among=Item.objects.all()) != []:
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
                violation_error_message=_("A published cloze has both of its instruments, a draft neither."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.slug} {self.version}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Raises AlreadyPublished if a published cloze would change, DocumentError if the document cannot be."""
        if list_changed(self, self.FINAL, among=Cloze.objects.exclude(filling=None)):
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
