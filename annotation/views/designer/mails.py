"""What the mails of a study say: subject and text with chips, and beside them the letter as it will be."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Invitation, MailKind
from annotation.participation import mails
from annotation.participation.mails import MailText
from studies.access import Access
from studies.views.edits import EditForm
from studies.views.guards import require_in_study

SEES = "annotation.view_invitation"
MAY_CHANGE = "annotation.change_invitation"


class LetterForm(EditForm):
    """Subject and text of a mail, with words in braces that are filled in for each person."""

    subject = forms.CharField(label=gettext_lazy("Subject"), max_length=200)
    text = forms.CharField(label=gettext_lazy("Text"), max_length=10_000, widget=forms.Textarea({"rows": 14}))

    def clean_subject(self) -> str:
        subject: str = self.cleaned_data["subject"]
        if "{link}" in subject:
            raise ValidationError(
                _("Put the link into the text, not the subject: a subject can be read in a list of mails.")
            )
        return _check_chips(subject)

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"].replace("\r\n", "\n")
        if "{link}" not in text:
            raise ValidationError(_("The text has no {link}, so nobody could start from this mail. Add it."))
        return _check_chips(text)


def _check_chips(words: str) -> str:
    if unknown := mails.find_unknown_chips(words):
        names = ", ".join(f"{{{name}}}" for name in unknown)
        raise ValidationError(_("%(names)s cannot be filled in. Use one of the words below.") % {"names": names})
    return words


@require_in_study(SEES, change=MAY_CHANGE, methods=("GET", "HEAD", "POST"), query=("kind",))
def letters(request: HttpRequest, access: Access) -> HttpResponse:
    """For those who run the study: what its invitations and reminders say; for those who may, to change that."""
    kind = request.GET.get("kind", MailKind.INVITATION)
    kind = kind if kind in MailKind.values else MailKind.INVITATION
    letter, status = mails.load_letter(access.study, kind), 200
    initial: dict[str, Any] = {"subject": letter.subject, "text": letter.text}
    form = LetterForm(initial=initial)
    if request.method == "POST":
        form = LetterForm(request.POST, initial=initial)
        if form.is_valid():
            letter = MailText(form.cleaned_data["subject"], form.cleaned_data["text"])
        status = 200 if form.is_valid() else 400
        if form.is_valid() and "preview" not in request.POST:
            mails.save_letter(access.study, kind, letter)
            messages.success(request, _("The wording is saved."))
            return redirect(f"{request.path}?kind={kind}")
    context = {
        "study": access.study,
        "access": access,
        "form": form,
        "kind": kind,
        "kinds": MailKind.choices,
        "chips": mails.CHIPS,
        "preview": _preview(access, letter),
        "may_change": access.may(MAY_CHANGE),
        "sends_mail": mails.sends_mail(),
        "now": timezone.now(),
    }
    return render(request, "annotation/designer/letters.html", context, status=status)


def _preview(access: Access, letter: MailText) -> MailText:
    """The letter as somebody would get it, without anybody's name or link."""
    nobody = Invitation(study=access.study)
    return mails.fill(letter, nobody, link="https://…/r/…/", name=_("name kept with the steward"))
