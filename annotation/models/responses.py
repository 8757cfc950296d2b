"""What was answered, every version of it, how long it took, and what became of it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.seats import Assignment
from studies.models import Item, Step, Story


class Response(models.Model):
    class Outcome(models.TextChoices):
        OPEN = "open", _("nothing answered yet: cleared, or only a rationale so far")
        ANSWERED = "answered", _("Answered")
        DECLINED = "declined", _("Declined")
        UNREADABLE = "unreadable", _("Unreadable")

    assignment = models.ForeignKey(
        Assignment, verbose_name=_("assignment"), on_delete=models.CASCADE, related_name="responses"
    )
    step = models.ForeignKey(Step, verbose_name=_("step"), on_delete=models.PROTECT)
    item = models.ForeignKey(Item, verbose_name=_("item"), on_delete=models.PROTECT)
    story = models.ForeignKey(Story, verbose_name=_("story"), on_delete=models.PROTECT, null=True, blank=True)
    value = models.JSONField(_("value"), null=True, blank=True)
    outcome = models.CharField(_("outcome"), max_length=10, choices=Outcome.choices, default=Outcome.OPEN)
    rationale = models.TextField(_("rationale"), blank=True)
    quotes = models.JSONField(
        _("quotes"), default=list, blank=True, help_text=_("Passages quoted: paragraph and text.")
    )
    revision = models.PositiveIntegerField(_("revision"), default=0)
    head = models.CharField(_("head"), max_length=64, blank=True, help_text=_("Digest of the latest event."))
    first_answered_at = models.DateTimeField(_("first answered at"), null=True, blank=True)
    last_edited_at = models.DateTimeField(_("last edited at"))

    class Meta:
        verbose_name = _("response")
        verbose_name_plural = _("responses")
        constraints = [
            # A missing story is not equal to itself in SQL, hence two constraints.
            models.UniqueConstraint(
                fields=["assignment", "step", "item", "story"],
                condition=Q(story__isnull=False),
                name="response_once_per_story",
            ),
            models.UniqueConstraint(
                fields=["assignment", "step", "item"],
                condition=Q(story__isnull=True),
                name="response_once_without_story",
            ),
            models.CheckConstraint(
                condition=Q(outcome="answered", value__isnull=False) | (~Q(outcome="answered") & Q(value__isnull=True)),
                name="answered_means_a_value",
            ),
        ]

    def __str__(self) -> str:
        return f"response {self.pk}"


class ResponseEvent(models.Model):
    response = models.ForeignKey(Response, verbose_name=_("response"), on_delete=models.PROTECT, related_name="events")
    revision = models.PositiveIntegerField(_("revision"))
    at = models.DateTimeField(_("at"))
    key = models.CharField(
        _("key"),
        max_length=40,
        blank=True,
        help_text=_("The sender's own name of this save; a repeat is answered, not repeated."),
    )
    n_pasted = models.PositiveIntegerField(
        _("n pasted"), default=0, help_text=_("Characters of large pastes into the rationale since the last save.")
    )
    words = models.TextField(
        _("words"),
        null=True,
        help_text=_("What was said, as canonical JSON with a salt. Erasure empties this and nothing else."),
    )
    commitment = models.CharField(_("commitment"), max_length=64, help_text=_("SHA-256 of words."))
    digest = models.CharField(
        _("digest"), max_length=64, help_text=_("SHA-256 over the digest before it and everything here but the words.")
    )

    class Meta:
        verbose_name = _("response event")
        verbose_name_plural = _("response events")
        ordering = ["response", "revision"]
        constraints = [models.UniqueConstraint(fields=["response", "revision"], name="event_revision_once")]
        # The monitor asks who pasted much, of a history that may hold a million versions.
        indexes = [models.Index(fields=["response"], condition=Q(n_pasted__gt=0), name="events_that_pasted")]

    def __str__(self) -> str:
        return f"event {self.response_id}/{self.revision}"


class Timing(models.Model):
    assignment = models.ForeignKey(
        Assignment, verbose_name=_("assignment"), on_delete=models.CASCADE, related_name="timings"
    )
    step = models.ForeignKey(Step, verbose_name=_("step"), on_delete=models.PROTECT)
    story = models.ForeignKey(Story, verbose_name=_("story"), on_delete=models.PROTECT, null=True, blank=True)
    section = models.PositiveSmallIntegerField(_("section"), null=True, blank=True, help_text=_("Of a cloze."))
    active_seconds = models.PositiveIntegerField(_("active seconds"), default=0)

    class Meta:
        verbose_name = _("timing")
        verbose_name_plural = _("timings")
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "step", "story"], condition=Q(story__isnull=False), name="timing_once_per_story"
            ),
            models.UniqueConstraint(
                fields=["assignment", "step", "section"],
                condition=Q(section__isnull=False),
                name="timing_once_per_section",
            ),
            models.UniqueConstraint(
                fields=["assignment", "step"],
                condition=Q(story__isnull=True, section__isnull=True),
                name="timing_once_without_story",
            ),
        ]

    def __str__(self) -> str:
        return f"timing of {self.assignment_id}"


class Fill(models.Model):
    class State(models.TextChoices):
        DROPPED_OUT = "dropped_out", _("dropped out")
        SUBMITTED = "submitted", _("Submitted")
        SHORTLISTED = "shortlisted", _("Shortlisted")

    assignment = models.OneToOneField(
        Assignment, verbose_name=_("assignment"), on_delete=models.CASCADE, related_name="fill"
    )
    state = models.CharField(_("state"), max_length=12, choices=State.choices)
    stopped_at = models.PositiveSmallIntegerField(
        _("stopped at"),
        null=True,
        blank=True,
        help_text=_("The section where it was given up: as its writer said, or the first open one."),
    )
    shortlisted_by = models.CharField(_("shortlisted by"), max_length=150, blank=True)
    reason = models.TextField(_("reason"), blank=True, help_text=_("Why it was shortlisted."))
    edited_text = models.TextField(
        _("edited text"),
        blank=True,
        help_text=_("The whole text as an editor would print it. What its writer wrote stays as it is."),
    )
    story = models.OneToOneField(
        Story,
        verbose_name=_("story"),
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="fill",
        help_text=_("What it became in a derived study."),
    )

    class Meta:
        verbose_name = _("fill")
        verbose_name_plural = _("fills")
        ordering = ["assignment__study", "assignment__rater__code"]
        constraints = [
            models.CheckConstraint(
                condition=(Q(state="shortlisted") & ~Q(reason="") & ~Q(shortlisted_by=""))
                | (~Q(state="shortlisted") & Q(reason="", shortlisted_by="")),
                name="shortlisted_means_by_whom_and_why",
            ),
            models.CheckConstraint(
                condition=Q(state="dropped_out") | Q(stopped_at__isnull=True), name="stopped_means_dropped_out"
            ),
        ]

    def __str__(self) -> str:
        return f"fill of {self.assignment.code}"


class Recognition(models.Model):
    assignment = models.ForeignKey(
        Assignment, verbose_name=_("assignment"), on_delete=models.CASCADE, related_name="recognitions"
    )
    story = models.ForeignKey(Story, verbose_name=_("story"), on_delete=models.PROTECT)
    at = models.DateTimeField(_("at"), auto_now_add=True)

    class Meta:
        verbose_name = _("recognition")
        verbose_name_plural = _("recognitions")
        constraints = [models.UniqueConstraint(fields=["assignment", "story"], name="recognised_once")]

    def __str__(self) -> str:
        return f"recognition in {self.assignment_id}"
