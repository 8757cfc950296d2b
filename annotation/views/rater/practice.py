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
from annotation.views.rater.presenters.pages import RefusedAnswer
from annotation.views.rater.presenters.questions import ItemForm, MissingAnswer
from studies import items
from studies.typography.paragraphs import number_paragraphs


def practise(
    request: Request,
    rater_progress: RaterProgress,
    visit: Work,
    part: Part,
    *,
    missing_answers: Sequence[MissingAnswer],
    refused: Sequence[RefusedAnswer],
) -> HttpResponse:
    """GET asks; POST shows the sample answers once everything is answered, and goes on from there."""
    step = part.steps[0]
    lacks = bool(missing_answers or refused)
    compares = request.method == "POST" and not lacks
    if compares and request.POST.get("compared") == "yes":
        routing.record_step_taken(visit.assignment.rater, step)
        return routing.redirect_to_next_page(visit.assignment.rater)
    context = pages.together_context(
        visit, part, refused=refused, shows_shortfalls=lacks, missing_answers=missing_answers
    )
    context |= {
        "paragraphs": number_paragraphs(step.story),
        "practised": [(form, _sample_answer(visit, form)) for form in context["sections"][0].item_forms],
        "compares": compares,
    }
    return render(request, "annotation/practice.html", context, status=400 if lacks else 200)


def _sample_answer(visit: Work, form: ItemForm) -> dict[str, Any]:
    """The sample answer to an item in the item's words, and why it would do."""
    place = form.place
    sample = place.step.samples[place.item.key]
    value = items.find_type(place.item.type).clean(place.item, sample["value"])
    reason = Words(sample["why"], visit.assignment.study.language)
    return {"words": questions.label_value(visit, place, value), "reason": reason}
