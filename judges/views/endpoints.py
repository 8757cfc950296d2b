"""Endpoints: where models are reached, whether they answer, and what they bear. They belong to no study."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from judges import addresses, providers
from judges.endpoints import connection_tests
from judges.endpoints.presets import all_presets, find_model
from judges.models import ConnectionTest, Endpoint
from judges.settlement import bills
from judges.views.bills import EndpointBillForm
from studies.access import may_somewhere
from studies.views import guards
from studies.views.posted_forms import makes_once

SEES, CHANGES = "judges.view_endpoint", "judges.change_endpoint"
FIELDS = (
    *("name", "adapter", "base_url", "key_variable", "is_allowed", "is_outside"),
    *("n_at_once", "timeout_seconds", "requests_per_minute", "tokens_per_minute"),
)


def require_endpoints(
    *, changes: bool = False, methods: tuple[str, ...] = ("GET", "HEAD"), query: tuple[str, ...] = ()
) -> Callable[[guards.View], guards.View]:
    """View decorator: requires leave to see endpoints, in all studies or in one; to change them, in all studies."""

    def may(request: HttpRequest) -> bool:
        if changes or request.method == "POST":
            return request.user.has_perm(CHANGES)
        return may_somewhere(request.user, SEES)

    return guards.require(may, methods=methods, query=query)


class EndpointForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Endpoint
        fields = FIELDS
        labels = {
            "name": gettext_lazy("Name"),
            "base_url": gettext_lazy("Address"),
            "key_variable": gettext_lazy("Where its key is"),
            "is_allowed": gettext_lazy("Judges may use it"),
            "is_outside": gettext_lazy("Texts sent there leave your institution"),
            "n_at_once": gettext_lazy("Calls at once"),
            "timeout_seconds": gettext_lazy("Seconds to wait for a reply"),
            "requests_per_minute": gettext_lazy("Calls a minute"),
            "tokens_per_minute": gettext_lazy("Tokens a minute"),
        }
        help_texts = {
            "name": gettext_lazy("Lower-case letters, digits and hyphens."),
            "is_allowed": "",
            "is_outside": gettext_lazy("Stays on for a proxy of yours that passes them on."),
            "requests_per_minute": gettext_lazy("Empty: as many as it allows."),
            "tokens_per_minute": gettext_lazy("Empty: as many as it allows."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(slug, str(provider.title)) for slug, provider in providers.all_providers().items()]
        self.fields["adapter"] = forms.ChoiceField(label=_("Kind of server"), choices=choices)

    def clean_base_url(self) -> str:
        """Refuse an address that no call would reach, allowed or not. Asks the name service."""
        url: str = self.cleaned_data["base_url"]
        if url:
            try:
                addresses.check_reach(url, allowed=settings.ALLOWED_PRIVATE_ENDPOINTS)
            except addresses.InvalidAddress as error:
                raise forms.ValidationError(str(error)) from None
        return url


# Calls with which an endpoint begins that is on no machine of one's own; what it bears is found out as it answers.
N_AT_ONCE = 32


class TestForm(forms.Form):
    model = forms.CharField(
        label=gettext_lazy("Model"), max_length=200, help_text=gettext_lazy("Its name at the endpoint.")
    )


@require_endpoints()
def index(request: HttpRequest) -> HttpResponse:
    """For all who see endpoints: all there are."""
    rows = Endpoint.objects.annotate(n_judges=Count("judges")).order_by("name")
    context = {"endpoints": rows, "may_change": request.user.has_perm(CHANGES), "now": timezone.now()}
    return render(request, "judges/endpoints.html", context)


@require_endpoints(changes=True, methods=("GET", "HEAD", "POST"), query=("preset",))
@makes_once
def new(request: HttpRequest) -> HttpResponse:
    """For administrators: a new endpoint, its form filled in from a preset if one is named."""
    preset = all_presets().get(request.GET.get("preset", ""))
    is_local = preset is not None and not preset.is_outside
    initial = ({} if is_local else {"n_at_once": N_AT_ONCE}) | (preset.fields if preset else {})
    return _edit(request, Endpoint(), initial=initial, preset=preset)


@require_endpoints(methods=("GET", "HEAD", "POST"))
def show(request: HttpRequest, endpoint: int) -> HttpResponse:
    """For all who see endpoints: one of them; for administrators its form, and whether it answers."""
    row = get_object_or_404(Endpoint, pk=endpoint)
    if request.user.has_perm(CHANGES):
        return _edit(request, row)
    context = {"endpoint": row, "may_change": False, "bills": bills.compare_endpoint(row)}
    return render(request, "judges/endpoint.html", context)


def _edit(
    request: HttpRequest, endpoint: Endpoint, *, initial: dict[str, Any] | None = None, preset: Any = None
) -> HttpResponse:
    form = EndpointForm(request.POST if request.method == "POST" else None, instance=endpoint, initial=initial)
    if request.method == "POST" and form.is_valid():
        is_moved = bool(endpoint.pk) and bool({"base_url", "adapter"} & set(form.changed_data))
        form.save()
        if is_moved:
            messages.warning(request, Endpoint.MOVED)
        else:
            messages.success(request, _("%(endpoint)s is saved.") % {"endpoint": endpoint.name})
        return redirect("endpoints:show", endpoint=endpoint.pk)
    last = ConnectionTest.objects.filter(endpoint=endpoint).first() if endpoint.pk else None
    context = {
        "endpoint": endpoint if endpoint.pk else None,
        "form": form,
        "presets": all_presets().values(),
        "preset": preset,
        "may_change": True,
        "test_form": TestForm(initial={"model": last.model if last else find_model(endpoint.base_url)}),
        "test": last,
        "bills": bills.compare_endpoint(endpoint) if endpoint.pk else [],
        "bill_form": EndpointBillForm(auto_id="bill_%s"),
    }
    is_part = request.htmx and request.method == "GET" and last  # type: ignore[attr-defined]
    name = "judges/endpoint_form.html#tested" if is_part else "judges/endpoint_form.html"
    return render(request, name, context, status=400 if form.errors else 200)


@require_endpoints(changes=True, methods=("POST",))
@makes_once
def test(request: HttpRequest, endpoint: int) -> HttpResponse:
    """For administrators: have a worker try whether a model answers there."""
    row = get_object_or_404(Endpoint, pk=endpoint)
    form = TestForm(request.POST)
    if form.is_valid():
        connection_tests.ask(row, form.cleaned_data["model"], by=request.user.get_username())
    else:
        messages.error(request, _("Enter the model to test."))
    return redirect("endpoints:show", endpoint=row.pk)


@require_endpoints(changes=True, methods=("POST",))
@makes_once
def enter_bill(request: HttpRequest, endpoint: int) -> HttpResponse:
    """For administrators: what the provider billed for some days, beside what was counted."""
    row = get_object_or_404(Endpoint, pk=endpoint)
    form = EndpointBillForm(request.POST, request.FILES)
    if form.is_valid():
        values = form.cleaned_data
        bills.enter_for_days(
            row,
            values["amount"],
            first_day=values["first_day"],
            last_day=values["last_day"],
            source=values.get("source", ""),
            by=request.user.get_username(),
        )
        messages.success(request, _("The bill is entered beside the ledger."))
    else:
        messages.error(request, form.problems)
    return redirect("endpoints:show", endpoint=row.pk)
