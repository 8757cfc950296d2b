"""What an item type is. No models here: an item is anything that has these attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

# What a response stores: JSON. Stories are named by identity (their code) when stored, by letter when shown.
Value = Any
Level = Literal["nominal", "ordinal", "interval", "none"]


class ItemDefinition(Protocol):
    """What an item type reads of an item. `studies.models.Item` has it, and so has a parsed instrument file.

    options : [{"value": "expert", "label": "An experienced writer"}, …], for types that offer options
    settings : what else the type needs, by name; each type documents its own
    """

    @property
    def key(self) -> str: ...
    @property
    def question(self) -> str: ...
    @property
    def options(self) -> list[dict[str, Any]]: ...
    @property
    def settings(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class StoryLabel:
    """A story as a rater may name it: its letter in this seat, what a page calls it, and where it can be read again.

    opening : the words it begins with, in its own language; empty where nobody needs them to tell the stories apart
    """

    letter: str
    url: str = ""
    title: str = ""
    opening: str = ""
    language: str = ""


@dataclass(frozen=True)
class Setting:
    """What an item of a type may set beside its words; forms and the checks of documents are made from it.

    title, hint : what a form calls it, and says below
    choices : the values that it can have, each with its words; () if any of its kind
    default : with what a form begins
    names_option : whether its value is that of an option of the item
    is_of_cloze : whether only clozes set it, so that no form offers it
    is_of_analysis : whether raters never meet it, so that forms show it with what few questions need
    """

    kind: type
    title: Promise
    hint: Promise | str = ""
    choices: tuple[tuple[str, Promise], ...] = ()
    default: int | None = None
    names_option: bool = False
    is_of_cloze: bool = False
    is_of_analysis: bool = False


CORRECT = Setting(
    str,
    gettext_lazy("Right answer"),
    gettext_lazy("For a check of understanding; raters are never shown it. Empty: there is none."),
    names_option=True,
)


class InvalidDefinition(ValueError):
    """An item cannot be asked as it is written; `field` says where, the message says why and what would do."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class InvalidAnswer(ValueError):
    """An answer that the item does not allow. The message is a sentence for the rater, person or model."""


