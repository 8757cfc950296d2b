"""Judges in the admin: endpoints, prompts, judges, and how runs are getting on; they are started in their studies."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Count, Field, Model, Q, QuerySet
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from judges import lifecycle, providers, reasons, runs
from judges.metrics import all_metrics
from judges.models import Call, Endpoint, Judge, Price, Prompt, Run
from judges.planning import CannotRun, metric_plans

SEES_SOURCES = "studies.view_provenance"


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
        # The person who writes an address must not also allow it, unless that is their office.
        may_allow = request.user.has_perm("judges.allow_endpoint")
        return () if may_allow else ("is_allowed", "is_outside", "key_variable")

    def save_model(self, request: HttpRequest, obj: Endpoint, form: forms.ModelForm[Endpoint], change: bool) -> None:
        super().save_model(request, obj, form, change)
        if change and {"base_url", "adapter"} & set(form.changed_data):
            messages.warning(request, Endpoint.MOVED)


@admin.register(Price)
class PriceAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """What models cost from a day on: estimates and budgets rest on it. What was spent is kept with each try."""

    list_display = ("model", "adapter", "endpoint", "usd_per_million_in", "usd_per_million_out", "valid_from")
    list_select_related = ("endpoint",)
    list_filter = ("adapter", "endpoint")
    search_fields = ("model",)

    def formfield_for_dbfield(self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name != "adapter":
            return super().formfield_for_dbfield(db_field, request, **kwargs)
        kinds = [(slug, provider.title) for slug, provider in providers.all_providers().items()]
        return _choice(db_field, [("", "–"), *kinds], required=False)


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

    def formfield_for_dbfield(self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name != "metric":
            return super().formfield_for_dbfield(db_field, request, **kwargs)
        names = [(slug, f"{_(metric.title)} {metric.version}") for slug, metric in all_metrics().items()]
        return _choice(db_field, [("", "–"), *names], required=False)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Judge]:
        rows: QuerySet[Judge] = super().get_queryset(request)
        return rows if request.user.has_perm(SEES_SOURCES) else rows.filter(is_writer=False)

    def get_readonly_fields(self, request: HttpRequest, obj: Judge | None = None) -> tuple[str, ...]:
        # The version is that of the metric's file on the day when the judge was made.
        return self.fields if obj and obj.is_used() else ("metric_version",)


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
        # Whose texts stand in a study, only those see who may know who wrote a story.
        return rows if request.user.has_perm(SEES_SOURCES) else rows.filter(judge__is_writer=False)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    @admin.display(description=gettext_lazy("note"))
    def note(self, run: Run) -> str:
        return run.note

    @admin.display(description=gettext_lazy("calls by state"))
    def by_state(self, run: Run) -> str:
        n_by_state = {Call.State(state).label: getattr(run, f"calls_{state}") for state in Call.State.values}
        return ", ".join(f"{n} {label}".lower() for label, n in n_by_state.items() if n)

    @admin.display(description=gettext_lazy("why calls have no answer"))
    def reasons(self, run: Run) -> str:
        """The reasons that the endpoint or the parser gave, the most frequent first."""
        counts = run.calls.exclude(reason="").values_list("state", "reason").annotate(n=Count("pk")).order_by("-n")
        return "\n".join(f"{n} × {state}: {reasons.translate(reason)}" for state, reason, n in counts[:20]) or "–"

    @admin.display(description=gettext_lazy("left out"))
    def left_out(self, run: Run) -> str:
        return metric_plans.describe_withheld(run.withheld) or "–"

    @admin.action(description=gettext_lazy("Stop the runs; they can be resumed"), permissions=["change"])
    def stop(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        for run in queryset:
            runs.stop(run, lifecycle.STOPPED_BY, name=request.user.get_username())

    @admin.action(description=gettext_lazy("Resume the runs"), permissions=["change"])
    def resume(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        for run in queryset:
            try:
                runs.resume(run)
            except CannotRun as error:
                messages.warning(request, str(error))
