"""Who answers: raters, their seats, what they answered, and the history of it.

Rater          who answers in one study, by code (E01): a person, a model or a metric.
Identity       who a person is. Kept apart; spans studies; nothing that serves or reports answers reads it.
Invitation     a secret link, stored as its hash; the same link always finds the same rater.
Consent        which version of the consent text a rater agreed to, and when.
Withdrawal     that a rater left, and when.
StepTaken      that a rater went through a step that is met once, a text or questions; of a check, each attempt.
Seat           one planned reading of one group, with its order of stories. Decided before anyone arrives.
Assignment     a rater in a seat; or, without a seat, the one visit that holds what is asked once of a rater.
Response       a rater's answer to one item about one story, about the group, or about neither.
ResponseEvent  every version of a response, chained by hashes; rows are only added.
Timing         active seconds per assignment, step and story; of a cloze per section.
Fill           what became of a cloze that somebody filled: given up, submitted, or shortlisted by an editor.
Recognition    that a rater recognised a story at work; who knew one before reading has `read_before` in the assignment.
"""

from __future__ import annotations

import secrets

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from studies.models import Item, ProtocolVersion, Step, Story, StoryGroup, Study


def new_code() -> str:
    """A public name that says nothing: no order, no date, no primary key."""
    return secrets.token_hex(8)


class Identity(models.Model):
    name = models.CharField(_("name"), max_length=200, blank=True)
    email = models.EmailField(_("email"), blank=True)
    platform = models.CharField(_("platform"), max_length=40, blank=True)
    platform_id = models.CharField(_("platform id"), max_length=120, blank=True)
    payment = models.TextField(_("payment"), blank=True)

    class Meta:
        verbose_name = _("identity")
        verbose_name_plural = _("identities")

    def __str__(self) -> str:
        return f"identity {self.pk}"


class Rater(models.Model):
    class Kind(models.TextChoices):
        PERSON = "person", _("Person")
        MODEL = "model", _("Model")
        METRIC = "metric", _("Metric")

    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="raters")
    code = models.CharField(_("code"), max_length=80)
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices, default=Kind.PERSON)
    is_simulated = models.BooleanField(_("is simulated"), default=False)
    # Repeats the rater's consents, by the SHA-256 of each text, so that whoever reads the rater knows them.
    consented_to = models.JSONField(_("consented to"), default=list, blank=True, editable=False)
    identity = models.ForeignKey(
        Identity, verbose_name=_("identity"), on_delete=models.SET_NULL, null=True, blank=True, related_name="raters"
    )
    arrived_at = models.DateTimeField(_("arrived at"), auto_now_add=True)

    class Meta:
        verbose_name = _("rater")
        verbose_name_plural = _("raters")
        ordering = ["study", "code"]
        constraints = [models.UniqueConstraint(fields=["study", "code"], name="rater_code_once")]

    def __str__(self) -> str:
        return self.code


