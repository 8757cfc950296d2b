"""One page of what is asked once, with what was posted to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Rater
from annotation.progress import Part, RaterProgress
from annotation.progress.work import Work
from annotation.views.rater.guards import Request
from annotation.views.rater.presenters import pages
from annotation.views.rater.presenters.pages import RefusedAnswer
from annotation.views.rater.presenters.questions import MissingAnswer
from studies.layouts.items import CheckOptions
from studies.models import Step


@dataclass(frozen=True)
class OncePage:
    """A page of a rater's visit, asked for or posted.

    missing_answers, refused : what the posted page lacks, and what could not be kept of it; empty if none was posted
    """

    request: Request
    rater_progress: RaterProgress
    visit: Work
    part: Part
    missing_answers: Sequence[MissingAnswer] = ()
    refused: Sequence[RefusedAnswer] = ()

    @property
    def step(self) -> Step:
        return self.part.steps[0]

    @property
    def rater(self) -> Rater:
        return self.visit.assignment.rater

    @property
    def has_problems(self) -> bool:
        """Whether what was posted cannot stand as it is."""
        return bool(self.missing_answers or self.refused)

    @property
    def is_answered(self) -> bool:
        """Whether all of it was posted and kept."""
        return self.request.method == "POST" and not self.has_problems

    def context(self, *, wrong: Sequence[str] = ()) -> dict[str, Any]:
        """What its template shows. wrong : keys of the items that were not answered rightly at the attempt before"""
        return pages.together_context(
            self.visit,
            self.part,
            refused=self.refused,
            shows_shortfalls=self.has_problems,
            missing_answers=self.missing_answers,
            wrong=wrong,
        )

    def render(self, template: str, context: dict[str, Any]) -> HttpResponse:
        """The page; with the status of a bad request if what was posted cannot stand."""
        return render(self.request, template, context, status=400 if self.has_problems else 200)


def describe_attempt(attempt: int, options: CheckOptions) -> str:
    """What a comprehension check says of itself at that attempt, counted from 1: its rule, and how many are left."""
    if options.ends:
        rule = _("All answers must be right to go on.")
    else:
        rule = _("If an answer is not right in your last attempt, that is noted, and you go on all the same.")
    if attempt == 1:
        count = ngettext("You have one attempt.", "You have %(n)d attempts.", options.attempts) % {
            "n": options.attempts
        }
    elif attempt < options.attempts:
        count = _("This is attempt %(n)d of %(total)d.") % {"n": attempt, "total": options.attempts}
    else:
        count = _("This is your last attempt.")
    return f"{rule} {count}"
