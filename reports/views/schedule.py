"""The page on which administrators say which reports are computed every day, when, and who is written to."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.views.decorators import staff_member_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from reports import schedules
from reports.models import ReportSchedule
from studies.models import Study
from studies.study_labels import StudiesChoice
from studies.views.guards import refuse_unknown

CHANGE_SCHEDULE = "django_celery_beat.change_periodictask"


class ScheduleForm(forms.ModelForm):  # type: ignore[type-arg]
    studies = StudiesChoice(
        Study.objects.order_by("slug"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=gettext_lazy("Which studies"),
        help_text=gettext_lazy("None chosen: all that are live, and those closed in the last thirty days."),
    )
    hour = forms.TypedChoiceField(
        choices=[(hour, f"{hour:02}:00") for hour in range(24)], coerce=int, label=gettext_lazy("Every day at")
    )
    zone = forms.ChoiceField(initial="UTC", label=gettext_lazy("By the clocks of"))
    is_on = forms.BooleanField(required=False, label=gettext_lazy("It is on"))
    recipients = forms.CharField(
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        label=gettext_lazy("Who is written to"),
        help_text=gettext_lazy("E-mail addresses, one a line. A mail says how far each study is, and no results."),
    )

    class Meta:
        model = ReportSchedule
        fields = ("studies", "hour", "zone", "is_on", "recipients")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = schedules.zones()
        self.fields["zone"].choices = list(zip(names, names, strict=True))  # type: ignore[attr-defined]

    def clean_recipients(self) -> str:
        """The addresses, one a line."""
        addresses = self.cleaned_data["recipients"].replace(",", " ").split()
        for address in addresses:
            try:
                validate_email(address)
            except ValidationError:
                raise ValidationError(_("%(address)s is no e-mail address."), params={"address": address}) from None
        return "\n".join(addresses)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_member_required
def schedule(request: HttpRequest) -> HttpResponse:
    """Every schedule as a form of its own, and one more to make another."""
    if not request.user.has_perm(CHANGE_SCHEDULE):
        raise PermissionDenied
    refuse_unknown(request, ())
    rows = list(ReportSchedule.objects.prefetch_related("studies"))
    forms_by_pk = {str(row.pk): ScheduleForm(instance=row, prefix=str(row.pk)) for row in rows}
    forms_by_pk["new"] = ScheduleForm(prefix="new")
    status = 200
    if request.method == "POST":
        name = request.POST.get("schedule", "")
        if name not in forms_by_pk:
            raise Http404
        form = ScheduleForm(request.POST, instance=forms_by_pk[name].instance, prefix=name)
        if "delete" in request.POST and form.instance.pk:
            form.instance.delete()
            messages.success(request, _("The schedule is deleted."))
            return redirect("reports:schedule")
        if form.is_valid():
            _save(form, site=request.build_absolute_uri("/").rstrip("/"))
            messages.success(request, _("The schedule is saved."))
            return redirect("reports:schedule")
        forms_by_pk[name], status = form, 400
    page = {"forms": forms_by_pk, "has_errors": any(form.errors for form in forms_by_pk.values())}
    response = render(request, "reports/schedule.html", page, status=status)
    add_never_cache_headers(response)
    return response


@transaction.atomic
def _save(form: ScheduleForm, *, site: str) -> None:
    row = form.save(commit=False)
    row.site = site
    schedules.set_next(row, at=timezone.now())
    form.save()
