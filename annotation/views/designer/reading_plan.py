"""Who reads what: the design, the choices, and what follows from them, recomputed on every change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.design import actions, precision, prospects, reading_plans
from annotation.design.prospects import Prospect, Texts
from annotation.design.reading_plans import Design, ReadingPlan
from annotation.views.designer import reading_plan_tables as tables
from studies import lifecycle, protocol
from studies.access import Access, visible_studies
from studies.documents.study import MOST_HOURS
from studies.models import Study
from studies.protocol import Protocol, repeats
from studies.study_labels import label_studies
from studies.views.edits import SEEN, EditForm
from studies.views.guards import require_in_study
from studies.vocabulary import OrderPolicy

SEES = "studies.view_study"
MAY_CHANGE = "studies.change_study"
SEES_SOURCES = "studies.view_provenance"
MOST_OFFERED = 12  # groups for one person
DESIGNS = {
    Design.SOME: gettext_lazy("Some raters for each group"),
    Design.EVERYBODY: gettext_lazy("Everybody reads everything"),
    Design.PAIRS: gettext_lazy("Pairs"),
}
ORDERS = {
    OrderPolicy.BALANCED: gettext_lazy("counterbalanced: every position equally often, give or take one"),
    OrderPolicy.RANDOM: gettext_lazy("random for each person"),
    OrderPolicy.FIXED: gettext_lazy("as listed, the same for everybody"),
}
FIELDS = (
    *("design", "seats_per_group", "groups_per_rater", "groups_per_sitting", "n_repeats", "order_policy", "seed"),
    *("hours_per_group", "shows_premise", "asks_recognition", "excluded_studies", "pay"),
)


class ReadingPlanForm(EditForm):
    """The choices of a reading plan. `plan` is what a valid form says."""

    design = forms.ChoiceField(label=gettext_lazy("The design"), choices=list(DESIGNS.items()))
    seats_per_group = forms.IntegerField(
        label=gettext_lazy("Raters"), min_value=1, max_value=1000, widget=forms.NumberInput({"class": "brief"})
    )
    groups_per_rater = forms.TypedChoiceField(
        label=gettext_lazy("Groups that one person may read"), required=False, coerce=int, empty_value=None
    )
    groups_per_sitting = forms.IntegerField(
        label=gettext_lazy("Groups in a sitting"),
        min_value=1,
        max_value=1000,
        widget=forms.NumberInput({"class": "brief"}),
        help_text=gettext_lazy(
            "How many groups follow one another, with one receipt; then the rater is asked whether to go on."
        ),
    )
    n_repeats = forms.IntegerField(
        label=gettext_lazy("Groups that each person reads twice"),
        required=False,
        min_value=0,
        max_value=1000,
        widget=forms.NumberInput({"class": "brief"}),
        help_text=gettext_lazy(
            "Their first ones, which come again at the end of a sitting, unannounced and within its number. They show "
            "how far raters agree with themselves; no other result counts them."
        ),
    )
    hours_per_group = forms.IntegerField(
        label=gettext_lazy("A group is taken back after … hours"),
        required=False,
        min_value=1,
        max_value=MOST_HOURS,
        widget=forms.NumberInput({"class": "brief"}),
        help_text=gettext_lazy(
            "If it is not submitted by then, the place goes to someone else. Raters are told when. Empty: never."
        ),
    )
    order_policy = forms.ChoiceField(
        label=gettext_lazy("Order inside and over groups"), choices=list(ORDERS.items()), widget=forms.RadioSelect
    )
    shows_premise = forms.BooleanField(
        label=gettext_lazy("Show what the stories of a group were written to"), required=False
    )
    asks_recognition = forms.BooleanField(
        label=gettext_lazy("Ask before a group whether the rater knows one of its stories"), required=False
    )
    excluded_studies = forms.MultipleChoiceField(
        label=gettext_lazy("People who took part in these studies get no group"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    seed = forms.IntegerField(min_value=0, max_value=2**63 - 1, widget=forms.HiddenInput)
    pay = forms.DecimalField(
        label=gettext_lazy("Pay for a group"),
        required=False,
        min_value=0,
        max_digits=9,
        decimal_places=2,
        widget=forms.NumberInput({"class": "brief"}),
        help_text=gettext_lazy("Only for the total beside; it is not saved here."),
    )

    def __init__(self, *args: Any, texts: Texts, others: list[Study], is_saving: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.texts, self.is_saving = texts, is_saving
        most = self.initial["groups_per_rater"]
        offered = sorted({*range(1, min(len(texts.groups), MOST_OFFERED + 1)), *([most] if most else [])})
        names = [(n, _("one") if n == 1 else _("up to %(n)d") % {"n": n}) for n in offered]
        self.fields["groups_per_rater"].choices = [("", _("as many as there are")), *names]  # type: ignore[attr-defined]
        names = [(study.slug, label) for study, label in label_studies(others).items()]
        self.fields["excluded_studies"].choices = names  # type: ignore[attr-defined]

    def clean(self) -> None:
        if self.is_saving:
            super().clean()
        n_readings = sum(self.texts.sizes) * self.cleaned_data.get("seats_per_group", 0)
        if n_readings > prospects.MOST_PLANNED:
            sentence = _("Stories would be read %(n)d times in all; at most %(most)d can be planned.")
            self.add_error("seats_per_group", sentence % {"n": n_readings, "most": prospects.MOST_PLANNED})
        if self.cleaned_data.get("design") == Design.PAIRS and not reading_plans.are_pairs(self.texts):
            self.add_error("design", _("The stories are not in pairs yet. Pair them under Stories first."))

        if not self.errors and (sentence := repeats.find_obstacle(self.plan)):
            self.add_error("n_repeats", capfirst(f"{sentence}."))

    @property
    def plan(self) -> ReadingPlan:
        values = {name: self.cleaned_data[name] for name in ReadingPlan.__dataclass_fields__}
        values |= {
            "excluded_studies": tuple(sorted(values["excluded_studies"])),
            "n_repeats": values["n_repeats"] or 0,
        }
        if self.cleaned_data["design"] == Design.EVERYBODY:
            n_read = max(len(self.texts.groups), 1) + values["n_repeats"]
            values |= {"groups_per_rater": None, "groups_per_sitting": n_read}
        return ReadingPlan(**values)


@require_in_study(SEES, change=MAY_CHANGE, methods=("GET", "HEAD", "POST"), query=(*FIELDS, SEEN, "draw"))
def reading_plan(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who see the study: who reads what. For those who make it, to try choices (which writes nothing) and to
    save them until the study is frozen."""
    study = access.study
    texts = prospects.read_texts(study)
    current_protocol = protocol.read_rows(protocol.latest(study))
    is_open = lifecycle.may_edit(study, is_frozen=current_protocol.version.frozen_at is not None)
    may_change = is_open and access.may(MAY_CHANGE)
    is_saving = request.method == "POST" and not {"show", "draw"} & set(request.POST)
    values = request.POST if request.method == "POST" else request.GET if may_change else QueryDict()
    saved = reading_plans.plan_of_study(study)
    others = _other_studies(request, study)
    initial = {**vars(saved), "excluded_studies": list(saved.excluded_studies), "design": _design(saved, texts)}
    data: QueryDict | None = values or (QueryDict() if request.method == "POST" else None)
    form = ReadingPlanForm(data, initial=initial, texts=texts, others=others, is_saving=is_saving)
    is_valid = form.is_valid()
    if is_saving and is_valid:
        _save(request, study, form.plan)
        if access.may(SEES_SOURCES):
            precision.ask_again(study, by=cast(User, request.user), at=timezone.now())
        return redirect("designer:reading_plan", slug=study.slug)
    sources = protocol.source_by_story(study) if access.may(SEES_SOURCES) else {}
    plan, design, pay, n_draws = saved, _design(saved, texts), None, 0
    if is_valid:
        plan, design, pay = form.plan, Design(form.cleaned_data["design"]), form.cleaned_data["pay"]
        if "draw" in values:
            plan, n_draws = _draw_evenly(plan, texts, sources)
            form.data = {**_flat(values), "seed": str(plan.seed)}
    prospect = prospects.look_ahead(
        texts, plan.choices, minutes_by_group=_minutes_by_group(study, texts, current_protocol)
    )
    context = {
        "study": study,
        "access": access,
        "is_open": is_open,
        "may_change": may_change,
        "sees_precision": access.may(SEES_SOURCES),
        "form": form,
        "plan": plan,
        "design": design,
        "designs": DESIGNS.items(),
        "n_draws": n_draws,
        "texts": texts,
        "has_order_over_groups": len(texts.groups) > 1,
        "figures": tables.describe_figures(prospect, design, is_estimated=not study.minutes, pay=pay),
        "excluded": list(label_studies(o for o in others if o.slug in saved.excluded_studies).values()),
        "order": str(ORDERS[OrderPolicy(plan.order_policy)]),
        "title_of_design": str(DESIGNS[design]),
        **_tables(prospect, design, sources, current_protocol, may_draw=may_change),
    }
    status = 400 if request.method == "POST" and not is_valid else 200
    template = "annotation/designer/reading_plan.html"
    return render(request, template + ("#prospect" if request.htmx else ""), context, status=status)  # type: ignore[attr-defined]


