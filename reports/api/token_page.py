"""The page on which staff make and revoke the tokens of their own account."""

from __future__ import annotations

from typing import cast

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config import roles
from reports.api.tokens import issue_token, revoke_token
from reports.models import ApiToken
from studies.access import may_somewhere
from studies.views.guards import require


class TokenForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("What it is for"),
        max_length=80,
        help_text=gettext_lazy("For you alone, such as “notebook on my laptop”."),
        error_messages={"required": gettext_lazy("Say what the token is for.")},
    )


@require(lambda request: may_somewhere(request.user, roles.VIEW_REPORT), methods=("GET", "HEAD", "POST"))
def tokens(request: HttpRequest) -> HttpResponse:
    """The account's own tokens: to make one, which is shown once, and to revoke them."""
    user = cast(User, request.user)
    if "revoke" in request.POST:
        return _revoke(request, user)
    form, secret, status = TokenForm(request.POST or None), "", 200
    if request.method == "POST":
        status = 200 if form.is_valid() else 400
        if form.is_valid():
            _row, secret = issue_token(user, name=form.cleaned_data["name"], at=timezone.now())
            form = TokenForm()
    rows = ApiToken.objects.filter(user=user, revoked_at=None)
    response = render(request, "reports/tokens.html", {"form": form, "secret": secret, "tokens": rows}, status=status)
    add_never_cache_headers(response)
    return response


def _revoke(request: HttpRequest, user: User) -> HttpResponse:
    value = request.POST["revoke"]
    row = ApiToken.objects.filter(user=user, pk=int(value)).first() if value.isascii() and value.isdigit() else None
    if row is None:
        raise Http404
    revoke_token(row, at=timezone.now())
    messages.success(request, _("The token is revoked: nothing can be read with it any more."))
    return redirect("api:tokens")
