"""What raters are owed and were paid, for stewards alone: names and amounts, and no answer beside them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Payment, PayRate
from annotation.participation import ledger_tables, payments
from annotation.participation.payments import Account
from annotation.views.designer.people import PAGE_SIZE, log
from studies.access import Access
from studies.views.edits import EditForm
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

SEES = "annotation.view_identity"
MAY_CHANGE = "annotation.change_identity"


class RateForm(EditForm):
    """What the study pays."""

    currency = forms.CharField(label=gettext_lazy("Currency"), max_length=10, help_text=gettext_lazy("€, £, USD …"))
    per_group = forms.DecimalField(
        label=gettext_lazy("For a submitted group"), min_value=0, max_digits=8, decimal_places=2
    )
    part = forms.ChoiceField(
        label=gettext_lazy("For a group begun and not submitted"),
        choices=PayRate.Part.choices,
        help_text=gettext_lazy("For people who gave up, were replaced or withdrew."),
    )
    part_amount = forms.DecimalField(
        label=gettext_lazy("That amount"), min_value=0, required=False, max_digits=8, decimal_places=2
    )

    def clean(self) -> None:
        super().clean()
        part, amount = self.cleaned_data.get("part"), self.cleaned_data.get("part_amount")
        if part == PayRate.Part.NOTHING:
            self.cleaned_data["part_amount"] = None
        elif part and amount is None:
            self.add_error("part_amount", ValidationError(_("Say the amount, or that nothing is paid for a part.")))


class PaymentForm(forms.Form):
    """A payment that was made."""

    amount = forms.DecimalField(label=gettext_lazy("Amount"), min_value=Decimal("0.01"), max_digits=8, decimal_places=2)
    paid_on = forms.DateField(label=gettext_lazy("Paid on"), widget=forms.DateInput({"type": "date"}))
    reference = forms.CharField(
        label=gettext_lazy("Reference"),
        max_length=120,
        required=False,
        help_text=gettext_lazy(
            "The transfer’s reference, so that it can be found again. Erased if the person withdraws."
        ),
    )


class CorrectionForm(forms.Form):
    """What a payment really amounted to."""

    amount = forms.DecimalField(label=gettext_lazy("What it really was"), min_value=0, max_digits=8, decimal_places=2)
    reason = forms.CharField(label=gettext_lazy("Why"), max_length=300)


@require_in_study(SEES, change=MAY_CHANGE, methods=("GET", "HEAD", "POST"), query=("page",))
def ledger(request: HttpRequest, access: Access) -> HttpResponse:
    """For stewards: who is owed what and was paid what; for those who may, the rate by which it is reckoned."""
    study, status = access.study, 200
    rate = payments.find_rate(study)
    initial: dict[str, Any] = {name: getattr(rate, name, None) for name in RateForm.base_fields}
    form = RateForm(initial=initial)
    if request.method == "POST":
        form = RateForm(request.POST, initial=initial)
        if form.is_valid():
            values = {name: form.cleaned_data[name] for name in RateForm.base_fields}
            PayRate.objects.update_or_create(study=study, defaults=values)
            log(request, study, "rate of pay changed")
            messages.success(request, _("Saved. What is owed is calculated again."))
            return redirect("designer:payments", slug=study.slug)
        status = 400
    current = payments.load_ledger(study)
    context = {
        "study": study,
        "access": access,
        "form": form,
        "ledger": current,
        "page": Paginator(current.accounts, PAGE_SIZE).get_page(request.GET.get("page")),
        "has_prolific": any(account.arrival for account in current.accounts) or study.arrivals.exists(),
        "may_change": access.may(MAY_CHANGE),
    }
    return render(request, "annotation/designer/payments.html", context, status=status)


@require_in_study(SEES, change=MAY_CHANGE, methods=("GET", "HEAD", "POST"))
@makes_once
def account(request: HttpRequest, access: Access, rater: str) -> HttpResponse:
    """For stewards: the payments of one person; for those who may, to enter one or to correct one."""
    accounts = payments.load_ledger(access.study, code=rater).accounts
    if not accounts:
        raise Http404
    person, status = accounts[0], 200
    form, correction = PaymentForm(initial=_initial(person)), CorrectionForm()
    if request.method == "POST" and "corrects" in request.POST:
        correction, status = CorrectionForm(request.POST), 400
        if _correct(request, person, correction):
            return redirect("designer:account", slug=access.study.slug, rater=rater)
    elif request.method == "POST":
        form, status = PaymentForm(request.POST), 400
        if form.is_valid():
            by = cast(User, request.user).get_username()
            payments.record(person.rater, **form.cleaned_data, by=by, at=timezone.now())
            log(request, person.rater, "payment entered")
            messages.success(request, _("The payment is entered."))
            return redirect("designer:account", slug=access.study.slug, rater=rater)
    entries = payments.list_entries(person.rater)
    context = {
        "study": access.study,
        "access": access,
        "account": person,
        "rate": payments.find_rate(access.study),
        "entries": entries,
        "correctable": [entry for entry in entries if not entry.corrects_id],
        "form": form,
        "correction": correction,
        "chosen": request.POST.get("corrects", ""),
        "may_change": access.may(MAY_CHANGE),
    }
    return render(request, "annotation/designer/account.html", context, status=status)


def _initial(person: Account) -> dict[str, Any]:
    due = person.due
    return {"amount": due if due and due > 0 else None, "paid_on": timezone.localdate().isoformat()}


def _correct(request: HttpRequest, person: Account, form: CorrectionForm) -> bool:
    """Correct the payment that was chosen; False with the reason in the form."""
    chosen = request.POST["corrects"]
    payment = Payment.objects.filter(rater=person.rater, pk=int(chosen) if chosen.isdecimal() else 0).first()
    if payment is None:
        form.add_error(None, _("Choose the payment that is to be corrected."))
    if not form.is_valid() or payment is None:
        return False
    try:
        by = cast(User, request.user).get_username()
        payments.correct(payment, **form.cleaned_data, by=by, at=timezone.now())
    except payments.CannotCorrect as error:
        form.add_error("amount", str(error))
        return False
    log(request, person.rater, "payment corrected")
    messages.success(request, _("The correction is entered; the payment stays as it was written."))
    return True


@require_in_study(SEES)
def ledger_file(request: HttpRequest, access: Access) -> HttpResponse:
    """For stewards: the ledger as a table."""
    log(request, access.study, "ledger of pay downloaded")
    content = ledger_tables.write_ledger(payments.load_ledger(access.study))
    return _as_file(content, f"{access.study.slug}-payments.csv")


@require_in_study(SEES)
def prolific_file(request: HttpRequest, access: Access) -> HttpResponse:
    """For stewards: whose submissions at Prolific are to be approved, as a table."""
    log(request, access.study, "list for Prolific downloaded")
    content = ledger_tables.write_prolific(access.study, payments.load_ledger(access.study))
    return _as_file(content, f"{access.study.slug}-prolific.csv")


def _as_file(content: str, name: str) -> HttpResponse:
    response = HttpResponse(content, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
