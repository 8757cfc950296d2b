"""What raters are told of the study: who asks, for how long, what is paid, until when; beside the page they open."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.clickjacking import xframe_options_sameorigin

from annotation.views.designer import previews
from studies import lifecycle, protocol
from studies.access import Access
from studies.facts import LABEL_BY_KEY
from studies.models import ProtocolVersion, Study
from studies.protocol import drafts
from studies.views.edits import EditForm
from studies.views.fact_fields import make_fact_fields
from studies.views.guards import require_in_study

SEES, MAY_CHANGE = "studies.view_study", "studies.change_study"
AS_TYPED = "%Y-%m-%dT%H:%M"


class InformationForm(EditForm):
    """The fields of `drafts.TOLD`, with the facts as they are declared.

    The deadline is typed as a clock shows it in the zone that the form names.
    """

    title = forms.CharField(
        label=gettext_lazy("Title"), max_length=200, help_text=gettext_lazy("As raters read it, on every page.")
    )
    text_kind = forms.ChoiceField(
        label=gettext_lazy("What is read"),
        choices=Study.TextKind.choices,
        help_text=gettext_lazy("The word for it on the raters’ pages."),
    )
    closes_at = forms.CharField(
        label=gettext_lazy("Open until"),
        required=False,
        widget=forms.DateTimeInput({"type": "datetime-local"}),
        help_text=gettext_lazy("Empty: open until you close the study."),
    )
    zone = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields.update(make_fact_fields())
        self.order_fields(drafts.TOLD)

    def clean_zone(self) -> str:
        zone = str(self.cleaned_data["zone"] or settings.TIME_ZONE)
        if zone not in available_timezones():
            raise forms.ValidationError(_("The time zone of your browser is not known. Reload the page and try again."))
        return zone

    def clean(self) -> None:
        super().clean()
        typed = self.cleaned_data.get("closes_at", "")
        self.cleaned_data["closes_at"] = None
        if not typed or "zone" not in self.cleaned_data:
            return
        try:
            naive = datetime.strptime(typed[:16], AS_TYPED)
        except ValueError:
            self.add_error("closes_at", _("Give a day and a time, such as 2027-01-31 18:00."))
            return
        self.cleaned_data["closes_at"] = naive.replace(tzinfo=ZoneInfo(self.cleaned_data["zone"]))


@require_in_study(SEES, change=MAY_CHANGE, methods=("GET", "HEAD", "POST"))
def rater_information(request: HttpRequest, access: Access) -> HttpResponse:
    """What the study says of itself; for those who make it, to change it until the protocol is frozen."""
    study = access.study
    version = protocol.latest(study)
    is_editable = lifecycle.may_edit(study, is_frozen=version.frozen_at is not None)
    form = InformationForm(request.POST if request.method == "POST" else None, initial=_initial(study))
    form.fields["minutes"].help_text = _estimate(study, version)
    if request.method == "POST" and form.is_valid():
        try:
            drafts.change_told(study, form.cleaned_data)
        except drafts.NotChanged as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Saved. The page beside shows it."))
            # Not at the field where a link led: what was done and what is next stands at the top.
            return redirect(reverse("designer:rater_information", args=[study.slug]) + "#main")
    context = {
        "study": study,
        "access": access,
        "form": form,
        "zone": form["zone"].value() or settings.TIME_ZONE,
        "closes_at": study.closes_at,
        "is_editable": is_editable,
        "may_change": is_editable and access.may(MAY_CHANGE),
        "facts": _facts(study),
    }
    return render(request, "annotation/designer/rater_information.html", context, status=400 if form.is_bound else 200)


def _estimate(study: Study, version: ProtocolVersion) -> str:
    """How long the longest group takes, for who is to say it; "" without stories. Four queries."""
    if not (words := protocol.words_of_a_group(study)):
        return ""
    minutes = protocol.minutes_of_group(protocol.estimate_path(protocol.read_rows(version), words))
    return _("Estimated minutes: %(n)d, from what is read and asked.") % {"n": max(round(minutes), 1)}


def _initial(study: Study) -> dict[str, Any]:
    initial = {name: getattr(study, name) for name in drafts.TOLD}
    local = timezone.localtime(study.closes_at) if study.closes_at else None
    return initial | {"closes_at": local.strftime(AS_TYPED) if local else "", "zone": settings.TIME_ZONE}


def _facts(study: Study) -> list[tuple[str, str]]:
    """The same to be read."""
    rows = [
        (_("Title"), study.title),
        (_("What is read"), str(study.get_text_kind_display())),
        *((LABEL_BY_KEY[key], value) for key, value in study.value_by_fact.items()),
    ]
    return [(str(name), str(value or "–")) for name, value in rows]


@xframe_options_sameorigin
@require_in_study(SEES)
def arrival_preview(request: HttpRequest, access: Access) -> HttpResponse:
    """What the link of an invitation opens on, for the frame beside the form."""
    return previews.preview_arrival(request, protocol.load_protocol(protocol.latest(access.study)))
