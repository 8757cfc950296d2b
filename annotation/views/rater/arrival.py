"""Arriving: the link, consent, what is to be read and answered first, and the next group."""

from collections.abc import Callable, Sequence

from django.conf import settings
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation import progress, responses
from annotation.models import Rater, StepTaken, Withdrawal
from annotation.participation import claims, consents, invitations
from annotation.progress import Page, Part, RaterProgress, languages, work
from annotation.progress.outlines import load_outline
from annotation.progress.work import Work
from annotation.responses import submission
from annotation.templatetags import reading_preferences
from annotation.views.rater import addresses, guards, posted_page, practice, routing, withdrawal
from annotation.views.rater.guards import Request, for_rater, rater_page
from annotation.views.rater.presenters import pages
from annotation.views.rater.presenters.pages import RefusedAnswer
from annotation.views.rater.presenters.questions import MissingAnswer
from annotation.views.rater.routing import allow_get_and_post, requires_open_study
from studies import protocol
from studies.models import Step
from studies.typography.paragraphs import number_paragraphs

A_YEAR = 365 * 24 * 60 * 60


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
    return routing.redirect_to_page(progress.next_page(rater_progress))


@rater_page
@allow_get_and_post
def open_invitation(request: Request, token: str) -> HttpResponse:
    """What the link is about. Looking starts nothing, since mail scanners look; only Continue begins a session."""
    invitation = invitations.find_by_token(token, at=timezone.now())
    if invitation is None:
        return _after_closing(request, token)
    languages.activate_language(request, invitation.study)
    withdrawals = Withdrawal.objects.filter(rater=invitation.rater_id).select_related("rater__study")
    if record := withdrawals.first():
        return withdrawal.receipt(request, record, status=410)
    if request.method == "POST":
        guards.start_session(request, invitations.ensure_rater(invitation))
        return redirect("annotation:home")
    until = invitations.ends_at(invitation.study, invitation)
    outline = load_outline(protocol.current(invitation.study))
    context = {"study": invitation.study, "until": until, "fills_text": outline.protocol.fills_text}
    return render(request, "annotation/invitation.html", context)


def _after_closing(request: Request, token: str) -> HttpResponse:
    """Of a closed study the link opens onto withdrawing alone, for whoever took part; else it opens nothing."""
    invitation = invitations.after_closing(token, at=timezone.now())
    if invitation is None or invitation.rater is None:
        return _after_replacement(request, token)
    languages.activate_language(request, invitation.study)
    if record := Withdrawal.objects.filter(rater=invitation.rater).select_related("rater__study").first():
        return withdrawal.receipt(request, record, status=410)
    if request.method == "POST":
        guards.start_session(request, invitation.rater)
        return redirect("annotation:withdraw")
    return render(request, "annotation/closed.html", {"study": invitation.study, "has_link": True})


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
    return render(request, "annotation/again.html")


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
    if step is None or rater_progress.has_consented:
        return routing.redirect_to_page(progress.next_page(rater_progress))
    problem = ""
    if request.method == "POST":
        if request.POST.get("agrees") == "yes":
            consents.record_consent(rater, step)
            return routing.redirect_to_next_page(rater)
        problem = _("Please tick the box if you agree. Without your consent the study cannot begin.")
    context = {"study": rater.study, "step": step, "paragraphs": number_paragraphs(step.text), "problem": problem}
    context["protocol"] = rater_progress.protocol
    return render(request, "annotation/consent.html", context, status=400 if problem else 200)


@for_rater
@requires_open_study
@require_safe
def consent_copy(request: Request, rater: Rater, rater_progress: RaterProgress) -> HttpResponse:
    """The consent text alone, to print and keep: its version, and when the rater agreed if they have."""
    step = rater_progress.protocol.consent
    if step is None:
        raise Http404
    context = {"study": rater.study, "step": step, "paragraphs": number_paragraphs(step.text)}
    context |= {
        "sha256": consents.text_sha256(step),
        "consent": consents.find_consent(rater, step),
        "protocol": rater_progress.protocol,
    }
    return render(request, "annotation/consent_copy.html", context)


@for_rater
@requires_open_study
@allow_get_and_post
def briefing(request: Request, rater: Rater, rater_progress: RaterProgress, step: str) -> HttpResponse:
    """A text to read before the first group, and again while something is asked about it."""
    next_page = progress.next_page(rater_progress)
    text = rater_progress.protocol.step(step)
    if text is None or (
        next_page != Page("briefing", (step,)) and text not in _briefings_to_reread(rater_progress, next_page)
    ):
        return routing.redirect_to_page(next_page)
    if request.method == "POST":
        routing.record_step_taken(rater, text)
        return routing.redirect_to_next_page(rater)
    context = {"study": rater.study, "step": text, "paragraphs": number_paragraphs(text.text)}
    return render(request, "annotation/briefing.html", context)


def _briefings_to_reread(rater_progress: RaterProgress, next_page: Page) -> list[Step]:
    """The texts that the rater may read again: those before the check at which they are."""
    check = rater_progress.protocol.step(next_page.args[0]) if next_page.name == "once" else None
    if check is None or not progress.is_check(rater_progress.protocol, check):
        return []
    before = progress.steps_around_groups(rater_progress.protocol)[0]
    return [s for s in before if s.kind == Step.Kind.BRIEFING and s.position < check.position]


