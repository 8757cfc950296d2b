"""The page from which a study is taken away: what a package holds, making one, and those that were made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config import roles
from reports import norms
from reports.dataset import is_sealed
from reports.export import issues
from reports.export.content import PackageContent
from reports.export.package import CALLS, TABLES, count_rows
from reports.models import ExportPackage
from reports.views.norms import CHANGE_STUDY
from reports.views.shared import may_see_sources, of_study
from studies.access import Access
from studies.models import Study
from studies.tool_exports import all_tools
from studies.views.guards import require_in_study

SEES_SOURCES = "studies.view_provenance"
MEANING: dict[str, str | Promise] = {
    "responses_long.csv": gettext_lazy("Every answer, one a row"),
    "responses_wide.csv": gettext_lazy("One row for a rater and a story"),
    "rankings.csv": gettext_lazy("Every order that was given"),
    "authorship.csv": gettext_lazy("Every guess of who wrote a story"),
    "pairs.csv": gettext_lazy("Every choice of one story out of a group"),
    "cloze.csv": gettext_lazy("Every blank that was filled"),
    "stories.csv": gettext_lazy("The stories, with the texts that may travel"),
    "assignments.csv": gettext_lazy("Places, orders and states"),
    "check_attempts.csv": gettext_lazy("Every attempt at a comprehension check"),
    "timings.csv": gettext_lazy("Active seconds by rater, step and story"),
    "events.csv": gettext_lazy("The history of every answer"),
    "judge_runs.csv": gettext_lazy("The model and the prompt of each judge, and which way scores are better"),
    "judge_probabilities.csv": gettext_lazy("How probable each answer of a judge was, where its server said so"),
    "fill_vectors.csv": gettext_lazy("With sources: fills of a judged cloze as vectors"),
    "neighbours.csv": gettext_lazy("With sources: the nearest stories of each reference set"),
    "idea_scores.csv": gettext_lazy("With sources: novelty, surprise and value of ideas"),
    "theme_codebook.csv": gettext_lazy("The themes that reasons were coded by"),
    "codings.csv": gettext_lazy("The themes that two people found, each blind"),
    "exclusions.csv": gettext_lazy("With sources: what the plan’s exclusion rules leave out"),
    CALLS: gettext_lazy("Every request to a judge and what came back"),
}


@dataclass(frozen=True)
class ExportFile:
    """A file that a package would hold; an empty one has nothing but its head.

    n_rows : in a blind package; of most files as many as in one with sources
    needs_sources : empty in a blind package, and perhaps not in one with sources
    n_bytes : as in the latest package; None if it was in none
    """

    name: str
    meaning: str | Promise
    n_rows: int
    needs_sources: bool
    n_bytes: int | None
    is_needed: bool
    is_chosen: bool

    @property
    def is_choosable(self) -> bool:
        return self.n_rows > 0 and not self.is_needed


class PackageForm(forms.Form):
    """What the package is to be; `issues.ask` decides whether there can be such a one."""

    sources = forms.ChoiceField(
        choices=[
            ("blind", gettext_lazy("Blind: no source, no author, no original title")),
            ("open", gettext_lazy("With sources, for the analysis")),
        ],
        initial="blind",
        widget=forms.RadioSelect,
        label=gettext_lazy("Who wrote the stories"),
    )
    reason = forms.CharField(
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        label=gettext_lazy("Why sources are needed"),
        help_text=gettext_lazy("Kept for good with your name and the time, and printed in the package."),
    )
    texts = forms.ChoiceField(
        choices=[
            ("all", gettext_lazy("All of them: the package stays among those who work on the study")),
            ("public", gettext_lazy("Only what may travel: the package can be published")),
        ],
        initial="all",
        widget=forms.RadioSelect,
        label=gettext_lazy("The stories’ texts"),
    )

    def __init__(self, *args: Any, may_open: bool) -> None:
        super().__init__(*args)
        if not may_open:
            del self.fields["sources"], self.fields["reason"]


@require_in_study(roles.VIEW_REPORT, change=roles.VIEW_RESPONSES, methods=("GET", "HEAD", "POST"))
def exports(request: HttpRequest, access: Access) -> HttpResponse:
    """What can be taken away of the study: a package to make, and those that were made."""
    may_read, may_open = access.may(roles.VIEW_RESPONSES), may_see_sources(access)
    form = PackageForm(request.POST or None, may_open=may_open)
    if request.method == "POST" and form.is_valid() and _ask(request, access, form):
        messages.success(request, _("The package is being made."))
        return redirect("reports:exports", access.study.slug)
    packages = _visible(access) if may_read else []
    is_part = request.headers.get("HX-Target") == "packages"
    return render(
        request,
        "reports/exports.html#packages" if is_part else "reports/exports.html",
        of_study(access)
        | {
            "form": form,
            "is_sealed": is_sealed(access.study),
            "may_open": may_open,
            "files": _files(access, request, packages) if may_read and not is_part else [],
            "packages": packages,
            "shared_norms": norms.find_shared(access.study),
            "may_share_norms": access.may(CHANGE_STUDY),
            "is_under_way": any(package.ended_at is None for package in packages),
            "tools": all_tools().values() if access.may(SEES_SOURCES) else [],
        },
        status=400 if request.method == "POST" else 200,
    )


def _ask(request: HttpRequest, access: Access, form: PackageForm) -> ExportPackage | None:
    """The package that was asked for; None if there can be none, and the form says why."""
    choosable = {file.name for file in _files(access, request, []) if file.is_choosable}
    try:
        package = issues.ask(
            access.study,
            by=request.user.get_username(),
            with_sources=form.cleaned_data.get("sources") == "open",
            is_public=form.cleaned_data["texts"] == "public",
            reason=form.cleaned_data.get("reason", ""),
            left_out=choosable - set(request.POST.getlist("file")),
        )
    except issues.CannotIssue as error:
        form.add_error(error.field if error.field in form.fields else None, str(error))
        return None
    issues.queue(package)
    return package


def _visible(access: Access) -> list[ExportPackage]:
    """The packages that the account may know of, the latest first; by whom and why stands there for good."""
    packages = access.study.packages.exclude(sha256="", problem="", asked_by="manage.py export")
    visible = packages if not access.is_blind else packages.filter(with_sources=False)
    kept = set(visible.filter(pieces__number=0).values_list("pk", flat=True))
    rows = list(visible)
    for package in rows:
        package.is_kept = package.pk in kept
    return rows


def _files(access: Access, request: HttpRequest, packages: list[ExportPackage]) -> list[ExportFile]:
    study, may_open = access.study, may_see_sources(access)
    latest = next((package for package in packages if package.is_made), None)
    n_bytes_by_name = {file["name"]: file["n_bytes"] for file in latest.files} if latest else {}
    posted = set(request.POST.getlist("file")) if request.method == "POST" else None
    return [
        ExportFile(
            name=name,
            meaning=MEANING[name],
            n_rows=n_rows,
            needs_sources=may_open and _needs_sources(name, study),
            n_bytes=n_bytes_by_name.get(name),
            is_needed=name in TABLES and TABLES[name].is_needed,
            is_chosen=posted is None or name in posted,
        )
        for name, n_rows in count_rows(PackageContent(study)).items()
    ]


def _needs_sources(name: str, study: Study) -> bool:
    may_have_rows = TABLES[name].needs_sources if name in TABLES else None
    return may_have_rows is not None and may_have_rows(study)


@require_in_study(roles.VIEW_RESPONSES)
def package(request: HttpRequest, access: Access, sha256: str) -> HttpResponseBase:
    """One package, by its sum; that it was fetched is recorded."""
    row = issues.find_package(access.study, sha256)
    if row is None or (row.with_sources and access.is_blind):
        raise Http404
    if request.method == "GET":
        issues.record_download(row, by=request.user.get_username(), at=timezone.now())
    return issues.to_response(row)
