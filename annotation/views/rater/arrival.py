"""Arriving: the link, consent, what is to be read and answered first, and the next group."""

from collections.abc import Sequence

from django.conf import settings
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation import progress
from annotation.models import Rater, StepTaken, Withdrawal
from annotation.participation import claims, consents, invitations
from annotation.progress import Page, Part, Way, languages, work
from annotation.progress.outlines import load_outline
from annotation.progress.work import Work
from annotation.responses import submission
from annotation.templatetags import reading as likes
from annotation.views.rater import guards, practice, routing, withdrawal
from annotation.views.rater.guards import Request, for_rater, rater_page
from annotation.views.rater.presenters import pages, questions
from annotation.views.rater.presenters.questions import Lack
from annotation.views.rater.routing import show_or_do, while_open
from studies import lifecycle, protocol
from studies.models import Step
from studies.typography.paragraphs import paragraphs

A_YEAR = 365 * 24 * 60 * 60


@rater_page
@require_safe
def home(request: Request) -> HttpResponse:
    """A rater's way back to where they belong; for everybody else, what this is."""
    if guards.rater_of(request):
        return go_home(request)
    return render(request, "annotation/home.html")


@for_rater
@while_open
def go_home(request: Request, rater: Rater, far: Way) -> HttpResponse:
    return routing.go(progress.next_page(far))


@rater_page
@show_or_do
def invitation(request: Request, token: str) -> HttpResponse:
    """What the link is about. Looking starts nothing, since mail scanners look; only Continue begins a session."""
    found = invitations.opened(token, at=timezone.now())
    if found is None:
        return _after_closing(request, token)
    languages.speak(request, found.study)
    if done := Withdrawal.objects.filter(rater=found.rater_id).select_related("rater__study").first():
        return withdrawal.receipt(request, done, status=410)
    if request.method == "POST":
        guards.start(request, invitations.rater_of(found))
        return redirect("annotation:home")
    until = invitations.ends_at(found.study, found)
    asked = load_outline(protocol.current(found.study))
    context = {"study": found.study, "until": until, "fills_cloze": asked.fills_cloze}
    return render(request, "annotation/invitation.html", context)


def _after_closing(request: Request, token: str) -> HttpResponse:
    """Of a closed study the link opens onto withdrawing alone, for whoever took part; else it opens nothing."""
    late = invitations.after_closing(token)
    if late is None or late.rater is None:
        return render(request, "annotation/invalid_link.html", status=404)
    languages.speak(request, late.study)
    if done := Withdrawal.objects.filter(rater=late.rater).select_related("rater__study").first():
        return withdrawal.receipt(request, done, status=410)
    if request.method == "POST":
        guards.start(request, late.rater)
        return redirect("annotation:withdraw")
    return render(request, "annotation/closed.html", {"study": late.study, "has_link": True})


@rater_page
@require_safe
def again(request: Request) -> HttpResponse:
    """What to do when a session has ended."""
    return render(request, "annotation/again.html")


@rater_page
@require_POST
def reading(request: Request) -> HttpResponse:
    """Keep the reading settings in a cookie, for browsers without JavaScript, and the language in Django's own."""
    back = request.POST.get("back", "")
    # Never redirect(back): that would first look for a view of this name.
    is_ours = back.startswith("/") and url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    response = HttpResponseRedirect(back if is_ours else reverse("annotation:home"))
    chosen = likes.parsed(".".join(request.POST.get(name, "") for name in likes.CHOICES))
    response.set_cookie(likes.COOKIE, ".".join(chosen.values()), max_age=A_YEAR, samesite="Lax")
    language = request.POST.get("language", "")
    if language in dict(settings.LANGUAGES):
        response.set_cookie(settings.LANGUAGE_COOKIE_NAME, language, max_age=A_YEAR, samesite="Lax")
    else:
        response.delete_cookie(settings.LANGUAGE_COOKIE_NAME)
    return response


@for_rater
@while_open
@show_or_do
def consent(request: Request, rater: Rater, far: Way) -> HttpResponse:
    """The text to agree to, with a box that nobody has ticked."""
    step = far.protocol.consent
    if step is None or far.has_consented:
        return routing.go(progress.next_page(far))
    problem = ""
    if request.method == "POST":
        if request.POST.get("agrees") == "yes":
            consents.agree(rater, step)
            return routing.go_on(rater)
        problem = _("Please tick the box if you agree. Without your consent the study cannot begin.")
    context = {"study": rater.study, "step": step, "paragraphs": paragraphs(step.text), "problem": problem}
    context["protocol"] = far.protocol
    return render(request, "annotation/consent.html", context, status=400 if problem else 200)


@for_rater
@while_open
@require_safe
def consent_copy(request: Request, rater: Rater, far: Way) -> HttpResponse:
    """The consent text alone, to print and keep: its version, and when the rater agreed if they have."""
    step = far.protocol.consent
    if step is None:
        raise Http404
    context = {"study": rater.study, "step": step, "paragraphs": paragraphs(step.text)}
    context |= {
        "sha256": consents.text_sha256(step),
        "given": consents.find_consent(rater, step),
        "protocol": far.protocol,
    }
    return render(request, "annotation/consent_copy.html", context)


