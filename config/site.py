"""The admin's site: what all of its lists have in common."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import cache
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.db.models import ForeignKey, Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path

from config import sign_in

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

    def register(
        self,
        model_or_iterable: type[Model] | Iterable[type[Model]],
        admin_class: type[admin.ModelAdmin[Any]] | None = None,
        **options: Any,
    ) -> None:
        base = admin_class or admin.ModelAdmin
        super().register(
            model_or_iterable, type(base.__name__, (DeclaredLookups, WithoutRehearsals, base), {}), **options
        )
