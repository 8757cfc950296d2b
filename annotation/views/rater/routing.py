"""Where a rater belongs: what `progress.next_page` decides on, read from the database."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation import progress
from annotation.models import Rater
from annotation.participation import overdue
from annotation.progress import Page, RaterProgress
from annotation.progress.rater_progress import load_rater_progress
from annotation.progress.refusals import Refusal
from annotation.views.rater.guards import Request
from annotation.views.rater.presenters import pages
from studies import lifecycle

P = ParamSpec("P")
allow_get_and_post = require_http_methods(["GET", "HEAD", "POST"])


def requires_open_study(
    view: Callable[Concatenate[Request, Rater, RaterProgress, P], HttpResponse],
) -> Callable[..., HttpResponse]:
    """View decorator: requires an open study; the view is called with how far the rater has come.

    Where the study is not open, looking leads to the page that says so; what was posted comes back with the reason.
    """

    @wraps(view)
    def guarded(request: Request, rater: Rater, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not lifecycle.is_open_for_answers(rater.study, at=timezone.now()):
            if request.method == "POST":
                return pages.refuse(request, Refusal.PAUSED if rater.study.is_paused else Refusal.CLOSED)
            return redirect("annotation:closed")
        rater_progress = load_rater_progress(rater)
        # Nobody is turned away, or told that they are done, while a place is overdue.
        if rater_progress.wants_group and overdue.free_overdue(rater.study, at=timezone.now()):
            rater_progress = load_rater_progress(rater)
        return view(request, rater, rater_progress, *args, **kwargs)

    return guarded


def redirect_to_page(page: Page) -> HttpResponse:
    """A redirect to that page."""
    return redirect(f"annotation:{page.name}", *page.args)


def redirect_to_next_page(rater: Rater) -> HttpResponse:
    """A redirect to where the rater belongs now, after something has changed."""
    return redirect_to_page(progress.next_page(load_rater_progress(rater)))
