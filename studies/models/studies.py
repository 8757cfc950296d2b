"""What runs: a study, the versions of its protocol, and their steps."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from studies import layouts, vocabulary
from studies.documents.names import RESERVED
from studies.models.facts import StudyFacts
from studies.models.instruments import Instrument


class Studies(models.Manager["Study"]):
    """All studies but rehearsals: of those no list, page, export or command knows that does not ask for them."""

    def get_queryset(self) -> models.QuerySet[Study]:
        return super().get_queryset().filter(rehearsal_of=None)


class Study(StudyFacts):
    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        LIVE = "live", _("Live")
        PAUSED = "paused", _("Paused")
        CLOSED = "closed", _("Closed")

    OrderPolicy, TextKind = vocabulary.OrderPolicy, vocabulary.TextKind

    slug = models.SlugField(_("slug"), max_length=80, unique=True)
    title = models.CharField(_("title"), max_length=200, help_text=_("Shown to raters."))
    language = models.CharField(_("language"), max_length=12, default="en")
    description = models.TextField(_("description"), blank=True, help_text=_("For colleagues; never shown to raters."))
    text_kind = models.CharField(
        _("kind of text"),
        max_length=10,
        choices=TextKind.choices,
        default=TextKind.STORY,
        help_text=_("What the pages call that which is read."),
    )
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.DRAFT)
    seats_per_group = models.PositiveSmallIntegerField(_("places per group"), default=3)
    order_policy = models.CharField(
        _("order policy"), max_length=10, choices=OrderPolicy.choices, default=OrderPolicy.BALANCED
    )
    seed = models.BigIntegerField(_("seed"), default=0)
    analysis_plan = models.JSONField(
        _("analysis plan"),
        default=dict,
        blank=True,
        editable=False,
        help_text=_("What is tested, fixed before anyone answers; empty if nothing is planned."),
    )
    shows_premise = models.BooleanField(_("shows prompt"), default=False)
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
    groups_per_rater = models.PositiveSmallIntegerField(
        _("groups per rater"),
        null=True,
        blank=True,
        help_text=_("The most groups that one person may read; empty: as many as there are."),
    )
    n_repeats = models.PositiveSmallIntegerField(
        _("groups read twice"),
        default=0,
        help_text=_("Of the groups that one person reads so many come a second time, unannounced, at the end."),
    )
    hours_per_group = models.PositiveSmallIntegerField(
        _("hours for a group"),
        null=True,
        blank=True,
        help_text=_("After so many hours without a submission a group is taken back; empty: never."),
    )
    excluded_studies = models.JSONField(
        _("excluded studies"),
        default=list,
        blank=True,
        editable=False,
        help_text=_("The slugs of studies whose raters get no group in this one."),
    )
    launched_at = models.DateTimeField(_("launched at"), null=True, blank=True)
    closes_at = models.DateTimeField(_("closes at"), null=True, blank=True, help_text=_("Until when raters may work."))
    closed_at = models.DateTimeField(_("closed at"), null=True, blank=True)
    # Of a rehearsal alone. `annotation.design.rehearsals` takes it away before its study, and no cascade does: what a
    # cascade finds, the pages that ask before deleting would list.
    rehearsal_of = models.ForeignKey(
        "self",
        verbose_name=_("rehearsal of"),
        on_delete=models.DO_NOTHING,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
    )
    rehearsed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        verbose_name=_("rehearsed by"),
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
    )
    rehearsed_sha256 = models.CharField(
        _("state rehearsed"),
        max_length=64,
        blank=True,
        editable=False,
        help_text=_("What its study was when the copy was made, as a hash."),
    )

    objects = Studies()
    every = models.Manager["Study"]()  # rehearsals as well

    class Meta:
        verbose_name = _("study")
        ordering = ["slug"]
        verbose_name_plural = _("studies")
        constraints = [
            models.UniqueConstraint(fields=["rehearsal_of", "rehearsed_by"], name="one_rehearsal_for_each_account")
        ]

    def __str__(self) -> str:
        return self.slug

    def clean(self) -> None:
        """Refuse a slug that stands for something else in addresses."""
        if self.slug in RESERVED:
            raise ValidationError({"slug": _("This word stands in addresses for something else; choose another.")})

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

    @property
    def is_rehearsal(self) -> bool:
        """Whether it is a copy in which a designer walks through a study, and nothing counts."""
        return self.rehearsal_of_id is not None

    @property
    def frozen_versions(self) -> models.QuerySet[ProtocolVersion]:
        """The versions of its protocol that are frozen, by number."""
        return self.versions.exclude(frozen_at=None).order_by("number")

    def has_blanks(self) -> bool:
        """Whether it is a cloze, in which raters fill the blanks of a text that nothing else may change. One query."""
        return Step.objects.filter(version__study=self, layout__in=layouts.keys_that_fill_text()).exists()


class ProtocolVersion(models.Model):
    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveSmallIntegerField(_("number"))
    document = models.TextField(_("document"), blank=True, help_text=_("Canonical JSON, once frozen."))
    sha256 = models.CharField(_("sha256"), max_length=64, blank=True)
    reason = models.CharField(_("reason"), max_length=300, blank=True)
    frozen_at = models.DateTimeField(_("frozen at"), null=True, blank=True)
    frozen_by = models.CharField(_("frozen by"), max_length=150, blank=True)
    # An amended version has no steps of its own: it words those of the first one anew, so that answers given under
    # either are answers to the same questions.
    amends = models.ForeignKey(
        "self", verbose_name=_("amends"), on_delete=models.PROTECT, null=True, blank=True, editable=False
    )

    class Meta:
        verbose_name = _("protocol version")
        verbose_name_plural = _("protocol versions")
        ordering = ["study", "number"]
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="protocol_number_once")]

    def __str__(self) -> str:
        return f"{self.study} {self.number}"

    @property
    def asked_by_id(self) -> int:
        """The version whose steps it asks: its own, or those of the one that it amends."""
        return self.amends_id or self.pk


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
                violation_error_message=_(
                    "A step of kind rating needs an instrument and a scope, a practice an instrument and the scope "
                    "once; other steps have neither."
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def name(self) -> str:
        """What pages call it: its title, else that of its instrument, else its key."""
        return self.title or (self.instrument.title if self.instrument else self.key)

    @property
    def layout_type(self) -> layouts.Layout:
        """What knows how its items are laid out. Raises LookupError if the row names no layout."""
        return layouts.find_layout(self.layout)
