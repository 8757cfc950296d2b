"""A story to practise on: the rater's own answers first, then sample answers beside them. No result counts them."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from annotation.progress import Part, RaterProgress
from annotation.progress.languages import Words
from annotation.progress.work import Work
from annotation.views.rater import routing
from annotation.views.rater.guards import Request
from annotation.views.rater.presenters import pages, questions
from annotation.views.rater.presenters.questions import Asking, Lack
from studies import items
from studies.typography.paragraphs import paragraphs


def practise(request: Request, far: RaterProgress, visit: Work, part: Part, lacking: Sequence[Lack]) -> HttpResponse:
    """GET asks; POST shows the sample answers once everything is answered, and goes on from there."""
    step = part.steps[0]
    compares = request.method == "POST" and not lacking
    if compares and request.POST.get("compared") == "yes":
        routing.pass_step(visit.assignment.rater, step)
        return routing.go_on(visit.assignment.rater)
    context = pages.together(visit, part, is_checked=bool(lacking), lacking=lacking)
    context |= {
        "paragraphs": paragraphs(step.story),
        "practised": [(asked, _sample(visit, asked)) for asked in context["sections"][0].asked],
        "compares": compares,
    }
    return render(request, "annotation/practice.html", context, status=400 if lacking else 200)


def _sample(visit: Work, asked: Asking) -> dict[str, Any]:
    """The sample answer to an item in the item's words, and why it would do."""
    place = asked.place
    sample = place.step.samples[place.item.key]
    value = items.named(place.item.type).clean(place.item, sample["value"])
    why = Words(sample["why"], visit.assignment.study.language)
    return {"words": questions.labelled(visit, place, value), "why": why}
