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
from studies.incoming_tables.cautions import find_cautions
from studies.incoming_tables.encodings import ENCODINGS
from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.files import LARGEST, read_file
from studies.incoming_tables.problems import Problem, ProblemGroup, group_problems, headline
from studies.incoming_tables.readings import GUESSED, FileReading, ReadingChoices
from studies.incoming_tables.tables import IncomingTable, TableKind
from studies.models import WaitingFile, WaitingTable

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


class ReadingForm(forms.Form):
    """How the file is read: a field for each choice that its format has. What is left empty stays as it was."""

    encoding = forms.ChoiceField(label=gettext_lazy("Encoding"), choices=list(ENCODINGS.items()))
    delimiter = forms.ChoiceField(
        label=gettext_lazy("Sign between columns"),
        choices=[
            (",", gettext_lazy("comma ,")),
            (";", gettext_lazy("semicolon ;")),
            ("\t", gettext_lazy("tab")),
            ("|", gettext_lazy("pipe |")),
        ],
    )
    quoting = forms.ChoiceField(
        label=gettext_lazy("Quotation marks inside a cell"),
        choices=[
            ("doubled", gettext_lazy('doubled, ""')),
            ("backslash", gettext_lazy('after a backslash, \\"')),
            ("none", gettext_lazy("ordinary characters")),
        ],
    )
    header_row = forms.IntegerField(
        label=gettext_lazy("Row of the header"),
        min_value=0,
        max_value=1_000_000,
        help_text=gettext_lazy("As a spreadsheet counts; 0 if there is no header."),
        widget=forms.NumberInput({"min": 0}),
    )
    sheet = forms.ChoiceField(label=gettext_lazy("Sheet"))

    def __init__(self, data: Any, *, reading: FileReading) -> None:
        initial = {name: value for name, value in reading.choices.as_json().items() if value not in ("", None)}
        super().__init__(data, prefix="reading", initial=initial)
        self.reading = reading
        self.fields["sheet"].choices = [(sheet, sheet) for sheet in reading.sheets]  # type: ignore[attr-defined]
        for name in list(self.fields):
            if name not in initial or (name == "sheet" and len(reading.sheets) < 2):
                del self.fields[name]
            else:
                self.fields[name].required = False

    @property
    def is_open(self) -> bool:
        """Whether the page shows the fields at once: something is unsure, was chosen, or cannot be read."""
        return bool(self.reading.unsure) or self.reading.chosen != GUESSED or bool(self.errors)

    @property
    def unsure_labels(self) -> list[str]:
        """What was guessed with little to go by."""
        return [str(self.fields[name].label) for name in self.reading.unsure if name in self.fields]

    def updated_choices(self) -> ReadingChoices:
        """What is chosen, with what is posted; as before if nothing was changed."""
        resolved = self.reading.choices
        posted = {name: value for name, value in self.cleaned_data.items() if value not in ("", None)}
        return self.reading.chosen.changed_by(resolved, ReadingChoices(**(resolved.as_json() | posted)))


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
    kind : of the tables, where the file is kept and can be read otherwise
    cautions : whether to warn of hidden rows; an importer may do it itself, with ways out
    most_problems : that are listed; the others are counted
    """

    template: ClassVar[str]
    home: ClassVar[str]
    kind: ClassVar[TableKind | None] = None
    cautions: ClassVar[bool] = True
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

    def choose_anew(self, table: IncomingTable) -> dict[str, Any]:
        """The importer's choices for the table as it is read now; its columns may be others."""
        choices: dict[str, Any] = self.row.choices
        return choices

    def make_reading_form(self, data: Any) -> ReadingForm | None:
        """The form of how the file is read; None if it can be read in one way alone."""
        if self.kind is None or not isinstance(self.row, WaitingFile) or self.table.reading.choices == GUESSED:
            return None
        form = ReadingForm(data, reading=self.table.reading)
        return form if form.fields else None

    def read_otherwise(self, form: ReadingForm) -> bool:
        """Whether the file is now read otherwise, as is posted. If it cannot be, the form says why."""
        if not form.is_valid() or self.kind is None or not isinstance(self.row, WaitingFile):
            return False
        choices = form.updated_choices()
        if choices == form.reading.chosen:
            return False
        try:
            table = uploads.read_otherwise(self.row, self.kind, choices)
        except UnreadableFile as error:
            before, after = form.reading.chosen.as_json(), choices.as_json()
            changed = (name for name in form.fields if before[name] != after[name])
            form.add_error(next(changed, None), str(error))
            return False
        uploads.replace_table(self.row, table, self.choose_anew(table))
        return True

    def respond(self) -> HttpResponse:
        """The page; or what a button of it leads to."""
        posted = self.request.POST
        if self.request.method == "POST" and "put_aside" in posted:
            self.row.delete()
            return redirect(self.home, slug=self.access.study.slug)
        self.table = uploads.restore(self.row)
        form = self.make_form(None)
        self.reading_form = self.make_reading_form(None)
        if self.request.method == "POST":
            self.reading_form = self.make_reading_form(posted)
            if self.reading_form and self.read_otherwise(self.reading_form):
                return redirect(self.request.path)
            form = self.make_form(posted)
            if form.is_valid() and not (self.reading_form and self.reading_form.errors):
                self.save(form)
                if address := self.bring_in() if "bring_in" in posted else self.request.path:
                    return redirect(address)
                form = self.make_form(None)
        status = 400 if self.request.method == "POST" else 200
        return render(self.request, self.template, self._context(form), status=status)

    def _context(self, form: AnyForm) -> dict[str, Any]:
        report = self.describe(form)
        problems = [*report.problems]
        if self.cautions:
            problems += find_cautions(self.table)
        groups = group_problems(problems)
        listed_problems = groups[: self.most_problems]
        form.wrong = {problem.column for problem in problems if problem.level == "error"}
        return {
            "study": self.access.study,
            "access": self.access,
            "row": self.row,
            "n_rows": len(self.table.rows),
            "tool": self.table.hints.get("tool", ""),
            "form": form,
            "reading_form": self.reading_form,
            "refused": self.request.method == "POST" or bool(self.refusals),
            "refusals": self.refusals,
            "obstacles": report.obstacles,
            "problems": [(n, problem, _buttons(problem)) for n, problem in enumerate(listed_problems)],
            "n_more_problems": len(groups) - len(listed_problems),
            "headline": "" if report.obstacles and not problems else headline(problems),
            "is_ready": report.is_ready,
        } | report.context


def _buttons(problem: Problem | ProblemGroup) -> list[tuple[str, str]]:
    return [(way_out.label, json.dumps(way_out.act)) for way_out in problem.ways_out]
