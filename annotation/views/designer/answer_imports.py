"""Answers from elsewhere: a file, what its columns are, what would come in; then all of it, or nothing."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.answer_import import files
from annotation.answer_import.column_map import ColumnMapping, find_gap, write_mapping
from annotation.answer_import.files import ANSWERS
from annotation.models import AnswerImport, BroughtFile
from annotation.views.designer.answer_import_forms import AnswerFileForm, MappingForm
from studies import protocol
from studies.access import Access
from studies.action_log import log_action
from studies.documents.errors import DocumentError
from studies.incoming_tables import waiting
from studies.incoming_tables.errors import ImportRefused
from studies.incoming_tables.problems import headline
from studies.incoming_tables.tables import IncomingTable
from studies.protocol import NotPlannable
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

SEES = "annotation.view_answerimport"
MAY_BRING = "annotation.add_answerimport"
N_PREVIEWED = 8


@require_in_study(SEES, change=MAY_BRING, methods=("GET", "HEAD", "POST"))
def index(request: HttpRequest, access: Access) -> HttpResponse:
    """For whoever reads answers by source: what came in from files, and a further file."""
    study, by = access.study, cast(User, request.user)
    files.forget_old_files(at=timezone.now())
    form, status = AnswerFileForm(), 200
    if request.method == "POST":
        form, status = AnswerFileForm(request.POST, request.FILES), 400
        if form.is_valid():
            sha256, mapping = files.hash_content(form.content), form.cleaned_data["mapping"]
            row = files.keep_answers(study, form.table, mapping, sha256=sha256, by=by, at=timezone.now())
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
    """For whoever brought the file: its columns, its problems, what would come in; then all answers, or none."""
    study = access.study
    row = _waiting(access, cast(User, request.user)).filter(pk=file_id).first()
    if row is None:
        raise Http404
    if request.method == "POST" and "put_aside" in request.POST:
        row.delete()
        return redirect("designer:answer_imports", slug=study.slug)
    table, mapping = waiting.restore(row), files.restore_mapping(row)
    form = MappingForm(None, table=table, mapping=mapping, study=study)
    if request.method == "POST":
        form = MappingForm(request.POST, table=table, mapping=mapping, study=study)
        if form.is_valid():
            mapping = form.updated_mapping()
            files.save_mapping(row, mapping)
            if "bring_in" not in request.POST:
                return redirect(request.path)
            if _has_come_in(request, access, row, table, mapping):
                return redirect("designer:answer_imports", slug=study.slug)
            form = MappingForm(None, table=table, mapping=mapping, study=study)
    context = _context(access, table, mapping) | {"form": form, "row": row}
    context["refused"] = request.method == "POST"
    return render(request, "annotation/designer/answer_import.html", context, status=400 if context["refused"] else 200)


def _context(access: Access, table: IncomingTable, mapping: ColumnMapping) -> dict[str, Any]:
    """What the page says of the table as it is mapped."""
    examination, gap = None, find_gap(mapping)
    obstacle = gap[1] if gap else ""
    if not gap:
        try:
            examination = files.examine(access.study, table, mapping)
        except DocumentError as error:
            obstacle = f"{error.location}: {error.reason}"
    obstacle = obstacle or files.find_obstacle(access.study)
    problems = examination.problems if examination else ()
    return {
        "study": access.study,
        "access": access,
        "n_rows": len(table.rows),
        "obstacle": obstacle,
        "examination": examination,
        "previews": examination.rows[:N_PREVIEWED] if examination else (),
        "problems": problems[: files.MOST_PROBLEMS],
        "n_more_problems": max(len(problems) - files.MOST_PROBLEMS, 0),
        "headline": "" if obstacle and not problems else headline(problems),
        "toml": write_mapping(mapping),
        "freezes": not protocol.is_frozen(access.study),
    }


def _has_come_in(
    request: HttpRequest, access: Access, row: BroughtFile, table: IncomingTable, mapping: ColumnMapping
) -> bool:
    """Whether all answers are in; if not, a message says why, or the page lists what is wrong."""
    by = cast(User, request.user)
    try:
        record = files.bring_in(
            access.study, table, mapping, sha256=row.sha256, by=by.get_username(), at=timezone.now()
        )
    except ImportRefused as error:
        if not str(error).startswith(f"{table.name}:"):  # its rows are listed on the page
            messages.error(request, str(error))
        return False
    except (DocumentError, NotPlannable) as error:
        messages.error(request, str(error))
        return False
    row.delete()
    answers = ngettext("%(n)d answer", "%(n)d answers", record.n_responses) % {"n": record.n_responses}
    raters = ngettext("by %(n)d rater", "by %(n)d raters", record.n_raters) % {"n": record.n_raters}
    messages.success(request, _("%(answers)s %(raters)s are in.") % {"answers": answers, "raters": raters})
    log_action(access.study, f"{record.n_responses} answers brought in", by=by)
    return True


@require_in_study(SEES)
def mapping_file(request: HttpRequest, access: Access, record: int) -> HttpResponse:
    """For whoever reads answers by source: how a file was read, as the TOML that reads the next one."""
    row = AnswerImport.objects.filter(study=access.study, pk=record).first()
    if row is None:
        raise Http404
    headers = {"Content-Disposition": f'attachment; filename="{access.study.slug}-mapping-{row.pk}.toml"'}
    return HttpResponse(row.mapping, content_type="application/toml; charset=utf-8", headers=headers)
