"""Who of the staff works on a study, and as what: the list, and the forms that change it."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config import roles
from studies import access as accesses
from studies.access import Access
from studies.action_log import log_action
from studies.models import Membership
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

MAY_CHANGE = "studies.change_membership"


class MemberForm(forms.Form):
    """An account by its name, which is not offered: a lead need not learn who else has one."""

    account = forms.CharField(label=gettext_lazy("Account"), max_length=150, help_text=gettext_lazy("Its user name."))
    role = forms.ChoiceField(label=gettext_lazy("Role in this study"), choices=Membership.Role.choices)

    def __init__(self, *args: Any, access: Access, by: User) -> None:
        super().__init__(*args)
        self.access, self.by = access, by

    def clean_account(self) -> User:
        name = self.cleaned_data["account"]
        user = User.objects.filter(username=name, is_staff=True, is_active=True).first()
        if user is None:
            raise ValidationError(_("No staff account has this name. Ask an administrator to create one."))
        if user == self.by and not user.is_superuser:
            raise ValidationError(_("You cannot give yourself a role. Ask another lead."))
        return user

    def clean(self) -> None:
        if not self.errors:
            membership = Membership(
                study=self.access.study, user=self.cleaned_data["account"], role=self.cleaned_data["role"]
            )
            try:
                membership.full_clean()
            except ValidationError as error:
                raise ValidationError(error.messages) from None
            self.cleaned_data["membership"] = membership


@require_in_study("studies.view_membership", change=MAY_CHANGE, methods=("GET", "HEAD", "POST"))
@makes_once
def members(request: HttpRequest, access: Access) -> HttpResponse:
    """For members of the study: who works on it; for its leads and administrators, to change that."""
    by = cast(User, request.user)  # anonymous visitors were refused before
    form = MemberForm(None, access=access, by=by)
    status = 200
    if request.method == "POST" and request.POST.get("member"):
        _change(request, access, by)
        return redirect("studies:members", slug=access.study.slug)
    if request.method == "POST":
        form = MemberForm(request.POST, access=access, by=by)
        if form.is_valid():
            membership = form.cleaned_data["membership"]
            membership.save()
            _log(access, by, f"{membership.user.get_username()}: {membership.role}")
            messages.success(
                request, _("%(name)s now has access to this study.") % {"name": membership.user.get_username()}
            )
            return redirect("studies:members", slug=access.study.slug)
        status = 400
    rows = Membership.objects.filter(study=access.study).select_related("user").order_by("since", "pk")
    context = {
        "study": access.study,
        "access": access,
        "members": rows,
        "roles": [(value, label, roles.MEMBER_ROLES[value]) for value, label in Membership.Role.choices],
        "may_change": access.may(MAY_CHANGE),
        "form": form,
    }
    return render(request, "studies/members.html", context, status=status)


def _change(request: HttpRequest, access: Access, by: User) -> None:
    """Give the member that is named another role, or none; say what came of it."""
    key, role = request.POST["member"], request.POST.get("role", "")
    rows = Membership.objects.filter(study=access.study).select_related("user", "study")
    membership = rows.filter(pk=key).first() if key.isascii() and key.isdigit() and len(key) < 19 else None
    if membership is None:
        messages.error(request, _("This account no longer has access to the study."))
        return
    name = membership.user.get_username()
    if membership.user == by and not by.is_superuser:
        messages.error(request, _("You cannot change your own role. Ask another lead."))
        return
    role = "" if "remove" in request.POST else role
    if role:
        membership.role = role
        try:
            membership.full_clean()
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
            return
    elif "remove" not in request.POST:
        messages.error(request, _("Choose a role."))
        return
    try:
        accesses.change_role(membership, role)
    except accesses.LastLead:
        messages.error(request, _("A study needs a lead. Make someone else a lead first."))
        return
    _log(access, by, f"{name}: {role or 'removed'}")
    sentence = _("The role of %(name)s is changed.") if role else _("%(name)s no longer has access to this study.")
    messages.success(request, sentence % {"name": name})


def _log(access: Access, by: User, message: str) -> None:
    """Into the admin's log of the study, which is one for all languages."""
    log_action(access.study, message, by=by)
