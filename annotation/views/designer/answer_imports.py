"""Answers from elsewhere: a file, what its columns are, what would come in; then all of it, or nothing."""

from __future__ import annotations

from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.answer_import import files
from annotation.answer_import.column_map import find_gap, write_mapping
from annotation.answer_import.files import ANSWERS
from annotation.models import AnswerImport, BroughtFile
from annotation.views.designer.answer_import_forms import AnswerFileForm, MappingForm
from studies import protocol
from studies.access import Access
from studies.action_log import log_action
from studies.documents.errors import DocumentError
from studies.incoming_tables.errors import ImportRefused
from studies.incoming_tables.problems import Problem
from studies.incoming_tables.tables import IncomingTable
from studies.protocol import NotPlannable
from studies.views.guards import require_in_study
from studies.views.incoming_tables import ImportPage, TableReport
from studies.views.posted_forms import makes_once

SEES = "annotation.view_answerimport"
MAY_BRING = "annotation.add_answerimport"
N_PREVIEWED = 8


@require_in_study(SEES, change=MAY_BRING, methods=("GET", "HEAD", "POST"))
def index(request: HttpRequest, access: Access) -> HttpResponse:
    """For people who may read answers by source: imported files, and a form for another one."""
    study, by = access.study, cast(User, request.user)
    files.forget_old_files(at=timezone.now())
    form, status = AnswerFileForm(), 200
    if request.method == "POST":
        form, status = AnswerFileForm(request.POST, request.FILES), 400
        if form.is_valid():
            mapping = form.cleaned_data["mapping"]
            row = files.keep_answers(study, form.table, mapping, sha256=form.sha256, by=by, at=timezone.now())
            return redirect("designer:answer_import", slug=study.slug, file_id=row.pk)
    context = {
        "study": study,
        "access": access,
        "form": form,
        "accepted": ",".join(ANSWERS.kinds),
        "imports": AnswerImport.objects.filter(study=study).defer("mapping"),
        "may_bring": access.may(MAY_BRING),
        "waiting": _waiting(access, by).defer("table").first(),
    }
    return render(request, "annotation/designer/answer_imports.html", context, status=status)


def _waiting(access: Access, by: User) -> Any:
    return BroughtFile.objects.filter(study=access.study, user=by, purpose=BroughtFile.Purpose.ANSWERS)


@require_in_study(MAY_BRING, change=MAY_BRING, methods=("GET", "HEAD", "POST"))
@makes_once
def show(request: HttpRequest, access: Access, file_id: int) -> HttpResponse:
    """For the uploader of the file: its columns and problems, what will be imported; then all answers, or none."""
    row = _waiting(access, cast(User, request.user)).filter(pk=file_id).first()
    return AnswerImportPage(request, access, row).respond()


class AnswerImportPage(ImportPage[BroughtFile, MappingForm]):
    template = "annotation/designer/answer_import.html"
    home = "designer:answer_imports"
    kind = ANSWERS

    def choose_anew(self, table: IncomingTable) -> dict[str, Any]:
        return files.choose_again(self.access.study, table, self.row.choices)

    def make_form(self, data: Any) -> MappingForm:
        mapping, may_cross = files.restore_mapping(self.row), files.may_cross(self.row)
        return MappingForm(data, table=self.table, mapping=mapping, study=self.access.study, may_cross=may_cross)

    def save(self, form: MappingForm) -> None:
        files.save_mapping(self.row, form.updated_mapping(), may_cross=form.cleaned_data.get("is_crossed", True))

    def bring_in(self) -> str:
        study, mapping, by = self.access.study, files.restore_mapping(self.row), self.by.get_username()
        try:
            record = files.bring_in(study, self.table, mapping, sha256=self.row.sha256, by=by, at=timezone.now())
        except (ImportRefused, DocumentError, NotPlannable) as error:
            self.refusals = [str(error)]
            return ""
        self.row.delete()
        answers = ngettext("%(n)d answer", "%(n)d answers", record.n_responses) % {"n": record.n_responses}
        raters = ngettext("by %(n)d rater", "by %(n)d raters", record.n_raters) % {"n": record.n_raters}
        messages.success(self.request, _("%(answers)s %(raters)s are in.") % {"answers": answers, "raters": raters})
        log_action(study, f"{record.n_responses} answers brought in", by=self.by)
        return reverse(self.home, args=[study.slug])

    def describe(self, form: MappingForm) -> TableReport:
        study, mapping = self.access.study, files.restore_mapping(self.row)
        examination, gap = None, find_gap(mapping)
        obstacle = gap[1] if gap else ""
        if not gap:
            try:
                examination = files.examine(study, self.table, mapping)
            except DocumentError as error:
                obstacle = f"{error.location}: {error.reason}"
        obstacle = obstacle or files.find_obstacle(study)
        problems: list[Problem] = [*examination.problems] if examination else []
        if examination and examination.warning:
            problems.append(examination.warning)
        if problems or obstacle:
            self.refusals = []  # which said the same
        context = {
            "examination": examination,
            "previews": examination.rows[:N_PREVIEWED] if examination else (),
            "toml": write_mapping(mapping),
            "left_out": [(*said, n) for said, n in examination.n_left_out.items()] if examination else [],
            "zone": mapping.times.zone or settings.TIME_ZONE,
            "has_times": bool(mapping.facts.get("time")),
            "freezes": not protocol.is_frozen(study),
        }
        return TableReport(problems, [obstacle] if obstacle else [], context)


@require_in_study(SEES)
def mapping_file(request: HttpRequest, access: Access, record: int) -> HttpResponse:
    """For people who may read answers by source: a file's mapping, as TOML for the next file."""
    row = AnswerImport.objects.filter(study=access.study, pk=record).first()
    if row is None:
        raise Http404
    headers = {"Content-Disposition": f'attachment; filename="{access.study.slug}-mapping-{row.pk}.toml"'}
    return HttpResponse(row.mapping, content_type="application/toml; charset=utf-8", headers=headers)
