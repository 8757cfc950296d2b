"""A pilot: how much the answers of an earlier study vary, to be assumed of the row that is planned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.design import pilots, precision
from annotation.design.expected_outcomes import rounded, title_of
from annotation.design.pilots import PilotOutcome
from annotation.design.planned_outcomes import PlannedOutcome
from annotation.views.designer.precision_forms import LABELS
from stats.reasons import SENTENCES
from studies.access import Access
from studies.models import Study
from studies.study_labels import label_studies
from studies.views import study_jobs
from studies.views.guards import require_in_study

SEES = "studies.view_provenance"


class PilotForm(forms.Form):
    """The choice of a pilot. `pilot` is what a valid form says."""

    pilot = forms.ChoiceField(label=gettext_lazy("Study"))

    def __init__(self, *args: Any, offered: Sequence[Study], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._study_by_slug = {study.slug: study for study in offered}
        self.fields["pilot"].choices = [(study.slug, label) for study, label in label_studies(offered).items()]  # type: ignore[attr-defined]

    @property
    def chosen(self) -> Study:
        return self._study_by_slug[self.cleaned_data["pilot"]]


@dataclass(frozen=True)
class PilotNumbers:
    """What the pilot says of row planned outcome, in words. numbers : each with what it is of"""

    title: str
    unit: str
    numbers: list[tuple[str, str]]
    rests_on: str
    problem: str
    is_small: bool


@require_in_study(SEES, methods=("GET", "HEAD", "POST"))
def pilot_page(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who know the sources: choose a closed study of which they see the results, and what its answers say."""
    study, user = access.study, cast(User, request.user)
    last = pilots.find(study, user)
    progress = study_jobs.follow(last[0], _("The answers of the pilot are being read.")) if last else None
    if study_jobs.is_poll(request):
        return study_jobs.answer_poll(request, progress)
    planned = precision.read_planned(study)
    instruments = pilots.instruments_of(planned.outcomes)
    offered = list(pilots.list_pilots(user, instruments=instruments).exclude(pk=study.pk))
    form = PilotForm(
        request.POST if request.method == "POST" else None,
        offered=offered,
        initial={"pilot": last[1].slug if last else ""},
    )
    if request.method == "POST" and form.is_valid():
        pilots.ask(study, form.chosen, by=user, at=timezone.now())
        return redirect("designer:pilot", slug=study.slug)
    matched = pilots.match(planned.outcomes, last[0]) if last else []
    context = {
        "study": study,
        "access": access,
        "form": form,
        "offered": offered,
        "pilot": last[1] if last else None,
        "progress": progress if progress and (progress.is_under_way or progress.problem) else None,
        "outcomes": list(describe(matched)),
        "is_usable": any(row.assumed for row in matched),
    }
    return render(request, "annotation/designer/pilot.html", context, status=400 if request.method == "POST" else 200)


def describe(matched: Sequence[PilotOutcome]) -> Iterator[PilotNumbers]:
    """What a page says of them."""
    for row in matched:
        yield PilotNumbers(
            title_of(row.outcome), _unit(row.outcome), _numbers(row), rests_on(row), _problem(row), row.is_small
        )


def _unit(outcome: PlannedOutcome) -> str:
    if outcome.kind in ("preference", "rank"):
        return _("Standard deviations, with that of the rest as 1.")
    if outcome.unit == "percent":
        return _("In percentage points: the mean, then standard deviations.")
    return _("In points of the scale: the mean, then standard deviations.")


def _numbers(row: PilotOutcome) -> list[tuple[str, str]]:
    if row.assumed is None:
        return []
    places = 1 if row.outcome.unit == "percent" and row.outcome.kind != "preference" else 2
    return [
        (
            str(LABELS[name]),
            rounded(getattr(row.assumed, name), places),
        )
        for name in row.outcome.fields
        if name in row.told
    ]


def rests_on(row: PilotOutcome) -> str:
    """How many answers, raters and stories the numbers rest on."""
    if row.assumed is None:
        return ""
    names = {"answers": row.n_answers, "raters": row.n_raters, "stories": row.n_stories, "n": row.n_outcomes}
    sentence = ngettext(
        "From %(answers)d answers by %(raters)d raters about %(stories)d stories.",
        "From %(answers)d answers to %(n)d questions or scores by %(raters)d raters about %(stories)d stories.",
        row.n_outcomes,
    )
    untold = [str(LABELS[name]) for name in row.outcome.fields if name != "effect" and name not in row.told]
    sentences = [sentence % names]
    if untold:
        sentences.append(_("It does not tell: %(names)s.") % {"names": get_text_list(untold, _("and"))})
    return " ".join(sentences)


def _problem(row: PilotOutcome) -> str:
    if row.why == pilots.NOT_ASKED:
        return _("The pilot did not ask this in the same way, so it says nothing of it.")
    return _(SENTENCES[row.why]) % (row.why_values or {}) if row.why else ""
