"""A story to practise on: the rater's own answers first, then sample answers beside them. No result counts them."""

from typing import Any

from django.http import HttpResponse

from annotation.participation import visits
from annotation.progress.languages import Words
from annotation.progress.work import Work
from annotation.views.rater import routing
from annotation.views.rater.presenters import questions
from annotation.views.rater.presenters.once import OncePage
from annotation.views.rater.presenters.questions import ItemForm
from studies import items
from studies.typography.paragraphs import number_paragraphs


def practise(page: OncePage) -> HttpResponse:
    """GET asks; POST shows the sample answers once everything is answered, and goes on from there."""
    if page.is_answered and page.request.POST.get("compared") == "yes":
        visits.record_step_taken(page.rater, page.step)
        return routing.redirect_to_next_page(page.rater)
    context = page.context()
    context |= {
        "paragraphs": number_paragraphs(page.step.story),
        "practised": [(form, _sample_answer(page.visit, form)) for form in context["sections"][0].item_forms],
        "compares": page.is_answered,
    }
    return page.render("annotation/practice.html", context)


def _sample_answer(visit: Work, form: ItemForm) -> dict[str, Any]:
    """The sample answer to an item in the item's words, and why it would do."""
    question = form.question
    sample = question.step.samples[question.item.key]
    value = items.find_type(question.item.type).clean(question.item, sample["value"])
    reason = Words(sample["why"], visit.assignment.study.language)
    return {"words": questions.label_value(visit, question, value), "reason": reason}
