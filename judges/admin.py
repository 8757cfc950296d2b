"""Judges in the admin: endpoints, prompts, judges with a button that runs them, and how runs are getting on."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Field, Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from judges import measurements, providers, runs
from judges.metrics import all_metrics
from judges.models import Call, Endpoint, Judge, Prompt, Run
from judges.planning import CannotRun
from studies.models import Study


def _choice(db_field: Field[Any, Any], choices: list[tuple[str, Any]], **options: Any) -> forms.ChoiceField:
    """A field that offers what was discovered, in place of one that takes any text."""
    return forms.ChoiceField(
        choices=choices,
        label=capfirst(db_field.verbose_name),
        help_text=db_field.help_text,
        initial=db_field.get_default(),
        **options,
    )


@admin.register(Endpoint)
class EndpointAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("name", "provider", "base_url", "key_variable", "is_allowed", "is_outside")

    def formfield_for_dbfield(self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name != "adapter":
            return super().formfield_for_dbfield(db_field, request, **kwargs)
        return _choice(db_field, [(slug, provider.title) for slug, provider in providers.all_providers().items()])

    @admin.display(description=gettext_lazy("adapter"), ordering="adapter")
    def provider(self, endpoint: Endpoint) -> str:
        return str(endpoint.provider.title) if endpoint.provider else endpoint.adapter

    def get_readonly_fields(self, request: HttpRequest, obj: Endpoint | None = None) -> tuple[str, ...]:
        # Whoever writes an address must not be the one who allows it, unless that is their office.
        may_allow = request.user.has_perm("judges.allow_endpoint")
        return () if may_allow else ("is_allowed", "is_outside", "key_variable")

    def save_model(self, request: HttpRequest, obj: Endpoint, form: forms.ModelForm[Endpoint], change: bool) -> None:
        super().save_model(request, obj, form, change)
        if change and {"base_url", "adapter"} & set(form.changed_data):
            messages.warning(request, _("The address is new, so its key and its permission have been taken away."))


@admin.register(Prompt)
class PromptAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("name", "version", "protocol", "source", "is_verbatim")

    def get_readonly_fields(self, request: HttpRequest, obj: Prompt | None = None) -> tuple[str, ...]:
        return Prompt.CONTENT if obj and obj.is_used() else ()


@admin.register(Judge)
class JudgeAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("slug", "endpoint", "model", "prompt", "metric", "metric_version")
    list_select_related = ("endpoint", "prompt")
    fields = ("slug", "endpoint", "model", "prompt", "parameters", "metric", "metric_version")
    change_form_template = "admin/judges/judge/change_form.html"

    def formfield_for_dbfield(self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name != "metric":
            return super().formfield_for_dbfield(db_field, request, **kwargs)
        choices = [("", "–"), *((slug, f"{metric.title} {metric.version}") for slug, metric in all_metrics().items())]
        return _choice(db_field, choices, required=False)

    def get_readonly_fields(self, request: HttpRequest, obj: Judge | None = None) -> tuple[str, ...]:
        # The version is that of the metric's file on the day when the judge was made.
        return self.fields if obj and obj.is_used() else ("metric_version",)

    def get_urls(self) -> list[URLPattern]:
        run = path("<int:pk>/run/", self.admin_site.admin_view(self.run_view), name="judges_judge_run")
        return [run, *super().get_urls()]

    def run_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Choose a study (GET) and start the judge in it (POST)."""
        if not request.user.has_perm("judges.add_run"):
            raise PermissionDenied
        judge = get_object_or_404(Judge.objects.select_related("endpoint", "prompt"), pk=pk)
        form = RunForm(request.POST or None, judge=judge)
        if request.method == "POST" and form.is_valid():
            try:
                run = runs.start(form.cleaned_data["study"], judge, by=request.user.get_username())
            except CannotRun as error:
                form.add_error("study", str(error))
            else:
                message = ngettext(
                    "%(run)s: %(n)d call planned; the workers have been told.",
                    "%(run)s: %(n)d calls planned; the workers have been told.",
                    run.n_planned,
                )
                messages.success(request, message % {"run": run, "n": run.n_planned})
                return redirect(reverse("admin:judges_run_change", args=[run.pk]))
        context = {
            **self.admin_site.each_context(request),
            "opts": Judge._meta,
            "title": _("Run %(judge)s") % {"judge": judge},
            "judge": judge,
            "form": form,
        }
        return TemplateResponse(request, "admin/judges/judge/run.html", context)


class RunForm(forms.Form):
    """Which study; only those that are planned or frozen and which the judge has not judged. A run freezes."""

    study = forms.ModelChoiceField(Study.objects.none(), label=gettext_lazy("Study"))

    def __init__(self, *args: Any, judge: Judge, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        is_ready = Q(versions__frozen_at__isnull=False) | Q(seats__isnull=False)
        ready = Study.objects.filter(is_ready).exclude(runs__judge=judge).distinct()
        self.fields["study"] = forms.ModelChoiceField(ready, label=gettext_lazy("Study"))


@admin.register(Run)
class RunAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("__str__", "state", "n_planned", "by_state", "created_by", "created_at", "finished_at")
    list_select_related = ("study", "judge")
    fields = (
        "study",
        "judge",
        "state",
        "note",
        "n_planned",
        "by_state",
        "reasons",
        "left_out",
        "created_by",
        "created_at",
        "finished_at",
        "sha256",
        "document",
    )
    readonly_fields = fields
    actions = ("stop", "resume")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        n_by_state = {f"calls_{state}": Count("calls", filter=Q(calls__state=state)) for state in Call.State.values}
        rows: QuerySet[Run] = super().get_queryset(request).annotate(**n_by_state)
        return rows

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    @admin.display(description=gettext_lazy("calls by state"))
    def by_state(self, run: Run) -> str:
        n_by_state = {Call.State(state).label: getattr(run, f"calls_{state}") for state in Call.State.values}
        return ", ".join(f"{n} {label}".lower() for label, n in n_by_state.items() if n)

    @admin.display(description=gettext_lazy("why calls have no answer"))
    def reasons(self, run: Run) -> str:
        """The reasons that the endpoint or the parser gave, the most frequent first."""
        counts = run.calls.exclude(reason="").values_list("state", "reason").annotate(n=Count("pk")).order_by("-n")
        return "\n".join(f"{n} × {state}: {reason}" for state, reason, n in counts[:20]) or "–"

    @admin.display(description=gettext_lazy("left out"))
    def left_out(self, run: Run) -> str:
        return measurements.describe_withheld(run.withheld) or "–"

    @admin.action(description=gettext_lazy("Stop the runs; they can be resumed"), permissions=["change"])
    def stop(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        for run in queryset:
            runs.stop(run, f"stopped by {request.user.get_username()}")

    @admin.action(description=gettext_lazy("Resume the runs"), permissions=["change"])
    def resume(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        for run in queryset:
            try:
                runs.resume(run)
            except CannotRun as error:
                messages.warning(request, str(error))
