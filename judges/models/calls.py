"""Every call of a run, every time that one was sent, what came back, and what was read in it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models import Assignment
from judges.models.generations import Draft
from judges.models.runs import Run
from studies.models import Item, Step, Story


class Text(models.Model):
    sha256 = models.CharField(_("sha256"), max_length=64, primary_key=True)
    content = models.TextField(_("content"))
    # The fence around a story carries a number of its own, so that no other story's text has the same hash.
    story = models.ForeignKey(
        Story,
        verbose_name=_("story"),
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text=_("Whose words it holds, so that erasing them reaches it."),
    )

    class Meta:
        verbose_name = _("text")
        verbose_name_plural = _("texts")

    def __str__(self) -> str:
        return self.sha256[:12]


class Call(models.Model):
    class Kind(models.TextChoices):
        ANSWER = "answer", _("Answer")
        FILL = "fill", _("fill of a cloze")
        PROBE = "probe", _("whether the model knows the text")
        TEST = "test", _("question about a fixed text")
        GENERATE = "generate", _("text to be written")
        LIKELIHOOD = "likelihood", _("log-probabilities of a text")
        EMBED = "embed", _("vectors of texts")

    # These are answers of the judge's rater, and stand in its seats.
    ANSWERING = (Kind.ANSWER, Kind.FILL)

    class State(models.TextChoices):
        PLANNED = "planned", _("Planned")
        LEASED = "leased", _("Leased")
        HELD = "held", _("held: nobody knows what became of it")
        OK = "ok", _("Ok")
        REFUSED = "refused", _("Refused")
        BLOCKED = "blocked", _("Blocked")
        TRUNCATED = "truncated", _("Truncated")
        UNREADABLE = "unreadable", _("Unreadable")
        OUT_OF_RANGE = "out_of_range", _("out of range")
        TOO_LARGE = "too_large", _("too large")
        PROVIDER_ERROR = "provider_error", _("provider error")
        BUDGET_STOPPED = "budget_stopped", _("stopped by the budget")
        NOT_ASKED = "not_asked", _("not asked")
        NOT_NEEDED = "not_needed", _("not needed")

    PENDING = (State.PLANNED, State.LEASED, State.HELD)

    run = models.ForeignKey(Run, verbose_name=_("run"), on_delete=models.CASCADE, related_name="calls")
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices, default=Kind.ANSWER)
    assignment = models.ForeignKey(
        Assignment, verbose_name=_("assignment"), on_delete=models.CASCADE, null=True, blank=True, related_name="calls"
    )
    step = models.ForeignKey(Step, verbose_name=_("step"), on_delete=models.PROTECT, null=True, blank=True)
    item = models.ForeignKey(
        Item,
        verbose_name=_("item"),
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        help_text=_("None: all of the step."),
    )
    story = models.ForeignKey(Story, verbose_name=_("story"), on_delete=models.PROTECT, null=True, blank=True)
    items = models.JSONField(_("items"), default=list, blank=True, help_text=_("Keys of the items that it asks."))
    section = models.PositiveSmallIntegerField(
        _("section"),
        default=0,
        help_text=_(
            "Of a cloze that is filled section by section, or the position in the chain of a draft; 0: all of it."
        ),
    )
    draft = models.ForeignKey(
        Draft,
        verbose_name=_("draft of a text"),
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="calls",
    )
    anchor = models.SlugField(_("fixed text"), max_length=40, blank=True, help_text=_("Which one it asks about."))
    state = models.CharField(_("state"), max_length=20, choices=State.choices, default=State.PLANNED)
    not_before = models.DateTimeField(
        _("not before"), null=True, blank=True, help_text=_("When it may be tried again.")
    )
    n_failures = models.PositiveSmallIntegerField(_("n failures"), default=0)
    n_overloads = models.PositiveSmallIntegerField(
        _("n overloads"), default=0, help_text=_("How often it met an overload while others were answered.")
    )
    # {"model", "parameters", "schema", "messages": [{"role", "texts": [sha256, …]}]}
    request = models.JSONField(_("request"))
    request_sha256 = models.CharField(
        _("hash of the request"), max_length=64, blank=True, help_text=_("Equal for requests that ask the same.")
    )
    reason = models.TextField(_("reason"), blank=True)
    answered_at = models.DateTimeField(_("answered at"), null=True, blank=True)

    class Meta:
        verbose_name = _("call")
        verbose_name_plural = _("calls")
        indexes = [
            models.Index(fields=["run", "state"], name="call_by_run_and_state"),
            models.Index(fields=["request_sha256"], name="call_by_request"),
        ]
        constraints = [
            # A missing story is not equal to itself in SQL, hence two constraints.
            models.UniqueConstraint(
                fields=["run", "assignment", "step", "item", "story"],
                condition=Q(story__isnull=False),
                name="call_once_per_story",
            ),
            models.UniqueConstraint(
                fields=["run", "assignment", "step", "item"],
                condition=Q(story__isnull=True),
                name="call_once_without_story",
            ),
            models.UniqueConstraint(
                fields=["run", "assignment", "step", "section"],
                condition=Q(item__isnull=True, story__isnull=True),
                name="call_once_for_all_items",
            ),
            models.UniqueConstraint(
                fields=["run", "assignment", "step", "story"],
                condition=Q(item__isnull=True, story__isnull=False),
                name="call_once_for_all_items_of_a_story",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["probe", "test", "likelihood", "embed"], assignment__isnull=True)
                | Q(kind="generate", assignment__isnull=True, draft__isnull=False)
                | Q(kind__in=["answer", "fill"], assignment__isnull=False, step__isnull=False),
                name="answers_stand_in_a_seat",
            ),
            models.UniqueConstraint(fields=["draft", "section"], name="call_once_for_a_place_of_a_draft"),
        ]

    def __str__(self) -> str:
        return f"call {self.pk}"

    @property
    def required_assignment(self) -> Assignment:
        """The assignment of an answer or a fill. Raises ValueError for any other."""
        if self.assignment is None:
            raise ValueError(f"{self} stands in no seat")
        return self.assignment

    @property
    def required_step(self) -> Step:
        """The step that it asks. Raises ValueError for a probe."""
        if self.step is None:
            raise ValueError(f"{self} asks no step of the protocol")
        return self.step


class Attempt(models.Model):
    class Outcome(models.TextChoices):
        IN_FLIGHT = "", _("in flight")
        ANSWERED = "answered", _("Answered")
        FAILED = "failed", _("Failed")
        UNKNOWN = "unknown_outcome", _("unknown: sent, and nobody heard")
        LATE = "late", _("late: answered, but no longer waited for")
        REUSED = "reused", _("not sent: the same request was answered before")

    call = models.ForeignKey(Call, verbose_name=_("call"), on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveSmallIntegerField(_("number"))
    worker = models.CharField(_("worker"), max_length=32, blank=True)
    lease_until = models.DateTimeField(
        _("lease until"), null=True, blank=True, help_text=_("Up to when its worker is taken to be alive.")
    )
    is_probe = models.BooleanField(_("is a probe"), default=False)
    sent_at = models.DateTimeField(_("sent at"))
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    outcome = models.CharField(
        _("outcome"), max_length=20, choices=Outcome.choices, blank=True, default=Outcome.IN_FLIGHT
    )
    status = models.PositiveSmallIntegerField(_("HTTP status"), null=True, blank=True)
    request_id = models.CharField(_("request id"), max_length=200, blank=True)
    model = models.CharField(_("model that answered"), max_length=200, blank=True)
    system_fingerprint = models.CharField(
        _("fingerprint of the system"),
        max_length=200,
        blank=True,
        help_text=_("As the provider names the state of its servers; another one may answer otherwise."),
    )
    finish_reason = models.CharField(_("finish reason"), max_length=80, blank=True)
    n_tokens_in = models.PositiveIntegerField(_("n tokens in"), null=True, blank=True)
    n_tokens_out = models.PositiveIntegerField(_("n tokens out"), null=True, blank=True)
    n_tokens_cached = models.PositiveIntegerField(_("n tokens cached"), null=True, blank=True)
    n_tokens_cache_written = models.PositiveIntegerField(_("n tokens written to the cache"), null=True, blank=True)
    n_tokens_reasoning = models.PositiveIntegerField(_("n tokens of reasoning"), null=True, blank=True)
    n_tokens_limit = models.PositiveIntegerField(
        _("limit of the reply"), null=True, blank=True, help_text=_("In tokens, as it was sent.")
    )
    # In US dollars. What it may cost at most is kept aside before it is sent, what it did cost stands beside.
    reserved = models.DecimalField(_("reserved"), max_digits=14, decimal_places=8, null=True, blank=True)
    cost = models.DecimalField(_("cost"), max_digits=14, decimal_places=8, null=True, blank=True)
    # Text, not JSON: it is kept as it came, and JSON may spell characters that PostgreSQL's JSON cannot hold.
    body = models.TextField(_("body"), blank=True, help_text=_("What came back, as it came, whatever the result."))
    reason = models.TextField(_("reason"), blank=True)

    class Meta:
        verbose_name = _("attempt")
        verbose_name_plural = _("attempts")
        ordering = ["call", "number"]
        indexes = [
            models.Index(fields=["lease_until"], condition=Q(outcome=""), name="attempt_in_flight_by_lease"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["call", "number"], name="attempt_number_once"),
            models.CheckConstraint(condition=~Q(outcome="") | Q(lease_until__isnull=False), name="lease_has_an_end"),
        ]

    def __str__(self) -> str:
        return f"attempt {self.call_id}/{self.number}"


class Parse(models.Model):
    attempt = models.ForeignKey(Attempt, verbose_name=_("attempt"), on_delete=models.CASCADE, related_name="parses")
    version = models.CharField(_("version of the parser"), max_length=40)
    state = models.CharField(_("state"), max_length=20, choices=Call.State.choices)
    values = models.JSONField(_("values"), default=dict, blank=True, help_text=_("What was read, by key of the item."))
    reason = models.TextField(_("reason"), blank=True)
    form = models.CharField(
        _("form of the reply"),
        max_length=10,
        blank=True,
        help_text=_("In which form a verdict stood; empty: in the one that was asked for."),
    )
    grades = models.JSONField(
        _("probabilities"),
        default=dict,
        blank=True,
        help_text=_("How probable each answer was, by key of the item, where the server says so."),
    )
    at = models.DateTimeField(_("at"))

    class Meta:
        verbose_name = _("parsed reply")
        verbose_name_plural = _("parsed replies")
        ordering = ["attempt", "pk"]

    def __str__(self) -> str:
        return f"parse {self.pk} by version {self.version}"