@for_rater
@requires_open_study
@allow_get_and_post
def once(request: Request, rater: Rater, rater_progress: RaterProgress, step: str) -> HttpResponse:
    """What is asked once of a rater, before the first group or after the last; kept in their visit."""
    next_page = progress.next_page(rater_progress)
    current_step = rater_progress.protocol.step(step)
    if current_step is None or (
        next_page != Page("once", (step,)) and not progress.may_end_with(rater_progress, current_step)
    ):
        return routing.redirect_to_page(next_page)
    visit = work.load_work(claims.ensure_visit(rater).code, rater=rater.pk, at=timezone.now())
    if visit is None:
        raise Http404
    part = addresses.find_part(visit, step)
    missing_answers, refused = [], list[RefusedAnswer]()
    if request.method == "POST":
        try:
            refused = posted_page.save(request, visit, part)
        except responses.AssignmentEnded as ended:
            return pages.refuse(request, ended)
        missing_answers = posted_page.missing_answers(visit, part, refused)
    show = _find_once_page(rater_progress, current_step)
    response = show(request, rater_progress, visit, part, missing_answers=missing_answers, refused=refused)
    return pages.mark_postponed(response, seconds=posted_page.seconds_to_wait(refused))


def _find_once_page(rater_progress: RaterProgress, step: Step) -> Callable[..., HttpResponse]:
    """What shows the page of that step, or goes on from it once nothing lacks."""
    if step.kind == Step.Kind.PRACTICE:
        return practice.practise
    return comprehension_check if progress.is_check(rater_progress.protocol, step) else ask_once


def ask_once(
    request: Request,
    rater_progress: RaterProgress,
    visit: Work,
    part: Part,
    *,
    missing_answers: Sequence[MissingAnswer],
    refused: Sequence[RefusedAnswer],
) -> HttpResponse:
    """Questions to which any answer does."""
    step, rater = part.steps[0], visit.assignment.rater
    lacks = bool(missing_answers or refused)
    if request.method == "POST" and not lacks:
        routing.record_step_taken(rater, step)
        if step == progress.last_question(rater_progress.protocol):
            submission.submit(visit.assignment, at=timezone.now())
        return routing.redirect_to_next_page(rater)
    context = pages.together_context(
        visit, part, refused=refused, shows_shortfalls=lacks, missing_answers=missing_answers
    )
    return render(request, "annotation/together.html", context, status=400 if lacks else 200)


def comprehension_check(
    request: Request,
    rater_progress: RaterProgress,
    visit: Work,
    part: Part,
    *,
    missing_answers: Sequence[MissingAnswer],
    refused: Sequence[RefusedAnswer],
) -> HttpResponse:
    """Questions that must be answered rightly. Who cannot in two attempts goes no further; what they said is kept."""
    step, rater = part.steps[0], visit.assignment.rater
    lacks = bool(missing_answers or refused)
    last_attempt = rater_progress.attempts.get(step.key)
    attempt = last_attempt.attempt + 1 if last_attempt else 1
    if request.method == "POST" and not lacks:
        # The page says which attempt it is: a double click, or a page sent again, is not a second one. Nor is going on
        # with the answers of the first.
        if request.POST.get("attempt") == str(attempt) and (
            last_attempt is None or _has_changed(visit, step, last_attempt)
        ):
            wrong = progress.wrong_item_keys(step, visit.answers)
            routing.record_step_taken(rater, step, attempt=attempt, wrong=wrong)
            if wrong and attempt == StepTaken.ATTEMPTS:
                submission.submit(visit.assignment, at=timezone.now())
        return routing.redirect_to_next_page(rater)
    wrong = last_attempt.wrong if last_attempt else []
    context = pages.together_context(
        visit, part, refused=refused, shows_shortfalls=lacks, missing_answers=missing_answers, wrong=wrong
    )
    context |= {"attempt": attempt, "is_last": attempt == StepTaken.ATTEMPTS}
    context["to_reread"] = _briefings_to_reread(rater_progress, Page("once", (step.key,)))
    return render(request, "annotation/together.html", context, status=400 if lacks else 200)


def _has_changed(visit: Work, step: Step, attempt: StepTaken) -> bool:
    """Whether an answer of this step is younger than that attempt."""
    return visit.assignment.responses.filter(step=step, last_edited_at__gt=attempt.at).exists()


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
    context = {"study": rater.study, "rater_progress": rater_progress, "problem": problem}
    return render(request, "annotation/begin.html", context, status=409 if problem else 200)


@for_rater
@require_safe
def closed(request: Request, rater: Rater) -> HttpResponse:
    """What a rater meets when the study is over, or paused."""
    if invitations.is_open(rater.study, at=timezone.now()):
        return redirect("annotation:home")
    template = "annotation/paused.html" if rater.study.is_paused else "annotation/closed.html"
    return render(request, template, {"study": rater.study})
