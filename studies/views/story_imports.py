"""Bringing in stories: a file or a paste, then what its columns are, what is wrong by row, and how they are grouped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django_htmx.http import HttpResponseClientRedirect

from studies import hashing, story_edits
from studies.access import Access
from studies.documents.stories import MOST_IN_GROUP
from studies.incoming_tables.errors import ImportRefused, UnreadableFile
from studies.incoming_tables.tables import IncomingTable
from studies.models import StoryImport, StoryIntake, StudyJob
from studies.story_edits import StoriesFinal
from studies.story_import import examinations, imports, intakes
from studies.story_import.columns import (
    BY_ROW,
    ROLE_BY_KEY,
    ROLES,
    ColumnChoices,
    count_kind_values,
    guess_choices,
    restore_choices,
)
from studies.story_import.files import STORIES, read_pasted
from studies.story_import.problems import Examination, examine
from studies.views import story_intakes, study_jobs
from studies.views.guards import require_in_study
from studies.views.incoming_tables import ImportPage, RolesForm, TableReport, UploadForm
from studies.views.study_jobs import JobProgress
from studies.vocabulary import SourceKind

# A file says who wrote the stories.
MAY_BRING = "studies.change_provenance"
GROUPINGS: dict[str, Promise] = {
    "column": gettext_lazy("As the column of groups says"),
    "premise": gettext_lazy("By prompt"),
    "balanced": gettext_lazy("One story by every source in each group, on the same prompt if there are several"),
    "pairs": gettext_lazy("In pairs by two sources, on the same prompt if there are several"),
    "size": gettext_lazy(
        "In groups of one size, each story by another source as long as there is one, on the same "
        "prompt if there are several"
    ),
    BY_ROW: gettext_lazy("The stories of each row"),
    "alone": gettext_lazy("Each story alone"),
}
MOST_PASTED = 400_000


class StoryFileForm(UploadForm):
    """A file of stories, or a paste."""

    kind = STORIES
    too_large = gettext_lazy("The file is larger than 50 MB. Split it, or leave out everything but the stories.")

    file = forms.FileField(label=gettext_lazy("File"), required=False, allow_empty_file=True)
    pasted = forms.CharField(
        label=gettext_lazy("Or paste a text, or cells of a table with their header"),
        required=False,
        strip=False,
        max_length=MOST_PASTED,
        widget=forms.Textarea({"rows": 5}),
    )

    def clean(self) -> None:
        if self.errors or self.cleaned_data["file"]:
            return
        if not self.cleaned_data["pasted"].strip():
            self.add_error("file", _("Choose a file, or paste something."))
            return
        try:
            self.table = read_pasted(self.cleaned_data["pasted"])
        except UnreadableFile as error:
            self.add_error("pasted", str(error))


@require_in_study(MAY_BRING, change=MAY_BRING, methods=("GET", "HEAD", "POST"))
def new_import(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who make the study: a file or a paste of stories, read and kept until it is confirmed."""
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
            row = imports.keep_import(study, form.table, by=by, at=timezone.now())
            return redirect("studies:story_import", slug=study.slug, import_id=row.pk)
    context = {
        "study": study,
        "access": access,
        "form": form,
        "obstacle": obstacle,
        "accepted": ",".join(STORIES.kinds),
        "waiting": imports.find_waiting(study, by),
    }
    return render(request, "studies/new_story_import.html", context, status=status)


