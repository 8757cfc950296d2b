"""Deleting a draft: what goes with it, asked once more, and done."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.admin.models import DELETION
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from annotation.design import deletion, seats
from studies import lifecycle, protocol
from studies.access import Access
from studies.action_log import log_action
from studies.views.guards import require_in_study

MAY_DELETE = "studies.delete_study"


@require_in_study(MAY_DELETE, methods=("GET", "HEAD", "POST"))
def delete(request: HttpRequest, access: Access) -> HttpResponse:
    """For leads and designers: what goes with the draft (GET), and deleting it (POST)."""
    study = access.study
    if request.method == "POST":
        title = study.title
        try:
            with transaction.atomic():
                log_action(study, "", by=request.user, flag=DELETION)
                deletion.delete_draft(study)
        except deletion.NotDeletable as error:
            messages.error(request, str(error))
            return redirect("studies:overview", slug=study.slug)
        messages.success(request, _("“%(title)s” is deleted.") % {"title": title})
        return redirect("studies:index")
    context = {
        "study": study,
        "access": access,
        "may_delete": lifecycle.may_edit(study, is_frozen=protocol.is_frozen(study)),
        "n_stories": study.stories.count(),
        "n_steps": len(protocol.read_rows(protocol.latest(study)).steps),
        "n_places": seats.of_people(study).count(),
    }
    return render(request, "studies/delete.html", context)
