"""Texts that may be sent to outside providers: the derived ones that are still closed, and every release so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from judges import releases
from judges.models import TextRelease
from judges.releases import ClosedStory, DerivedText
from studies.access import Access
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

CHANGES = "studies.change_provenance"


class ReleaseForm(forms.Form):
    """Which texts, under which licence, and why."""

    codes = forms.MultipleChoiceField(
        label=_("Texts"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"invalid_choice": releases.NOT_WAITING},
    )
    licence = forms.CharField(
        label=_("Licence"), max_length=200, required=False, help_text=_("Written beside each of them.")
    )
    reason = forms.CharField(
        label=_("Why they may be sent"),
        widget=forms.Textarea({"rows": 3}),
        help_text=_("Kept with your name and the day, such as: the writers agreed to it on the consent page."),
    )

    def __init__(self, *args: Any, texts: Sequence[DerivedText]) -> None:
        super().__init__(*args)
        self.fields["codes"].choices = [(text.code, _describe(text)) for text in texts]  # type: ignore[attr-defined]
        self.fields["codes"].initial = [text.code for text in texts if not text.made_from]


def _describe(text: DerivedText) -> SafeString:
    """Its code and source, and below them how it begins: who releases a text must know which one it is; and from what
    it was made that may not be sent."""
    beginning = " ".join(text.beginning.split())
    origins = format_html_join("", "<small>{}</small>", ((_describe_origin(story),) for story in text.made_from))
    return format_html("{}, {} <small>{} …</small>{}", text.code, text.source, beginning, origins)


def _describe_origin(story: ClosedStory) -> str:
    if not story.licence.strip():
        return gettext("Made from %(story)s, which may not be sent and has no licence.") % {"story": story.code}
    names = {"story": story.code, "licence": story.licence}
    return gettext("Made from %(story)s, which may not be sent. Its licence: %(licence)s.") % names


@require_in_study(CHANGES, methods=("GET", "HEAD", "POST"))
@makes_once
def index(request: HttpRequest, access: Access) -> HttpResponse:
    """For whoever may change provenance: release derived texts for sending, in one action with a reason."""
    texts = releases.find_releasable(access.study)
    form = ReleaseForm(request.POST if request.method == "POST" else None, texts=texts)
    if request.method == "POST" and (row := _release(request, access, form)):
        n = len(row.codes)
        sentence = ngettext("%(n)d text may be sent now.", "%(n)d texts may be sent now.", n)
        messages.success(request, sentence % {"n": n})
        return redirect("judges:releases", slug=access.study.slug)
    context = {
        "study": access.study,
        "access": access,
        "form": form,
        "texts": texts,
        "has_closed_origins": any(text.made_from for text in texts),
        "releases": TextRelease.objects.filter(study=access.study).order_by("-pk"),
    }
    return render(request, "judges/releases.html", context, status=400 if form.errors else 200)


def _release(request: HttpRequest, access: Access, form: ReleaseForm) -> TextRelease | None:
    """The release that was asked for; None if the form is not right and says so."""
    if not form.is_valid():
        return None
    try:
        return releases.release(access.study, **form.cleaned_data, by=request.user.get_username(), at=timezone.now())
    except releases.CannotRelease as error:
        form.add_error("codes", str(error))
        return None
