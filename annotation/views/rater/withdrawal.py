"""Withdrawing: what it does, doing it, and the receipt."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.models import Rater, Withdrawal
from annotation.participation import withdrawal
from annotation.progress import languages
from annotation.views.rater.guards import Request, for_rater, rater_page
from annotation.views.rater.routing import show_or_do

KEY = "withdrawal"


@for_rater
@show_or_do
def withdraw(request: Request, rater: Rater) -> HttpResponse:
    """What withdrawing does, before anything happens; POST does it and ends the session. Possible after closing too."""
    if request.method == "POST":
        done = withdrawal.withdraw(rater, at=timezone.now())
        request.session.flush()
        request.session[KEY] = done.pk
        return redirect("annotation:withdrawn")
    context = {"study": rater.study, "n_answers": withdrawal.n_answers(rater)}
    return render(request, "annotation/withdraw.html", context)


@rater_page
@require_safe
def withdrawn(request: Request) -> HttpResponse:
    """The receipt of a withdrawal, in the browser in which it was done."""
    done = Withdrawal.objects.filter(pk=request.session.get(KEY, 0)).select_related("rater__study").first()
    return redirect("annotation:home") if done is None else receipt(request, done)


def receipt(request: Request, done: Withdrawal, *, status: int = 200) -> HttpResponse:
    """What a rater who withdrew is told, now or when they open their link again."""
    languages.activate_language(request, done.rater.study)
    context = {"study": done.rater.study, "withdrawal": done, "n_answers": withdrawal.n_answers(done.rater)}
    return render(request, "annotation/withdrawn.html", context, status=status)
