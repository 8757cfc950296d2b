"""What the page of a part is: where it begins, how it shows and keeps answers, and where it goes on to."""

from datetime import datetime
from typing import ClassVar

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django_htmx.http import HttpResponseClientRedirect, reswap, retarget

from annotation import progress, responses
from annotation.models import Response
from annotation.progress import Part, Question, Stop, languages, places
from annotation.progress.work import Work
from annotation.responses import quotes
from annotation.views.rater import addresses
from annotation.views.rater.guards import Request
from annotation.views.rater.presenters import pages, questions
from annotation.views.rater.presenters.pages import RefusedAnswer
from annotation.views.rater.presenters.questions import PostedAnswer
from studies.models import Step


class PartPage:
    """One kind of part as raters meet it. Subclasses are discovered; each request makes one for its part.

    A subclass gives `kind` and `render`, and overrides what differs. Whether the rater may be here at all, the views
    have asked before.
    """

    kind: ClassVar[str]

    def __init__(self, request: Request, work: Work, part: Part) -> None:
        self.request = request
        self.work = work
        self.part = part

    @property
    def url(self) -> str:
        """Where the part begins."""
        return addresses.of_stop(self.work, self.part)

    @property
    def resume_url(self) -> str:
        """Where to come back to, if the rater was somewhere on it."""
        return self.url

    @property
    def sections(self) -> list[str]:
        """What a report of active time can name as the section; [""] where there are none."""
        return [""]

    def render(self, question: Question | None = None, *, refused: RefusedAnswer | None = None) -> HttpResponse:
        """The page on which the question is asked. refused : what was posted and could not be kept"""
        raise NotImplementedError

    def open(self) -> HttpResponse:
        """The page as a rater comes to it."""
        places.remember_page(self.work.assignment, page=self.part.key, at=timezone.now())
        return self.render()

    def open_question(self, question: Question) -> HttpResponse:
        """The page as a rater comes to one item of it."""
        return redirect(f"{self.url}#item-{question.id}")

    def post(self) -> HttpResponse:
        """What a form for the whole page leads to; where there is none, the page."""
        return self.open()

    def stop(self) -> HttpResponse:
        """Keep what is on the page, and end the work here. Not found where the page has no such way out."""
        raise Http404

    def go_on(self, question: Question, direction: str) -> HttpResponse:
        """On to the next question or back to the one before."""
        url = addresses.of_stop(self.work, self.find_neighbour(question, direction))
        return HttpResponseClientRedirect(url) if self.request.htmx else redirect(url)

    def find_neighbour(self, question: Question, direction: str) -> Stop | None:
        """What comes after the question, or before it (direction "previous"); None at either end of the group."""
        before, after = progress.neighbours(self.work.parts, self.part, self.work.letters, question)
        return before if direction == "previous" else after

    def render_saved(self, question: Question, response: Response, *, at: datetime, notice: str = "") -> HttpResponse:
        """To htmx, after an answer was kept: its revision, how complete it is, and what to know of it."""
        context = {
            "id": question.id,
            "problem": notice,
            "revision": response.revision,
            "state": progress.response_state(response, question.item),
            "at": at,
            "has_index": question.step.scope == Step.Scope.STORY,
            "is_lacking": bool(responses.find_shortfall(response, question.item)),
            "oob": True,
        }
        return render(self.request, "annotation/item.html#saved", context)

    def render_invalid(self, refused: RefusedAnswer) -> HttpResponse:
        """The same page with the reason at the item, and what was posted still in it; to htmx only the reason."""
        if not self.request.htmx:
            return self.render(refused.question, refused=refused)
        context = {"id": refused.question.id, "problem": refused.problem, "oob": True}
        return render(self.request, "annotation/item.html#not_saved", context, status=400)

    def render_conflict(self, question: Question, posted: PostedAnswer, stored: Response) -> HttpResponse:
        """Both versions of an answer that was changed in two windows, to choose from. Nothing has been overwritten."""
        request, work = self.request, self.work
        context = pages.base_context(work) | {
            "question": question,
            "name": languages.item_title(question, work.assignment.study),
            # Only where a passage is quoted does the page say in which language the story is.
            "story": work.stories.story_by_letter[question.letter]
            if question.letter and (posted.quotes or stored.quotes)
            else None,
            "url": addresses.of_stop(work, question),
            "stored": stored,
            "stored_words": questions.response_in_words(work, stored, question),
            "posted": posted,
            "both_reasons": questions.join_reasons(stored.rationale, posted.rationale),
            "posted_words": questions.posted_in_words(work, posted, question),
            "posted_quotes": quotes.readable_quotes(posted.quotes),
            "stored_quotes": quotes.readable_quotes(stored.quotes),
            "fields": [
                (n, v) for n, values in request.POST.lists() if n.startswith((question.name, "quotes")) for v in values
            ],
        }
        template = "annotation/conflict.html#conflict" if request.htmx else "annotation/conflict.html"
        response = render(request, template, context, status=409)
        return reswap(retarget(response, f"#item-{question.id}"), "outerHTML") if request.htmx else response
