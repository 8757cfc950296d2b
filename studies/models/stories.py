"""Of which texts: stories, the groups they are read in, and, kept apart, where they come from."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from studies import hashing, vocabulary
from studies.documents.stories import find_column_alike
from studies.models.incoming_tables import WaitingFile, WaitingFiles
from studies.models.studies import Study


class Source(models.Model):
    Kind = vocabulary.SourceKind

    name = models.CharField(_("name"), max_length=200, unique=True)
    kind = models.CharField(_("kind"), max_length=20, choices=Kind.choices, default=Kind.OTHER)

    class Meta:
        verbose_name = _("source")
        verbose_name_plural = _("sources")

    def __str__(self) -> str:
        return self.name


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
                violation_error_message=_("A story has a text, or is withheld and has none."),
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
    # By which withdrawing finds every copy of a text. Without a constraint: what it was copied from can be deleted, and
    # then a copy in a frozen study, which nobody may change, refers to nothing.
    copied_from = models.ForeignKey(
        Story,
        verbose_name=_("copied from"),
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
    )

    class Meta:
        verbose_name = _("provenance")
        verbose_name_plural = _("provenances")

    def __str__(self) -> str:
        # Admin logs keep str(); a source here would leak it to everyone who reads them.
        return f"provenance of {self.story_id}"

    def clean(self) -> None:
        """Refuse a factor that files of stories would take for one of their own columns."""
        factors = self.factors if isinstance(self.factors, dict) else {}
        if taken := next((name for name in factors if find_column_alike(name)), ""):
            sentence = _("“%(factor)s” is a column of files of stories; rename the factor.")
            raise ValidationError({"factors": sentence % {"factor": taken}})


class StoryGroup(models.Model):
    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="groups")
    code = models.CharField(_("code"), max_length=80)
    premise = models.TextField(_("writing prompt"), blank=True)
    stories = models.ManyToManyField(Story, verbose_name=_("stories"), related_name="groups")

    class Meta:
        verbose_name = _("story group")
        verbose_name_plural = _("story groups")
        ordering = ["study", "code"]
        constraints = [models.UniqueConstraint(fields=["study", "code"], name="group_code_once")]

    def __str__(self) -> str:
        return self.code


class Subset(models.Model):
    """How the stories of a study were drawn from those of another. It counts them by source, so it is kept apart as
    provenance is. A row of its own, since every page reads its study and few ask for this."""

    study = models.OneToOneField(
        Study, verbose_name=_("study"), on_delete=models.CASCADE, primary_key=True, related_name="subset"
    )
    # Of the study drawn from, which may be deleted, its slug and its title on that day.
    original = models.CharField(_("drawn from"), max_length=80)
    title = models.CharField(_("title"), max_length=200)
    seed = models.BigIntegerField(_("seed"))
    n = models.PositiveIntegerField(_("asked for"))
    is_each = models.BooleanField(_("from each stratum"))
    criteria = models.JSONField(_("criteria"), default=list, blank=True)
    strata = models.JSONField(
        _("strata"), default=list, help_text=_("Of each its parts, how many there were, were asked for and taken.")
    )
    left_out = models.JSONField(_("left out"), default=dict, blank=True)

    class Meta:
        verbose_name = _("subset")
        verbose_name_plural = _("subsets")

    def __str__(self) -> str:
        return f"subset of {self.original}"


class StoryImport(WaitingFile):
    """A file of stories. It says who wrote them, so it is kept apart as provenance is."""

    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="story_imports")

    objects = WaitingFiles["StoryImport"]()

    class Meta:
        verbose_name = _("stories to be brought in")
        verbose_name_plural = _("stories to be brought in")

    def __str__(self) -> str:
        return f"stories for {self.study}"


class StoryIntake(models.Model):
    """How far a worker is with bringing in a long file. In a table of its own: a row that holds a file is written anew
    as a whole by SQLite, however little of it changes."""

    Stage = vocabulary.IntakeStage

    story_import = models.OneToOneField(
        StoryImport,
        verbose_name=_("stories to be brought in"),
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="intake",
    )
    language = models.CharField(_("language"), max_length=12, help_text=_("Of whoever asked, for what may go wrong."))
    asked_at = models.DateTimeField(_("asked at"))
    queued_at = models.DateTimeField(_("queued at"), help_text=_("When a worker was last told."))
    leased_until = models.DateTimeField(
        _("leased until"), null=True, blank=True, help_text=_("Whoever is at it renews this; afterwards others may.")
    )
    stage = models.CharField(_("stage"), max_length=10, choices=Stage.choices, blank=True)
    n_rows = models.PositiveIntegerField(_("rows"), default=0)
    n_rows_done = models.PositiveIntegerField(_("rows done"), default=0)
    problem = models.TextField(_("problem"), blank=True, help_text=_("Why nothing came in."))
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    n_stories = models.PositiveIntegerField(_("stories"), default=0)
    n_groups = models.PositiveIntegerField(_("groups"), default=0)

    class Meta:
        verbose_name = _("stories that are being brought in")
        verbose_name_plural = _("stories that are being brought in")

    def __str__(self) -> str:
        return f"bringing in of {self.story_import_id}"

    @property
    def is_under_way(self) -> bool:
        """Whether it was asked for, and has neither ended nor failed."""
        return not self.problem and self.ended_at is None


class StoryColumns(models.Model):
    """What was said of the columns of a file of stories, for the next file of the same columns in that study."""

    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="story_columns")
    columns_sha256 = models.CharField(_("hash of the columns"), max_length=64)
    choices = models.JSONField(_("choices"), default=dict)

    class Meta:
        verbose_name = _("columns of stories")
        verbose_name_plural = _("columns of stories")
        constraints = [models.UniqueConstraint(fields=["study", "columns_sha256"], name="story_columns_once")]

    def __str__(self) -> str:
        return f"columns of stories for {self.study}"
