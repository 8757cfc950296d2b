"""One section of a cloze as one participant filled it, with what each judge and expert gave its constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from config import roles
from judges.models import Call
from judges.views.runs import SEES
from reports.dataset import Dataset
from reports.dataset.judged_clozes import JudgedCloze, read_judged_cloze
from reports.views.shared import may_see_sources, of_study
from studies.access import Access
from studies.documents.cloze import Section
from studies.views.guards import require_in_study

if TYPE_CHECKING:
    from stats.arrays import FloatArray

Key = tuple[str, str, str]


@dataclass(frozen=True)
class FilledBlank:
    """number, hint : of the blank; fill : "" where it is not known"""

    number: int
    hint: str
    fill: str


@dataclass(frozen=True)
class RatingCell:
    """What somebody gave. value : 0 to 5, None for nothing; is_broken : whether a required check was denied

    url : of the call that was answered so; "" for people, imports and whoever may not see calls
    """

    value: float | None
    is_broken: bool
    url: str


@dataclass(frozen=True)
class RatedConstraint:
    question: str
    is_must: bool
    ratings: Sequence[RatingCell]


@dataclass(frozen=True)
class SectionOfText:
    """The section in one text of the participant."""

    story: str
    blanks: Sequence[FilledBlank]
    constraints: Sequence[RatedConstraint]


@require_in_study(roles.VIEW_RESPONSES, query=("participant",))
def show(request: HttpRequest, access: Access, section: int) -> HttpResponse:
    """For whoever may see answers and sources: the fills of a section by one participant, and what was said of them."""
    judged = read_judged_cloze(Dataset.of(access.study)) if may_see_sources(access) else None
    name = request.GET.get("participant", "")
    chosen = [n for n, text in enumerate(judged.texts) if text.participant == name] if judged else []
    if judged is None or not chosen or not 1 <= section <= len(judged.document.sections):
        raise Http404
    part = judged.document.sections[section - 1]
    calls = _calls(access, [judged.texts[n].story for n in chosen]) if access.may(SEES) else {}
    context = of_study(access) | {
        "participant": name,
        "section": part,
        "raters": [*judged.judges, *judged.experts],
        "texts": [_text(judged, n, part, calls) for n in chosen],
    }
    return render(request, "reports/filled_section.html", context)


def _calls(access: Access, stories: Sequence[str]) -> Mapping[Key, str]:
    """The address of the call behind each answer: by rater, story and item. One query."""
    rows = Call.objects.filter(
        run__study=access.study, assignment__isnull=False, story__code__in=stories, state=Call.State.OK
    )
    fields = ("assignment__rater__code", "story__code", "item__key", "run", "pk")
    slug = access.study.slug
    # Of several readings the first counts, so it comes last here.
    return {
        (rater, story, item): reverse("judges:call", args=[slug, run, pk])
        for rater, story, item, run, pk in rows.order_by("-pk").values_list(*fields)
    }


def _text(judged: JudgedCloze, place: int, section: Section, calls: Mapping[Key, str]) -> SectionOfText:
    text = judged.texts[place]
    blanks = judged.document.blanks_of(section.number)
    return SectionOfText(
        story=text.story,
        blanks=[FilledBlank(blank.number, blank.hint, text.fills.get(blank.number, "")) for blank in blanks],
        constraints=[
            RatedConstraint(
                constraint.item.item.question,
                constraint.is_must,
                _ratings(judged, place, k, calls),
            )
            for k, constraint in enumerate(judged.constraints)
            if judged.document.sections[constraint.section] == section
        ],
    )


def _ratings(judged: JudgedCloze, place: int, k: int, calls: Mapping[Key, str]) -> list[RatingCell]:
    story, item = judged.texts[place].story, judged.constraints[k].item.item.key
    of_judges = [
        RatingCell(
            _value(judged.ratings, n, place, k), bool(judged.is_broken[n, place, k]), calls.get((name, story, item), "")
        )
        for n, name in enumerate(judged.judges)
    ]
    of_experts = [
        RatingCell(_value(judged.expert_ratings, n, place, k), is_broken=False, url="")
        for n in range(len(judged.experts))
    ]
    return of_judges + of_experts


def _value(ratings: FloatArray, rater: int, text: int, constraint: int) -> float | None:
    value = float(ratings[rater, text, constraint])
    return None if value != value else value
