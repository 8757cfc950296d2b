"""Raters and what they did, to look at: seats, assignments, answers and their history."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, Exists, Model, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.admin import replacement
from annotation.models import (
    Assignment,
    Consent,
    Identity,
    Invitation,
    Rater,
    Response,
    ResponseEvent,
    Seat,
    StepTaken,
    Withdrawal,
)
from annotation.participation import claims, withdrawal


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows that people and judges make by working; here they are only looked at."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Rater)
class RaterAdmin(ReadOnlyAdmin):
    list_display = ("code", "study", "kind", "is_simulated", "n_submitted", "has_failed", "arrived_at")
    list_select_related = ("study",)
    list_filter = ("study", "kind", "is_simulated")
    search_fields = ("code",)
    fields = ("study", "code", "kind", "is_simulated", "row", "arrived_at")
    actions = ("replace_link", "withdraw")

    def has_replace_link_permission(self, request: HttpRequest) -> bool:
        return replacement.may_replace(request)

    @admin.action(description=gettext_lazy("New link for the same rater"), permissions=["replace_link"])
    def replace_link(self, request: HttpRequest, chosen: QuerySet[Rater]) -> HttpResponse:
        links = Invitation.objects.filter(rater__in=chosen).select_related("study", "rater").order_by("rater__code")
        return replacement.replace_links(self, request, list(links))

    def has_withdraw_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("annotation.add_withdrawal")

    @admin.action(description=gettext_lazy("Withdraw at their request: erase their answers"), permissions=["withdraw"])
    def withdraw(self, request: HttpRequest, chosen: QuerySet[Rater]) -> HttpResponse | None:
        """Ask first, then erase what the chosen people said; raters that are no people are left out."""
        people = list(chosen.filter(kind=Rater.Kind.PERSON).select_related("study"))
        if "confirmed" in request.POST:
            for rater in people:
                withdrawal.withdraw(rater, at=timezone.now())
                self.log_change(request, rater, "withdrawn at their request")
            message = ngettext("%(n)d rater has been withdrawn.", "%(n)d raters have been withdrawn.", len(people))
            messages.success(request, message % {"n": len(people)})
            return None
        context = {
            **self.admin_site.each_context(request),
            "opts": Rater._meta,
            "title": _("Withdraw raters at their request"),
            "people": [(rater, withdrawal.count_answers(rater)) for rater in people],
        }
        return TemplateResponse(request, "admin/annotation/rater/withdraw.html", context)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Rater]:
        submitted = Q(assignments__status=Assignment.Status.SUBMITTED, assignments__seat__isnull=False)
        rows: QuerySet[Rater] = (
            super()
            .get_queryset(request)
            .annotate(
                n=Count("assignments", filter=submitted),
                failed=Exists(StepTaken.failures().filter(rater=OuterRef("pk"))),
            )
        )
        return rows

    @admin.display(description=gettext_lazy("groups submitted"), ordering="n")
    def n_submitted(self, rater: Any) -> int:
        return int(rater.n)

    @admin.display(description=gettext_lazy("failed the check"), ordering="failed", boolean=True)
    def has_failed(self, rater: Any) -> bool:
        return bool(rater.failed)


@admin.register(Identity)
class IdentityAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    # The list gives no names, so that an identity is only opened on purpose.
    list_display = ("__str__", "platform")
    list_filter = ("platform",)
    search_fields = ("email", "platform_id")
    fields = ("name", "email", "platform", "platform_id", "payment")


@admin.register(Seat)
class SeatAdmin(ReadOnlyAdmin):
    list_display = ("group", "study", "rater_kind", "number", "row", "position", "is_taken")
    list_select_related = ("group", "study")
    list_filter = ("study", "rater_kind", "is_taken")
    fields = ("study", "group", "rater_kind", "number", "row", "position", "order", "is_taken")


@admin.register(Assignment)
class AssignmentAdmin(ReadOnlyAdmin):
    list_display = ("code", "study", "rater", "group", "status", "started_at", "last_active_at", "ended_at")
    list_select_related = ("study", "rater", "group")
    list_filter = ("study", "status", "rater_kind")
    search_fields = ("code", "rater__code")
    fields = (
        "code",
        "study",
        "rater",
        "group",
        "seat",
        "version",
        "status",
        "position",
        "last_page",
        "started_at",
        "last_active_at",
        "ended_at",
        "receipt",
    )
    actions = ("reopen",)

    def has_reopen_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("annotation.change_assignment"))

    @admin.action(description=gettext_lazy("Release the place: someone else can take it"), permissions=["reopen"])
    def reopen(self, request: HttpRequest, queryset: QuerySet[Assignment]) -> None:
        # A judge's seat is its run's: nobody else could take it, and the run could not end.
        of_people = queryset.filter(rater_kind=Rater.Kind.PERSON).exclude(seat=None)
        given_back = [a for a in of_people if claims.give_up(a, at=timezone.now())]
        for assignment in given_back:
            claims.release_row(assignment.rater)
            self.log_change(request, assignment, "given back")
        message = ngettext(
            "%(n)d released; its answers are kept but do not enter any result.",
            "%(n)d released; their answers are kept but do not enter any result.",
            len(given_back),
        )
        self.message_user(request, message % {"n": len(given_back)}, messages.SUCCESS)


@admin.register(Response)
class ResponseAdmin(ReadOnlyAdmin):
    list_display = ("pk", "code", "step", "item", "story", "outcome", "revision", "last_edited_at")
    list_select_related = ("assignment", "step", "item", "story")
    list_filter = ("assignment__study", "outcome")
    search_fields = ("assignment__code",)
    fields = (
        "assignment",
        "step",
        "item",
        "story",
        "value",
        "outcome",
        "rationale",
        "quotes",
        "revision",
        "head",
        "first_answered_at",
        "last_edited_at",
    )
    ordering = ("-pk",)

    @admin.display(description=gettext_lazy("assignment"), ordering="assignment__code")
    def code(self, response: Response) -> str:
        return response.assignment.code


@admin.register(ResponseEvent)
class ResponseEventAdmin(ReadOnlyAdmin):
    list_display = ("response", "revision", "at", "n_pasted", "digest")
    list_select_related = ("response",)
    fields = ("response", "revision", "at", "key", "n_pasted", "words", "commitment", "digest")
    ordering = ("-pk",)


@admin.register(Consent)
class ConsentAdmin(ReadOnlyAdmin):
    list_display = ("rater", "step", "text_sha256", "at")
    list_select_related = ("rater", "step")
    list_filter = ("rater__study",)
    fields = ("rater", "step", "text_sha256", "at")


@admin.register(Withdrawal)
class WithdrawalAdmin(ReadOnlyAdmin):
    list_display = ("rater", "at")
    list_select_related = ("rater",)
    list_filter = ("rater__study",)
    fields = ("rater", "at")
