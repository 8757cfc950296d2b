"""A new study: from a template, like another one, or from a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from django import forms
from django.conf.global_settings import LANGUAGES
from django.contrib.admin.views.decorators import staff_member_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_http_methods

from studies import creation
from studies.access import visible_studies
from studies.creation import NewStudy
from studies.documents.errors import DocumentError
from studies.documents.study_template import discover_templates
from studies.facts import ASKED_WHEN_NEW
from studies.loader import VersionConflict
from studies.models import Study
from studies.study_labels import StudyChoice
from studies.views.fact_fields import make_fields_of_new_study
from studies.views.guards import explain_refusal, refuse_unknown
from studies.views.posted_forms import makes_once

LIKE, FILE = "like", "file"
MAY_MAKE = "studies.add_study"
LARGEST_CLOZE = 1_000_000  # bytes


class NewStudyForm(forms.Form):
    """What a new study begins with. A study file brings title and wording with it; for all else a title is needed."""

    template = forms.ChoiceField(label=gettext_lazy("What will raters do?"), widget=forms.RadioSelect)
    like = StudyChoice(
        label=gettext_lazy("Which study?"),
        queryset=Study.objects.none(),
        required=False,
        empty_label=pgettext_lazy("study", "Choose one"),
    )
    file = forms.FileField(
        label=gettext_lazy("The study’s file"),
        required=False,
        help_text=gettext_lazy("The folder of a study in one ZIP file: study.toml and its stories."),
    )
    cloze = forms.FileField(
        label=gettext_lazy("The text with its blanks"),
        required=False,
        help_text=gettext_lazy("A cloze document (TOML). You can leave it out and upload it later as a study file."),
    )
    title = forms.CharField(
        label=gettext_lazy("Title"),
        max_length=200,
        required=False,
        help_text=gettext_lazy(
            "Raters see it. It should not say what is compared: “Stories by people and machines” would."
        ),
    )
    language = forms.ChoiceField(
        label=gettext_lazy("Language of stories and questions"), choices=LANGUAGES, initial="en", required=False
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields.update(make_fields_of_new_study())
        cast(forms.ChoiceField, self.fields["template"]).choices = [
            *((key, template.title) for key, template in discover_templates().items()),
            (LIKE, _("Like another study")),
            (FILE, _("From a study file")),
        ]
        studies = visible_studies(user, "studies.view_study").order_by("title", "-launched_at", "pk")
        cast(StudyChoice, self.fields["like"]).queryset = studies
        self.fields["title"].widget.attrs["autocomplete"] = "off"

    @property
    def facts(self) -> Iterator[forms.BoundField]:
        """The fields of what the study says of itself."""
        return (self[fact.key] for fact in ASKED_WHEN_NEW)

    def clean(self) -> None:
        chosen = self.cleaned_data.get("template")
        if chosen != FILE and not self.cleaned_data.get("title") and "title" not in self.errors:
            self.add_error("title", _("Give it a title. You can change it until you launch."))
        if chosen == FILE and not self.cleaned_data.get("file") and "file" not in self.errors:
            self.add_error("file", _("Choose the file."))
        if chosen == LIKE and not self.cleaned_data.get("like") and "like" not in self.errors:
            self.add_error("like", _("Choose the study."))

    def clean_cloze(self) -> str:
        upload = self.cleaned_data.get("cloze")
        if not upload:
            return ""
        if upload.size > LARGEST_CLOZE:
            raise ValidationError(_("This file is too large for a cloze."))
        try:
            return str(upload.read().decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise ValidationError(_("This file is not UTF-8 text. Save it as UTF-8 and upload it again.")) from None

    def create(self, *, by: User) -> Study:
        """The study. Raises DocumentError or VersionConflict if what was uploaded will not do."""
        data = self.cleaned_data
        if data["template"] == FILE:
            return creation.create_from_file(data["file"], data["file"].name, by=by)
        facts = {fact.key: data[fact.key] for fact in ASKED_WHEN_NEW}
        new = NewStudy(data["title"], data["language"] or "en", facts)
        if data["template"] == LIKE:
            return creation.copy_study(data["like"], new, by=by)
        return creation.create_from_template(discover_templates()[data["template"]], new, by=by, cloze=data["cloze"])


@require_http_methods(["GET", "HEAD", "POST"])
@staff_member_required
@makes_once
def new(request: HttpRequest) -> HttpResponse:
    """For all who may make studies: choose what it begins with, and make it."""
    user = cast(User, request.user)
    if not user.has_perm(MAY_MAKE):
        raise PermissionDenied(explain_refusal(MAY_MAKE))
    refuse_unknown(request, ("template", "like"))
    status = 200
    if request.method == "POST":
        form = NewStudyForm(request.POST, request.FILES, user=user)
        if form.is_valid() and (study := _create(form, user)):
            return redirect("studies:overview", slug=study.slug)
        status = 400
    else:
        form = NewStudyForm(user=user, initial=_chosen(request))
    pictures = [(template, f"studies/pictures/{template.picture}.html") for template in discover_templates().values()]
    context = {
        "form": form,
        "chosen": form["template"].value() or "",
        "templates": [row for row in pictures if row[0].needs],
        "beginnings": [row for row in pictures if not row[0].needs],
    }
    return render(request, "studies/new.html", context, status=status)


def _create(form: NewStudyForm, user: User) -> Study | None:
    """The study; None, with an error in the form, if it cannot be made of what was uploaded."""
    try:
        return form.create(by=user)
    except (DocumentError, VersionConflict) as error:
        field = "file" if form.cleaned_data["template"] == FILE else "cloze"
        form.add_error(field, str(error))
    except IntegrityError:
        form.add_error("title", _("Someone else has just made a study of that name. Try again."))
    return None


def _chosen(request: HttpRequest) -> dict[str, Any]:
    """What a link has chosen already; nothing that is not offered is chosen."""
    slug = request.GET.get("like", "")
    study = Study.objects.filter(slug=slug).first() if slug else None
    chosen = {"template": request.GET.get("template") or next(iter(discover_templates()))}
    return {"template": LIKE, "like": study.pk} if study else chosen
