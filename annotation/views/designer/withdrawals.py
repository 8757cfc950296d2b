"""Withdrawing somebody who asked for it by mail: what goes and what is kept is said first."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Assignment, Rater
from annotation.participation import withdrawal
from annotation.views.designer import addresses, people
from annotation.views.designer.people import log
from studies.access import Access
from studies.views.guards import require_in_study


class WithdrawalForm(forms.Form):
    reason = forms.CharField(
        label=gettext_lazy("How they asked"),
        max_length=200,
        help_text=gettext_lazy("Such as “by mail on 3 May”. It stays in the log: no name and no address."),
    )


@require_in_study(people.MAY_WITHDRAW, methods=("GET", "HEAD", "POST"))
def withdraw_on_request(request: HttpRequest, access: Access, person: int) -> HttpResponse:
    """For leads and stewards, in every state of the study: what would be erased of a person; a POST erases it."""
    invitation = access.study.invitations.select_related("study", "rater").filter(pk=person).first()
    if invitation is None:
        raise Http404
    rater, status = invitation.rater, 200
    is_over = rater is not None and hasattr(rater, "withdrawal")
    form = WithdrawalForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        if rater is not None and not is_over and form.is_valid():
            return _withdraw(request, access, rater, form.cleaned_data["reason"])
        status = 400
    context = {
        "study": access.study,
        "access": access,
        "invitation": invitation,
        "rater": rater,
        "is_over": is_over,
        "n_answers": withdrawal.count_answers(rater) if rater else 0,
        "n_submitted": _count_submitted(rater) if rater else 0,
        "form": form,
        "sees_people": access.may(people.SEES),
    }
    return render(request, "annotation/designer/withdrawal.html", context, status=status)


def _withdraw(request: HttpRequest, access: Access, rater: Rater, reason: str) -> HttpResponse:
    withdrawal.withdraw(rater, at=timezone.now())
    log(request, rater, f"withdrawn at their request: {reason}")
    messages.success(request, _("%(code)s is withdrawn, and their answers are erased.") % {"code": rater.code})
    for page, permission in (("people", people.SEES), ("addresses", addresses.SEES)):
        if access.may(permission):
            return redirect(f"designer:{page}", slug=access.study.slug)
    return redirect("studies:overview", slug=access.study.slug)


def _count_submitted(rater: Rater) -> int:
    return rater.assignments.filter(status=Assignment.Status.SUBMITTED).exclude(seat=None).count()
