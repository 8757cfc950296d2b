"""Who reads what: seats, planned before anyone arrives, and the assignments of raters to them."""

from __future__ import annotations

import secrets

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.raters import Rater
from studies.models import ProtocolVersion, StoryGroup, Study


def new_code() -> str:
    """A public name that says nothing: no order, no date, no primary key."""
    return secrets.token_hex(8)


class Seat(models.Model):
    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="seats")
    group = models.ForeignKey(StoryGroup, verbose_name=_("group"), on_delete=models.PROTECT, related_name="seats")
    rater_kind = models.CharField(_("rater kind"), max_length=10, choices=Rater.Kind.choices, default=Rater.Kind.PERSON)
    number = models.PositiveIntegerField(_("number"))
    row = models.PositiveIntegerField(
        _("row"), null=True, blank=True, help_text=_("A row holds every group once, for one person to read along.")
    )
    position = models.PositiveIntegerField(
        _("position"), null=True, blank=True, help_text=_("Where in its row the group stands, from 1.")
    )
    order = models.JSONField(_("order"), help_text=_("Codes of the stories, first to last."))
    is_taken = models.BooleanField(_("is taken"), default=False)
    # Kept for somebody who has agreed, or was offered it, and has not begun: nobody else gets it meanwhile.
    held_by = models.OneToOneField(
        Rater,
        verbose_name=_("held by"),
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="held_seat",
    )
    held_until = models.DateTimeField(_("held until"), null=True, blank=True, editable=False)

    class Meta:
        verbose_name = _("place")
        verbose_name_plural = _("places")
        ordering = ["study", "group", "rater_kind", "number"]
        constraints = [
            models.UniqueConstraint(fields=["group", "rater_kind", "number"], name="seat_number_once"),
            models.UniqueConstraint(fields=["group", "row"], name="group_once_in_a_row"),
            models.UniqueConstraint(fields=["study", "row", "position"], name="one_seat_at_a_position"),
            models.CheckConstraint(
                condition=Q(row__isnull=True, position__isnull=True) | Q(row__isnull=False, position__isnull=False),
                name="row_and_position_together",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.group_id}/{self.number}"


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def first_readings(self) -> AssignmentQuerySet:
        """Those of people at a seat; without second readings, which fill no place and go faster."""
        return self.filter(rater_kind=Rater.Kind.PERSON, seat__isnull=False, repeats=None)


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
        Seat, verbose_name=_("place"), on_delete=models.PROTECT, null=True, blank=True, related_name="assignments"
    )
    group = models.ForeignKey(
        StoryGroup, verbose_name=_("group"), on_delete=models.PROTECT, null=True, blank=True, related_name="assignments"
    )
    version = models.ForeignKey(ProtocolVersion, verbose_name=_("version"), on_delete=models.PROTECT)
    # A second reading shares the seat of the first: it is of the same stories in the same order, fills no place, and
    # no result counts it but how far raters agree with themselves.
    repeats = models.OneToOneField(
        "self",
        verbose_name=_("repeat of"),
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        editable=False,
        related_name="second_reading",
    )
    code = models.CharField(_("code"), max_length=16, unique=True, default=new_code, editable=False)
    status = models.CharField(_("status"), max_length=10, choices=Status.choices, default=Status.OPEN)
    position = models.PositiveIntegerField(
        _("position"),
        null=True,
        blank=True,
        help_text=_(
            "Which of the groups that the rater reads this is, from 1; not counting any given back unread. "
            "Empty for judges and of imported answers."
        ),
    )
    last_page = models.CharField(
        _("last page"), max_length=200, blank=True, help_text=_("Where the rater last was, to come back to.")
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
    # Where the rater is in each story, by its letter: the first paragraph in view, from 1, and the thousandths of it
    # that are above. For the rater's own pages alone: the staff see it nowhere, and it goes when the assignment ends.
    reading_positions = models.JSONField(_("reading positions"), default=dict, blank=True, editable=False)
    started_at = models.DateTimeField(_("started at"), auto_now_add=True)
    last_active_at = models.DateTimeField(_("last active at"), null=True, blank=True)
    timed_until = models.DateTimeField(
        _("timed until"),
        null=True,
        blank=True,
        help_text=_("Up to when active time has been counted; no second counts twice."),
    )
    # Seconds since 1970. A token bucket for saves from pages: each takes a tenth of a second, from now on or from where
    # the last one ended, and none is taken whose part begins too far ahead (annotation.responses.holds).
    saves_until = models.FloatField(_("saves until"), default=0, editable=False)
    due_at = models.DateTimeField(
        _("due at"), null=True, blank=True, help_text=_("When its place is released unless it is submitted by then.")
    )
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    taken_back_at = models.DateTimeField(
        _("taken back at"),
        null=True,
        blank=True,
        editable=False,
        help_text=_("When its place was released because its time was over; the rater may go on while it stays free."),
    )
    receipt = models.CharField(
        _("receipt"), max_length=64, blank=True, help_text=_("Hash over the chains of all responses, at submission.")
    )

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        verbose_name = _("assignment")
        verbose_name_plural = _("assignments")
        constraints = [
            models.UniqueConstraint(
                fields=["seat"],
                condition=Q(status__in=["open", "submitted"], repeats__isnull=True),
                name="seat_has_one_live_assignment",
            ),
            models.UniqueConstraint(
                fields=["rater", "group"],
                condition=Q(rater_kind="person", repeats__isnull=True),
                name="person_once_per_group",
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


class LaterVersion(models.Model):
    """From when on an assignment at work has had a later version of the protocol; rows are only added."""

    assignment = models.ForeignKey(
        Assignment, verbose_name=_("assignment"), on_delete=models.CASCADE, related_name="later_versions"
    )
    before = models.ForeignKey(
        ProtocolVersion, verbose_name=_("version before"), on_delete=models.PROTECT, related_name="+"
    )
    version = models.ForeignKey(ProtocolVersion, verbose_name=_("version"), on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(_("at"))

    class Meta:
        verbose_name = _("later version of an assignment")
        verbose_name_plural = _("later versions of assignments")
        ordering = ["assignment", "at"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "version"], name="later_version_once"),
        ]

    def __str__(self) -> str:
        return f"later version of {self.assignment_id}"