@for_rater
@while_open
@show_or_do
def briefing(request: Request, rater: Rater, far: Way, step: str) -> HttpResponse:
    """A text to read before the first group, and again while something is asked about it."""
    where = progress.next_page(far)
    text = far.protocol.step(step)
    if text is None or (where != Page("briefing", (step,)) and text not in _to_reread(far, where)):
        return routing.go(where)
    if request.method == "POST":
        routing.pass_step(rater, text)
        return routing.go_on(rater)
    context = {"study": rater.study, "step": text, "paragraphs": paragraphs(text.text)}
    return render(request, "annotation/briefing.html", context)


def _to_reread(far: Way, where: Page) -> list[Step]:
    """The texts that the rater may read again: those before the check at which they are."""
    check = far.protocol.step(where.args[0]) if where.name == "once" else None
    if check is None or not progress.is_check(far.protocol, check):
        return []
    before = progress.around(far.protocol)[0]
    return [s for s in before if s.kind == Step.Kind.BRIEFING and s.position < check.position]


@for_rater
@while_open
@show_or_do
def once(request: Request, rater: Rater, far: Way, step: str) -> HttpResponse:
    """What is asked once of a rater, before the first group or after the last; kept in their visit."""
    where = progress.next_page(far)
    asked = far.protocol.step(step)
    if asked is None or (where != Page("once", (step,)) and not progress.may_end_with(far, asked)):
        return routing.go(where)
    visit = work.find(claims.visit(rater).code, rater=rater.pk, at=timezone.now())
    part = visit.part(step) if visit else None
    if visit is None or part is None:
        raise Http404
    lacking = [questions.lack(visit, *each) for each in visit.missing([part])] if request.method == "POST" else []
    if asked.kind == Step.Kind.PRACTICE:
        return practice.practise(request, far, visit, part, lacking)
    if progress.is_check(far.protocol, asked):
        return check(request, far, visit, part, lacking)
    if request.method == "POST" and not lacking:
        routing.pass_step(rater, asked)
        if asked == progress.last_question(far.protocol):
            submission.submit(visit.assignment, at=timezone.now())
        return routing.go_on(rater)
    context = pages.together(visit, part, is_checked=bool(lacking), lacking=lacking) | {"is_once": True}
    return render(request, "annotation/together.html", context, status=400 if lacking else 200)


def check(request: Request, far: Way, visit: Work, part: Part, lacking: Sequence[Lack]) -> HttpResponse:
    """Questions that must be answered rightly. Who cannot in two attempts goes no further; what they said is kept."""
    step, rater = part.steps[0], visit.assignment.rater
    before = far.attempts.get(step.key)
    attempt = before.attempt + 1 if before else 1
    if request.method == "POST" and not lacking:
        # The page says which attempt it is: a double click, or a page sent again, is not a second one. Nor is going on
        # with the answers of the first.
        if request.POST.get("attempt") == str(attempt) and (before is None or _has_changed(visit, step, before)):
            wrong = progress.wrong(step, visit.answers)
            routing.pass_step(rater, step, attempt=attempt, wrong=wrong)
            if wrong and attempt == StepTaken.ATTEMPTS:
                submission.submit(visit.assignment, at=timezone.now())
        return routing.go_on(rater)
    wrong = before.wrong if before else []
    context = pages.together(visit, part, is_checked=bool(lacking), lacking=lacking, wrong=wrong)
    context |= {"is_once": True, "attempt": attempt, "is_last": attempt == StepTaken.ATTEMPTS}
    context["to_reread"] = _to_reread(far, Page("once", (step.key,)))
    return render(request, "annotation/together.html", context, status=400 if lacking else 200)


def _has_changed(visit: Work, step: Step, before: StepTaken) -> bool:
    """Whether an answer of this step is younger than that attempt."""
    return visit.assignment.responses.filter(step=step, last_edited_at__gt=before.at).exists()


@for_rater
@while_open
@show_or_do
def begin(request: Request, rater: Rater, far: Way) -> HttpResponse:
    """The offer of a group. Asking for it claims a seat; looking does not."""
    where = progress.next_page(far)
    if where != Page("begin"):
        return routing.go(where)
    problem = ""
    if request.method == "POST":
        try:
            claims.claim(rater)
            return routing.go_on(rater)
        except claims.NoSeat as reason:
            problem = _(str(reason))
    context = {"study": rater.study, "way": far, "problem": problem}
    return render(request, "annotation/begin.html", context, status=409 if problem else 200)


@for_rater
@require_safe
def closed(request: Request, rater: Rater) -> HttpResponse:
    """What a rater meets when the study is over, or paused."""
    if invitations.is_open(rater.study, at=timezone.now()):
        return redirect("annotation:home")
    template = "annotation/paused.html" if lifecycle.is_paused(rater.study) else "annotation/closed.html"
    return render(request, template, {"study": rater.study})
