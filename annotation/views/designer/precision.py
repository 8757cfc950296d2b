"""How exact the results will be: what is assumed of the answers, and what a worker simulated of the saved plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.design import expected_outcomes, pilots, precision, study_size
from annotation.design.pilots import PilotOutcome
from annotation.views.designer.pilots import rests_on
from annotation.views.designer.precision_forms import AssumptionsForm, OutcomeFields
from studies.access import Access
from studies.views import study_jobs
from studies.views.guards import require_in_study

SEES = "studies.view_provenance"
NUMBERS, OF_PILOT = "numbers", "pilot"  # what the form is filled with, if not with what was assumed last


@require_in_study(SEES, methods=("GET", "HEAD", "POST"), query=(NUMBERS,))
def precision_page(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who know the sources: what the plan is expected to show, and to have it simulated with other numbers."""
    study = access.study
    job = precision.find_last(study)
    if study_jobs.is_poll(request):
        return study_jobs.answer_poll(request, study_jobs.follow(job, "") if job else None)
    planned = precision.read_planned(study)
    assumptions = precision.assumptions_of(planned, job)
    last_pilot = pilots.find(study, cast(User, request.user))
    matched = pilots.match(planned.outcomes, last_pilot[0]) if last_pilot else []
    if request.GET.get(NUMBERS) == OF_PILOT:
        assumptions = pilots.assumptions_with(assumptions, matched)
    initial = AssumptionsForm.initial_of(assumptions)
    form = AssumptionsForm(initial=initial, outcomes=planned.outcomes)
    status = 200
    if request.method == "POST":
        is_typical = "typical" in request.POST
        form = AssumptionsForm(request.POST, initial=initial, outcomes=planned.outcomes)
        if is_typical or form.is_valid():
            assumptions = precision.assumptions_of(planned, None) if is_typical else form.assumptions
            precision.ask(study, planned, assumptions, by=cast(User, request.user), at=timezone.now())
            return redirect("designer:precision", slug=study.slug)
        status = 400
    has_outcome = job is not None and job.outcome is not None
    progress = study_jobs.follow(job, _("The study is being simulated.")) if job and not has_outcome else None
    context = {
        "study": study,
        "access": access,
        "planned": planned,
        "form": form,
        "pilot": last_pilot[1] if last_pilot else None,
        "groups": _describe_groups(form, matched),
        "job": job,
        "progress": progress,
        "is_outdated": job is not None and precision.is_outdated(job, planned),
        "size": study_size.describe_size(job, planned.outcomes),
        "outcomes": expected_outcomes.describe_outcomes(job, planned.outcomes),
    }
    return render(request, "annotation/designer/precision.html", context, status=status)


def _describe_groups(form: AssumptionsForm, matched: Sequence[PilotOutcome]) -> list[tuple[OutcomeFields, str]]:
    """The fields of each outcome, with what the pilot's numbers for it rest on; "" without any."""
    pilot_by_key = {row.outcome.key: row for row in matched}
    groups = []
    for fields in form.groups:
        of_pilot = pilot_by_key.get(fields.outcome.key)
        groups.append((fields, rests_on(of_pilot) if of_pilot else ""))
    return groups
