"""Changes: what was amended since the launch, in words and with its reason; and amending it further."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.design import actions, amendments
from annotation.design.amendments import AmendmentPreview, Wish
from annotation.models import Assignment, Rater
from annotation.views.designer.amendment_forms import AmendmentForm
from studies import protocol
from studies.access import Access
from studies.models import Amendment, ProtocolVersion, Study
from studies.protocol.amendments import AmendedPlace, list_stored_places, read_state
from studies.protocol.steps import Protocol
from studies.typography.differences import Passage, find_differences, shorten
from studies.views.guards import require_in_study

SEES, MAY_CHANGE = "studies.view_study", "studies.change_study"


@dataclass(frozen=True)
class ShownPlace:
    """A place with the difference in words."""

    place: AmendedPlace
    passages: list[Passage]


@dataclass(frozen=True)
class ShownAmendment:
    """n_raters : people whose work is under the version that it made"""

    amendment: Amendment
    places: list[ShownPlace]
    n_raters: int


@require_in_study(SEES, change=MAY_CHANGE, methods=("GET", "HEAD", "POST"))
def changes(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who see the study: its versions since the launch. For those who make it: the form of an amendment,
    which shows the difference before anything is written."""
    study = access.study
    current_protocol = protocol.read_rows(protocol.latest(study))
    is_amendable = amendments.may_amend(study)
    form, preview = None, None
    if access.may(MAY_CHANGE) and is_amendable:
        state = read_state(study, current_protocol)
        posted = request.POST if request.method == "POST" else None
        form = AmendmentForm(posted, state=state, steps=current_protocol.steps)
        if posted is not None and form.is_valid():
            wish = form.wish()
            if posted.get("action") == "amend" and _amend(request, study, form, wish):
                return redirect("designer:changes", slug=study.slug)
            preview = _preview(study, form, wish)
    elif request.method == "POST":
        return _refuse(request, study)
    context = {
        "study": study,
        "access": access,
        "form": form,
        "zone": form["zone"].value() or settings.TIME_ZONE if form else "",
        "preview": preview,
        "shown": [_show(place) for place in preview.places] if preview else [],
        "warnings": [f for f in preview.findings if f.level == "warning"] if preview else [],
        "is_amendable": is_amendable,
        "version": current_protocol.version,
        "next_number": current_protocol.version.number + 1,
        "people": amendments.count_people(study) if form else None,
        **_history(study, current_protocol),
    }
    status = 400 if form and form.errors else 200
    return render(request, "annotation/designer/changes.html", context, status=status)


def _amend(request: HttpRequest, study: Study, form: AmendmentForm, wish: Wish) -> bool:
    """Whether the study says it now; otherwise the form says why not."""
    by = cast(User, request.user)
    try:
        amendment = amendments.amend(study, wish, by=by.get_username(), at=timezone.now(), as_read=form.state.sha256)
    except amendments.NothingAmended:
        messages.info(request, _("This is the same as now, so nothing was changed."))
        return True
    except amendments.NotAmended as error:
        form.add_findings(error.findings)
        return False
    places = ", ".join(row["place"] for row in amendment.changes)
    actions.log_change(study, f"amended ({places}): {amendment.reason}", by=by)
    messages.success(request, _("Changed. It applies from now on and is listed below with its reason."))
    return True


def _preview(study: Study, form: AmendmentForm, wish: Wish) -> AmendmentPreview:
    preview = amendments.preview(study, wish, at=timezone.now())
    if not form.errors:
        form.add_findings(preview.obstacles)
    return preview


def _refuse(request: HttpRequest, study: Study) -> HttpResponse:
    """Where there is no form to say it in: the study is a draft, or closed."""
    messages.error(request, _("Nothing was changed: the study is not launched yet, or closed."))
    return redirect("designer:changes", slug=study.slug)


def _show(place: AmendedPlace) -> ShownPlace:
    return ShownPlace(place, shorten(find_differences(place.before, place.after)))


def _history(study: Study, current_protocol: Protocol) -> dict[str, object]:
    """The amendments, latest first, and the version with which it began. Four queries."""
    of_people = Assignment.objects.filter(study=study, rater_kind=Rater.Kind.PERSON, rater__withdrawal=None)
    counts = of_people.order_by().values_list("version").annotate(n=Count("rater", distinct=True))
    n_by_version = dict(counts)
    step_by_key = {step.key: step for step in current_protocol.steps}
    rows = study.amendments.select_related("version").defer("version__document").order_by("-number")
    first = ProtocolVersion.objects.filter(study=study).defer("document").order_by("number").first()
    return {
        "amendments": [
            ShownAmendment(
                row,
                [_show(place) for place in list_stored_places(row, step_by_key)],
                n_by_version.get(row.version_id or 0, 0),
            )
            for row in rows
        ],
        "first": first,
        "n_first": n_by_version.get(first.pk, 0) if first else 0,
    }
