"""Arriving: the link, consent, and the next group. What is read and answered once stands in `once`."""

from collections.abc import Mapping

from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation import progress
from annotation.models import Rater, Withdrawal
from annotation.participation import amended, arrivals, claims, consents, invitations, recruitment, versions
from annotation.participation.recruitment import Ending
from annotation.progress import Page, RaterProgress, languages
from annotation.progress.outlines import load_outline
from annotation.templatetags import reading_preferences
from annotation.views.rater import guards, prolific, routing, withdrawal
from annotation.views.rater.guards import Request, for_rater, rater_page
from annotation.views.rater.routing import allow_get_and_post, requires_open_study
from studies import lifecycle, protocol
from studies.models import Study
from studies.typography.prose import parse_prose

A_YEAR = 365 * 24 * 60 * 60
CLOSED_PAGE = "annotation/closed.html"
NOT_OPEN_PAGES: Mapping[str, str] = {
    Study.State.DRAFT: "annotation/not_begun.html",
    Study.State.PAUSED: "annotation/paused.html",
}


@rater_page
@require_safe
def home(request: Request) -> HttpResponse:
    """A rater's way back to where they belong; for everybody else, what this is."""
    if guards.find_rater(request):
        return go_home(request)
    return render(request, "annotation/home.html")


@for_rater
@requires_open_study
def go_home(request: Request, rater: Rater, rater_progress: RaterProgress) -> HttpResponse:
    """On to where the rater belongs."""
    return routing.redirect_to_page(progress.next_page(rater_progress))


@rater_page
@allow_get_and_post
def open_invitation(request: Request, token: str) -> HttpResponse:
    """What the link is about. Looking starts nothing, since mail scanners look; only Continue begins a session."""
    invitation = invitations.find_by_token(token, at=timezone.now())
    if invitation is None:
        return _tell_why_not_open(request, token)
    languages.activate_language(request, invitation.study)
    withdrawals = Withdrawal.objects.filter(rater=invitation.rater_id).select_related("rater__study")
    if record := withdrawals.first():
        return withdrawal.receipt(request, record, status=410)
    if request.method == "POST":
        guards.start_session(request, invitations.ensure_rater(invitation))
        return redirect("annotation:home")
    until = invitations.ends_at(invitation.study, invitation)
    outline = load_outline(protocol.current(invitation.study))
    promised = versions.promised_pay(invitation.study, invitation.rater)
    context = {
        "study": invitation.study,
        "until": until,
        "promised": promised,
        "fills_text": outline.protocol.fills_text,
        "gate": outline.protocol.gate,
    }
    return render(request, "annotation/invitation.html", context)


def _tell_why_not_open(request: Request, token: str) -> HttpResponse:
    """If the study is not open, the link says so at once, and lets people who have taken part withdraw."""
    invitation = invitations.find_unopened(token, at=timezone.now())
    if invitation is None:
        return _after_replacement(request, token)
    study, rater = invitation.study, invitation.rater
    languages.activate_language(request, study)
    if record := Withdrawal.objects.filter(rater=rater).select_related("rater__study").first():
        return withdrawal.receipt(request, record, status=410)
    # Not every form that is posted here: one may be the Continue of a page from before the pause.
    if request.method == "POST" and rater and "withdraw" in request.POST:
        guards.start_session(request, rater)
        return redirect("annotation:withdraw")
    context = {"study": study, "by_link": True, "has_taken_part": rater is not None}
    return render(request, NOT_OPEN_PAGES.get(study.state, CLOSED_PAGE), context)


def _after_replacement(request: Request, token: str) -> HttpResponse:
    """A link that was replaced by a new one says so; any other opens nothing."""
    replaced = invitations.find_replaced(token)
    if replaced is None:
        return render(request, "annotation/invalid_link.html", status=404)
    languages.activate_language(request, replaced.study)
    return render(request, "annotation/replaced_link.html", {"study": replaced.study}, status=410)


@rater_page
@require_safe
def session_ended(request: Request) -> HttpResponse:
    """What to do when a session has ended."""
    return render(request, "annotation/again.html", {"end": guards.find_session_end(request)})


