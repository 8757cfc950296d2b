"""Bringing in stories: a file or a paste, then what its columns are, what is wrong by row, and how they are grouped."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django_htmx.http import HttpResponseClientRedirect

from studies import hashing, story_edits
from studies.access import Access
from studies.documents.stories import MOST_IN_GROUP
from studies.models import StoryImport, StoryIntake, StudyJob
from studies.story_edits import StoriesFinal
from studies.story_import import examinations, imports, intakes
from studies.story_import.columns import (
    ROLE_BY_KEY,
    ROLES,
    ColumnChoices,
    count_kind_values,
    guess_choices,
    restore_choices,
)
from studies.story_import.errors import ImportRefused, UnreadableFile
from studies.story_import.files import KINDS, LARGEST, StoryTable, read_file, read_pasted
from studies.story_import.problems import Examination, examine
from studies.views import story_intakes, study_jobs
from studies.views.guards import require_in_study
from studies.views.study_jobs import JobProgress
from studies.vocabulary import SourceKind

# A file says who wrote the stories.
MAY_BRING = "studies.change_provenance"
GROUPINGS: dict[str, Promise] = {
    "column": gettext_lazy("As the column of groups says"),
    "premise": gettext_lazy("By premise"),
    "balanced": gettext_lazy("One story by every source in each group, on the same premise if there are several"),
    "pairs": gettext_lazy("In pairs by two sources, on the same premise if there are several"),
    "size": gettext_lazy(
        "In groups of one size, each story by another source as long as there is one, on the same premise if there are "
        "several"
    ),
    "alone": gettext_lazy("Each story alone"),
}
MOST_PASTED = 400_000


class StoryFileForm(forms.Form):
    file = forms.FileField(label=gettext_lazy("File"), required=False, allow_empty_file=True)
    pasted = forms.CharField(
        label=gettext_lazy("Or paste a text, or cells of a table with their header"),
        required=False,
        strip=False,
        max_length=MOST_PASTED,
        widget=forms.Textarea({"rows": 5}),
    )

    def clean(self) -> None:
        if self.errors:
            return
        file, pasted = self.cleaned_data.get("file"), self.cleaned_data.get("pasted", "")
        try:
            if file:
                if file.size > LARGEST:
                    raise UnreadableFile(_("The file is larger than 50 MB. Split it, or leave out what is no story."))
                self.cleaned_data["table"] = read_file(file.name, file.read())
            elif pasted.strip():
                self.cleaned_data["table"] = read_pasted(pasted)
            else:
                self.add_error("file", _("Choose a file, or paste something."))
        except UnreadableFile as error:
            self.add_error("file" if file else "pasted", str(error))


@require_in_study(MAY_BRING, change=MAY_BRING, methods=("GET", "HEAD", "POST"))
def new_import(request: HttpRequest, access: Access) -> HttpResponse:
    """For whoever makes the study: a file or a paste of stories, read and kept until it is confirmed."""
    study, by = access.study, cast(User, request.user)
    form, status = StoryFileForm(), 200
    imports.forget_old_imports(at=timezone.now())
    obstacle = story_edits.find_obstacle(study)
    if request.method == "POST" and obstacle:
        messages.error(request, obstacle)
        return redirect("studies:stories", slug=study.slug)
    if request.method == "POST":
        form, status = StoryFileForm(request.POST, request.FILES), 400
        if form.is_valid():
            row = imports.keep_import(study, form.cleaned_data["table"], by=by, at=timezone.now())
            return redirect("studies:story_import", slug=study.slug, import_id=row.pk)
    context = {
        "study": study,
        "access": access,
        "form": form,
        "obstacle": obstacle,
        "accepted": ",".join(KINDS),
        "waiting": imports.find_waiting(study, by),
    }
    return render(request, "studies/new_story_import.html", context, status=status)


@dataclass(frozen=True)
class MappedColumn:
    """A column as the page shows it. field : of the form"""

    name: str
    field: forms.BoundField
    is_apart: bool
    is_unsure: bool


class ChoicesForm(forms.Form):
    """What each column is, what its values mean, and what holds for all stories."""

    source = forms.CharField(label=gettext_lazy("Source, where the file names none"), required=False, max_length=200)
    source_kind = forms.ChoiceField(
        label=gettext_lazy("Who wrote the stories, where it is not said"),
        required=False,
        choices=[("", gettext_lazy("say it row by row")), *SourceKind.choices],
    )
    licence = forms.CharField(label=gettext_lazy("Licence, where the file gives none"), required=False, max_length=200)
    may_send_out = forms.BooleanField(
        label=gettext_lazy("May be sent to an outside provider of models"),
        required=False,
        help_text=gettext_lazy("Where the file says nothing."),
    )
    may_redistribute = forms.BooleanField(
        label=gettext_lazy("May be in exports"), required=False, help_text=gettext_lazy("Where the file says nothing.")
    )
    has_new_codes = forms.BooleanField(
        label=gettext_lazy("Neutral codes for all"),
        required=False,
        help_text=gettext_lazy("Codes are for you and the coordinator; they should tell nothing."),
    )
    grouping = forms.ChoiceField(
        label=gettext_lazy("Groups"), choices=list(GROUPINGS.items()), widget=forms.RadioSelect
    )
    group_size = forms.IntegerField(
        label=gettext_lazy("Stories in each group, for groups of one size"),
        required=False,
        widget=forms.NumberInput({"min": 2, "max": MOST_IN_GROUP}),
    )
    FIELDS = (
        *("source", "source_kind", "licence", "may_send_out", "may_redistribute", "has_new_codes", "grouping"),
        "group_size",
    )

    def clean_group_size(self) -> int:
        return self.cleaned_data["group_size"] or 0

    def __init__(self, data: Any, *, table: StoryTable, choices: ColumnChoices, values: Counter[str]) -> None:
        super().__init__(data, initial={name: getattr(choices, name) or None for name in self.FIELDS}, auto_id="id_%s")
        self.table, self.saved = table, choices
        roles = [(role.key, role.title) for role in ROLES]
        for at, column in enumerate(table.columns):
            label = _("What “%(column)s” is") % {"column": column}
            self.fields[f"role-{at}"] = forms.ChoiceField(
                label=label,
                choices=roles,
                required=False,
                initial=choices.roles[column],
                widget=forms.Select({"aria-label": label}),
            )
        self.value_by_field = {f"kind-{hashing.sha256(value)[:12]}": value for value in values}
        kinds = [("", _("say what it is")), *SourceKind.choices]
        for name, value in self.value_by_field.items():
            widget = forms.Select({"aria-label": value[:80]})
            self.fields[name] = forms.ChoiceField(
                label=value, choices=kinds, required=False, initial=choices.kinds.get(value, ""), widget=widget
            )
        self.n_rows_by_value = values

    def columns(self) -> list[MappedColumn]:
        _choices, unsure = guess_choices(self.table)
        return [
            MappedColumn(
                column,
                self[f"role-{at}"],
                ROLE_BY_KEY[self.saved.roles[column]].is_apart,
                column in unsure,
            )
            for at, column in enumerate(self.table.columns)
        ]

    def sample_rows(self) -> list[list[tuple[str, bool]]]:
        """The first three rows: each cell, and whether it is kept apart."""
        are_apart = [ROLE_BY_KEY[self.saved.roles[column]].is_apart for column in self.table.columns]
        return [
            [(cell[:200], is_apart) for cell, is_apart in zip(cells, are_apart, strict=True)]
            for _n, cells in self.table.rows[:3]
        ]

    def kinds(self) -> list[tuple[str, int, forms.BoundField]]:
        return [(value, self.n_rows_by_value[value], self[name]) for name, value in self.value_by_field.items()]

    def updated_choices(self) -> ColumnChoices:
        """The choices as they were saved, with what is posted."""
        choices = restore_choices(self.saved.as_json())
        for name in self.FIELDS:
            setattr(choices, name, self.cleaned_data[name])
        for at, column in enumerate(self.table.columns):
            choices.roles[column] = self.cleaned_data[f"role-{at}"]
        for name, value in self.value_by_field.items():
            choices.kinds[value] = self.cleaned_data[name]
        return choices


@require_in_study(MAY_BRING, change=MAY_BRING, methods=("GET", "HEAD", "POST"))
def story_import(request: HttpRequest, access: Access, import_id: int) -> HttpResponse:
    """For whoever brought the file: its columns, problems and groups; then all stories come in, or none."""
    rows = StoryImport.objects.select_related("study", "user", "intake").defer("table")
    row = rows.filter(pk=import_id, study=access.study, user=request.user.pk).first()
    if row is None:
        raise Http404
    intake: StoryIntake | None = getattr(row, "intake", None)
    if intake is not None and not intake.problem:
        return story_intakes.respond(request, access, row, intake)
    if story_intakes.is_poll(request):  # from the page that says how far it is
        return story_intakes.end_polls(request)
    if story_intakes.is_after_polls(request):
        return HttpResponseClientRedirect(request.path)
    if request.method == "POST" and "put_aside" in request.POST:
        row.delete()
        return redirect("studies:stories", slug=access.study.slug)
    if study_jobs.is_poll(request):
        return study_jobs.answer_poll(request, _follow(examinations.find(row)))
    table, choices = imports.restore_table(row), restore_choices(row.choices)
    has_long_texts = intakes.has_long_texts(table)
    form = _make_form(None, table, choices)
    problem = intake.problem if intake and request.method != "POST" else ""
    if request.method == "POST":
        form = _make_form(request.POST, table, choices)
        if form.is_valid():
            choices = _save(row, form, request.POST.get("act", ""))
            if "bring_in" not in request.POST:
                if intake is not None:
                    intake.delete()  # what it said was of the choices before
                if has_long_texts:
                    examinations.ask(row, by=row.user, at=timezone.now())
                return redirect("studies:story_import", slug=access.study.slug, import_id=row.pk)
            if _ask_worker(row, table):
                return redirect("studies:story_import", slug=access.study.slug, import_id=row.pk)
            problem = _bring_in(request, row)
            if not problem:
                return redirect("studies:stories", slug=access.study.slug)
            form = _make_form(None, table, choices)
    examination, progress = _examine(row, table, choices, has_long_texts=has_long_texts)
    context = {
        "study": access.study,
        "access": access,
        "story_import": row,
        "n_rows": len(table.rows),
        "n_left_out": len(choices.left_out),
        "form": form,
        "examination": examination,
        "job": progress,
        "problems": [(n, problem, _buttons(problem.ways_out)) for n, problem in enumerate(examination.problems[:100])],
        "n_more_problems": max(len(examination.problems) - 100, 0),
        "refused": request.method == "POST" or intake is not None,
        "problem": problem,
        "headline": _headline(examination),
        "wrong_columns": {problem.column for problem in examination.errors},
        "kind_column": choices.column_of("source_kind"),
        "groups": _describe_groups(examination),
        "has_codes": bool(choices.column_of("code")),
    }
    return render(request, "studies/story_import.html", context, status=400 if request.method == "POST" else 200)


def _examine(
    row: StoryImport, table: StoryTable, choices: ColumnChoices, *, has_long_texts: bool
) -> tuple[Examination, JobProgress | None]:
    """What is to be said of the rows; while a worker examines long texts nothing, and how far it is."""
    if not has_long_texts:
        return examine(table, choices, imports.read_contents(row.study)), None
    job = examinations.find(row) or examinations.ask(row, by=row.user, at=timezone.now())
    examination = examinations.restore(job)
    return examination or Examination(), None if examination else _follow(job)


def _follow(job: StudyJob | None) -> JobProgress | None:
    return study_jobs.follow(job, _("The rows are being examined.")) if job else None


def _make_form(data: Any, table: StoryTable, choices: ColumnChoices) -> ChoicesForm:
    values = count_kind_values(table, choices)
    return ChoicesForm(data, table=table, choices=choices, values=Counter(dict(values.most_common(imports.MOST_KINDS))))


def _save(row: StoryImport, form: ChoicesForm, act: str) -> ColumnChoices:
    choices = form.updated_choices()
    if act:
        try:
            imports.take_way_out(choices, json.loads(act))
        except (ValueError, RecursionError):
            raise BadRequest("This page offers no such way out.") from None
    imports.save_choices(row, choices, form.table)
    return choices


def _ask_worker(row: StoryImport, table: StoryTable) -> bool:
    """Have a worker bring the stories in if they are many; whether they are."""
    if not intakes.is_long(table) or story_edits.find_obstacle(row.study):
        return False
    intakes.ask(row, at=timezone.now())
    return True


def _bring_in(request: HttpRequest, row: StoryImport) -> str:
    """Why nothing came in; "" if all stories are in, which a message says."""
    try:
        examination = imports.bring_in(row)
    except (ImportRefused, StoriesFinal) as error:
        return str(error)
    story_intakes.add_success_message(request, examination.n_stories, len(examination.groups))
    return ""


def _buttons(ways_out: Any) -> list[tuple[str, str]]:
    return [(way_out.label, json.dumps(way_out.act)) for way_out in ways_out]


def _headline(examination: Examination) -> str:
    n, n_warnings = len(examination.errors), len(examination.warnings)
    errors = ngettext("%(n)d problem", "%(n)d problems", n) % {"n": n} if n else _("No problem")
    if not n_warnings:
        return errors
    warnings = ngettext("%(n)d thing to look at", "%(n)d things to look at", n_warnings) % {"n": n_warnings}
    return f"{errors}, {warnings}"


def _describe_groups(examination: Examination) -> str:
    """How many groups of how many stories these choices make; "" while that is not known."""
    if not examination.groups:
        return ""
    sizes = sorted({len(rows) for rows in examination.groups.values()})
    of_sizes = str(sizes[0]) if len(sizes) == 1 else _("%(least)d to %(most)d") % {"least": sizes[0], "most": sizes[-1]}
    n = len(examination.groups)
    sentence = ngettext("That makes %(n)d group of %(sizes)s.", "That makes %(n)d groups of %(sizes)s.", n)
    if examination.errors:
        sentence = ngettext(
            "These rows as they are would make %(n)d group of %(sizes)s.",
            "These rows as they are would make %(n)d groups of %(sizes)s.",
            n,
        )
    return sentence % {"n": n, "sizes": of_sizes}
