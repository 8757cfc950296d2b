"""Texts that models write for a study: what a run writes, from what, by which steps, and what became a story."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from judges.models.notes import write_note
from judges.models.runs import Run
from studies.models import Item, Story, StoryGroup


class Generation(models.Model):
    run = models.OneToOneField(
        Run, verbose_name=_("run"), on_delete=models.CASCADE, primary_key=True, related_name="generation"
    )
    recipe = models.SlugField(_("recipe"), max_length=40)
    # {"n_rounds", "sizes", "temperatures", "n_texts", "may_send_premises"}
    settings = models.JSONField(_("settings"), default=dict)
    reference = models.ForeignKey(
        Story, verbose_name=_("idea of reference"), on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        verbose_name = _("generation of texts")
        verbose_name_plural = _("generations of texts")

    def __str__(self) -> str:
        return f"{self.recipe} by {self.run_id and self.run.judge.model}"


class Draft(models.Model):
    """One text on its way: a chain of calls from a premise, a story or a question to what comes of it."""

    class State(models.TextChoices):
        OPEN = "open", _("on its way")
        COMPLETE = "complete", _("written")
        GIVEN_UP = "given_up", _("given up")
        FAILED = "failed", _("without a reply")

    generation = models.ForeignKey(
        Generation, verbose_name=_("generation of texts"), on_delete=models.CASCADE, related_name="drafts"
    )
    number = models.PositiveIntegerField(_("number"))
    premise = models.TextField(_("writing prompt"), blank=True)
    group = models.ForeignKey(
        StoryGroup, verbose_name=_("group"), on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    original = models.ForeignKey(
        Story, verbose_name=_("made out of"), on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    item = models.ForeignKey(
        Item, verbose_name=_("question"), on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    n_words = models.PositiveIntegerField(_("words asked for"), default=0)
    temperature = models.FloatField(_("temperature"), null=True, blank=True)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.OPEN)
    # In English, with places for the values: it is translated when it is shown.
    note_sentence = models.TextField(_("note"), blank=True)
    note_values = models.JSONField(_("values of the note"), default=dict, blank=True, editable=False)
    n_attempts = models.PositiveIntegerField(_("replies"), default=0)
    n_discards = models.PositiveIntegerField(_("discarded"), default=0)

    class Meta:
        verbose_name = _("draft of a text")
        verbose_name_plural = _("drafts of texts")
        ordering = ["generation", "number"]
        constraints = [models.UniqueConstraint(fields=["generation", "number"], name="draft_number_once")]

    def __str__(self) -> str:
        return f"draft {self.number} of generation {self.generation_id}"

    @property
    def note(self) -> str:
        """Why nothing came of it, in the language of whoever reads."""
        return write_note(self.note_sentence, self.note_values)


class GeneratedText(models.Model):
    """What came of a draft, as it came, and what became of it: who took it into the study, cleaned or as it was."""

    draft = models.ForeignKey(Draft, verbose_name=_("draft of a text"), on_delete=models.CASCADE, related_name="texts")
    round = models.PositiveSmallIntegerField(_("round"), default=0)
    text = models.TextField(_("text"), blank=True)
    cleaned = models.TextField(
        _("cleaned text"), blank=True, help_text=_("Proposed, without what a model said around it; empty if the same.")
    )
    accepted_by = models.CharField(_("accepted by"), max_length=150, blank=True)
    accepted_at = models.DateTimeField(_("accepted at"), null=True, blank=True)
    is_cleaned = models.BooleanField(_("accepted as cleaned"), default=False)
    story = models.OneToOneField(
        Story, verbose_name=_("story"), on_delete=models.SET_NULL, null=True, blank=True, related_name="generated"
    )

    class Meta:
        verbose_name = _("generated text")
        verbose_name_plural = _("generated texts")
        ordering = ["draft", "round"]
        constraints = [models.UniqueConstraint(fields=["draft", "round"], name="generated_text_once")]

    def __str__(self) -> str:
        # Admin logs keep str(): nothing of the text or of who wrote it.
        return f"generated text {self.pk}"