class Invitation(models.Model):
    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="invitations")
    label = models.CharField(
        _("label"), max_length=120, blank=True, help_text=_("For the designer's own orientation; never a name.")
    )
    token_sha256 = models.CharField(_("token sha256"), max_length=64, unique=True, editable=False)
    groups = models.ManyToManyField(
        StoryGroup, verbose_name=_("groups"), blank=True, help_text=_("If given, the holder gets these groups only.")
    )
    rater = models.OneToOneField(
        Rater, verbose_name=_("rater"), on_delete=models.SET_NULL, null=True, blank=True, related_name="invitation"
    )
    issued_at = models.DateTimeField(_("issued at"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires at"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True)

    class Meta:
        verbose_name = _("invitation")
        verbose_name_plural = _("invitations")

    def __str__(self) -> str:
        return self.label or f"invitation {self.pk}"


class Consent(models.Model):
    rater = models.ForeignKey(Rater, verbose_name=_("rater"), on_delete=models.CASCADE, related_name="consents")
    step = models.ForeignKey(Step, verbose_name=_("step"), on_delete=models.PROTECT)
    text_sha256 = models.CharField(_("text sha256"), max_length=64)
    at = models.DateTimeField(_("at"), auto_now_add=True)

    class Meta:
        verbose_name = _("consent")
        verbose_name_plural = _("consents")
        constraints = [models.UniqueConstraint(fields=["rater", "text_sha256"], name="consent_once_per_text")]

    def __str__(self) -> str:
        return f"consent of {self.rater_id}"


class Withdrawal(models.Model):
    rater = models.OneToOneField(Rater, verbose_name=_("rater"), on_delete=models.CASCADE, related_name="withdrawal")
    at = models.DateTimeField(_("at"), auto_now_add=True)

    class Meta:
        verbose_name = _("withdrawal")
        verbose_name_plural = _("withdrawals")

    def __str__(self) -> str:
        return f"withdrawal of {self.rater_id}"


class StepTaken(models.Model):
    ATTEMPTS = 2  # at a check

    rater = models.ForeignKey(Rater, verbose_name=_("rater"), on_delete=models.CASCADE, related_name="steps_taken")
    step = models.ForeignKey(Step, verbose_name=_("step"), on_delete=models.PROTECT)
    attempt = models.PositiveSmallIntegerField(_("attempt"), default=1)
    wrong = models.JSONField(
        _("wrong"),
        default=list,
        blank=True,
        help_text=_("Of a check, the keys of the items that were not answered rightly."),
    )
    at = models.DateTimeField(_("at"), auto_now_add=True)

    class Meta:
        verbose_name = _("step taken")
        verbose_name_plural = _("steps taken")
        constraints = [models.UniqueConstraint(fields=["rater", "step", "attempt"], name="step_taken_once_per_attempt")]

    def __str__(self) -> str:
        return f"step {self.step_id} taken by {self.rater_id}"

    @classmethod
    def failures(cls) -> models.QuerySet[StepTaken]:
        """The last attempts at checks that were not passed."""
        return cls.objects.filter(attempt=cls.ATTEMPTS).exclude(wrong=[])


class Seat(models.Model):
    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="seats")
    group = models.ForeignKey(StoryGroup, verbose_name=_("group"), on_delete=models.PROTECT, related_name="seats")
    rater_kind = models.CharField(_("rater kind"), max_length=10, choices=Rater.Kind.choices, default=Rater.Kind.PERSON)
    number = models.PositiveIntegerField(_("number"))
    rank = models.PositiveIntegerField(
        _("rank"), help_text=_("Which free seat of a group is taken first; drawn from the seed.")
    )
    order = models.JSONField(_("order"), help_text=_("Codes of the stories, first to last."))
    is_taken = models.BooleanField(_("is taken"), default=False)

    class Meta:
        verbose_name = _("seat")
        verbose_name_plural = _("seats")
        ordering = ["study", "group", "rater_kind", "number"]
        constraints = [models.UniqueConstraint(fields=["group", "rater_kind", "number"], name="seat_number_once")]

    def __str__(self) -> str:
        return f"{self.group_id}/{self.number}"


class Assignment(models.Model):
    class Status(models.TextChoices):
        OPEN = "open", _("Open")
        SUBMITTED = "submitted", _("Submitted")
        GIVEN_UP = "given_up", _("given up")
        WITHDRAWN = "withdrawn", _("Withdrawn")

    LIVE = (Status.OPEN, Status.SUBMITTED)

    # Study, group and kind repeat what rater and seat say, so that the database itself can hold the promises below.
    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="assignments")
    rater = models.ForeignKey(Rater, verbose_name=_("rater"), on_delete=models.CASCADE, related_name="assignments")
    rater_kind = models.CharField(_("rater kind"), max_length=10, choices=Rater.Kind.choices)
    seat = models.ForeignKey(
        Seat, verbose_name=_("seat"), on_delete=models.PROTECT, null=True, blank=True, related_name="assignments"
    )
    group = models.ForeignKey(
        StoryGroup, verbose_name=_("group"), on_delete=models.PROTECT, null=True, blank=True, related_name="assignments"
    )
    version = models.ForeignKey(ProtocolVersion, verbose_name=_("version"), on_delete=models.PROTECT)
    code = models.CharField(_("code"), max_length=16, unique=True, default=new_code, editable=False)
    status = models.CharField(_("status"), max_length=10, choices=Status.choices, default=Status.OPEN)
    place = models.CharField(
        _("place"), max_length=200, blank=True, help_text=_("Where the rater last was, to come back to.")
    )
    read_before = models.BooleanField(
        _("read before"),
        null=True,
        help_text=_("Whether the rater knew one of the stories before reading; nothing if they were not asked."),
    )
    # How far the rater has come, written by the acts that change it, so that every page need not count it anew: the ids
    # of the stories about which something has been said on the desk, and the position of the last step that was opened
    # and locks what came before it.
    begun = models.JSONField(_("begun"), default=list, blank=True, editable=False)
    locked_before = models.PositiveIntegerField(_("locked before"), default=0, editable=False)
    started_at = models.DateTimeField(_("started at"), auto_now_add=True)
    last_active_at = models.DateTimeField(_("last active at"), null=True, blank=True)
    timed_until = models.DateTimeField(
        _("timed until"),
        null=True,
        blank=True,
        help_text=_("Up to when active time has been counted; no second counts twice."),
    )
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    receipt = models.CharField(
        _("receipt"), max_length=64, blank=True, help_text=_("Hash over the chains of all responses, at submission.")
    )

    class Meta:
        verbose_name = _("assignment")
        verbose_name_plural = _("assignments")
        constraints = [
            models.UniqueConstraint(
                fields=["seat"], condition=Q(status__in=["open", "submitted"]), name="seat_has_one_live_assignment"
            ),
            models.UniqueConstraint(
                fields=["rater", "group"], condition=Q(rater_kind="person"), name="person_once_per_group"
            ),
            models.UniqueConstraint(
                fields=["rater"],
                condition=Q(rater_kind="person", status="open", seat__isnull=False),
                name="person_has_one_open_assignment",
            ),
            models.UniqueConstraint(fields=["rater"], condition=Q(seat__isnull=True), name="rater_has_one_visit"),
            models.CheckConstraint(
                condition=Q(seat__isnull=True, group__isnull=True) | Q(seat__isnull=False, group__isnull=False),
                name="seat_and_group_together",
            ),
        ]

    def __str__(self) -> str:
        return self.code


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
