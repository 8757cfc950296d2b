"""Withdrawing: what it does, doing it, and the receipt."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.models import Rater, Withdrawal
from annotation.participation import withdrawal
from annotation.progress import languages
from annotation.views.rater import guards
from annotation.views.rater.guards import Request, for_rater, rater_page
from annotation.views.rater.routing import allow_get_and_post


@for_rater
@allow_get_and_post
def withdraw(request: Request, rater: Rater) -> HttpResponse:
    """What withdrawing does, before anything happens; POST does it and ends the session. Possible after closing too."""
    if request.method == "POST":
        record = withdrawal.withdraw(rater, at=timezone.now())
        request.session.flush()
        request.session[guards.WITHDRAWAL] = record.pk
        return redirect("annotation:withdrawn")
    context = {"study": rater.study, "n_answers": withdrawal.count_answers(rater)}
    return render(request, "annotation/withdraw.html", context)


@rater_page
@require_safe
def withdrawn(request: Request) -> HttpResponse:
    """The receipt of a withdrawal, in the browser in which it was done or in which the rater was at work."""
    record = guards.find_withdrawal(request)
    return redirect("annotation:home") if record is None else receipt(request, record)


def receipt(request: Request, record: Withdrawal, *, status: int = 200) -> HttpResponse:
    """What a rater who withdrew is told, now or when they open their link again."""
    languages.activate_language(request, record.rater.study)
    context = {"study": record.rater.study, "withdrawal": record, "n_answers": withdrawal.count_answers(record.rater)}
    return render(request, "annotation/withdrawn.html", context, status=status)
