"""Applications: for those who run a study by number and answers, for stewards by name and address, never both."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Application, ApplicationCall
from annotation.participation import applications
from annotation.views.designer.people import PAGE_SIZE, log, site_of
from studies import lifecycle
from studies.access import Access
from studies.models import Study
from studies.views.edits import EditForm
from studies.views.guards import require_in_study

SEES = "annotation.view_invitation"
MAY_CHANGE = "annotation.change_invitation"
SEES_NAMES = "annotation.view_identity"
FIELDS = ("is_open", "instrument", "text", "kept_days")


class CallForm(EditForm):
    """What applicants are told and asked."""

    is_open = forms.BooleanField(
        label=gettext_lazy("People may apply"),
        required=False,
        help_text=gettext_lazy("The page is open to anyone with its address, until the study is closed."),
    )
    instrument = forms.ChoiceField(
        label=gettext_lazy("Questions of eligibility"),
        required=False,
        help_text=gettext_lazy(
            "A published instrument that asks about no story. Applicants who answer wrongly where a question has a "
            "right answer are thanked, and their application is not kept."
        ),
    )
    text = forms.CharField(
        label=gettext_lazy("What applicants are told"),
        required=False,
        max_length=5000,
        widget=forms.Textarea({"rows": 8}),
        help_text=gettext_lazy(
            "Shown above the questions. Organiser, pay and contact address are added automatically."
        ),
    )
    kept_days = forms.IntegerField(
        label=gettext_lazy("Days kept"),
        min_value=1,
        max_value=730,
        help_text=gettext_lazy(
            "Days after which applications that were not accepted are deleted; applicants are told so."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = applications.list_instruments()
        choices = [(str(row.pk), f"{row.title} ({row.version})") for row in rows]
        cast(forms.ChoiceField, self.fields["instrument"]).choices = [("", _("none yet")), *choices]


class RefusalForm(forms.Form):
    """The words in which somebody is told no."""

    words = forms.CharField(
        label=gettext_lazy("Mail to the applicant"),
        max_length=5000,
        widget=forms.Textarea({"rows": 6}),
        help_text=gettext_lazy("Sent by mail exactly as written here, with organiser and contact below."),
    )


@require_in_study(SEES, change=MAY_CHANGE, methods=("GET", "HEAD", "POST"), query=("page",))
def applications_page(request: HttpRequest, access: Access) -> HttpResponse:
    """For those who run the study: its page for applicants, and who has applied, by number."""
    study, status = access.study, 200
    call = ApplicationCall.objects.filter(study=study).first()
    source = call or ApplicationCall(study=study)
    initial = {name: getattr(source, name) for name in FIELDS} | {"instrument": source.instrument_id or ""}
    form = CallForm(initial=initial)
    if request.method == "POST":
        form = CallForm(request.POST, initial=initial)
        if form.is_valid():
            _save(study, form.cleaned_data)
            log(request, study, "call for applications changed")
            messages.success(request, _("Saved."))
            return redirect("designer:applications", slug=study.slug)
        status = 400
    rows = Application.objects.filter(call__study=study)
    counts = dict(rows.order_by().values_list("state").annotate(n=Count("pk")))
    kept = rows.exclude(state=Application.State.INELIGIBLE).order_by("-state", "number")
    context = {
        "study": study,
        "access": access,
        "form": form,
        "call": call,
        "address": _address(request, call) if call else "",
        "page": Paginator(kept, PAGE_SIZE).get_page(request.GET.get("page")),
        "counts": [(label, counts.get(state, 0)) for state, label in Application.State.choices],
        "may_change": access.may(MAY_CHANGE) and lifecycle.may_invite(study),
    }
    return render(request, "annotation/designer/applications.html", context, status=status)


def _save(study: Study, values: dict[str, Any]) -> None:
    instrument = int(values["instrument"]) if values["instrument"] else None
    defaults = {name: values[name] for name in FIELDS if name != "instrument"} | {"instrument_id": instrument}
    ApplicationCall.objects.update_or_create(study=study, defaults=defaults)


def _address(request: HttpRequest, call: ApplicationCall) -> str:
    return request.build_absolute_uri(reverse("annotation:application", args=[call.key]))


@require_in_study(SEES, change=MAY_CHANGE, methods=("GET", "HEAD", "POST"))
def application(request: HttpRequest, access: Access, number: int) -> HttpResponse:
    """For those who run the study: what one applicant answered; for those who may, to accept or to decline."""
    rows = Application.objects.filter(call__study=access.study).exclude(state=Application.State.INELIGIBLE)
    row = rows.select_related("call__study", "call__instrument", "identity").filter(number=number).first()
    if row is None:
        raise Http404
    form, status = RefusalForm(), 200
    if request.method == "POST":
        form = RefusalForm(request.POST if request.POST.get("act") == "decline" else None)
        if _decide(request, row, form):
            return redirect("designer:applications", slug=access.study.slug)
        status = 400
    context = {
        "study": access.study,
        "access": access,
        "row": row,
        "answers": applications.list_answers(row),
        "form": form,
        "may_change": access.may(MAY_CHANGE) and row.state == Application.State.WAITING,
    }
    return render(request, "annotation/designer/application.html", context, status=status)


def _decide(request: HttpRequest, row: Application, form: RefusalForm) -> bool:
    """Accept or decline, as the button says; False with the reason on the page."""
    by, now = cast(User, request.user).get_username(), timezone.now()
    try:
        if request.POST.get("act") == "accept":
            waits = applications.accept(row, by=by, site=site_of(request), at=now)
            log(request, row, "accepted")
            messages.success(request, waits or _("Accepted: the invitation is on its way."))
        elif form.is_bound and form.is_valid():
            applications.decline(row, words=form.cleaned_data["words"], by=by, at=now)
            log(request, row, "declined")
            messages.success(request, _("Declined: the mail is on its way."))
        else:
            return False
    except applications.CannotDecide as error:
        messages.error(request, str(error))
        return False
    return True


@require_in_study(SEES_NAMES, query=("page",))
def applicants(request: HttpRequest, access: Access) -> HttpResponse:
    """For stewards: who has applied, with name and address, and no answer."""
    rows = Application.objects.filter(call__study=access.study).exclude(identity=None)
    page = Paginator(rows.select_related("identity").order_by("number"), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {"study": access.study, "access": access, "page": page}
    return render(request, "annotation/designer/applicants.html", context)
