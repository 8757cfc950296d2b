"""What a run is about, as fields: only those between which its judge's prompt leaves a choice."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import Rater
from judges import interventions, planning, prompts
from judges.models import Judge, PersonaSet
from judges.planning import MOST_EXAMPLES, Scope
from studies import protocol as protocols
from studies.models import Step, Study

# The names of its fields in an address, and what says that they were filled in.
FIELDS = ("is_chosen", "steps", "persona_set", "n_examples", "probes", "anchors", "afresh", "interventions")


class ScopeForm(forms.Form):
    """Which steps, as whom, after how many examples, and what guards the run. A metric leaves no choice."""

    is_chosen = forms.BooleanField(initial=True, widget=forms.HiddenInput())
    steps = forms.MultipleChoiceField(label=_("What is asked"), widget=forms.CheckboxSelectMultiple)
    persona_set = forms.ModelChoiceField(
        PersonaSet.objects.none(),
        label=_("Personas"),
        required=False,
        empty_label=_("none: no persona"),
        help_text=_(
            "Every story is read once as each of them. On scales the mean of all counts, and only where "
            "all have an answer; of verdicts, choices and pairs the answer of the first."
        ),
    )
    n_examples = forms.IntegerField(
        label=_("Examples before each question"),
        min_value=1,
        max_value=MOST_EXAMPLES,
        help_text=_("Experts’ answers about other stories: never the same story, group or prompt."),
    )
    probes = forms.BooleanField(
        label=_("Ask whether the model knows each story"), required=False, help_text=_("One more call per story.")
    )
    anchors = forms.BooleanField(
        label=_("Ask about the three fixed texts, too"),
        required=False,
        help_text=_("They show from run to run whether the model has changed."),
    )
    afresh = forms.BooleanField(
        label=_("Ask again what this study has a reply to"),
        required=False,
        help_text=_("Otherwise a call that asks the same as an earlier one takes its reply, unpaid."),
    )

    interventions = forms.MultipleChoiceField(
        label=_("Interventions"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "Every story is read once more with each of these changes. What the judge then answers counts nowhere but "
            "in the table of interventions. Read each story twice, too, to see what reading again changes by itself."
        ),
    )

    def __init__(self, *args: Any, study: Study, judge: Judge) -> None:
        super().__init__(*args)
        self._judge = judge
        asked = _find_steps(study)
        suitable = [step for step in asked if judge.prompt and planning.can_ask(judge.prompt, step)]
        usual = planning.find_usual_steps(judge.prompt, asked) if judge.prompt else asked
        self._is_all = all(step in suitable for step in usual)
        self.fields["steps"].choices = [(step.key, step.title or step.key) for step in suitable]  # type: ignore[attr-defined]
        self.fields["steps"].initial = [step.key for step in suitable if step in usual]
        self.fields["n_examples"].initial = Scope.n_examples
        self.fields["interventions"].choices = [  # type: ignore[attr-defined]
            (slug, f"{kind.title}: {kind.description}") for slug, kind in interventions.all_interventions().items()
        ]
        for name in self._find_unneeded(suitable):
            del self.fields[name]
        if "persona_set" in self.fields and judge.prompt:
            self.fields["persona_set"].queryset = PersonaSet.objects.filter(name=judge.prompt.personas)  # type: ignore[attr-defined]

    @property
    def scope(self) -> Scope:
        """What was chosen; before anything was, all that the prompt can ask but controls of it."""
        values = self.cleaned_data if self.is_bound and self.is_valid() else {}
        chosen = values.get("steps", self.fields["steps"].initial if "steps" in self.fields else [])
        is_usual = self._is_all and set(chosen) == set(self.fields["steps"].initial or []) if chosen else True
        return Scope(
            steps=() if is_usual else tuple(chosen),
            persona_set=values.get("persona_set"),
            n_examples=values.get("n_examples") or Scope.n_examples,
            probes=values.get("probes", False),
            anchors=values.get("anchors", False),
            afresh=values.get("afresh", False),
            interventions=tuple(values.get("interventions", ())),
        )

    def _find_unneeded(self, steps: list[Step]) -> list[str]:
        """Names of the fields between which there is nothing to choose."""
        if self._judge.kind == Rater.Kind.METRIC:
            return [name for name in self.fields if name != "is_chosen"]
        prompt = self._judge.required_prompt
        unneeded = [] if len(steps) > 1 or not self._is_all else ["steps"]
        if not any(map(planning.can_show, steps)):
            unneeded.append("interventions")
        if not prompt.personas:
            unneeded.append("persona_set")
        try:
            takes_examples = prompts.shape_of(prompt.template).takes_examples
        except prompts.InvalidPrompt:
            takes_examples = False
        return unneeded if takes_examples else [*unneeded, "n_examples"]


def _find_steps(study: Study) -> list[Step]:
    """The steps that ask for answers; none where there is no protocol yet."""
    try:
        return list(protocols.load_protocol(protocols.latest(study)).ratings)
    except IndexError:
        return []
