"""The part of the analysis plan's form that says which answers are left out."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies.documents import analysis_plan

STRAIGHT_LINES = {
    "": gettext_lazy("Leave nothing out for that"),
    analysis_plan.OF_A_STORY: gettext_lazy("Leave out the answers about a story, if all of its scales got the same"),
    analysis_plan.OF_ALL_STORIES: gettext_lazy("Leave out a rater who gave one answer to all scales of all stories"),
}


class CodesField(forms.CharField):
    """Codes separated by commas, blanks or line ends, as a list."""

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]
        return [code for code in re.split(r"[\s,;]+", super().to_python(value) or "") if code]

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) or value is None else ", ".join(value)


class WeightsField(forms.CharField):
    """Numbers separated by commas or blanks, as a list."""

    def to_python(self, value: Any) -> list[float]:  # type: ignore[override]
        words = [word for word in re.split(r"[\s,;]+", super().to_python(value) or "") if word]
        try:
            return [float(word) for word in words]
        except ValueError:
            raise forms.ValidationError(_("Numbers, separated by commas, as 2, 1, 1.")) from None

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) or value is None else ", ".join(f"{number:g}" for number in value)


class ExclusionForm(forms.Form):
    """The exclusion rules of `AnalysisPlan`, and in words what no rule says."""

    exclude_failed_checks = forms.BooleanField(
        label=gettext_lazy("Exclude raters who failed a comprehension check"), required=False
    )
    exclude_faster_than = forms.FloatField(
        label=gettext_lazy("Exclude raters who read faster than"),
        required=False,
        help_text=gettext_lazy(
            "Words of story a minute, answers included, over all stories that a rater was timed on. Hardly anybody "
            "reads more than 400. Empty: nobody is left out for that."
        ),
    )
    exclude_straight_lining = forms.ChoiceField(
        label=gettext_lazy("Exclude straight-lining"),
        choices=list(STRAIGHT_LINES.items()),
        required=False,
        help_text=gettext_lazy(
            "Of scales with the same ends: three or more about a story, or all scales of five stories or more, to "
            "which other raters gave other answers."
        ),
    )
    exclude_recognised = forms.BooleanField(
        label=gettext_lazy("Exclude a rater’s answers about a story that the rater recognised"), required=False
    )
    exclude_raters = CodesField(
        label=gettext_lazy("Exclude raters"),
        required=False,
        help_text=gettext_lazy("Codes, separated by commas, as of those who took part in a pilot."),
    )
    exclude_stories = CodesField(
        label=gettext_lazy("Exclude stories"), required=False, help_text=gettext_lazy("Codes, separated by commas.")
    )
    exclusions = forms.CharField(
        label=gettext_lazy("Other exclusions"),
        required=False,
        widget=forms.Textarea({"rows": 4}),
        help_text=gettext_lazy(
            "In words, what no rule above says, and why. Only the rules are applied automatically: to the planned "
            "comparisons, whose section also shows them without."
        ),
    )


RULE_FIELDS = tuple(ExclusionForm.base_fields)
