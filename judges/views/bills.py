"""The form by which what a provider billed is entered, of a run or of days at an endpoint."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from judges.settlement import bills
from judges.settlement.bills import CostSheet
from studies.incoming_tables.errors import UnreadableFile

LONGEST_NAME = 200


class BillForm(forms.Form):
    """An amount, or a file whose costs are added up. `amount` and `source` are set once it is valid."""

    amount = forms.DecimalField(
        label=gettext_lazy("Billed, in US dollars"), required=False, min_value=0, max_digits=14, decimal_places=6
    )
    file = forms.FileField(
        label=gettext_lazy("Or a file of costs"),
        help_text=gettext_lazy("The provider’s table of usage (CSV), whose costs are added up."),
        required=False,
    )
    cost_column = forms.CharField(
        label=gettext_lazy("Its column of costs"),
        help_text=gettext_lazy("Empty: the one whose name sounds like it."),
        required=False,
    )

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        file = values.get("file")
        if self.errors:
            return values
        if (values.get("amount") is None) == (file is None):
            self.add_error("amount", _("Enter an amount, or choose a file."))
        elif file is not None:
            values["source"] = file.name[-LONGEST_NAME:]
            self._add_up(values, file.name, file.read())
        return values

    def _add_up(self, values: dict[str, Any], name: str, content: bytes) -> None:
        try:
            sheet = bills.read_costs(
                name, content, cost_column=values["cost_column"], date_column=self._find_date_column(values)
            )
        except UnreadableFile as error:
            self.add_error("file", str(error))
            return
        if sheet.amount < 0:
            self.add_error("file", _("The costs add up to less than nothing."))
            return
        self._use(values, sheet)

    def _find_date_column(self, values: dict[str, Any]) -> str | None:
        """As `read_costs` takes it: a run's bill has no days."""
        return None

    def _use(self, values: dict[str, Any], sheet: CostSheet) -> None:
        values["amount"] = sheet.amount.quantize(Decimal("0.000001"))

    @property
    def problems(self) -> str:
        """What is wrong, in one line."""
        return " ".join(str(sentence) for sentences in self.errors.values() for sentence in sentences)


class EndpointBillForm(BillForm):
    """The same, with the days that it is for; a file may name them itself."""

    date_column = forms.CharField(
        label=gettext_lazy("Its column of dates"),
        help_text=gettext_lazy("Empty: the one whose name sounds like it."),
        required=False,
    )
    first_day = forms.DateField(
        label=gettext_lazy("First day"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    last_day = forms.DateField(
        label=gettext_lazy("Last day"),
        help_text=gettext_lazy("Empty: as the file says."),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
    )

    def _find_date_column(self, values: dict[str, Any]) -> str | None:
        """None where both days are entered, unless the column is named, too."""
        are_entered = values.get("first_day") is not None and values.get("last_day") is not None
        return None if are_entered and not values["date_column"] else values["date_column"]

    def _use(self, values: dict[str, Any], sheet: CostSheet) -> None:
        super()._use(values, sheet)
        values["first_day"] = values.get("first_day") or sheet.first_day
        values["last_day"] = values.get("last_day") or sheet.last_day

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        first, last = values.get("first_day"), values.get("last_day")
        if not self.errors and (first is None or last is None or last < first):
            self.add_error("first_day", _("Enter the first and the last day that it is for."))
        return values
