"""How people come from Prolific: the address to paste there, the codes that go back, and how many came to what."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.models import ProlificRecruitment
from annotation.participation import overdue, recruitment
from annotation.views.designer.people import log, site_of
from studies.access import Access
from studies.views.edits import EditForm
from studies.views.guards import require_in_study

SEES = "annotation.view_invitation"
MAY_CHANGE = "annotation.change_invitation"
CODE = re.compile(r"[0-9A-Za-z_-]{4,40}")
CODES = ("completed_code", "ended_code", "full_code")
FIELDS = ("is_open", *CODES, "minutes", "most_people", "prolific_study")


class ProlificForm(EditForm):
    """What the study and Prolific know of each other."""

    is_open = forms.BooleanField(
        label=gettext_lazy("People may come from Prolific"),
        required=False,
        help_text=gettext_lazy("As soon as the study is live and all three codes are filled in."),
    )
    completed_code = forms.CharField(
        label=gettext_lazy("Code: completed"),
        required=False,
        help_text=gettext_lazy("For people who have submitted everything."),
    )
    ended_code = forms.CharField(
        label=gettext_lazy("Code: no consent, or screened out"),
        required=False,
        help_text=gettext_lazy("For people who do not agree, fail the check, or took part in an excluded study."),
    )
    full_code = forms.CharField(
        label=gettext_lazy("Code: no place, or no time"),
        required=False,
        help_text=gettext_lazy("For people who find every place taken, or stop after the time is over."),
    )
    minutes = forms.IntegerField(
        label=gettext_lazy("Maximum minutes"),
        min_value=1,
        max_value=1440,
        required=False,
        help_text=gettext_lazy("As Prolific says it of your study. Raters are warned in time. Empty: no warning."),
    )
    most_people = forms.IntegerField(
        label=gettext_lazy("People from Prolific at most"),
        min_value=1,
        max_value=10_000,
        required=False,
        help_text=gettext_lazy("The other places stay for those you invite. Empty: as many as there are places."),
    )
    prolific_study = forms.RegexField(
        label=gettext_lazy("Study ID at Prolific"),
        regex=recruitment.OTHER_ID,
        required=False,
        help_text=gettext_lazy("If filled in, people who arrive from any other Prolific study are refused."),
    )

    def clean(self) -> None:
        super().clean()
        codes = [self.cleaned_data.get(name, "") for name in CODES]
        for name, code in zip(CODES, codes, strict=True):
            if code and not CODE.fullmatch(code):
                self.add_error(name, ValidationError(_("A code is 4 to 40 letters and digits, as Prolific shows it.")))
            elif code and codes.count(code) > 1:
                self.add_error(name, ValidationError(_("Each of the three needs a code of its own.")))


@require_in_study(SEES, change=MAY_CHANGE, methods=("GET", "HEAD", "POST"))
def prolific_page(request: HttpRequest, access: Access) -> HttpResponse:
    """For those who run the study: its recruitment by Prolific; for those who may, to change it."""
    study, now = access.study, timezone.now()
    row = ProlificRecruitment.objects.filter(study=study).select_related("study").first()
    if request.method == "POST" and request.POST.get("act") == "take_back" and row:
        n_ended = overdue.take_back_arrivals(study, at=now)
        sentence = ngettext("%(n)d place is released.", "%(n)d places are released.", n_ended) % {"n": n_ended}
        log(request, study, "places taken back from Prolific")
        messages.success(request, sentence)
        return redirect("designer:prolific", slug=study.slug)
    initial: dict[str, Any] = {name: getattr(row or ProlificRecruitment(study=study), name) for name in FIELDS}
    form, status = ProlificForm(initial=initial), 200
    if request.method == "POST":
        form = ProlificForm(request.POST, initial=initial)
        if form.is_valid():
            values = {name: form.cleaned_data[name] for name in FIELDS}
            ProlificRecruitment.objects.update_or_create(study=study, defaults=values)
            log(request, study, "Prolific changed")
            messages.success(request, _("Saved."))
            return redirect("designer:prolific", slug=study.slug)
        status = 400
    context = {
        "study": study,
        "access": access,
        "form": form,
        "row": row,
        "address": _write_address(request, row) if row else "",
        "return_url": recruitment.RETURN_URL,
        "endings": recruitment.count_endings(study) if row else [],
        "n_overdue": overdue.count_arrivals(study, at=now) if row else 0,
        "may_change": access.may(MAY_CHANGE),
    }
    return render(request, "annotation/designer/prolific.html", context, status=status)


def _write_address(request: HttpRequest, row: ProlificRecruitment) -> str:
    return recruitment.write_address(site_of(request), reverse("annotation:prolific", args=[row.key]))
