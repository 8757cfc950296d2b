"""A further study about the stories on which judges are in doubt, so that people are asked there: looked at, then made.

It is a subset of the study like any other: a draft that its maker launches. The study that was asked stays as it is,
and nothing that a judge said goes along.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from config import roles
from reports.models import Report
from reports.views.shared import may_see_sources, obtain_report, of_study, read_stored, render_waiting
from studies import subsets
from studies.access import Access
from studies.strata import CannotDraw, SubsetDraw
from studies.views.guards import explain_refusal, require_in_study
from studies.views.posted_forms import makes_once

if TYPE_CHECKING:
    from reports.figures.judges.doubtful import Doubt

SEES = "studies.view_provenance"
MAY_MAKE = "studies.add_study"
FIGURE = "doubtful_verdicts"
FIELDS = ("n", "places")
MOST_PLACES = 20


class FurtherStudyForm(forms.Form):
    n = forms.IntegerField(
        label=gettext_lazy("How many stories"),
        min_value=1,
        widget=forms.NumberInput({"class": "brief"}),
        help_text=gettext_lazy("The most doubtful first."),
    )
    places = forms.IntegerField(
        label=gettext_lazy("Places for each group"),
        min_value=1,
        max_value=MOST_PLACES,
        widget=forms.NumberInput({"class": "brief"}),
        help_text=gettext_lazy("How many people are to read each story."),
    )


class FurtherTitleForm(forms.Form):
    title = forms.CharField(
        label=gettext_lazy("Title of the new study"),
        max_length=200,
        help_text=gettext_lazy("Raters see it. It should say nothing of judges, nor of how the stories were chosen."),
        widget=forms.TextInput({"autocomplete": "off"}),
        error_messages={"required": gettext_lazy("Give it a title. You can change it until you launch.")},
    )


@dataclass(frozen=True)
class FurtherStudy:
    """What would be made. stories : code of each, and in how many of its verdicts judges are in doubt

    hours : of all people together; None where no time of this study is known
    """

    drawn: SubsetDraw
    stories: list[tuple[str, int]]
    n_groups: int
    n_places: int
    n_split_groups: int
    hours: float | None


def may_ask(access: Access, user: User) -> bool:
    """Whether whoever asks may make a further study of the doubtful stories."""
    is_allowed = access.may(SEES) and access.may(roles.VIEW_REPORT) and user.has_perm(MAY_MAKE)
    return is_allowed and may_see_sources(access)


@require_in_study(SEES, methods=("GET", "HEAD", "POST"), query=FIELDS)
@makes_once
def further_study(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who may see results and sources and make studies, once the study is closed."""
    user = cast(User, request.user)
    if not user.has_perm(MAY_MAKE):
        raise PermissionDenied(explain_refusal(MAY_MAKE))
    if not may_ask(access, user):
        raise Http404
    report, computation = obtain_report(request, access)
    if report is None:
        return render_waiting(request, access, computation)
    doubt = read_stored(report).figures.get(FIGURE)
    if doubt is None or not doubt.rows:
        messages.error(request, _("Judges are in doubt on no story of this study."))
        return redirect("reports:show", access.study.slug)
    try:
        with transaction.atomic():
            is_post = request.method == "POST"
            population = (subsets.hold_population if is_post else subsets.read_population)(access.study)
            return _respond(request, access, report, doubt, population)
    except CannotDraw as error:
        messages.error(request, str(error))
        return redirect("reports:show", access.study.slug)


def _respond(
    request: HttpRequest, access: Access, report: Report, doubt: Doubt, population: subsets.Population
) -> HttpResponse:
    n_by_story: dict[str, int] = {}
    for row in doubt.rows:
        n_by_story[row.story] = n_by_story.get(row.story, 0) + 1
    fields = request.POST if request.method == "POST" else request.GET
    start = {"n": len(n_by_story), "places": access.study.seats_per_group}
    form = FurtherStudyForm({name: fields.get(name, value) for name, value in start.items()})
    further = _look(access, report, n_by_story, population, form.cleaned_data) if form.is_valid() else None
    title_form, status = FurtherTitleForm(), 200 if further else 400
    if request.method == "POST":
        title_form, status = FurtherTitleForm(request.POST), 400
        if further and title_form.is_valid():
            return _make(request, access, population, further, title_form.cleaned_data["title"], form.cleaned_data)
    page: dict[str, Any] = {
        "form": form,
        "title_form": title_form,
        "further": further,
        "posted": [(name, form[name].value()) for name in FIELDS],
    }
    return render(request, "reports/further_study.html", of_study(access) | page, status=status)


def _look(
    access: Access, report: Report, n_by_story: dict[str, int], population: subsets.Population, asked: dict[str, int]
) -> FurtherStudy:
    """What these fields ask for. Raises CannotDraw if none of the stories can be read any more."""
    drawn = subsets.choose_doubtful(population, list(n_by_story)[: asked["n"]])
    chosen = set(drawn.keys)
    codes = [candidate.code for candidate in population.candidates if candidate.key in chosen]
    pairs = {(group, story) for group, story in population.pairs if story in chosen}
    n_groups = len({group for group, _story in pairs})
    pace = read_stored(report).figures.get("pace")
    minutes = pace.median_minutes if pace else None
    return FurtherStudy(
        drawn=drawn,
        stories=[(code, n) for code, n in n_by_story.items() if code in codes],
        n_groups=n_groups,
        n_places=n_groups * asked["places"],
        n_split_groups=population.count_split_groups(drawn),
        hours=None if minutes is None else len(pairs) * asked["places"] * minutes / 60,
    )


def _make(
    request: HttpRequest,
    access: Access,
    population: subsets.Population,
    further: FurtherStudy,
    title: str,
    asked: dict[str, int],
) -> HttpResponse:
    study = subsets.create_subset(access.study, population, further.drawn, title, by=cast(User, request.user))
    study.seats_per_group = asked["places"]
    study.save(update_fields=["seats_per_group"])
    sentence = ngettext(
        "%(n)d story is in this draft. “%(title)s” has not changed.",
        "%(n)d stories are in this draft. “%(title)s” has not changed.",
        further.drawn.n_taken,
    )
    messages.success(request, sentence % {"n": further.drawn.n_taken, "title": access.study.title})
    return redirect("studies:overview", slug=study.slug)
