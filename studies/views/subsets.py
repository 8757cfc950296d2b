"""Drawing a subset of a study's stories: what the rule would draw, stratum by stratum, and then a study of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext

from studies import creation, subsets
from studies.access import Access
from studies.documents.errors import InvalidValue
from studies.documents.rated_stories import read_moment, read_score
from studies.protocol.subset_descriptions import name_criterion
from studies.strata import (
    GROUP,
    MOST_CRITERIA,
    N_PARTS_BY_WORD,
    SOURCE,
    TEXT,
    CannotDraw,
    Criterion,
    DrawableStory,
    StratumDraw,
    SubsetDraw,
    SubsetRule,
    parse_criterion,
)
from studies.strata import draw as draw_subset
from studies.views.guards import explain_refusal, require_in_study
from studies.views.posted_forms import makes_once

# Strata count stories by who wrote them, and the person who makes the draft leads it.
SEES = "studies.view_provenance"
MAY_MAKE = "studies.add_study"
MOST_SHOWN = 200
CRITERION_FIELDS = tuple(f"by_{n}" for n in range(1, MOST_CRITERIA + 1))
RULE_FIELDS = ("n", "allocation", *CRITERION_FIELDS, "day", "seed")
IN_ALL, EACH = "all", "each"
DAY_SUFFIX = "=day"  # of a criterion whose day the field “day” holds


class RuleForm(forms.Form):
    """A rule for `studies.strata`: how many stories, from which strata, with which seed."""

    n = forms.IntegerField(
        label=gettext_lazy("How many stories"),
        min_value=1,
        widget=forms.NumberInput({"class": "brief"}),
        error_messages={"required": gettext_lazy("Say how many are to be drawn.")},
    )
    allocation = forms.ChoiceField(
        label=gettext_lazy("Counted"),
        choices=[
            (IN_ALL, gettext_lazy("in all, spread over the strata as evenly as possible")),
            (EACH, gettext_lazy("from each stratum")),
        ],
        widget=forms.RadioSelect,
        initial=IN_ALL,
    )
    day = forms.DateField(
        label=gettext_lazy("The day"),
        required=False,
        widget=forms.DateInput({"type": "date", "class": "middling"}, format="%Y-%m-%d"),
        help_text=gettext_lazy("Only for strata by date: before this day, and from it on."),
    )
    seed = forms.IntegerField(
        label=gettext_lazy("Seed of the draw"),
        required=False,
        min_value=0,
        max_value=2**63 - 1,
        help_text=gettext_lazy("One is drawn if you leave it empty. The same seed draws the same stories."),
    )

    def __init__(self, *args: Any, candidates: Sequence[DrawableStory], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [("", pgettext("stratum", "nothing")), *_list_choices(candidates)]
        labels = (_("Strata by"), _("and by"), _("and also by"))
        for name, label in zip(CRITERION_FIELDS, labels, strict=True):
            self.fields[name] = forms.ChoiceField(label=label, required=False, choices=choices)

    def clean(self) -> None:
        chosen = [word for name in CRITERION_FIELDS if (word := self.cleaned_data.get(name))]
        day = self.cleaned_data.get("day")
        if any(word.endswith(DAY_SUFFIX) for word in chosen) and not day and "day" not in self.errors:
            self.add_error("day", _("Enter the day that divides the stories."))
            return
        try:
            criteria = tuple(parse_criterion(word.replace(DAY_SUFFIX, f"={day}")) for word in chosen)
        except CannotDraw as error:
            self.add_error(None, str(error))
            return
        self.cleaned_data["rule"] = SubsetRule(
            n=self.cleaned_data.get("n", 0),
            seed=self.cleaned_data.get("seed") or 0,
            is_each=self.cleaned_data.get("allocation") == EACH,
            criteria=criteria,
        )

    def draw(self, candidates: Sequence[DrawableStory]) -> SubsetDraw | None:
        """What the rule draws; None, with an error in the form, if nothing."""
        if not self.is_valid():
            return None
        try:
            return draw_subset(candidates, self.cleaned_data["rule"])
        except CannotDraw as error:
            self.add_error(None, str(error))
            return None

    @property
    def criterion_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in CRITERION_FIELDS]


class TitleForm(forms.Form):
    title = forms.CharField(
        label=gettext_lazy("Title of the new study"),
        max_length=200,
        help_text=gettext_lazy("Raters see it. It should not say what is compared, nor how the stories were drawn."),
        widget=forms.TextInput({"autocomplete": "off"}),
        error_messages={"required": gettext_lazy("Give it a title. You can change it until you launch.")},
    )


def _list_choices(candidates: Sequence[DrawableStory]) -> Iterator[tuple[str, str]]:
    """What strata can be formed by here: each value, numbers in parts, dates before and from a day on."""
    for name in (SOURCE, GROUP):
        yield name, name_criterion(Criterion(name))
    yield from _list_parts(TEXT)
    for name in sorted({name for candidate in candidates for name in candidate.factors}):
        values = {str(c.factors[name]): c.factors[name] for c in candidates if c.factors.get(name) not in (None, "")}
        if len(values) < 2:
            continue
        yield name, _("%(name)s, each value by itself") % {"name": name}
        if all(_can_read(read_score, value) for value in values.values()):
            yield from _list_parts(name)
        elif all(_can_read(read_moment, value) for value in values.values()):
            yield f"{name}{DAY_SUFFIX}", _("%(name)s before the day and from then on") % {"name": name}


def _list_parts(name: str) -> Iterator[tuple[str, str]]:
    for word, n_parts in N_PARTS_BY_WORD.items():
        yield f"{name}={word}", name_criterion(Criterion(name, n_parts=n_parts))


def _can_read(read: Callable[[Any], float], value: Any) -> bool:
    try:
        read(value)
    except InvalidValue:
        return False
    return True


@dataclass(frozen=True)
class DrawSummary:
    """What a page says of a draw.

    strata : the first of them; names : of the criteria; left_out : a criterion, and how many stories it leaves out
    """

    draw: SubsetDraw
    strata: Sequence[StratumDraw]
    names: Sequence[str]
    left_out: Sequence[tuple[str, int]]
    n_split_groups: int

    @property
    def rows(self) -> list[tuple[list[tuple[str, str]], StratumDraw]]:
        """For each stratum its part by each criterion, and what is drawn from it."""
        return [(list(zip(self.names, stratum.labels, strict=True)), stratum) for stratum in self.strata]

    @property
    def n_more(self) -> int:
        return len(self.draw.strata) - len(self.strata)


@require_in_study(SEES, methods=("GET", "HEAD", "POST"), query=RULE_FIELDS)
@makes_once
def subset_page(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who may see sources and make studies: what a rule would draw, and then a study of what it draws."""
    if not cast(User, request.user).has_perm(MAY_MAKE):
        raise PermissionDenied(explain_refusal(MAY_MAKE))
    try:
        if request.method != "POST":
            return _respond(request, access, subsets.read_population(access.study))
        with transaction.atomic():
            return _respond(request, access, subsets.hold_population(access.study))
    except CannotDraw as error:
        messages.error(request, str(error))
        return redirect("studies:stories", slug=access.study.slug)


