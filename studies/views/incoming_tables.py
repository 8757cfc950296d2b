"""The page of a table on its way in: its columns, its problems, what would come in; then all of it, or nothing.

An importer declares a form of its choices, what is to be said of the table, and how it comes in.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar, cast

from django import forms
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies.access import Access
from studies.incoming_tables import uploads
from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.files import LARGEST, read_file
from studies.incoming_tables.problems import Problem, headline
from studies.incoming_tables.tables import IncomingTable, TableKind
from studies.models import WaitingTable

N_SAMPLES = 3  # rows that the page shows


class UploadForm(forms.Form):
    """A file with a table of one kind. When it is valid it has that table, and the file's hash."""

    kind: ClassVar[TableKind]
    too_large: ClassVar[Promise] = gettext_lazy("The file is larger than 50 MB. Split it.")
    table: IncomingTable
    sha256 = ""

    file = forms.FileField(label=gettext_lazy("File"), allow_empty_file=True)

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file and file.size > LARGEST:
            raise forms.ValidationError(str(self.too_large))
        if file:
            content = file.read()
            self.sha256 = hashlib.sha256(content).hexdigest()
            try:
                self.table = read_file(file.name, content, self.kind)
            except UnreadableFile as error:
                raise forms.ValidationError(str(error)) from None
        return file


@dataclass(frozen=True)
class MappedColumn:
    """A column as the page shows it. field : of the form; looks : classes of its heading"""

    name: str
    field: forms.BoundField
    looks: str


class RolesForm(forms.Form):
    """What each column is: a field for each, `role-0`, `role-1` and so on.

    wrong, unsure, apart : columns with a problem; those of which nothing is sure; those whose cells are kept apart
    """

    wrong: Iterable[str] = ()
    unsure: Iterable[str] = ()
    apart: Iterable[str] = ()

    def __init__(self, data: Any, *, table: IncomingTable, initial: dict[str, Any]) -> None:
        super().__init__(data, initial=initial)
        self.table = table

    def add_roles(self, choices: Sequence[tuple[str, Any]], role_by_column: dict[str, str]) -> None:
        for at, column in enumerate(self.table.columns):
            self.fields[f"role-{at}"] = forms.ChoiceField(
                label=column,
                choices=choices,
                required=False,
                initial=role_by_column.get(column, ""),
                widget=forms.Select({"aria-label": _("What is in the column %(name)s?") % {"name": column}}),
            )

    def posted_roles(self) -> dict[str, str]:
        """The key of the role by column; "" for those that are left out."""
        return {column: self.cleaned_data.get(f"role-{at}", "") for at, column in enumerate(self.table.columns)}

    def columns(self) -> list[MappedColumn]:
        return [
            MappedColumn(column, self[f"role-{at}"], self._looks(column, self[f"role-{at}"]))
            for at, column in enumerate(self.table.columns)
        ]

    def _looks(self, column: str, bound_field: forms.BoundField) -> str:
        is_wrong = bool(bound_field.errors) or column in self.wrong
        mark = "wrong" if is_wrong else "unsure" if column in self.unsure else ""
        return f"{mark} {'apart' if column in self.apart else ''}".strip()

    def sample_rows(self) -> list[list[tuple[str, bool]]]:
        """The first rows: each cell, and whether it is kept apart."""
        return [
            [(cell[:200], column in self.apart) for column, cell in zip(self.table.columns, cells, strict=True)]
            for _n, cells in self.table.rows[:N_SAMPLES]
        ]


@dataclass(frozen=True)
class TableReport:
    """What is to be said of a table. obstacles : why nothing of it can come in, whatever its rows

    context : what the importer's own parts of the page show
    """

    problems: Sequence[Problem]
    obstacles: Sequence[str] = ()
    context: dict[str, Any] = field(default_factory=dict)

    @property
    def is_ready(self) -> bool:
        return not self.obstacles and all(problem.level != "error" for problem in self.problems)


AnyRow = TypeVar("AnyRow", bound=WaitingTable)
AnyForm = TypeVar("AnyForm", bound=RolesForm)


class ImportPage(ABC, Generic[AnyRow, AnyForm]):
    """The page of one waiting table.

    template, home : its own, which extends `studies/incoming_table.html`; the name of the address to which it leads
    most_problems : that are listed; the others are counted
    """

    template: ClassVar[str]
    home: ClassVar[str]
    most_problems: ClassVar[int] = 20

    def __init__(self, request: HttpRequest, access: Access, row: AnyRow | None) -> None:
        if row is None:
            raise Http404
        self.request, self.access, self.row, self.by = request, access, row, cast(User, request.user)
        self.refusals: list[str] = []

    @abstractmethod
    def make_form(self, data: Any) -> AnyForm:
        """The form of the table as it was kept, or as it is posted."""

    @abstractmethod
    def save(self, form: AnyForm) -> None:
        """Keep what is posted. It is valid."""

    @abstractmethod
    def bring_in(self) -> str:
        """Put all of the table into the study. Where to go then; "" if nothing came in, and `refusals` say why."""

    @abstractmethod
    def describe(self, form: AnyForm) -> TableReport:
        """What is to be said of the table as it was kept."""

    def respond(self) -> HttpResponse:
        """The page; or what a button of it leads to."""
        posted = self.request.POST
        if self.request.method == "POST" and "put_aside" in posted:
            self.row.delete()
            return redirect(self.home, slug=self.access.study.slug)
        self.table = uploads.restore(self.row)
        form = self.make_form(None)
        if self.request.method == "POST":
            form = self.make_form(posted)
            if form.is_valid():
                self.save(form)
                if address := self.bring_in() if "bring_in" in posted else self.request.path:
                    return redirect(address)
                form = self.make_form(None)
        status = 400 if self.request.method == "POST" else 200
        return render(self.request, self.template, self._context(form), status=status)

    def _context(self, form: AnyForm) -> dict[str, Any]:
        report = self.describe(form)
        listed_problems = report.problems[: self.most_problems]
        form.wrong = {problem.column for problem in report.problems if problem.level == "error"}
        return {
            "study": self.access.study,
            "access": self.access,
            "row": self.row,
            "n_rows": len(self.table.rows),
            "tool": self.table.hints.get("tool", ""),
            "form": form,
            "refused": self.request.method == "POST" or bool(self.refusals),
            "refusals": self.refusals,
            "obstacles": report.obstacles,
            "problems": [(n, problem, _buttons(problem)) for n, problem in enumerate(listed_problems)],
            "n_more_problems": len(report.problems) - len(listed_problems),
            "headline": "" if report.obstacles and not report.problems else headline(report.problems),
            "is_ready": report.is_ready,
        } | report.context


def _buttons(problem: Problem) -> list[tuple[str, str]]:
    return [(way_out.label, json.dumps(way_out.act)) for way_out in problem.ways_out]
