"""The form of an amendment: the fields of the study and the words of its steps, each as it holds now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.design.amendments import HoldsFor, Wish
from annotation.views.designer.rater_information import AS_TYPED, InformationForm
from studies.models import Step
from studies.protocol import Finding, name_of
from studies.protocol.amendments import FIELDS, WORDS, AmendableState


class AmendmentForm(InformationForm):
    """steps : whose titles and texts stand in it, as fields of their own"""

    own = frozenset({"holds_for", "reason", "pay_is_no_less"})
    text_kind = None  # type: ignore[assignment]  # what is read cannot be amended
    seats_per_group = forms.IntegerField(label=gettext_lazy("Raters a group"), min_value=1, max_value=1000)
    holds_for = forms.ChoiceField(
        label=gettext_lazy("Who it applies to"),
        choices=[
            (HoldsFor.NEWCOMERS, gettext_lazy("Those who begin from now on; those who have begun keep their wording")),
            (HoldsFor.EVERYBODY, gettext_lazy("Everyone: people at work see it from their next page")),
        ],
        widget=forms.RadioSelect,
        initial=HoldsFor.NEWCOMERS,
    )
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=300,
        help_text=gettext_lazy("One sentence; it is printed in the report. Never a name of a rater."),
    )
    pay_is_no_less = forms.BooleanField(
        label=gettext_lazy("The pay is no less than those who have begun were promised"), required=False
    )

    def __init__(self, data: Any, *, state: AmendableState, steps: tuple[Step, ...]) -> None:
        self.state, self.steps = state, steps
        super().__init__(data, initial=_initial(state))
        for step in steps:
            title = Step._meta.get_field("title").max_length
            self.fields[_name(step, "title")] = forms.CharField(
                label=_("“%(step)s”: heading") % {"step": name_of(step)}, max_length=title, required=False
            )
            self.fields[_name(step, "text")] = forms.CharField(
                label=_("“%(step)s”: text") % {"step": name_of(step)},
                required=False,
                widget=forms.Textarea({"rows": 3 if step.kind == Step.Kind.RATING else 8}),
            )
        # Asked last, where everything else is said.
        self.order_fields([*FIELDS, *(_name(step, name) for step in steps for name in WORDS)])

    @property
    def facts(self) -> Iterator[forms.BoundField]:
        """The fields of the study itself."""
        return (self[name] for name in FIELDS)

    @property
    def wordings(self) -> Iterator[tuple[str, forms.BoundField, forms.BoundField, bool]]:
        """Of every step its name, its two fields, and whether one of them has a problem."""
        for step in self.steps:
            title, text = (self[_name(step, name)] for name in WORDS)
            yield name_of(step), title, text, bool(title.errors or text.errors)

    def wish(self) -> Wish:
        """The amendment that a valid form asks for."""
        data = self.cleaned_data
        values = {name: data[name] for name in FIELDS}
        closes_at = self.state.values["closes_at"]
        # A page knows no seconds.
        if closes_at and values["closes_at"] == closes_at.replace(second=0, microsecond=0):
            values["closes_at"] = closes_at
        words = {
            step.key: {name: _keep(self.state.words[step.key][name], data[_name(step, name)]) for name in WORDS}
            for step in self.steps
        }
        return Wish(
            AmendableState(values, words), data["reason"], data["holds_for"], pay_is_no_less=data["pay_is_no_less"]
        )

    def add_findings(self, findings: list[Finding]) -> None:
        """Say each finding at the field that it is about."""
        for finding in findings:
            kind, _space, key = finding.location.partition(" ")
            name = f"text-{key}" if kind == "step" else finding.location
            self.add_error(name if name in self.fields else None, str(finding))


def _name(step: Step, name: str) -> str:
    return f"{name}-{step.key}"


def _keep(before: str, typed: str) -> str:
    """What was typed; what stood there, if only ends of lines and space around it differ, which browsers change."""
    typed = typed.replace("\r\n", "\n").strip()
    return before if before.replace("\r\n", "\n").strip() == typed else typed


def _initial(state: AmendableState) -> dict[str, Any]:
    closes_at = state.values["closes_at"]
    local = timezone.localtime(closes_at) if closes_at else None
    typed = {"closes_at": local.strftime(AS_TYPED) if local else "", "zone": settings.TIME_ZONE}
    words = {f"{name}-{key}": words[name] for key, words in state.words.items() for name in WORDS}
    return {**state.values, **typed, **words}
