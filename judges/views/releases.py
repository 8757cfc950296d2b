"""Texts that may be sent to outside providers: those that are still closed, every release so far, and the others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
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
from judges.releases import ClosedStory, ClosedText
from studies.access import Access
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

CHANGES = "studies.change_provenance"
MOST_CODES = 60  # that are written in a row


class ReleaseForm(forms.Form):
    """Which texts, under which licence, and why."""

    codes = forms.MultipleChoiceField(
        label=_("Filled texts, and texts by models"),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        error_messages={"invalid_choice": releases.NOT_WAITING},
    )
    printed = forms.MultipleChoiceField(
        label=_("Texts that were not written here, by licence"),
        widget=forms.CheckboxSelectMultiple,
        required=False,
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

    def __init__(self, *args: Any, texts: Sequence[ClosedText]) -> None:
        super().__init__(*args)
        derived = [text for text in texts if text.is_derived]
        self.codes_by_licence = _sort_by_licence(texts)
        self.fields["codes"].choices = [(text.code, _describe(text)) for text in derived]  # type: ignore[attr-defined]
        self.fields["codes"].initial = [text.code for text in derived if not text.made_from]
        licences = [(licence, _describe_licence(licence, codes)) for licence, codes in self.codes_by_licence.items()]
        self.fields["printed"].choices = [choice for choice in licences if choice[0]]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Its two lists as one: what is released is released together."""
        cleaned: dict[str, Any] = super().clean() or {}
        chosen = [code for licence in cleaned.pop("printed", []) for code in self.codes_by_licence[licence]]
        if "codes" in cleaned:
            cleaned["codes"] += chosen
            if not cleaned["codes"] and "printed" not in self.errors:
                self.add_error(self.list_name, gettext("Choose at least one text."))
        return cleaned

    @property
    def has_choices(self) -> bool:
        return bool(self.fields["codes"].choices or self.fields["printed"].choices)  # type: ignore[attr-defined]

    @property
    def list_name(self) -> str:
        """The list at which the page says what is not right: the first that it shows."""
        is_only_printed = self.fields["printed"].choices and not self.fields["codes"].choices  # type: ignore[attr-defined]
        return "printed" if is_only_printed else "codes"


def _sort_by_licence(texts: Sequence[ClosedText]) -> dict[str, list[str]]:
    """Codes of the printed texts by licence, "" for none: there may be thousands, and their licence decides."""
    printed = sorted((text.licence.strip(), text.code) for text in texts if not text.is_derived)
    return {licence: [code for _licence, code in rows] for licence, rows in groupby(printed, key=itemgetter(0))}


def _describe(text: ClosedText) -> SafeString:
    """Its code and source, and below them how it begins: who releases a text must know which one it is; and from what
    it was made that may not be sent."""
    beginning = " ".join(text.beginning.split())
    if len(text.beginning) == releases.LONGEST_BEGINNING and " " in beginning:
        beginning = beginning.rpartition(" ")[0]  # its last word was cut
    origins = format_html_join("", "<small>{}</small>", ((_describe_origin(story),) for story in text.made_from))
    return format_html("{}, {} <small>{} …</small>{}", text.code, text.source, beginning, origins)


def _describe_licence(licence: str, codes: Sequence[str]) -> SafeString:
    sentence = ngettext("%(licence)s: %(n)d text", "%(licence)s: %(n)d texts", len(codes))
    return format_html("{} <small>{}</small>", sentence % {"licence": licence, "n": len(codes)}, list_codes(codes))


def list_codes(codes: Sequence[str]) -> str:
    """The codes in a row; of very many the first ones, and how many more there are."""
    row = ", ".join(codes[:MOST_CODES])
    n = len(codes) - MOST_CODES
    return (
        row if n <= 0 else ngettext("%(codes)s and %(n)d more", "%(codes)s and %(n)d more", n) % {"codes": row, "n": n}
    )


def _describe_origin(story: ClosedStory) -> str:
    if not story.licence.strip():
        return gettext("Made from %(story)s, which may not be sent and has no licence.") % {"story": story.code}
    names = {"story": story.code, "licence": story.licence}
    return gettext("Made from %(story)s, which may not be sent. Its licence: %(licence)s.") % names


@require_in_study(CHANGES, methods=("GET", "HEAD", "POST"))
@makes_once
def index(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who may change provenance: release texts for sending, in one action with a reason."""
    texts = releases.find_releasable(access.study)
    form = ReleaseForm(request.POST if request.method == "POST" else None, texts=texts)
    if request.method == "POST" and (row := _release(request, access, form)):
        n = len(row.codes)
        sentence = ngettext("%(n)d text may be sent now.", "%(n)d texts may be sent now.", n)
        messages.success(request, sentence % {"n": n})
        return redirect("judges:releases", slug=access.study.slug)
    earlier = TextRelease.objects.filter(study=access.study).order_by("-pk")
    context = {
        "study": access.study,
        "access": access,
        "form": form,
        "has_printed": any(not text.is_derived for text in texts),
        "without_licence": list_codes(form.codes_by_licence.get("", [])),
        "has_closed_origins": any(text.made_from for text in texts),
        "releases": [(row, list_codes(row.codes)) for row in earlier],
        "brought_in": {row: list_codes(codes) for row, codes in releases.find_brought_in(access.study).items()},
    }
    return render(request, "judges/releases.html", context, status=400 if form.errors else 200)


def _release(request: HttpRequest, access: Access, form: ReleaseForm) -> TextRelease | None:
    """The release that was asked for; None if the form is not right and says so."""
    if not form.is_valid():
        return None
    try:
        return releases.release(access.study, **form.cleaned_data, by=request.user.get_username(), at=timezone.now())
    except releases.CannotRelease as error:
        form.add_error(form.list_name, str(error))
        return None
