"""The form of one score: what it is called, how it is taken, and which questions count in it, how often, which way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from studies.documents.scores import LONGEST, MEAN, SUM, ScoreDocument
from studies.models import Item
from studies.views.edits import EditForm

LEFT_OUT, COUNTS, REVERSED = "", "counts", "reversed"
WAYS = (
    (LEFT_OUT, pgettext_lazy("a question of a score", "left out")),
    (COUNTS, gettext_lazy("counts")),
    (REVERSED, gettext_lazy("reversed")),
)
MOST_WEIGHT = 1_000_000


@dataclass(frozen=True)
class CountedQuestion:
    """A question with its two fields of the form."""

    item: Item
    way: forms.BoundField
    weight: forms.BoundField


class DeclaredScoreForm(EditForm):
    """One score of an instrument; `cleaned_data["score"]` is the document of it.

    items : those that can count, in their order
    score : as it is saved; None for a new one
    """

    title = forms.CharField(
        label=gettext_lazy("Title"),
        max_length=LONGEST["title"],
        help_text=gettext_lazy("What reports call it, such as “Depth”."),
    )
    how = forms.ChoiceField(
        label=gettext_lazy("It is"),
        choices=[(MEAN, gettext_lazy("the mean of its questions")), (SUM, gettext_lazy("their sum"))],
        widget=forms.RadioSelect,
    )

    def __init__(self, *args: Any, items: Sequence[Item], score: ScoreDocument | None = None, **kwargs: Any) -> None:
        self.items, self.score = items, score
        super().__init__(*args, initial=self._saved(), **kwargs)
        for item in items:
            self.fields[f"way_{item.key}"] = forms.ChoiceField(label=str(item), choices=WAYS, required=False)
            self.fields[f"weight_{item.key}"] = forms.FloatField(
                label=_("Weight of “%(question)s”") % {"question": item},
                min_value=0,
                max_value=MOST_WEIGHT,
                required=False,
                widget=forms.NumberInput({"step": "any"}),
            )

    @property
    def questions(self) -> list[CountedQuestion]:
        return [CountedQuestion(item, self[f"way_{item.key}"], self[f"weight_{item.key}"]) for item in self.items]

    def clean(self) -> None:
        super().clean()
        way_by_key = {item.key: self.cleaned_data.get(f"way_{item.key}", LEFT_OUT) for item in self.items}
        counted = [key for key, way in way_by_key.items() if way]
        if len(counted) < 2:
            self.add_error(None, _("Let two questions or more count; one alone is reported anyway."))
        for key in counted:
            if self.cleaned_data.get(f"weight_{key}") == 0:
                self.add_error(f"weight_{key}", _("Give a number above 0, or let the question not count."))
        if self.errors:
            return
        weight_by_key = {key: self.cleaned_data[f"weight_{key}"] for key in counted}
        self.cleaned_data["score"] = ScoreDocument(
            key=self.score.key if self.score else "",
            title=self.cleaned_data["title"],
            how=self.cleaned_data["how"],
            items=tuple(counted),
            weights={key: weight for key, weight in weight_by_key.items() if weight not in (None, 1)},
            reversed=tuple(key for key in counted if way_by_key[key] == REVERSED),
        )

    def _saved(self) -> dict[str, Any]:
        """What is saved, by field; a new score is a mean."""
        if self.score is None:
            return {"how": MEAN}
        saved: dict[str, Any] = {"title": self.score.title, "how": self.score.how}
        for item in self.items:
            if item.key in self.score.items:
                saved[f"way_{item.key}"] = REVERSED if item.key in self.score.reversed else COUNTS
                saved[f"weight_{item.key}"] = self.score.weights.get(item.key)
        return saved
