"""Recipients of a study's mails: names and addresses beside labels, for its stewards only."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.participation import people
from annotation.views.designer.people import PAGE_SIZE, log
from studies.access import Access
from studies.views.guards import require_in_study

SEES = "annotation.view_identity"
MAY_CHANGE = "annotation.change_identity"


class AddressForm(forms.Form):
    """Who a person is."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=200, required=False)
    email = forms.EmailField(label=gettext_lazy("E-mail address"), required=False)


@require_in_study(SEES, query=("page",))
def addresses(request: HttpRequest, access: Access) -> HttpResponse:
    """For stewards: who is invited, with name and address."""
    rows = access.study.invitations.filter(revoked_at=None).select_related("rater", "identity").order_by("pk")
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "study": access.study,
        "access": access,
        "page": page,
        "n_lacking": rows.filter(identity=None).count() + rows.filter(identity__email="").count(),
        "may_change": access.may(MAY_CHANGE),
    }
    return render(request, "annotation/designer/addresses.html", context)


@require_in_study(MAY_CHANGE, methods=("GET", "HEAD", "POST"))
def address(request: HttpRequest, access: Access, person: int) -> HttpResponse:
    """For stewards: the name and address of one person, to fill in or mend."""
    rows = access.study.invitations.filter(revoked_at=None).select_related("study", "rater", "identity")
    invitation = rows.filter(pk=person).first()
    if invitation is None:
        raise Http404
    identity, status = invitation.identity, 200
    form = AddressForm(initial={"name": identity.name, "email": identity.email} if identity else {})
    if request.method == "POST":
        form = AddressForm(request.POST)
        if form.is_valid():
            try:
                people.change_address(invitation, **form.cleaned_data)
            except people.AddressTaken as error:
                form.add_error("email", str(error))
            else:
                log(request, invitation, "address changed")
                messages.success(request, _("The address is saved."))
                return redirect("designer:addresses", slug=access.study.slug)
        status = 400
    context = {"study": access.study, "access": access, "invitation": invitation, "form": form}
    return render(request, "annotation/designer/address.html", context, status=status)
