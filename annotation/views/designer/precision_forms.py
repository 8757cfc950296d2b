"""The form of what is assumed of answers that nobody has given yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.design.expected_outcomes import title_of
from annotation.design.planned_outcomes import Assumptions, PlannedOutcome

LABELS = {
    "effect": gettext_lazy("Difference to be found"),
    "mean": gettext_lazy("Mean of all answers"),
    "rater": gettext_lazy("Raters"),
    "rater_source": gettext_lazy("Rater × source"),
    "premise": gettext_lazy("Writing prompts"),
    "story": gettext_lazy("Stories of a source"),
    "rest": gettext_lazy("Rest"),
}
MOST_TOLD = 0.9  # of the variance of verdicts that may be more than one answer's own
HINTS = {
    "rater": gettext_lazy("How severe or lenient they are."),
    "rater_source": gettext_lazy("How far they differ in what they think of a source."),
    "premise": gettext_lazy("What the stories of a writing prompt share."),
    "story": gettext_lazy("Within a source and prompt."),
    "rest": gettext_lazy("What is left of one answer."),
}


@dataclass(frozen=True)
class OutcomeFields:
    """The fields of one outcome. unit : in words"""

    outcome: PlannedOutcome
    title: str
    unit: str
    fields: list[forms.BoundField]


class AssumptionsForm(forms.Form):
    """What is assumed of each outcome. `assumptions` is what a valid form says."""

    def __init__(self, *args: Any, outcomes: Sequence[PlannedOutcome], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.outcomes = outcomes
        for outcome in outcomes:
            for name in outcome.fields:
                self.fields[f"{outcome.key}-{name}"] = _field(outcome, name)

    @staticmethod
    def initial_of(assumptions: Mapping[str, Assumptions]) -> dict[str, float]:
        return {f"{key}-{name}": value for key, one in assumptions.items() for name, value in asdict(one).items()}

    @property
    def groups(self) -> Iterator[OutcomeFields]:
        for outcome in self.outcomes:
            fields = [self[f"{outcome.key}-{name}"] for name in outcome.fields]
            yield OutcomeFields(outcome, title_of(outcome), _unit(outcome), fields)

    @property
    def assumptions(self) -> dict[str, Assumptions]:
        return {
            outcome.key: Assumptions(**{name: self.cleaned_data[f"{outcome.key}-{name}"] for name in outcome.fields})
            for outcome in self.outcomes
        }

    def clean(self) -> None:
        if self.errors:
            return
        assumptions = self.assumptions  # before an error takes a value away
        for outcome in self.outcomes:
            for name, sentence in _find_faults(outcome, assumptions[outcome.key]):
                self.add_error(f"{outcome.key}-{name}", sentence)


def _find_faults(outcome: PlannedOutcome, assumed: Assumptions) -> Iterator[tuple[str, str]]:
    """What does not go together, each with its field and the way out."""
    if outcome.kind in ("preference", "rank"):
        if not assumed.rest:
            yield "rest", _("Enter more than 0: it is the unit of the others.")
        return
    if assumed.mean + assumed.effect > outcome.high:
        sentence = _("With a mean of %(mean)g a source cannot be better by %(effect)g. Make one of the two smaller.")
        yield "effect", sentence % {"mean": assumed.mean, "effect": assumed.effect}
    parts = (assumed.rater, assumed.rater_source, assumed.premise, assumed.story)
    total, most = sum(part**2 for part in parts), MOST_TOLD * assumed.mean * (100 - assumed.mean)
    if outcome.kind == "verdict" and total >= most:
        sentence = _(
            "With %(mean)g %% Yes the squares of raters, rater × source, prompts and stories may add up "
            "to %(most)d at most; they are %(sum)d. Make one of them smaller."
        )
        yield "story", sentence % {"mean": assumed.mean, "most": most, "sum": total}
    elif outcome.kind == "scale" and not assumed.rest:
        yield "rest", _("Enter more than 0: one rater never answers exactly as the others would have it.")


def _field(outcome: PlannedOutcome, name: str) -> forms.FloatField:
    """Bounds are of the outcome: a mean lies on its scale, and a difference within it."""
    low, high = 0.0, outcome.width if outcome.kind == "scale" else 50.0
    if outcome.kind in ("preference", "rank"):
        low, high = (51.0, 99.0) if name == "effect" else (0.0, 100.0)
    elif name == "mean":
        low, high = (2.0, 98.0) if outcome.kind == "verdict" else (outcome.low, outcome.high)
    elif name == "effect":
        low = outcome.width / 1000
        high = 90.0 if outcome.kind == "verdict" else outcome.width
    return forms.FloatField(
        label=LABELS[name],
        help_text=HINTS.get(name, ""),
        min_value=low,
        max_value=high,
        widget=forms.NumberInput({"class": "brief", "step": "any"}),
    )


def _unit(outcome: PlannedOutcome) -> str:
    if outcome.kind in ("preference", "rank"):
        return _(
            "The difference as the percentage of pairs in which the better is put first; the others are standard "
            "deviations."
        )
    if outcome.unit == "percent":
        return _("In percentage points; all but the first two are standard deviations.")
    return _("In points of the scale from %(low)g to %(high)g; all but the first two are standard deviations.") % {
        "low": outcome.low,
        "high": outcome.high,
    }