@rater_page
@require_POST
def save_reading_preferences(request: Request) -> HttpResponse:
    """Keep the reading settings in a cookie, for browsers without JavaScript, and the language in Django's own."""
    back = request.POST.get("back", "")
    # Never redirect(back): that would first look for a view of this name.
    is_ours = back.startswith("/") and url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    response = HttpResponseRedirect(back if is_ours else reverse("annotation:home"))
    posted = ".".join(request.POST.get(name, "") for name in reading_preferences.CHOICES)
    preferences = reading_preferences.parse_cookie(posted)
    response.set_cookie(reading_preferences.COOKIE, ".".join(preferences.values()), max_age=A_YEAR, samesite="Lax")
    language = request.POST.get("language", "")
    if language in dict(settings.LANGUAGES):
        response.set_cookie(settings.LANGUAGE_COOKIE_NAME, language, max_age=A_YEAR, samesite="Lax")
    else:
        response.delete_cookie(settings.LANGUAGE_COOKIE_NAME)
    return response


@for_rater
@requires_open_study
@allow_get_and_post
def consent(request: Request, rater: Rater, rater_progress: RaterProgress) -> HttpResponse:
    """The text to agree to, with a box that nobody has ticked."""
    step = rater_progress.protocol.consent
    if step is None or rater_progress.has_consented or (rater_progress.lacks_place and request.method != "POST"):
        return routing.redirect_to_page(progress.next_page(rater_progress))
    problem = ""
    if request.method == "POST":
        if request.POST.get("agrees") == "yes":
            with transaction.atomic():  # two who agree at once do not both get the last place
                is_held = arrivals.hold_place(rater, at=timezone.now())
                if is_held:
                    consents.record_consent(rater, step)
            if not is_held and prolific.is_from_there(request):
                return prolific.lead_to_code(request, rater)
            return routing.redirect_to_next_page(rater)
        problem = _("Please tick the box if you agree. Without your consent the study cannot begin.")
    context = {"study": rater.study, "step": step, "prose": parse_prose(step.text), "problem": problem}
    context |= {"protocol": rater_progress.protocol, "amended_words": amended.find_amended_consent(rater, step)}
    return render(request, "annotation/consent.html", context, status=400 if problem else 200)


@for_rater
@requires_open_study
@require_safe
def consent_copy(request: Request, rater: Rater, rater_progress: RaterProgress) -> HttpResponse:
    """The consent text alone, to print and keep: its version, and when the rater agreed if they have."""
    step = rater_progress.protocol.consent
    if step is None:
        raise Http404
    context = {"study": rater.study, "step": step, "prose": parse_prose(step.text)}
    context |= {
        "sha256": consents.text_sha256(step),
        "consent": consents.find_consent(rater, step),
        "protocol": rater_progress.protocol,
    }
    return render(request, "annotation/consent_copy.html", context)


@for_rater
@requires_open_study
@allow_get_and_post
def begin(request: Request, rater: Rater, rater_progress: RaterProgress) -> HttpResponse:
    """The offer of a group. Asking for it claims a seat; looking does not."""
    next_page = progress.next_page(rater_progress)
    if next_page != Page("begin"):
        return routing.redirect_to_page(next_page)
    problem = ""
    if request.method == "POST":
        try:
            claims.claim(rater)
            return routing.redirect_to_next_page(rater)
        except claims.NoSeat as reason:
            problem = _(str(reason))
    latest = rater.assignments.order_by("-started_at", "-pk").values_list("read_before", flat=True).first()
    context = {"study": rater.study, "rater_progress": rater_progress, "problem": problem}
    context["is_given_back"] = not problem and latest is True
    context |= {"taken_back": claims.find_taken_back(rater), "returnable": claims.find_returnable(rater)}
    return render(request, "annotation/begin.html", context, status=409 if problem else 200)


@for_rater
@require_safe
def closed(request: Request, rater: Rater) -> HttpResponse:
    """What a rater meets when the study is over, or paused."""
    if lifecycle.is_open_for_answers(rater.study, at=timezone.now()):
        return redirect("annotation:home")
    ending = Ending.COMPLETED if prolific.is_from_there(request) and recruitment.has_completed(rater) else None
    context = {"study": rater.study, "has_taken_part": True, "return_code": prolific.find_return(request, ending)}
    return render(request, NOT_OPEN_PAGES.get(rater.study.state, CLOSED_PAGE), context)
