"""Links: issued and shown once, revoked, never stored."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext

from annotation.admin import replacement
from annotation.admin.work import ReadOnlyAdmin
from annotation.models import Invitation
from annotation.participation import invitations
from studies import lifecycle
from studies.models import StoryGroup, Study
from studies.study_labels import StudyChoice


class IssueForm(forms.Form):
    """Form: how many links, and for which groups."""

    study = StudyChoice(Study.objects.filter(state__in=lifecycle.INVITING), label=gettext_lazy("Study"))
    n = forms.IntegerField(label=gettext_lazy("How many"), min_value=1, max_value=200, initial=1)
    label = forms.CharField(
        label=gettext_lazy("Label"),
        max_length=110,
        required=False,
        help_text=gettext_lazy("To distinguish the links in lists. Never a name; links are numbered."),
    )
    groups = forms.CharField(
        label=gettext_lazy("Groups"),
        required=False,
        help_text=gettext_lazy("Codes of groups, with commas between, if the holders are to get these and no others."),
    )
    expires_at = forms.DateTimeField(
        label=gettext_lazy("Valid until"),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
        help_text=gettext_lazy("UTC. Empty: as long as the study is open."),
    )

    def clean_expires_at(self) -> Any:
        until = self.cleaned_data["expires_at"]
        if until and until <= timezone.now():
            raise ValidationError(_("This has passed; give a later time, or none."))
        return until

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if study := cleaned.get("study"):
            codes = [code for code in (part.strip() for part in cleaned.get("groups", "").split(",")) if code]
            group_by_code = {group.code: group for group in study.groups.all()}
            if unknown := [code for code in codes if code not in group_by_code]:
                message = _("%(study)s has no group %(unknown)s; it has %(there)s.")
                values = {"study": study, "unknown": ", ".join(unknown), "there": ", ".join(group_by_code)}
                self.add_error("groups", message % values)
            cleaned["groups"] = [group_by_code[code] for code in codes if code in group_by_code]
        return cleaned


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "study", "status", "rater", "for_groups", "issued_at", "expires_at")
    list_select_related = ("study", "rater")
    list_filter = ("study",)
    search_fields = ("label", "rater__code")
    fields = ("study", "label", "status", "rater", "for_groups", "issued_at", "expires_at", "revoked_at")
    actions = ("replace_link", "revoke")
    change_list_template = "admin/annotation/invitation/change_list.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Invitation]:
        return super().get_queryset(request).prefetch_related("groups").order_by("-pk")

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("annotation.change_invitation"))

    def has_replace_link_permission(self, request: HttpRequest) -> bool:
        return replacement.may_replace(request)

    @admin.action(description=gettext_lazy("New link for the same rater"), permissions=["replace_link"])
    def replace_link(self, request: HttpRequest, queryset: QuerySet[Invitation]) -> HttpResponse:
        return replacement.replace_links(self, request, list(queryset.select_related("study", "rater")))

    @admin.display(description=gettext_lazy("status"))
    def status(self, invitation: Invitation) -> str:
        if invitation.revoked_at:
            return _("revoked")
        if invitation.expires_at and invitation.expires_at <= timezone.now():
            return _("expired")
        return _("opened") if invitation.rater_id else _("not opened yet")

    @admin.display(description=gettext_lazy("groups"))
    def for_groups(self, invitation: Invitation) -> str:
        return ", ".join(group.code for group in invitation.groups.all()) or pgettext("groups", "any")

    @admin.action(description=gettext_lazy("Revoke: the link stops working"), permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Invitation]) -> None:
        valid = list(queryset.filter(revoked_at=None))
        for invitation in valid:
            invitations.revoke(invitation, at=timezone.now())
            self.log_change(request, invitation, "revoked")
        message = ngettext(
            "%(n)d revoked. The link no longer works.",
            "%(n)d revoked. The links no longer work.",
            len(valid),
        )
        self.message_user(request, message % {"n": len(valid)}, messages.SUCCESS)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.issue_view)
        return [path("issue/", view, name="annotation_invitation_issue"), *super().get_urls()]

    def issue_view(self, request: HttpRequest) -> HttpResponse:
        """Ask how many links for which groups (GET), issue them and show them once (POST)."""
        if not request.user.has_perm("annotation.add_invitation"):
            raise PermissionDenied
        form = IssueForm(request.POST or None, initial={"study": request.GET.get("study")})
        context = {**self.admin_site.each_context(request), "opts": Invitation._meta, "title": _("Issue links")}
        if request.method == "POST" and form.is_valid():
            links = self._issue(request, form.cleaned_data)
            issued = [(invitation, request.build_absolute_uri(url)) for invitation, url in links]
            context |= {"title": _("The links"), "issued": issued, "study": form.cleaned_data["study"]}
            self._warn(request, form.cleaned_data["study"], form.cleaned_data["groups"])
            return TemplateResponse(request, "admin/annotation/invitation/issued.html", context)
        return TemplateResponse(request, "admin/annotation/invitation/issue.html", context | {"form": form})

    def _warn(self, request: HttpRequest, study: Study, groups: list[StoryGroup]) -> None:
        """Warn if more people may come than there are seats. Not all who are invited come, so nothing is refused."""
        now = timezone.now()
        demand = invitations.count_demand(study, at=now)
        if demand.is_too_much:
            message = _(
                "More links are out than places are open: %(links)d issued and not used yet, %(seats)d open. "
                "If all of them are used, late arrivals find no place."
            )
            self.message_user(request, message % {"links": demand.n_unused, "seats": demand.n_open}, messages.WARNING)
        elif groups and (of_groups := invitations.count_demand(study, at=now, groups=groups)).is_too_much:
            message = _(
                "More links are out for these groups alone than they have places open: %(links)d issued and "
                "not used yet, %(seats)d open. If all of them are used, late arrivals find no place."
            )
            self.message_user(
                request, message % {"links": of_groups.n_unused, "seats": of_groups.n_open}, messages.WARNING
            )

    @transaction.atomic
    def _issue(self, request: HttpRequest, cleaned: dict[str, Any]) -> list[tuple[Invitation, str]]:
        issued = []
        for number in range(1, cleaned["n"] + 1):
            label = f"{cleaned['label']} {number}" if cleaned["label"] and cleaned["n"] > 1 else cleaned["label"]
            invitation, token = invitations.issue(
                cleaned["study"], label=label, groups=cleaned["groups"], expires_at=cleaned["expires_at"]
            )
            self.log_addition(request, invitation, "issued")
            issued.append((invitation, reverse("annotation:invitation", args=[token])))
        return issued