def _minutes_by_group(study: Study, texts: Texts, of_study: Protocol) -> list[float]:
    """As raters are told; where they are told nothing, as it is estimated."""
    if study.minutes:
        return [float(study.minutes)] * len(texts.groups)
    return protocol.estimate_groups(of_study, [[texts.n_words[code] for code in codes] for codes in texts.stories])


def _tables(
    prospect: Prospect, design: Design, sources: Mapping[str, str], of_study: Protocol, *, may_draw: bool
) -> dict[str, Any]:
    """What the page shows of a plan: who reads what, in which order, and how each source falls into it."""
    places, by_source = prospect.count_sources(sources) if sources else ([], [])
    return {
        "sentences": tables.describe_plan(prospect, design, by_source, of_study, may_draw=may_draw),
        "matrix": tables.lay_out_matrix(prospect),
        "paths": tables.list_paths(prospect),
        "n_more_paths": max(0, len(prospect.paths) - tables.MOST_PATHS),
        "places": places,
        "sources": tables.shade_sources(by_source),
    }


def _design(plan: ReadingPlan, texts: Texts) -> Design:
    return reading_plans.design_of(plan, texts)


def _draw_evenly(plan: ReadingPlan, texts: Texts, sources: Mapping[str, str]) -> tuple[ReadingPlan, int]:
    """The plan with a seed by which sources stand evenly in all places, and how many were tried."""
    seed, n_draws = prospects.find_even_seed(texts, plan.choices, sources)
    return replace(plan, seed=seed), n_draws


def _flat(values: QueryDict) -> dict[str, Any]:
    return {name: values.getlist(name) if name == "excluded_studies" else values[name] for name in values}


def _other_studies(request: HttpRequest, study: Study) -> list[Study]:
    """The studies that somebody can have taken part in and that the account sees, and those that are excluded now."""
    is_over = ~Q(state=Study.State.DRAFT) & Q(pk__in=visible_studies(request.user, SEES).values("pk"))
    studies = Study.objects.filter(is_over | Q(slug__in=study.excluded_studies)).exclude(pk=study.pk)
    return list(studies.order_by("title", "slug"))


def _save(request: HttpRequest, study: Study, plan: ReadingPlan) -> None:
    try:
        reading_plans.save_reading_plan(study, plan)
    except reading_plans.PlanFixed as error:
        messages.error(request, str(error))
        return
    actions.log_change(study, "reading plan", by=cast(User, request.user))
    messages.success(request, _("Saved. When you launch, the orders are drawn exactly as shown here."))
