"""Who is the rater of this session, and what every page of theirs has in common.

A view under `for_rater` is called with the rater, one under `for_assignment` with the work on an assignment of that
rater; others get neither. Both speak the language of the study. All pages here refuse query parameters,
which nothing of ours sends, and are never kept by caches.
"""

from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from annotation.models import Rater, Withdrawal
from annotation.participation import recruitment
from annotation.progress import languages, work
from annotation.progress.work import Work
from studies.models import Study

KEY = "rater"
LINK = "link"
PROLIFIC = "prolific"  # of raters from there: the arrival, and until when they may work
REHEARSAL = "rehearsal"  # the slug of the study that is rehearsed in this session
WITHDRAWAL = "withdrawal"  # of a rater who withdrew in this browser, which ended their session

P = ParamSpec("P")
View = Callable[..., HttpResponse]


class SessionEnd(StrEnum):
    """Why a session can save nothing any more; a page's script reads it from the header `Quire-Reason`.

    ENDED : it has run out, or the browser has forgotten it; the same link opens it again
    RENEWED : a new link has replaced the one by which it began
    REVOKED : the link was taken back, or the place given to somebody else; WITHDRAWN : so is the rater
    """

    ENDED = "ended"
    RENEWED = "renewed"
    REVOKED = "revoked"
    WITHDRAWN = "withdrawn"


class Request(HttpRequest):
    """A request as django-htmx leaves it."""

    htmx: HtmxDetails


def start_session(request: HttpRequest, rater: Rater) -> None:
    """Make this browser's session the rater's, under a new key, so that nobody can have planted the old one."""
    request.session.cycle_key()
    request.session[KEY] = rater.pk
    request.session[LINK] = rater.n_links_replaced
    request.session.pop(REHEARSAL, None)
    request.session.pop(PROLIFIC, None)
    request.session.pop(WITHDRAWAL, None)
    if arrival := recruitment.find_of_rater(rater):
        limit = recruitment.find_time_limit(arrival, arrival.study.prolific)
        times = [limit.warns_at.isoformat(), limit.until.isoformat()] if limit else []
        request.session[PROLIFIC] = {"arrival": arrival.pk, "times": times}


def start_rehearsal(request: HttpRequest, rater: Rater, slug: str) -> None:
    """Make this browser's session that of the rater who is its designer, beside their own as one of the staff."""
    start_session(request, rater)
    request.session[REHEARSAL] = slug


def may_enter(request: HttpRequest, study: Study) -> bool:
    """Whether this browser may be on raters' pages of the study: of a rehearsal only that of whoever rehearses, as
    long as they are signed in."""
    return not study.is_rehearsal or (request.user.is_active and request.user.pk == study.rehearsed_by_id)


def find_rater(request: HttpRequest) -> Rater | None:
    """The rater of this session; None if there is none, or they withdrew, or their link was revoked or replaced."""
    pk = request.session.get(KEY)
    if pk is None:
        return None
    rater = Rater.objects.filter(work.may_work(), pk=pk).select_related("study").first()
    return rater if rater and is_of_latest_link(request, rater) and may_enter(request, rater.study) else None


def is_of_latest_link(request: HttpRequest, rater: Rater) -> bool:
    """Whether no new link has replaced the one by which this session began."""
    return bool(request.session.get(LINK, 0) == rater.n_links_replaced)


def find_session_end(request: HttpRequest) -> SessionEnd:
    """Why there is no rater in this session. At most two queries."""
    if find_withdrawal(request):
        return SessionEnd.WITHDRAWN
    rater = Rater.objects.filter(pk=request.session.get(KEY, 0)).select_related("invitation").first()
    if rater is None:
        return SessionEnd.ENDED
    invitation = getattr(rater, "invitation", None)
    if invitation and invitation.revoked_at:
        return SessionEnd.REVOKED
    return SessionEnd.ENDED if is_of_latest_link(request, rater) else SessionEnd.RENEWED


