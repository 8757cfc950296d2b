"""The form of one step: only what that kind of step has, practice answers with the controls of their items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django import forms
from django.db.models import Prefetch
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.views.designer.step_kinds import NewStep
from studies import items, protocol
from studies.layouts.cloze import NAMES as SWITCHES
from studies.layouts.items import MOST_ATTEMPTS, CheckOptions
from studies.models import Instrument, Item, Step
from studies.protocol import drafts, name_of
from studies.views.edits import EditForm
from studies.vocabulary import OnFailure

SWITCH_LABELS = {
    "constraints": gettext_lazy("What each section must achieve is shown beside the text"),
    "check": gettext_lazy("A blank is marked for checking when one that it depends on has changed"),
    "way_out": gettext_lazy("People who cannot continue may say so and stop"),
}
MARKUP = gettext_lazy(
    "Blank lines separate paragraphs. *Emphasis*, **strong**, a list with dashes, [words](https://…) for a link."
)
LOCKS = gettext_lazy("From here on, earlier answers are locked")


@dataclass(frozen=True)
class SampleField:
    """An item to practise, with the form's two fields for it."""

    item: Item
    answer: forms.BoundField
    reason: forms.BoundField


class StepForm(EditForm):
    """What a designer says of a step. `fields_of_step` is what it comes to, for `studies.protocol.drafts`."""

    def __init__(
        self,
        *args: Any,
        step: Step,
        instruments: Sequence[Instrument],
        earlier: Sequence[Step] = (),
        is_new: bool = False,
        is_check: bool = False,
        **kwargs: Any,
    ) -> None:
        self.step, self.instruments, self.is_new = step, instruments, is_new
        self.is_cloze = step.layout_type.fills_text
        # Options of a step that is no check any more can be taken back here.
        self.is_check = is_check or bool(step.options and not self.is_cloze)
        self.practised = [] if is_new or step.kind != Step.Kind.PRACTICE else drafts.practisable_items(step)
        kwargs["initial"] = self._initial()
        super().__init__(*args, **kwargs)
        if step.kind in (Step.Kind.RATING, Step.Kind.PRACTICE):
            self._add_questions(earlier)
        else:
            self._add_words(_("Heading"), _("Text"), rows=14)
        self.label_suffix = ""

    def _initial(self) -> dict[str, Any]:
        step = self.step
        check = asdict(CheckOptions.read(step.options)) if self.is_check else {}
        if self.is_new:
            return {"scope": step.scope, **check} if step.kind == Step.Kind.RATING else {}
        names = ["title", "text"]
        if step.kind == Step.Kind.RATING:
            names += ["scope", "background", "locks", "revises"]
        if step.kind == Step.Kind.PRACTICE:
            names += ["background", "story"]
        initial = {name: getattr(step, name) for name in names} | check
        if step.instrument_id:
            initial["instrument"] = str(step.instrument_id)
        if self.is_cloze:
            initial |= {name: bool(step.options.get(name)) for name in SWITCHES}
        for item in self.practised:
            sample = step.samples.get(item.key, {})
            initial |= {f"sample-{item.key}": sample.get("value"), f"why-{item.key}": sample.get("why", "")}
        return initial

    def _add_words(self, heading: str, text: str, *, rows: int, hint: str = "") -> None:
        self.fields["title"] = forms.CharField(label=heading, max_length=200, required=False)
        self.fields["text"] = forms.CharField(
            label=text,
            required=False,
            strip=True,
            widget=forms.Textarea({"rows": rows}),
            help_text=hint or MARKUP,
        )

    def _add_questions(self, earlier: Sequence[Step]) -> None:
        """The fields of a step that asks an instrument."""
        step = self.step
        if not self.is_cloze:
            choices = [(str(i.pk), title_among(i, self.instruments)) for i in self.instruments]
            # Nothing is chosen for the designer where there is something to choose.
            choices = [("", "—"), *choices] if self.is_new and len(choices) > 1 else choices
            self.fields["instrument"] = forms.ChoiceField(label=_("Questions"), choices=choices)
        if step.kind == Step.Kind.RATING and not self.is_cloze:
            self._add_scope()
        hint = "" if step.kind == Step.Kind.PRACTICE else _("Empty: the name of the questions.")
        self._add_words(_("Heading"), _("Text above the questions"), rows=3, hint=_("One paragraph."))
        self.fields["title"].help_text = hint
        if self.is_check:
            self._add_check()
        if self.is_new and step.kind == Step.Kind.RATING:
            return
        if not self.is_cloze and not self.is_new:
            self.fields["background"] = forms.ChoiceField(
                label=_("What a question is about"), choices=Step.Background.choices
            )
        if step.kind == Step.Kind.PRACTICE:
            self._add_practice()
            return
        if step.scope != Step.Scope.ONCE:
            self.fields["locks"] = forms.BooleanField(
                label=LOCKS,
                required=False,
                help_text=_("The page before says so and lists them for review."),
            )
        revisable = [s for s in earlier if s.instrument_id == step.instrument_id and s.kind == Step.Kind.RATING]
        if revisable or step.revises:
            choices = [("", _("No")), *((s.key, name_of(s)) for s in revisable)]
            self.fields["revises"] = forms.ChoiceField(
                label=_("Shows the answers of an earlier step so that they can be changed"),
                choices=choices,
                required=False,
            )
        if self.is_cloze:
            for name in SWITCHES:
                self.fields[name] = forms.BooleanField(label=SWITCH_LABELS[name], required=False)

    def _add_check(self) -> None:
        self.fields["attempts"] = forms.TypedChoiceField(
            label=_("Attempts"), coerce=int, choices=[(n, n) for n in range(1, MOST_ATTEMPTS + 1)]
        )
        self.fields["on_failure"] = forms.ChoiceField(
            label=_("People who have not answered everything correctly by then"),
            choices=OnFailure.choices,
            widget=forms.RadioSelect,
        )

    def _add_scope(self) -> None:
        """Only the scopes that the questions can have; the others are named with the reason."""
        instrument = self.step.instrument
        choices = drafts.list_scopes(instrument) if instrument else [drafts.ScopeChoice(self.step.scope)]
        if self.is_new:
            choices = [choice for choice in choices if choice.scope == self.step.scope]
        label_by_scope = dict(Step.Scope.choices)
        refused = [choice for choice in choices if choice.reason]
        hint = ""
        if refused:
            names = "; ".join(str(label_by_scope[choice.scope]) for choice in refused)
            hint = _("Not available: %(names)s. Reason: %(reason)s.") % {"names": names, "reason": refused[0].reason}
        self.fields["scope"] = forms.ChoiceField(
            label=_("Asked"),
            choices=[(c.scope, label_by_scope[c.scope]) for c in choices if not c.reason],
            widget=forms.HiddenInput if self.is_new else forms.RadioSelect,
            help_text=hint,
        )

    def _add_practice(self) -> None:
        self.fields["story"] = forms.CharField(
            label=_("The story to practise on"),
            widget=forms.Textarea({"rows": 10}),
            required=False,
            help_text=_("Paste it here. It belongs to no group, and no result counts it."),
        )
        for item in self.practised:
            self.fields[f"sample-{item.key}"] = items.find_type(item.type).field(item)
            self.fields[f"why-{item.key}"] = forms.CharField(
                label=_("Why this would do"), required=False, widget=forms.Textarea({"rows": 2})
            )

    @property
    def plain_fields(self) -> list[forms.BoundField]:
        """All but the sample answers."""
        return [field for field in self.visible_fields() if not field.name.startswith(("sample-", "why-"))]

    @property
    def sample_fields(self) -> list[SampleField]:
        return [SampleField(item, self[f"sample-{item.key}"], self[f"why-{item.key}"]) for item in self.practised]

    def clean_instrument(self) -> Instrument:
        pk = self.cleaned_data["instrument"]
        return next(instrument for instrument in self.instruments if str(instrument.pk) == pk)

    @property
    def fields_of_step(self) -> dict[str, Any]:
        """What the form says, by the names of a step's own fields."""
        names = ("title", "text", "instrument", "scope", "background", "locks", "revises", "story")
        values = {name: self.cleaned_data[name] for name in names if name in self.cleaned_data}
        for name in ("text", "story"):
            if name in values:
                values[name] = values[name].replace("\r\n", "\n")
        if self.is_cloze:
            values["options"] = {name: True for name in SWITCHES if self.cleaned_data.get(name)}
        elif self.is_check:
            check = CheckOptions(self.cleaned_data["attempts"], self.cleaned_data["on_failure"])
            is_once = values.get("scope", self.step.scope) == Step.Scope.ONCE
            is_check = is_once and protocol.has_right_answers(values["instrument"].items.all())
            values["options"] = check.to_store if is_check else {}
        if values.get("instrument", self.step.instrument) != self.step.instrument:
            values["samples"] = {}  # they answered what is no longer asked
        elif self.practised:
            values["samples"] = {
                item.key: {"value": value, "why": self.cleaned_data[f"why-{item.key}"].replace("\r\n", "\n")}
                for item in self.practised
                if (value := self.cleaned_data.get(f"sample-{item.key}")) is not None
            }
        return values


def load_instruments(step: Step, kind: NewStep | None = None) -> list[Instrument]:
    """The instruments that such a step can ask, by title; that of the step is among them. Two queries."""
    in_order = Prefetch("items", Item.objects.order_by("position"))
    rows = Instrument.objects.select_related("cloze").prefetch_related(in_order).order_by("title", "version")
    if kind is not None:
        return [instrument for instrument in rows if kind.suits(instrument)]
    return [i for i in rows if i.pk == step.instrument_id or _suits(step, i)]


def _suits(step: Step, instrument: Instrument) -> bool:
    """Whether the step could ask the instrument in place of its own."""
    if getattr(instrument, "cloze", None):
        return False
    choices = drafts.list_scopes(instrument)
    return any(choice.scope == step.scope and not choice.reason for choice in choices)


def title_among(instrument: Instrument, instruments: Sequence[Instrument]) -> str:
    """The instrument's title, with its version where several share the title, and whether it is a draft."""
    shares = sum(other.title == instrument.title for other in instruments) > 1
    title = f"{instrument.title} ({instrument.version})" if shares else instrument.title
    return title if instrument.status == Instrument.Status.PUBLISHED else _("%(title)s, a draft") % {"title": title}
