"""A text to read within a group, between its questions."""

from django.http import HttpResponse
from django.shortcuts import render

from annotation import progress
from annotation.progress import Question
from annotation.progress.steps import TEXT
from annotation.views.rater import addresses
from annotation.views.rater.parts.base import PartPage
from annotation.views.rater.presenters import pages
from annotation.views.rater.presenters.pages import RefusedAnswer
from studies.typography.prose import parse_prose


class TextPage(PartPage):
    """The text of a step that asks nothing."""

    kind = TEXT

    def render(self, question: Question | None = None, *, refused: RefusedAnswer | None = None) -> HttpResponse:
        step = self.part.steps[0]
        after = progress.neighbours(self.work.parts, self.part, self.work.letters)[1]
        context = pages.base_context(self.work) | {
            "step": step,
            "prose": parse_prose(step.text),
            "next_url": addresses.of_stop(self.work, after),
        }
        return render(self.request, "annotation/briefing.html", context)
