"""The admin's site: what all of its lists have in common."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from django import forms
from django.apps import apps
from django.contrib import admin
from django.db.models import ForeignKey, Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config import sign_in

# The app whose tables say when which task runs; a report's schedule has a page of its own.
OPERATION = "django_celery_beat"
SEES_STUDY = "studies.view_study"
# What Django's own filters and its date hierarchy ask of a field.
SUFFIXES = ("", "__exact", "__id__exact", "__isnull", "__gte", "__lt", "__year", "__month", "__day")


class DeclaredLookups:
    """A list is filtered by what it declares and by nothing else: any other lookup could ask for what the page does not
    show, keep the database busy, or not be understood by it."""

    list_filter: Any
    date_hierarchy: str | None

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        declared = [*self.get_list_filter(request), *([self.date_hierarchy] if self.date_hierarchy else [])]  # type: ignore[attr-defined]
        fields = [entry[0] if isinstance(entry, list | tuple) else entry for entry in declared]
        names = {f"{field}{suffix}" for field in fields if isinstance(field, str) for suffix in SUFFIXES}
        return lookup in names and "\x00" not in str(value)


class WithoutRehearsals:
    """No list knows of rehearsals, nor of what belongs to them, whatever way leads from a row to its study."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)  # type: ignore[misc]
        path = find_path_to_study(rows.model._meta.label)
        return rows if path is None else rows.filter(**{f"{path}rehearsal_of": None})


@cache
def find_path_to_study(label: str) -> str | None:
    """The shortest way from every row of that table to its study, as lookups begin: "version__study__"; "" for studies
    themselves, None where a row need not have one."""
    study = apps.get_model("studies", "Study")
    waiting: deque[tuple[Any, str]] = deque([(apps.get_model(label), "")])
    visited: set[Any] = set()
    while waiting:
        current, path = waiting.popleft()
        if current is study:
            return path
        if current not in visited:
            visited.add(current)
            fields = [f for f in current._meta.concrete_fields if isinstance(f, ForeignKey) and not f.null]
            waiting.extend((field.related_model, f"{path}{field.name}__") for field in fields)
    return None


class StudyField(forms.ModelChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, obj: Any) -> str:
        return describe_study(obj)


class StudyFilter(admin.RelatedFieldListFilter):
    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(str(study.pk), describe_study(study)) for study in field.related_model.objects.order_by("slug")]


def describe_study(study: Any) -> str:
    """Its title with its state and its short name: two studies may have one title."""
    return f"{study.title} ({study.get_state_display()}, {study.slug})"


class LeadsToStudy:
    """Of what belongs to a study every row and every form leads to the study's page, for whoever may see that.

    path_to_study : as `find_path_to_study` says it
    """

    path_to_study: str | None

    @classmethod
    def find_study(cls, obj: Any) -> Any:
        for field in (cls.path_to_study or "").split("__")[:-1]:
            obj = getattr(obj, field)
        return obj

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        columns = list(super().get_list_display(request))  # type: ignore[misc]
        if self.path_to_study is None or not request.user.has_perm(SEES_STUDY):
            return columns
        first, *others = columns
        name = "study" if self.path_to_study else "title"
        return [
            first,
            *(["study_page"] if name not in others else []),
            *("study_page" if c == name else c for c in others),
        ]

    def get_list_select_related(self, request: HttpRequest) -> Any:
        fields = super().get_list_select_related(request)  # type: ignore[misc]
        return [*(fields or ()), self.path_to_study.removesuffix("__")] if self.path_to_study else fields

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        path = (self.path_to_study or "").removesuffix("__")
        filters = super().get_list_filter(request)  # type: ignore[misc]
        return [(entry, StudyFilter) if path and entry == path else entry for entry in filters]

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.related_model._meta.label == "studies.Study":
            kwargs.setdefault("form_class", StudyField)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)  # type: ignore[misc]

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **options: Any) -> HttpResponse:
        is_of_study = self.path_to_study is not None and context.get("original") is not None
        if is_of_study and request.user.has_perm(SEES_STUDY):
            study = self.find_study(context["original"])
            context["study_page"] = {
                "address": reverse("studies:overview", args=[study.slug]),
                "label": describe_study(study),
            }
        response: HttpResponse = super().render_change_form(request, context, *args, **options)  # type: ignore[misc]
        return response


def make_study_column(path: str | None) -> Callable[[Any, Any], str]:
    """The column of a list that leads to each row's study; of the list of studies their titles."""

    @admin.display(description=gettext_lazy("study"), ordering=f"{path}slug" if path else "title")
    def study_page(leading: Any, obj: Any) -> str:
        study = leading.find_study(obj)
        address = reverse("studies:overview", args=[study.slug])
        words = study.title if study is obj else study.slug
        return format_html('<a href="{}" title="{}">{}</a>', address, describe_study(study), words)

    return study_page


class StaffSite(admin.AdminSite):
    """The staff's site: its front are the pages of studies, and Django's lists stand behind them as the records."""

    def get_urls(self) -> list[Any]:
        return [path("records/", self.admin_view(self.records), name="records"), *super().get_urls()]

    def index(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """To the studies, which is where the staff begins."""
        return redirect("studies:index")

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Django's, which is remembered by the browser: see config.sign_in."""
        response = super().login(request, extra_context)
        if request.method == "POST" and request.user.is_authenticated:
            sign_in.remember(response, request.user.get_username())
        return response

    def records(self, request: HttpRequest) -> HttpResponse:
        """Every list that the account may see: what the admin opens on elsewhere."""
        return super().index(request)

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """As Django's, with what keeps the site running last and under a heading of its own, for superusers alone."""
        by_label = {app["app_label"]: app for app in super().get_app_list(request, app_label)}
        operation = by_label.pop(OPERATION, None)
        of_operation = [{**operation, "name": _("Operation")}] if operation and request.user.is_superuser else []
        return [*by_label.values(), *of_operation]

    def register(
        self,
        model_or_iterable: type[Model] | Iterable[type[Model]],
        admin_class: type[admin.ModelAdmin[Any]] | None = None,
        **options: Any,
    ) -> None:
        base = admin_class or admin.ModelAdmin
        models = [model_or_iterable] if isinstance(model_or_iterable, type) else model_or_iterable
        for model in models:
            path = find_path_to_study(model._meta.label)
            ours = {"path_to_study": path, "study_page": make_study_column(path)}
            bases = (DeclaredLookups, WithoutRehearsals, LeadsToStudy, base)
            super().register(model, type(base.__name__, bases, ours), **options)