def find_withdrawal(request: HttpRequest) -> Withdrawal | None:
    """That of the rater of this session, or of one who withdrew in this browser; None if nobody did. One query."""
    here = Q(pk=request.session.get(WITHDRAWAL, 0)) | Q(rater=request.session.get(KEY))
    return Withdrawal.objects.filter(here).select_related("rater__study").first()


def rater_page(view: Callable[Concatenate[Request, P], HttpResponse]) -> View:
    """View decorator: a page on the raters' side, open to anyone with its address."""

    @wraps(view)
    def guarded(request: Request, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if request.GET:
            raise BadRequest("This page takes no query parameters.")
        response = view(request, *args, **kwargs)
        patch_cache_control(response, no_store=True)
        return response

    return guarded


def for_rater(view: Callable[Concatenate[Request, Rater, P], HttpResponse]) -> View:
    """View decorator: a page for the rater of the session only."""

    @wraps(view)
    def guarded(request: Request, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        rater = find_rater(request)
        if rater is None:
            return refuse_ended_session(request)
        languages.activate_language(request, rater.study)
        return view(request, rater, *args, **kwargs)

    return rater_page(guarded)


def for_assignment(view: Callable[Concatenate[Request, Work, P], HttpResponse]) -> View:
    """View decorator: a page of one assignment, for its rater only; to everybody else it is not there."""

    @wraps(view)
    def guarded(request: Request, /, code: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        mine = work.load_work(code, rater=request.session.get(KEY), at=timezone.now())
        may_work = mine is not None and is_of_latest_link(request, mine.assignment.rater)
        if mine is None or not (may_work and may_enter(request, mine.assignment.study)):
            if find_rater(request) is None:
                return refuse_ended_session(request)
            raise Http404
        languages.activate_language(request, mine.assignment.study)
        if mine.owes_new_consent and request.method in ("GET", "HEAD"):
            return lead_to_consent(request)
        return view(request, mine, *args, **kwargs)

    return rater_page(guarded)


def lead_to_consent(request: Request) -> HttpResponse:
    """On to the text that was amended after the rater had agreed to it."""
    url = reverse("annotation:consent")
    return HttpResponseClientRedirect(url) if request.htmx else redirect(url)


def refuse_ended_session(request: Request) -> HttpResponse:
    """What a request gets whose session has ended: never a redirect that could pass for success, and never the loss of
    what was written."""
    end = find_session_end(request)
    if request.htmx:
        headers = {"Quire-Reason": end.value}
        return HttpResponse(_("Your session has ended."), status=401, content_type="text/plain", headers=headers)
    if request.method == "POST":
        has_withdrawn = end is SessionEnd.WITHDRAWN
        context = {"end": end, "texts": [] if has_withdrawn else list_posted_texts(request)}
        return render(request, "annotation/again.html", context, status=401)
    if end is SessionEnd.WITHDRAWN:
        return redirect("annotation:withdrawn")
    if slug := request.session.get(REHEARSAL):
        messages.info(
            request, _("That rehearsal has ended: it was started again elsewhere, or the study was launched.")
        )
        return redirect("designer:rehearsal", slug=slug)
    return redirect("annotation:again")


def list_posted_texts(request: HttpRequest) -> list[str]:
    """What was posted as answers and reasons, to give back on a page that could not keep it."""
    names = [name for name in request.POST if name.startswith(("answer-", "rationale"))]
    return [text for name in names if (text := str(request.POST[name]))]


def refuse_without_token(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The page in place of one whose form carried no valid token; it gives back what one of our own pages posted.

    Not what another site posts: that could put its words under our name.
    """
    is_ours = request.headers.get("Origin") == f"{request.scheme}://{request.get_host()}"
    texts = list_posted_texts(request) if is_ours else []
    return render(request, "403_csrf.html", {"texts": texts}, status=403)
