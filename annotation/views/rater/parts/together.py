"""A page of several items at once: comparisons, and what is asked of each story beside the others."""

from django.http import HttpResponse
from django.shortcuts import render

from annotation.progress import Question
from annotation.progress.steps import TOGETHER
from annotation.views.rater import posted_page
from annotation.views.rater.parts.base import PartPage
from annotation.views.rater.presenters import pages
from annotation.views.rater.presenters.pages import RefusedAnswer


class TogetherPage(PartPage):
    """All items of its steps on one page."""

    kind = TOGETHER

    def render(self, question: Question | None = None, *, refused: RefusedAnswer | None = None) -> HttpResponse:
        context = pages.together_context(
            self.work,
            self.part,
            refused=[refused] if refused else [],
            shows_shortfalls=pages.shows_shortfalls(self.request, self.work),
        )
        return render(self.request, "annotation/together.html", context, status=400 if refused else 200)

    def post(self) -> HttpResponse:
        """On to what comes next, once every answer that was posted is kept."""
        return posted_page.go_on(self.request, self.work, self.part)
