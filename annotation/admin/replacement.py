"""New links for raters who have lost theirs, from the lists of links and of raters: asked first, then shown once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.admin import ModelAdmin
from django.db import transaction
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Invitation
from annotation.participation import invitations


def may_replace(request: HttpRequest) -> bool:
    """Whether this account may make new links for raters who have used one."""
    return bool(request.user.has_perm("annotation.change_invitation"))


def replace_links(model_admin: ModelAdmin[Any], request: HttpRequest, chosen: Sequence[Invitation]) -> TemplateResponse:
    """Ask first, with whatever is in the way; then make the new links and show them, this once."""
    now = timezone.now()
    rows = [(invitation, invitations.find_obstacle(invitation, at=now)) for invitation in chosen]
    ready = [invitation for invitation, obstacle in rows if not obstacle]
    context = {**model_admin.admin_site.each_context(request), "opts": model_admin.opts}
    if ready and "confirmed" in request.POST:
        with transaction.atomic():
            links = [(invitation, _replace(model_admin, request, invitation)) for invitation in ready]
        context |= {"title": _("The links"), "issued": links}
        return TemplateResponse(request, "admin/annotation/invitation/issued.html", context)
    context |= {
        "title": _("New link for the same rater"),
        "ready": ready,
        "hindered": [(invitation, obstacle) for invitation, obstacle in rows if obstacle],
        "selected": request.POST.getlist("_selected_action"),
    }
    return TemplateResponse(request, "admin/annotation/invitation/replace.html", context)


def _replace(model_admin: ModelAdmin[Any], request: HttpRequest, invitation: Invitation) -> str:
    """The address of the new link."""
    token = invitations.replace_link(invitation, at=timezone.now())
    model_admin.log_change(request, invitation, "replaced by a new link")
    return request.build_absolute_uri(reverse("annotation:invitation", args=[token]))