def _respond(request: HttpRequest, access: Access, population: subsets.Population) -> HttpResponse:
    study = access.study
    data = (request.POST if request.method == "POST" else request.GET).copy()
    # Never the study's own, which those know who may not know sources: by it they could tell which stories a stratum
    # had no place for any more.
    data["seed"] = data.get("seed") or str(creation.draw_seed())
    is_bound = request.method == "POST" or bool(request.GET)
    form = RuleForm(data if is_bound else None, candidates=population.candidates)
    drawn = form.draw(population.candidates) if form.is_bound else None
    title_form, status = TitleForm(), 200
    if request.method == "POST":
        title_form, status = TitleForm(request.POST), 400
        if drawn and title_form.is_valid():
            by = cast(User, request.user)
            subset = subsets.create_subset(study, population, drawn, title_form.cleaned_data["title"], by=by)
            _add_success_message(request, drawn, study.title)
            return redirect("studies:overview", slug=subset.slug)
    context = {
        "study": study,
        "access": access,
        "form": form,
        "title_form": title_form,
        "population": population,
        "summary": _summarise(drawn, population) if drawn else None,
        "posted": [(name, form[name].value() or "") for name in RULE_FIELDS],
    }
    return render(request, "studies/subset.html", context, status=status)


def _add_success_message(request: HttpRequest, drawn: SubsetDraw, title: str) -> None:
    sentence = ngettext(
        "%(n)d story is in this draft. “%(title)s” has not changed.",
        "%(n)d stories are in this draft. “%(title)s” has not changed.",
        drawn.n_taken,
    )
    messages.success(request, sentence % {"n": drawn.n_taken, "title": title})


def _summarise(drawn: SubsetDraw, population: subsets.Population) -> DrawSummary:
    return DrawSummary(
        draw=drawn,
        strata=drawn.strata[:MOST_SHOWN],
        names=[name_criterion(criterion) for criterion in drawn.rule.criteria],
        left_out=[(name_criterion(parse_criterion(text)), n) for text, n in drawn.left_out.items()],
        n_split_groups=population.count_split_groups(drawn),
    )
