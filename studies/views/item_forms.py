"""The form of one question: fields that every item has, and those that its type declares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from studies.documents import reader
from studies.documents.errors import DocumentError, InvalidValue
from studies.documents.instrument import ItemDocument, parse_instrument
from studies.items import ItemType, all_types, find_type, is_empty
from studies.items.base import Setting
from studies.items.options import fold_case
from studies.models import Item
from studies.views.edits import EditForm

PREFIX = "setting_"
PICTURE = "items/pictures/none.html"  # of a type without one of its own
# Below the fold: what most questions leave as it is.
FOLDED = ("title", "dimension", "background", "help", "suggested", "rationale_label", "instruction")
REASONS = (
    ("none", gettext_lazy("none asked")),
    ("optional", gettext_lazy("may be given")),
    ("required", gettext_lazy("needed")),
)
FIELD_BY_KIND: dict[type, type[forms.Field]] = {
    int: forms.IntegerField,
    float: forms.FloatField,
    bool: forms.BooleanField,
    str: forms.CharField,
}
UNITS = (("sentences", gettext_lazy("sentences")), ("words", gettext_lazy("words")))


class PointWordsWidget(forms.Widget):
    """A field for the words at each point of a scale, from `low` to `high`.

    Words that were typed for the ends of the scale as the page showed it are for its ends also after From or To has
    changed. Words at points that the scale no longer has go with the form, unseen, for when it has them again.
    """

    template_name = "studies/point_words.html"
    use_fieldset = True

    def __init__(self, title: Promise, points: Iterable[int]) -> None:
        super().__init__()
        self.title, self.points = title, list(points)

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        words = value or {}
        rows = [
            {"point": point, "name": f"{name}.{point}", "words": words.get(str(point), "")} for point in self.points
        ]
        points = set(map(str, self.points))
        others = [{"name": f"{name}.{point}", "words": words[point]} for point in words if point not in points]
        ends = {"name": f"{name}-shown", "words": " ".join(map(str, self._ends()))}
        return {"title": self.title, "rows": rows, "unseen": [*others, ends], "id": (attrs or {}).get("id", name)}

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> dict[str, str]:
        start = f"{name}."
        posted = {key.removeprefix(start): data[key].strip() for key in data if key.startswith(start)}
        words = {point: words for point, words in posted.items() if words}
        end_by_end = dict(zip(data.get(f"{name}-shown", "").split(), map(str, self._ends()), strict=False))
        moved = {end_by_end[end]: words[end] for end in end_by_end if end in words}
        others = {point: words[point] for point in words if point not in end_by_end}
        # Where somebody wrote words for the new end as well, all stay where they were written.
        return words if moved.keys() & others.keys() else others | moved

    def value_omitted_from_data(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        return False

    def id_for_label(self, id_: str) -> str:
        return id_

    def _ends(self) -> list[int]:
        return [self.points[0], self.points[-1]] if self.points else []


class PointWordsField(forms.Field):
    """Words by point, {"1": "Detached", "5": "Deep Resonance"}; of those that the scale has."""

    widget: PointWordsWidget

    def clean(self, value: Any) -> dict[str, str]:
        points = set(map(str, self.widget.points))
        return {point: words for point, words in super().clean(value).items() if point in points}


class WordsField(forms.CharField):
    """Words as an instrument file brings them, so that the same words have the same fingerprint by either way."""

    def to_python(self, value: Any) -> str:
        try:
            return str(reader.text(super().to_python(value)))
        except InvalidValue as error:
            raise forms.ValidationError(str(error)) from None


@dataclass(frozen=True)
class TypeChoice:
    """A type of answer to choose by its picture."""

    name: str
    title: Promise
    summary: Promise
    pictures: list[str]
    is_chosen: bool


class ItemDraftForm(EditForm):
    """One question with the fields of its type; `cleaned_data["fields"]` are those of `ItemDocument`.

    kind : the type whose settings it shows, which may be another than the saved one while somebody chooses
    """

    question = WordsField(label=gettext_lazy("Question"), widget=forms.Textarea({"rows": 2}))
    type = forms.ChoiceField(label=gettext_lazy("Raters answer with"), widget=forms.RadioSelect)
    options = WordsField(
        label=gettext_lazy("Options"),
        help_text=gettext_lazy("One a line, in the order in which raters see them."),
        widget=forms.Textarea({"rows": 4}),
        required=False,
    )
    rationale = forms.ChoiceField(label=gettext_lazy("Reasons"), choices=REASONS)
    rationale_least = forms.IntegerField(
        label=pgettext_lazy("number of sentences", "At least"), min_value=0, required=False
    )
    rationale_unit = forms.ChoiceField(label=gettext_lazy("Counted in"), choices=UNITS, required=False)
    is_skippable = forms.BooleanField(label=gettext_lazy("May be left out"), required=False)
    title = forms.CharField(
        label=gettext_lazy("Short title"),
        max_length=200,
        required=False,
        help_text=gettext_lazy("Shown above the question and in reports."),
    )
    dimension = forms.CharField(
        label=gettext_lazy("Dimension"),
        max_length=80,
        required=False,
        help_text=gettext_lazy("Questions of one dimension are summed up together in reports."),
    )
    background = WordsField(
        label=gettext_lazy("Background"),
        required=False,
        widget=forms.Textarea({"rows": 4}),
        help_text=gettext_lazy("What raters and models can read above the question."),
    )
    help = WordsField(label=gettext_lazy("Hint beside the answer"), required=False, widget=forms.Textarea({"rows": 2}))
    suggested = forms.CharField(
        label=gettext_lazy("Suggested length"),
        max_length=120,
        required=False,
        help_text=gettext_lazy("Such as “two or three sentences”; never enforced."),
    )
    rationale_label = forms.CharField(
        label=gettext_lazy("Words above the reasons"),
        max_length=120,
        required=False,
        help_text=gettext_lazy("Empty: “Your reasons”."),
    )
    instruction = WordsField(
        label=gettext_lazy("For language models alone"), required=False, widget=forms.Textarea({"rows": 2})
    )

    def __init__(self, *args: Any, item: Item | None = None, kind: str = "", **kwargs: Any) -> None:
        super().__init__(*args, initial=_initial(item), **kwargs)
        self.item = item
        types = all_types()
        chosen = kind or self.data.get("type", "") or (item.type if item else "binary")
        self.kind: ItemType = types.get(chosen, types["binary"])
        self.initial["type"] = self.kind.name
        self.fields["type"].choices = [(name, each.title) for name, each in types.items()]  # type: ignore[attr-defined]
        if not self.kind.has_options:
            del self.fields["options"]
        for name, setting in self.kind.settings.items():
            self.initial.setdefault(f"{PREFIX}{name}", setting.default)
            if not setting.is_of_cloze:
                self.fields[f"{PREFIX}{name}"] = self._setting_field(setting)

    def _setting_field(self, setting: Setting) -> forms.Field:
        shared: dict[str, Any] = {"label": setting.title, "help_text": setting.hint, "required": False}
        if setting.choices:
            return forms.ChoiceField(**shared, choices=setting.choices)
        if setting.kind is dict:
            return PointWordsField(**shared, widget=PointWordsWidget(setting.title, self._points()))
        return FIELD_BY_KIND[setting.kind](**shared)

    def _points(self) -> range:
        """The points of a scale as they are posted or saved; of a new one, five."""
        ends = []
        for name, default in (("low", 1), ("high", 5)):
            value = str(self.data.get(f"{PREFIX}{name}") or self.initial.get(f"{PREFIX}{name}"))
            ends.append(int(value) if re.fullmatch(r"-?[0-9]{1,4}", value) else default)
        return range(ends[0], min(ends[1], ends[0] + 10) + 1)

    @property
    def setting_fields(self) -> list[forms.BoundField]:
        return self._settings(is_of_analysis=False)

    @property
    def analysis_fields(self) -> list[forms.BoundField]:
        return self._settings(is_of_analysis=True)

    def _settings(self, *, is_of_analysis: bool) -> list[forms.BoundField]:
        settings = self.kind.settings
        names = [name for name, setting in settings.items() if setting.is_of_analysis is is_of_analysis]
        return [self[f"{PREFIX}{name}"] for name in names if f"{PREFIX}{name}" in self.fields]

    @property
    def tick_names(self) -> list[str]:
        return [f"{PREFIX}{name}" for name, setting in self.kind.settings.items() if setting.kind is bool]

    @property
    def type_choices(self) -> list[TypeChoice]:
        """The types in the order of their names, each with the templates of which the first that exists draws it."""
        return [
            TypeChoice(name, kind.title, kind.summary, pictures_of(name), kind is self.kind)
            for name, kind in all_types().items()
        ]

    @property
    def has_folded_errors(self) -> bool:
        return any(field.errors for field in (*self.folded_fields, *self.analysis_fields))

    @property
    def folded_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in FOLDED]

    def clean(self) -> None:
        super().clean()
        if self.errors:
            return
        fields = self._document_fields()
        try:
            _check(fields)
        except DocumentError as error:
            self.add_error(self._field_of(error.location), error.reason[:1].upper() + error.reason[1:] + ".")
            return
        self.cleaned_data["fields"] = fields

    def _document_fields(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        options = self._options() if self.kind.has_options else []
        settings = {
            name: _named_option(str(value), options) if setting.names_option else value
            for name, setting in self.kind.settings.items()
            if not is_empty(value := cleaned.get(f"{PREFIX}{name}")) and value is not False
        }
        is_needed = cleaned["rationale"] == "required"
        return {
            "type": self.kind.name,
            "options": options,
            "settings": settings,
            "rationale_least": (cleaned["rationale_least"] or 0) if is_needed else 0,
            "rationale_unit": cleaned["rationale_unit"] or "sentences",
            **{name: cleaned[name] for name in (*FOLDED, "question", "rationale", "is_skippable")},
        }

    def _options(self) -> list[dict[str, str]]:
        """The lines as options; one whose words are as they were keeps its value, and so its place in old answers."""
        lines = [line.strip() for line in self.cleaned_data["options"].splitlines() if line.strip()]
        value_by_label = {option["label"]: option["value"] for option in (self.item.options if self.item else [])}
        if values := self.kind.option_values:
            return [{"value": value, "label": line} for value, line in zip(values, lines, strict=False)]
        options: list[dict[str, str]] = []
        for line in lines:
            value = value_by_label.get(line) or slugify(line)[:40].strip("-") or f"option-{len(options) + 1}"
            while value in [option["value"] for option in options]:
                value += "-2"
            options.append({"value": value, "label": line})
        return options

    def _field_of(self, location: str) -> str | None:
        """The field of the form to which an error of the document belongs."""
        parts = location.rpartition(", ")[2].replace("[", ".").split(".")
        name = f"{PREFIX}{parts[1]}" if parts[0] == "settings" and len(parts) > 1 else parts[0]
        return name if name in self.fields else None


def pictures_of(kind: str) -> list[str]:
    """The templates of which the first that exists draws this type of item."""
    return [f"items/pictures/{kind}.html", PICTURE]


def _check(fields: Mapping[str, Any]) -> None:
    """Raise DocumentError unless an instrument could ask this."""
    row = {"key": "question", **fields}
    parse_instrument({"slug": "draft", "version": "1", "title": "Draft", "items": [row]}, "draft")


def _named_option(value: str, options: list[dict[str, str]]) -> str:
    """The value of the option whose words these are; what was typed where it names none, which the check refuses."""
    known = options or [{"value": "yes", "label": _("Yes")}, {"value": "no", "label": _("No")}]
    for option in known:
        if fold_case(value) in (fold_case(option["value"]), fold_case(option["label"])):
            return option["value"]
    return value


def _initial(item: Item | None) -> dict[str, Any]:
    """What the form shows of a saved item; of a new one, how most questions are."""
    if item is None:
        return {"rationale": "none", "rationale_unit": "sentences"}
    settings = {f"{PREFIX}{name}": _shown(name, value, item) for name, value in item.settings.items()}
    options = "\n".join(option["label"] for option in item.options)
    names = (*FOLDED, *("question", "type", "rationale", "rationale_least", "rationale_unit", "is_skippable"))
    return {**{name: getattr(item, name) for name in names}, "options": options, **settings}


def _shown(name: str, value: Any, item: Item) -> Any:
    setting = find_type(item.type).settings.get(name)
    if setting and setting.names_option:
        return next((option["label"] for option in item.options if option["value"] == value), value)
    return value


def preview_document(fields: Mapping[str, Any]) -> ItemDocument:
    """The question as a document, for showing it before it is saved."""
    return ItemDocument(key="preview", **fields)
