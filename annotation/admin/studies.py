"""A study: its design and balance, what keeps it from being launched, and the way from plan to close."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.design import actions, balance, deletion, launches, seats
from annotation.design.actions import ACTIONS
from annotation.models import Assignment, Invitation, Rater, Seat
from studies import access, lifecycle, protocol
from studies.admin.read_only import FinalAdmin
from studies.admin.studies import may_edit
from studies.facts import COLUMNS
from studies.models import ProtocolVersion, Story, StoryGroup, Study
from studies.protocol import Purpose, triggers


def count_by_study(rows: QuerySet[Any]) -> Coalesce:
    """How many of these rows belong to the study at hand, as a column: joins would multiply one count by another."""
    counts = rows.filter(study=OuterRef("pk")).order_by().values("study").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counts, output_field=IntegerField()), 0)


@admin.register(Study)
class StudyAdmin(FinalAdmin):
    list_display = ("slug", "title", "state", "stories_in_groups", "seats_taken", "submitted", "closes_at")
    list_filter = ("state",)
    search_fields = ("slug", "title")
    change_form_template = "admin/studies/study/change_form.html"
    readonly_fields = ("state", "launched_at", "closed_at", "checklist", "seats")
    fieldsets = (
        (None, {"fields": ("slug", "title", "language", "description")}),
        (gettext_lazy("Raters are told"), {"fields": COLUMNS}),
        (gettext_lazy("Raters are shown and asked"), {"fields": ("text_kind", "shows_premise", "asks_recognition")}),
        (
            gettext_lazy("Design"),
            {
                "fields": (
                    "seats_per_group",
                    "groups_per_rater",
                    "groups_per_sitting",
                    "n_repeats",
                    "hours_per_group",
                    "order_policy",
                    "seed",
                    "seats",
                )
            },
        ),
        (gettext_lazy("Course"), {"fields": ("state", "checklist", "launched_at", "closes_at", "closed_at")}),
    )
    # What the frozen protocol says, and so what nobody edits afterwards.
    final_fields = (
        *("slug", "title", "language", *COLUMNS),
        *("closes_at", "text_kind", "shows_premise", "asks_recognition"),
        *("seats_per_group", "groups_per_rater", "groups_per_sitting", "n_repeats", "hours_per_group"),
        *("order_policy", "seed"),
    )
    actions = ("plan", "launch", "pause", "resume", "close")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Study]:
        people = Seat.objects.filter(rater_kind=Rater.Kind.PERSON)
        submitted = Assignment.objects.first_readings().filter(status=Assignment.Status.SUBMITTED)
        rows: QuerySet[Study] = (
            super()
            .get_queryset(request)
            .annotate(
                n_stories=count_by_study(Story.objects.all()),
                n_groups=count_by_study(StoryGroup.objects.all()),
                n_seats=count_by_study(people),
                n_taken=count_by_study(people.filter(is_taken=True)),
                n_submitted=count_by_study(submitted),
            )
        )
        return rows

    def explain_final(self, obj: Study) -> str:
        return "" if may_edit(obj) else _(triggers.OF_STUDY)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """As Django's; the draft of its protocol, its seats and its links go with it, which nobody deletes alone."""
        names, counts, missing, protected = super().get_deleted_objects(objs, request)
        with_it = {str(model._meta.verbose_name) for model in (ProtocolVersion, Seat, Invitation)}
        # A group does not go while it has seats; `delete_model` takes those first.
        are_seats = len(protected) == Seat.objects.filter(study__in=objs).count()
        return names, counts, {name for name in missing if str(name) not in with_it}, [] if are_seats else protected

    def delete_model(self, request: HttpRequest, obj: Study) -> None:
        with transaction.atomic():
            deletion.delete_rehearsals(obj)
            obj.seats.all().delete()
            super().delete_model(request, obj)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        # Studies are deleted one at a time, on a page that lists what is deleted with them.
        return {name: action for name, action in super().get_actions(request).items() if name != "delete_selected"}

    def save_model(self, request: HttpRequest, obj: Study, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if not change:
            ProtocolVersion.objects.create(study=obj, number=1)
            access.make_lead(obj, request.user)

    @admin.display(description=gettext_lazy("stories"))
    def stories_in_groups(self, study: Any) -> str:
        text = ngettext("%(stories)d in %(n)d group", "%(stories)d in %(n)d groups", study.n_groups)
        return text % {"stories": study.n_stories, "n": study.n_groups}

    @admin.display(description=gettext_lazy("places taken"))
    def seats_taken(self, study: Any) -> str:
        if not study.n_seats:
            return _("not planned")
        return _("%(n)d of %(all)d") % {"n": study.n_taken, "all": study.n_seats}

    @admin.display(description=gettext_lazy("submitted"), ordering="n_submitted")
    def submitted(self, study: Any) -> int:
        return int(study.n_submitted)

    @admin.display(description=gettext_lazy("balance"))
    def seats(self, study: Study) -> str:
        return render_to_string("admin/studies/study/balance.html", {"balance": balance.load_balance(study)})

    @admin.display(description=gettext_lazy("checklist"))
    def checklist(self, study: Study) -> str:
        if not study.pk:
            return _("Save the study to see what blocks its launch.")
        findings = launches.findings(study, at=timezone.now()) if study.is_draft else []
        errors = protocol.select_errors(findings, Purpose.LAUNCH)
        context = {"errors": errors, "warnings": [f for f in findings if f not in errors], "study": study}
        return render_to_string("admin/studies/study/checklist.html", context)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.action_view)
        return [path("<int:pk>/action/<slug:action>/", view, name="studies_study_action"), *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        study = get_object_or_404(Study, pk=object_id) if object_id.isdigit() else None
        context: dict[str, Any] = {"report_url": _report_url(study), "draft": _draft(study)} if study else {}
        if study:
            context["may_invite"] = lifecycle.may_invite(study)
            context["actions"] = [(name, str(ACTIONS[name].label)) for name in _next_actions(study)]
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **context})

    def action_view(self, request: HttpRequest, pk: int, action: str) -> HttpResponse:
        """Say what an action means (GET), and run it (POST)."""
        study = get_object_or_404(Study, pk=pk)
        if action not in ACTIONS:
            raise Http404
        if not self.has_change_permission(request, study):
            raise PermissionDenied
        if request.method == "POST":
            self._run(request, action, study)
            return HttpResponseRedirect(reverse("admin:studies_study_change", args=[pk]))
        context = {
            **self.admin_site.each_context(request),
            "opts": Study._meta,
            "title": _(ACTIONS[action].title) % {"study": study},
            "study": study,
            "action_label": str(ACTIONS[action].label),
            "meaning": _(ACTIONS[action].meaning),
        }
        return TemplateResponse(request, "admin/studies/study/action.html", context)

    def _run(self, request: HttpRequest, action: str, study: Study) -> None:
        try:
            message = actions.run(action, study, by=cast(User, request.user))
        except (protocol.NotPlannable, lifecycle.NotReady) as error:
            self.message_user(request, str(error), messages.ERROR)
        else:
            self.message_user(request, message, messages.SUCCESS)

    def _confirm_or_run(self, request: HttpRequest, action: str, queryset: QuerySet[Study]) -> HttpResponse | None:
        """Say what the action means for each of the studies, and what is in its way; once that is confirmed, run it."""
        if "confirmed" in request.POST:
            for study in queryset:
                self._run(request, action, study)
            return None
        studies = [(study, ACTIONS[action].obstacles(study)) for study in queryset]
        ready = [study for study, obstacles in studies if not obstacles]
        context = {
            **self.admin_site.each_context(request),
            "opts": Study._meta,
            "title": _(ACTIONS[action].title_of_several),
            "action_name": action,
            "action_label": str(ACTIONS[action].label),
            "meaning": _(ACTIONS[action].meaning),
            "ready": ready,
            "hindered": [(study, obstacles) for study, obstacles in studies if obstacles],
        }
        return TemplateResponse(request, "admin/studies/study/action_selected.html", context)

    @admin.action(description=gettext_lazy("Plan: make the places"), permissions=["change"])
    def plan(self, request: HttpRequest, queryset: QuerySet[Study]) -> HttpResponse | None:
        return self._confirm_or_run(request, "plan", queryset)

    @admin.action(description=gettext_lazy("Launch: freeze, and open to anyone with a link"), permissions=["change"])
    def launch(self, request: HttpRequest, queryset: QuerySet[Study]) -> HttpResponse | None:
        return self._confirm_or_run(request, "launch", queryset)

    @admin.action(description=gettext_lazy("Pause: no answers until it is resumed"), permissions=["change"])
    def pause(self, request: HttpRequest, queryset: QuerySet[Study]) -> HttpResponse | None:
        return self._confirm_or_run(request, "pause", queryset)

    @admin.action(description=gettext_lazy("Resume: live again after a pause"), permissions=["change"])
    def resume(self, request: HttpRequest, queryset: QuerySet[Study]) -> HttpResponse | None:
        return self._confirm_or_run(request, "resume", queryset)

    @admin.action(description=gettext_lazy("Close: no more answers, for good"), permissions=["change"])
    def close(self, request: HttpRequest, queryset: QuerySet[Study]) -> HttpResponse | None:
        return self._confirm_or_run(request, "close", queryset)


def _next_actions(study: Study) -> list[str]:
    """What can come next for the study, the likeliest first; empty when it is closed."""
    closing = ["close"] if lifecycle.may_close(study) else []
    if lifecycle.may_plan(study):
        return [*(["launch", "plan"] if seats.of_people(study).exists() else ["plan", "launch"]), *closing]
    return [*(name for name in ("resume", "pause") if lifecycle.can_transition(study, name)), *closing]


def _draft(study: Study) -> ProtocolVersion | None:
    return study.versions.order_by("-number").first()


def _report_url(study: Study) -> str:
    try:
        return reverse("reports:show", args=[study.slug])
    except NoReverseMatch:  # reports are above us and need not be installed
        return ""
