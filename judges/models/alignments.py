"""How a judge's prompt is brought nearer to experts: on which groups, what was proposed, what a person made of it."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from judges.models.generations import Draft
from judges.models.judges import Judge
from judges.models.prompts import Prompt
from judges.models.runs import Run
from studies.models import Study


class Alignment(models.Model):
    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="alignments")
    judge = models.ForeignKey(
        Judge,
        verbose_name=_("judge"),
        on_delete=models.PROTECT,
        related_name="alignments",
        help_text=_("Whose prompt is to be changed."),
    )
    share = models.FloatField(_("share set apart"))
    seed = models.BigIntegerField(_("seed"), default=0)
    first_part = models.JSONField(
        _("first part"), default=list, help_text=_("Codes of the groups whose answers the proposals are made from.")
    )
    held_out = models.JSONField(
        _("held out"), default=list, help_text=_("Codes of the groups on which alone the new prompts are judged.")
    )
    sends_reasons = models.BooleanField(_("sends experts’ reasons"), default=False)
    # It asks for the proposals; its judge is a trial, which no report counts.
    run = models.OneToOneField(Run, verbose_name=_("run"), on_delete=models.CASCADE, related_name="alignment")
    base_run = models.OneToOneField(
        Run,
        verbose_name=_("run with the present prompt"),
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text=_("About held-out stories that the judge had not read; none if it had read them all."),
    )
    created_by = models.CharField(_("created by"), max_length=150)
    created_at = models.DateTimeField(_("created at"), default=timezone.now)

    class Meta:
        verbose_name = _("alignment with experts")
        verbose_name_plural = _("alignments with experts")
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"alignment of {self.judge_id and self.judge.slug} in {self.study_id and self.study.slug}"

    @property
    def stage(self) -> str:
        """How far it is, in the language of whoever reads. Reads its proposals with their drafts."""
        proposals = list(self.proposals.all())
        if self.run.state == Run.State.PLANNED:
            return gettext("waits for approval")
        if any(row.draft.state == Draft.State.OPEN for row in proposals):
            return gettext("proposals are being written")
        if any(row.state == PromptProposal.State.OPEN for row in proposals):
            return gettext("proposals wait for a decision")
        accepted = [row for row in proposals if row.state == PromptProposal.State.ACCEPTED]
        if not accepted:
            return gettext("no proposal was accepted")
        is_asked = all(row.run_id for row in accepted)
        return (
            gettext("judged on the held-out stories")
            if is_asked
            else gettext("accepted, held-out stories to be judged")
        )


class PromptProposal(models.Model):
    """One changed instruction: asked for as a draft, then accepted by a person, as it is or edited, or refused."""

    class State(models.TextChoices):
        OPEN = "open", _("to be decided")
        ACCEPTED = "accepted", _("Accepted")
        REFUSED = "refused", _("Refused")

    alignment = models.ForeignKey(
        Alignment, verbose_name=_("alignment with experts"), on_delete=models.CASCADE, related_name="proposals"
    )
    draft = models.OneToOneField(
        Draft, verbose_name=_("draft of a text"), on_delete=models.CASCADE, related_name="proposal"
    )
    calls = models.JSONField(
        _("calls"), default=list, help_text=_("Ids of the judge’s calls whose answers it was made from.")
    )
    responses = models.JSONField(
        _("experts’ answers"), default=list, help_text=_("Ids of the experts’ answers that it was made from.")
    )
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.OPEN)
    decided_by = models.CharField(_("decided by"), max_length=150, blank=True)
    decided_at = models.DateTimeField(_("decided at"), null=True, blank=True)
    is_edited = models.BooleanField(_("was edited"), default=False)
    prompt = models.OneToOneField(
        Prompt,
        verbose_name=_("new version of the prompt"),
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="proposal",
    )
    judge = models.OneToOneField(
        Judge,
        verbose_name=_("judge with it"),
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="proposal",
    )
    # Of the held-out stories, with the new version.
    run = models.OneToOneField(
        Run, verbose_name=_("run"), on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        verbose_name = _("proposal of a prompt")
        verbose_name_plural = _("proposals of prompts")
        ordering = ["alignment", "pk"]

    def __str__(self) -> str:
        return f"proposal {self.pk}"