class ChoicesForm(RolesForm):
    """What each column is, what its values mean, and what holds for all stories."""

    source = forms.CharField(label=gettext_lazy("Source, where the file names none"), required=False, max_length=200)
    source_kind = forms.ChoiceField(
        label=gettext_lazy("Who wrote the stories, where the file does not say"),
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
        help_text=gettext_lazy("Codes are for you and the coordinator; they should reveal nothing."),
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

    def __init__(self, data: Any, *, table: IncomingTable, choices: ColumnChoices) -> None:
        super().__init__(data, table=table, initial={name: getattr(choices, name) or None for name in self.FIELDS})
        self.saved = choices
        self.holds_several = len(choices.columns_of("text")) > 1
        if not self.holds_several:
            self.fields["grouping"].choices = [  # type: ignore[attr-defined]
                (key, title) for key, title in GROUPINGS.items() if key != BY_ROW
            ]
        self.unsure = guess_choices(table)[1]
        self.apart = {column for column, role in choices.roles.items() if ROLE_BY_KEY[role].is_apart}
        self.add_roles([(role.key, role.title) for role in ROLES], choices.roles)
        self.n_rows_by_value = dict(count_kind_values(table, choices).most_common(imports.MOST_KINDS))
        self.value_by_field = {f"kind-{hashing.sha256(value)[:12]}": value for value in self.n_rows_by_value}
        kinds = [("", _("say what it is")), *SourceKind.choices]
        for name, value in self.value_by_field.items():
            widget = forms.Select({"aria-label": value[:80]})
            self.fields[name] = forms.ChoiceField(
                label=value, choices=kinds, required=False, initial=choices.kinds.get(value, ""), widget=widget
            )

    def kinds(self) -> list[tuple[str, int, forms.BoundField]]:
        return [(value, self.n_rows_by_value[value], self[name]) for name, value in self.value_by_field.items()]

    def updated_choices(self) -> ColumnChoices:
        """The choices as they were saved, with what is posted."""
        choices = restore_choices(self.saved.as_json())
        for name in self.FIELDS:
            setattr(choices, name, self.cleaned_data[name])
        choices.roles = self.posted_roles()
        holds_several = len(choices.columns_of("text")) > 1
        if holds_several != self.holds_several:
            choices.grouping = BY_ROW if holds_several else "alone"
            choices.has_new_codes = holds_several or choices.has_new_codes
        for name, value in self.value_by_field.items():
            choices.kinds[value] = self.cleaned_data[name]
        return choices


@require_in_study(MAY_BRING, change=MAY_BRING, methods=("GET", "HEAD", "POST"))
def story_import(request: HttpRequest, access: Access, import_id: int) -> HttpResponse:
    """For the uploader of the file: its columns, problems and groups; then all stories are imported, or none."""
    rows = StoryImport.objects.select_related("study", "user", "intake").defer("table", "content")
    row = rows.filter(pk=import_id, study=access.study, user=request.user.pk).first()
    page = StoryImportPage(request, access, row)
    if page.intake is not None and not page.intake.problem:
        return story_intakes.respond(request, access, page.row, page.intake)
    if story_intakes.is_poll(request):  # from the page that says how far it is
        return story_intakes.end_polls(request)
    if story_intakes.is_after_polls(request):
        return HttpResponseClientRedirect(request.path)
    if study_jobs.is_poll(request):
        return study_jobs.answer_poll(request, _follow(examinations.find(page.row)))
    return page.respond()


class StoryImportPage(ImportPage[StoryImport, ChoicesForm]):
    template = "studies/story_import.html"
    home = "studies:stories"
    kind = STORIES
    cautions = False
    most_problems = 100

    def __init__(self, request: HttpRequest, access: Access, row: StoryImport | None) -> None:
        super().__init__(request, access, row)
        self.intake: StoryIntake | None = getattr(row, "intake", None)
        if self.intake and request.method != "POST":
            self.refusals = [self.intake.problem]

    def make_form(self, data: Any) -> ChoicesForm:
        return ChoicesForm(data, table=self.table, choices=restore_choices(self.row.choices))

    def choose_anew(self, table: IncomingTable) -> dict[str, Any]:
        if self.intake is not None:
            self.intake.delete()  # what it said was of the file as it was read before
        return imports.choose_anew(table, restore_choices(self.row.choices)).as_json()

    def save(self, form: ChoicesForm) -> None:
        choices = form.updated_choices()
        if act := self.request.POST.get("act", ""):
            try:
                imports.take_way_out(choices, json.loads(act))
            except (ValueError, RecursionError):
                raise BadRequest("This page offers no such way out.") from None
        imports.save_choices(self.row, choices, self.table)
        if self.intake is not None and "bring_in" not in self.request.POST:
            self.intake.delete()  # what it said was of the choices before
        if "bring_in" not in self.request.POST and intakes.takes_long_to_examine(self.table):
            examinations.ask(self.row, by=self.by, at=timezone.now())

    def bring_in(self) -> str:
        if intakes.is_long(self.table) and not story_edits.find_obstacle(self.row.study):
            intakes.ask(self.row, at=timezone.now())
            return self.request.path
        try:
            examination = imports.bring_in(self.row)
        except (ImportRefused, StoriesFinal) as error:
            self.refusals = [str(error)]
            return ""
        story_intakes.add_success_message(self.request, examination.n_stories, len(examination.groups))
        return reverse(self.home, args=[self.access.study.slug])

    def describe(self, form: ChoicesForm) -> TableReport:
        choices = restore_choices(self.row.choices)
        examination, progress = self._examine(choices)
        context = {
            "job": progress,
            "n_left_out": len(choices.left_out),
            "reasons_left_out": list(_explain_left_out(self.table, choices)),
            "n_stories": examination.n_stories,
            "kind_column": choices.column_of("source_kind"),
            "groups": _describe_groups(examination),
            "has_codes": bool(choices.column_of("code")),
            "has_ways_out": True,
        }
        return TableReport(examination.problems, context=context)

    def _examine(self, choices: ColumnChoices) -> tuple[Examination, JobProgress | None]:
        """What is to be said of the rows; while a worker examines long texts nothing, and how far it is."""
        if not intakes.takes_long_to_examine(self.table):
            return examine(self.table, choices, imports.read_contents(self.access.study)), None
        job = examinations.find(self.row) or examinations.ask(self.row, by=self.by, at=timezone.now())
        examination = examinations.restore(job)
        return examination or Examination(), None if examination else _follow(job)


def _explain_left_out(table: IncomingTable, choices: ColumnChoices) -> Iterator[str]:
    """A sentence for each value by which the tool that wrote the table marks rows, where they are left out."""
    for (column, value), numbers in table.find_left_out().items():
        if n := len({*numbers} & {*choices.left_out}):
            sentence = ngettext(
                "%(n)d row stays out because “%(column)s” is “%(value)s”.",
                "%(n)d rows stay out because “%(column)s” is “%(value)s”.",
                n,
            )
            if not value:
                sentence = ngettext(
                    "%(n)d row stays out because “%(column)s” is empty.",
                    "%(n)d rows stay out because “%(column)s” is empty.",
                    n,
                )
            yield sentence % {"n": n, "column": column[:60], "value": value[:60]}


def _follow(job: StudyJob | None) -> JobProgress | None:
    return study_jobs.follow(job, _("The rows are being examined.")) if job else None


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
