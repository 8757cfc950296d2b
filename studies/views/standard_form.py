"""The part of the analysis plan's form that says what judges are compared with beside people."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy


class LabelsField(forms.CharField):
    """Lines of a question and the property of stories that has its labels, as a list of both."""

    def to_python(self, value: Any) -> list[list[str]]:  # type: ignore[override]
        lines = [line.strip() for line in (super().to_python(value) or "").splitlines() if line.strip()]
        sides = [[side.strip() for side in line.split("=", 1)] for line in lines]
        if any(len(pair) < 2 or not all(pair) for pair in sides):
            raise forms.ValidationError(_("A question and a property in each line, as pairs/best = upvotes."))
        return sides

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, str) or value is None:
            return value
        return "\n".join(f"{key} = {name}" for key, name in value)


class StandardForm(forms.Form):
    """The standard of `AnalysisPlan`, which is no person."""

    standard = forms.CharField(
        label=gettext_lazy("Standard"),
        required=False,
        help_text=gettext_lazy(
            "What judges, metrics and preference models are compared with beside people, as the report is to call it: "
            "“the votes”, “the gold labels”, “the published verdicts”. Empty: people alone."
        ),
    )
    standard_labels = LabelsField(
        label=gettext_lazy("Labels in properties of stories"),
        required=False,
        widget=forms.Textarea({"rows": 3}),
        help_text=gettext_lazy(
            "A line for each question, such as “pairs/best = upvotes”. Of a pair, the story with the higher value is "
            "preferred; of other questions, the value is the answer: yes or no, a number, or an option."
        ),
    )
    standard_rater = forms.CharField(
        label=gettext_lazy("Labels imported as answers"),
        required=False,
        help_text=gettext_lazy(
            "In place of properties: the code under which the answers are imported, as those of a model, not of a "
            "person. It then counts as no judge."
        ),
    )


STANDARD_FIELDS = tuple(StandardForm.base_fields)
