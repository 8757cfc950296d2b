"""Judges watched for drift: which are asked about the fixed texts every day, and how their answers moved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django import forms
from django.contrib import messages
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import BadRequest
from django.db.models import Count, Prefetch, Q, Sum
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from judges.laboratory import watches
from judges.laboratory.views import drift_charts
from judges.laboratory.views.drift_charts import DriftChart
from judges.laboratory.watches import AlreadyWatched
from judges.models import Attempt, DriftCheck, DriftWatch, Judge
from judges.planning import CannotRun
from judges.views.new_runs import STARTS, JudgeChoice
from judges.views.progress import label_of, state_of
from judges.views.runs import SEES
from studies.access import Access, list_access
from studies.models import Study
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

MOST_DRAWN = 90  # checks, the latest
MOST_LISTED = 7


class WatchForm(forms.Form):
    """Which judge is watched, for how much a day, and who hears of a move."""

    judge = JudgeChoice(
        Judge.objects.none(),
        label=gettext_lazy("Judge"),
        help_text=gettext_lazy("A model that has read in this study. It is asked this study’s questions."),
        empty_label=gettext_lazy("Choose a judge"),
    )
    budget = forms.DecimalField(
        label=gettext_lazy("Spend no more than, in US dollars a day"),
        help_text=gettext_lazy("Empty: no limit."),
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=4,
    )
    recipient = forms.EmailField(
        label=gettext_lazy("Who is written to when it moves"),
        help_text=gettext_lazy("An e-mail address; empty for nobody."),
        required=False,
    )

    def __init__(self, data: QueryDict | None, *, access: Access, address: str = "") -> None:
        super().__init__(data, initial={"recipient": address})
        candidates = watches.find_candidates(access.study).select_related("endpoint")
        self.fields["judge"].queryset = candidates  # type: ignore[attr-defined]


@dataclass(frozen=True)
class DriftCheckRow:
    """state, label : of its run"""

    check: DriftCheck
    state: str
    label: str


@dataclass(frozen=True)
class WatchRow:
    """A watch with its latest checks, the latest first.

    n_compared : checks that were compared with earlier ones; n_tested : those that could have shown a change
    cost : of all its checks, in US dollars; None if unknown
    elsewhere : watches of the same model in other studies that the account may see, with n_checks and n_moved
    """

    watch: DriftWatch
    checks: Sequence[DriftCheckRow]
    n_compared: int
    n_tested: int
    n_moved: int
    chart: DriftChart | None
    cost: Decimal | None
    elsewhere: Sequence[DriftWatch]


@require_in_study(SEES, change=STARTS, methods=("GET", "HEAD", "POST"))
@makes_once
def index(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who see judges: the judges watched in the study; whoever may start runs begins and ends it."""
    is_new = request.method == "POST" and "watch" not in request.POST
    if request.method == "POST" and not is_new:
        return _act(request, access)
    address = getattr(request.user, "email", "")
    form = WatchForm(request.POST if is_new else None, access=access, address=address)
    if is_new and form.is_valid() and _begin(request, access, form):
        return redirect("judges:watches", slug=access.study.slug)
    context = {
        "study": access.study,
        "access": access,
        "rows": load_watches(access, request.user),
        "form": form,
        "may_start": access.may(STARTS),
        "has_candidates": form.fields["judge"].queryset.exists(),  # type: ignore[attr-defined]
        "n_most": watches.MOST_CHECKS,
        "n_false": round(1 / watches.MOVED_BELOW),
    }
    return render(request, "judges/watches.html", context, status=400 if form.errors else 200)


def load_watches(access: Access, user: User | AnonymousUser) -> list[WatchRow]:
    """The watches of the study with their checks, those that go on first. Four queries, and those of `list_access`."""
    checks = DriftCheck.objects.select_related("run__judge__endpoint").defer("run__document", "run__estimate")
    rows = (
        access.study.drift_watches.select_related("judge")
        .prefetch_related(Prefetch("checks", checks.order_by("pk")))
        .order_by("ended_at", "judge__slug", "pk")
    )
    attempts = Attempt.objects.filter(call__run__drift_check__watch__study=access.study).order_by()
    cost_by_watch = dict(attempts.values_list("call__run__drift_check__watch").annotate(cost=Sum("cost")))
    elsewhere = _find_elsewhere(access.study, user)
    at = timezone.now()
    listed = []
    for watch in rows:
        all_checks = list(watch.checks.all())
        measured = [
            (check.run.created_at, check.distance, check.floor, check.has_moved)
            for check in all_checks[-MOST_DRAWN:]
            if check.distance is not None
        ]
        latest = [
            DriftCheckRow(check, (state := state_of(check.run, at=at)), label_of(state))
            for check in reversed(all_checks[-MOST_LISTED:])
        ]
        listed.append(
            WatchRow(
                watch,
                latest,
                sum(check.p is not None for check in all_checks),
                sum(check.least_p is not None and check.least_p < watches.MOVED_BELOW for check in all_checks),
                sum(check.has_moved for check in all_checks),
                drift_charts.draw(measured),
                cost_by_watch.get(watch.pk),
                elsewhere.get((watch.judge.endpoint_id, watch.judge.model), []),
            )
        )
    return sorted(listed, key=lambda row: row.watch.ended_at is not None)


def _find_elsewhere(study: Study, user: User | AnonymousUser) -> Mapping[tuple[int | None, str], list[DriftWatch]]:
    """The watches of other studies that the account may see, by endpoint and model."""
    others = DriftWatch.objects.exclude(study=study).select_related("study", "judge").order_by("study__title", "pk")
    counts = {"n_checks": Count("checks"), "n_moved": Count("checks", filter=Q(checks__has_moved=True))}
    watches_by_model: dict[tuple[int | None, str], list[DriftWatch]] = defaultdict(list)
    rows = list(others.annotate(**counts))
    visible = {entry.study.pk for entry in list_access([row.study for row in rows], user) if entry.may(SEES)}
    for row in rows:
        if row.study_id in visible:
            watches_by_model[row.judge.endpoint_id, row.judge.model].append(row)
    return watches_by_model


def _begin(request: HttpRequest, access: Access, form: WatchForm) -> bool:
    """Whether the watch has begun; if not, the reason stands in the form."""
    values = form.cleaned_data
    try:
        watches.begin(
            access.study,
            values["judge"],
            budget=values["budget"],
            recipient=values["recipient"],
            site=request.build_absolute_uri("/").rstrip("/"),
            by=request.user.get_username(),
            at=timezone.now(),
        )
    except (CannotRun, AlreadyWatched) as error:
        form.add_error(None, str(error))
        return False
    messages.success(request, _("The judge is watched. The first check begins within a minute."))
    return True


def _act(request: HttpRequest, access: Access) -> HttpResponse:
    """End a watch, or have later checks compared with those from now on."""
    number, do = request.POST["watch"], request.POST.get("do", "")
    if do not in ("end", "anew") or not number.isdecimal():
        raise BadRequest("There is no such action.")
    watch = get_object_or_404(access.study.drift_watches, pk=int(number))
    if do == "end":
        watches.end(watch, at=timezone.now())
        messages.success(request, _("The judge is asked no more. What it answered stays."))
    else:
        watches.start_anew(watch, at=timezone.now())
        messages.success(request, _("Later checks are compared with those from now on."))
    return redirect("judges:watches", slug=access.study.slug)