class ItemType:
    """One kind of question. Subclasses are discovered; one instance of each serves all items.

    A subclass gives `name`, `level`, `template`, `example`, and overrides what differs.
    """

    name: ClassVar[str]
    title: ClassVar[Promise]  # what designers choose it by
    summary: ClassVar[Promise]  # the same in a few words more
    # At which level the value itself enters agreement; "none" if it is not one point on one scale.
    level: ClassVar[Level]
    template: ClassVar[str]  # "items/binary.html": the controls, given what `context` returns
    settings: ClassVar[Mapping[str, Setting]] = {}  # what an item may set, by name
    has_options: ClassVar[bool] = False
    option_values: ClassVar[tuple[str, ...]] = ()  # of a type whose options have values of their own, in order
    about_stories: ClassVar[bool] = False  # compares stories, so needs a scope with several
    most_stories: ClassVar[int | None] = None  # of a group that can be compared; None: as many as it has
    seconds: ClassVar[int] = 20  # that an answer takes, reasons apart: a guess, for planning
    # What reports can take of its answers beside their level of measurement:
    is_verdict: ClassVar[bool] = False  # Yes or No, so that there is a pass rate
    chooses_story: ClassVar[bool] = False  # one of the stories of a group, so that there are wins
    gives_order: ClassVar[bool] = False  # an order of the stories of a group, so that there are ranks
    # What goes from its answers once the text that they are about was erased:
    is_written: ClassVar[bool] = False  # the rater writes it, so a model may repeat the text
    marks_passages: ClassVar[bool] = False  # it holds stretches of the text
    # {"item": {…}, "valid": [(raw, value), …], "invalid": [raw, …], "model": [raw that the schema allows, …]}
    example: ClassVar[dict[str, Any]]

    def check(self, item: ItemDefinition) -> None:
        """Raise InvalidDefinition unless the item can be asked as written."""
        if item.options and not self.has_options:
            raise InvalidDefinition("options", "this type offers no options; remove them or choose another type")
        for name, value in item.settings.items():
            if name not in self.settings:
                names = ", ".join(sorted(self.settings)) or "none"
                raise InvalidDefinition(f"settings.{name}", f"not a setting of this type; it has {names}")
            if not has_type(self.settings[name].kind, value):
                kind = KINDS[self.settings[name].kind]
                raise InvalidDefinition(f"settings.{name}", f"must be {kind}, not {value!r}")

    def clean(self, item: ItemDefinition, raw: Any, *, stories: Sequence[StoryLabel] = ()) -> Value:
        """The answer as it is stored, from a form, a model's JSON or a file; stories are named by letter.

        Raises InvalidAnswer with the way out. `raw` is never empty (see `is_empty`): that is no answer, and not the
        type's affair.
        """
        raise NotImplementedError(self.name)

    def clean_draft(self, item: ItemDefinition, raw: Any, *, stories: Sequence[StoryLabel] = ()) -> Value:
        """The answer of somebody who is still at work, as it is stored. Like `clean`, but a type may keep what was
        written although it is too much; `shortfall` then says so. Raises InvalidAnswer."""
        return self.clean(item, raw, stories=stories)

    def shortfall(self, item: ItemDefinition, value: Value) -> str:
        """What keeps the answer, too short or too long, from being submitted, in a sentence; "" if nothing does."""
        return ""

    def from_form(self, data: Mapping[str, Any], name: str, *, stories: Sequence[StoryLabel] = ()) -> Any:
        """What was posted under that name, as `clean` takes it; empty if nothing was."""
        return data.get(name)

    def context(
        self, item: ItemDefinition, *, name: str, value: Any = None, stories: Sequence[StoryLabel] = ()
    ) -> dict[str, Any]:
        """What the template needs: `item`, `name` of the form field, `value`, `stories`, `options`, and a type's own.

        `value` is an answer that `clean` returned, what a form posted and `clean` refused, or None.
        """
        return {"item": item, "name": name, "value": value, "stories": stories, "options": item.options}

    def field(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> forms.Field:
        """The form field whose widget the page shows; never required, since a draft may be empty."""
        return AnswerField(self, item, stories)

    def words(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> str:
        """How a model is told to answer, as one or two plain sentences."""
        raise NotImplementedError(self.name)

    def schema(self, item: ItemDefinition, *, stories: Sequence[StoryLabel] = ()) -> dict[str, Any]:
        """JSON schema of the value that a model returns. What a schema cannot say, `words` says and `clean` checks."""
        raise NotImplementedError(self.name)

    def label(self, item: ItemDefinition, value: Value) -> str:
        """The value in the words of the item, for receipts, reviews and exports."""
        return str(value)

    def is_worded(self, item: ItemDefinition) -> bool:
        """Whether labels are the item's own words. Where they are ours, pages translate them; exports never do."""
        return True

    def analysed(self, item: ItemDefinition, value: Value) -> Value:
        """The value in the direction in which it is analysed, which may differ from the one shown."""
        return value

    def is_correct(self, item: ItemDefinition, value: Value) -> bool | None:
        """Whether the value is what the item's `correct` setting says; None if the item has no right answer."""
        return None if "correct" not in item.settings else bool(value == item.settings["correct"])

    def describe(self, item: ItemDefinition) -> str:
        """With what the item is answered beside its kind, in a few words for a list of questions; "" if nothing is."""
        return ", ".join(option["label"] for option in item.options)

    def author_by_option(self, item: ItemDefinition) -> Mapping[str, str]:
        """What kind of source each option means, if the item asks who wrote a story; else nothing."""
        return {}

    def renamed(self, value: Value, names: Mapping[str, str]) -> Value:
        """The value with its stories renamed (letters to codes or back). Types that name no story return it as it is.

        Raises KeyError for a story that has no new name: a mixture of letters and codes must never be stored.
        """
        return value


def is_empty(raw: Any) -> bool:
    """Whether this is no answer at all: None, blank text, or a list or table with nothing in it."""
    if isinstance(raw, str):
        return not raw.strip()
    return raw is None or (isinstance(raw, list | tuple | dict) and not raw)


class AnswerWidget(forms.Widget):
    """The type's controls. The page gives the fieldset and its legend, which is the question."""

    use_fieldset = True

    def __init__(self, kind: ItemType, item: ItemDefinition, stories: Sequence[StoryLabel]) -> None:
        super().__init__()
        self.kind, self.item, self.stories = kind, item, stories
        self.template_name = kind.template

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        return self.kind.context(self.item, name=name, value=value, stories=self.stories)

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> Any:
        return self.kind.from_form(data, name, stories=self.stories)

    def value_omitted_from_data(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        # Radios and position selects that are left open post nothing under the field's own name.
        return False

    def id_for_label(self, id_: str | None) -> str:
        return ""


class AnswerField(forms.Field):
    """Cleans to the value that is stored, or to None where nothing was answered."""

    def __init__(self, kind: ItemType, item: ItemDefinition, stories: Sequence[StoryLabel]) -> None:
        super().__init__(required=False, label=item.question, widget=AnswerWidget(kind, item, stories))
        self.kind, self.item, self.stories = kind, item, stories

    def clean(self, value: Any) -> Any:
        if is_empty(value):
            return None
        try:
            return self.kind.clean(self.item, value, stories=self.stories)
        except InvalidAnswer as error:
            raise forms.ValidationError(str(error), code="invalid") from error


KINDS: dict[type, str] = {int: "a whole number", float: "a number", bool: "true or false", str: "text", dict: "a table"}


def has_type(kind: type, value: Any) -> bool:
    """Whether the value is of that kind. True is an int to Python; to whoever wrote `low = true` it was a slip."""
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)


def join_words(words: Sequence[str], last: str) -> str:
    """The words as an enumeration: “A, B or C” with last = "or"."""
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else ""
