"""The reading desk: one story and one item of it at a time."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django_htmx.http import push_url, reswap, retarget

from annotation import progress
from annotation.progress import Question, places
from annotation.progress.steps import DESK
from annotation.views.rater import addresses, overview
from annotation.views.rater.parts.base import PartPage
from annotation.views.rater.presenters import pages
from annotation.views.rater.presenters.pages import RefusedAnswer


class DeskPage(PartPage):
    """A story beside its questions; within a story only the questions are exchanged."""

    kind = DESK

    @property
    def first_question(self) -> Question:
        return progress.list_questions(self.part, self.work.letters)[0]

    @property
    def url(self) -> str:
        return addresses.of_stop(self.work, self.first_question)

    def render(self, question: Question | None = None, *, refused: RefusedAnswer | None = None) -> HttpResponse:
        htmx = self.request.htmx
        has_story = htmx.target == "questions" and not htmx.history_restore_request
        return self._render(question or self.first_question, refused, has_story=has_story)

    def _render(self, question: Question, refused: RefusedAnswer | None = None, *, has_story: bool) -> HttpResponse:
        """The desk at the question; only the questions, if the story is on the page already."""
        request, work = self.request, self.work
        shows_shortfalls = pages.shows_shortfalls(request, work)
        context = pages.desk_context(work, self.part, question, refused=refused, shows_shortfalls=shows_shortfalls)
        context |= overview.progress_context(request, work, question, at=timezone.now())
        template = "annotation/desk.html#questions" if has_story else "annotation/desk.html"
        return render(request, template, context | {"has_story": has_story}, status=400 if refused else 200)

    def open_question(self, question: Question) -> HttpResponse:
        places.remember_page(self.work.assignment, page=question.path, at=timezone.now())
        return self.render(question)

    def go_on(self, question: Question, direction: str) -> HttpResponse:
        stop = self.find_neighbour(question, direction)
        if self.request.htmx and isinstance(stop, Question) and stop.letter == question.letter:
            part, _question = addresses.find_question(self.work, stop.step.key, stop.item.key, stop.letter)
            return DeskPage(self.request, self.work, part).exchange(stop)
        return super().go_on(question, direction)

    def exchange(self, question: Question) -> HttpResponse:
        """The answer to going on within a story: the next question, in place of the one just saved."""
        places.remember_page(self.work.assignment, page=question.path, at=timezone.now())
        response = self._render(question, has_story=True)
        response = push_url(response, addresses.of_stop(self.work, question))
        return reswap(retarget(response, "#questions"), "outerHTML")
