"""What people meet who find no place: why, and the list of those who are written to when one is free."""

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation import progress
from annotation.models import Rater
from annotation.participation import claims, eligibility, mails, waiting_list
from annotation.progress import Page, RaterProgress
from annotation.views.rater import prolific, routing
from annotation.views.rater.guards import Request, for_rater
from annotation.views.rater.routing import allow_get_and_post, requires_open_study


class WaitingAddressForm(forms.Form):
    email = forms.EmailField(
        label=gettext_lazy("Your e-mail address"),
        max_length=254,
        widget=forms.EmailInput({"autocomplete": "email"}),
        error_messages={
            "required": gettext_lazy("Please enter an e-mail address."),
            "invalid": gettext_lazy("Please enter a complete e-mail address, such as name@example.org."),
        },
    )


@for_rater
@requires_open_study
@allow_get_and_post
def full(request: Request, rater: Rater, rater_progress: RaterProgress) -> HttpResponse:
    """For people for whom no place is free: the waiting list, which POST joins or leaves; for those from Prolific, the
    way back there."""
    next_page = progress.next_page(rater_progress)
    if next_page != Page("full"):
        return routing.redirect_to_page(next_page)
    may_come = waiting_list.may_come(rater)
    may_join = may_come and mails.sends_mail() and not prolific.is_from_there(request)
    has_address = may_join and waiting_list.find_address(rater) is not None
    form, status = WaitingAddressForm(), 200
    if request.method == "POST" and may_join:
        if request.POST.get("act") == "leave":
            waiting_list.leave(rater)
            return redirect("annotation:full")
        form = WaitingAddressForm(request.POST)
        if has_address or form.is_valid():
            email = "" if has_address else form.cleaned_data["email"]
            site = f"{request.scheme}://{request.get_host()}"
            waiting_list.join(rater, email=email, site=site, at=timezone.now())
            return redirect("annotation:full")
        status = 400
    person = waiting_list.find_waiting(rater) if may_join else None
    context = {
        "study": rater.study,
        "reason": "" if may_come else _(claims.why_no_seat(rater)),
        "took_part_before": eligibility.took_part_before(rater),
        "may_join": may_join,
        "has_address": has_address,
        "is_waiting": person is not None,
        "n_before": waiting_list.count_before(person, at=timezone.now()) if person else 0,
        "hours": int(waiting_list.OFFERED.total_seconds()) // 3600,
        "form": form,
    }
    return render(request, "annotation/full.html", context, status=status)
