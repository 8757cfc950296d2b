"""The reading desk: one story and one item of it at a time."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django_htmx.http import push_url, reswap, retarget

from annotation import progress
from annotation.participation import claims
from annotation.progress import Place
from annotation.progress.steps import DESK
from annotation.views.rater import addresses, overview
from annotation.views.rater.parts.base import PartPage
from annotation.views.rater.presenters import pages
from annotation.views.rater.presenters.pages import RefusedAnswer


class DeskPage(PartPage):
    """A story beside its questions; within a story only the questions are exchanged."""

    kind = DESK

    @property
    def first_place(self) -> Place:
        return progress.list_places(self.part, self.work.letters)[0]

    @property
    def url(self) -> str:
        return addresses.of_stop(self.work, self.first_place)

    def render(self, place: Place | None = None, *, refused: RefusedAnswer | None = None) -> HttpResponse:
        htmx = self.request.htmx
        has_story = htmx.target == "questions" and not htmx.history_restore_request
        return self._render(place or self.first_place, refused, has_story=has_story)

    def _render(self, place: Place, refused: RefusedAnswer | None = None, *, has_story: bool) -> HttpResponse:
        """The desk at the place; only the questions, if the story is on the page already."""
        request, work = self.request, self.work
        shows_shortfalls = pages.shows_shortfalls(request, work)
        context = pages.desk_context(work, self.part, place, refused=refused, shows_shortfalls=shows_shortfalls)
        context |= overview.progress_context(request, work, place, at=timezone.now())
        template = "annotation/desk.html#questions" if has_story else "annotation/desk.html"
        return render(request, template, context | {"has_story": has_story}, status=400 if refused else 200)

    def open_place(self, place: Place) -> HttpResponse:
        claims.remember_page(self.work.assignment, page=place.path, at=timezone.now())
        return self.render(place)

    def go_on(self, place: Place, direction: str) -> HttpResponse:
        stop = self.find_neighbour(place, direction)
        if self.request.htmx and isinstance(stop, Place) and stop.letter == place.letter:
            part, _place = addresses.find_place(self.work, stop.step.key, stop.item.key, stop.letter)
            return DeskPage(self.request, self.work, part).exchange(stop)
        return super().go_on(place, direction)

    def exchange(self, place: Place) -> HttpResponse:
        """The answer to going on within a story: the next question, in place of the one just saved."""
        claims.remember_page(self.work.assignment, page=place.path, at=timezone.now())
        response = self._render(place, has_story=True)
        response = push_url(response, addresses.of_stop(self.work, place))
        return reswap(retarget(response, "#questions"), "outerHTML")
