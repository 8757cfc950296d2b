"""What each column of a file of answers is, how it calls raters and stories, and what its values mean, as a form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.answer_import.column_map import (
    AnswerColumn,
    ColumnMapping,
    GroupColumn,
    StoryColumn,
    parse_mapping,
)
from annotation.answer_import.files import ANSWERS
from annotation.answer_import.names import CODE, list_story_names
from annotation.answer_import.roles import ANSWERS_BY_ROW, FACTS, PLACES, ROLES
from annotation.models import Rater
from annotation.responses import LETTERS
from studies import protocol
from studies.documents import reader
from studies.documents.errors import DocumentError, InvalidValue
from studies.incoming_tables.tables import IncomingTable
from studies.models import Study
from studies.views.incoming_tables import RolesForm, UploadForm

MOST_DIFFERENT = 20  # values of a column whose meaning can be said one by one
MOST_MEANINGS = 120  # on one page
MOST_ITEMS = 60
MOST_STORIES = 6  # columns that name the stories of a group
ANSWER, REASON = "answer:", "reason:"
ONCE = tuple(role.key for role in ROLES)


class AnswerFileForm(UploadForm):
    """A file of answers, and the mapping by which it is read if there is one already."""

    kind = ANSWERS

    mapping = forms.FileField(
        label=gettext_lazy("Mapping"),
        required=False,
        help_text=gettext_lazy(
            "A mapping that was kept before (.toml). Without one you say on the next page what is where."
        ),
    )

    def clean_mapping(self) -> ColumnMapping | None:
        file = self.cleaned_data["mapping"]
        if not file:
            return None
        try:
            return parse_mapping(file.read(reader.LARGEST_TEXT + 1), file.name)
        except DocumentError as error:
            raise forms.ValidationError(str(error)) from None


@dataclass(frozen=True)
class Meaning:
    """What a value of a column of answers, or of the column of items, is taken for. field : of the form"""

    column: str
    value: str
    n_rows: int
    field: forms.BoundField


class MappingForm(RolesForm):
    """The mapping of one table, as fields; whatever it leaves unsaid stays as it was."""

    rater_name = forms.CharField(
        label=gettext_lazy("Code of the rater, where one gave all answers"), required=False, max_length=80
    )
    rater_prefix = forms.CharField(
        label=gettext_lazy("Codes begin with"),
        required=False,
        max_length=20,
        help_text=gettext_lazy("E and a column that says 7 make E7."),
    )
    rater_kind = forms.ChoiceField(
        label=gettext_lazy("Raters are"),
        choices=[(Rater.Kind.PERSON, gettext_lazy("people")), (Rater.Kind.MODEL, gettext_lazy("models"))],
    )
    is_numbered = forms.BooleanField(
        label=gettext_lazy("Number the raters, so that no name of theirs enters the study"), required=False
    )
    story_by = forms.ChoiceField(label=gettext_lazy("The file names stories by"), required=False)
    declined = forms.CharField(
        label=gettext_lazy("What the file says where somebody declined to answer"),
        required=False,
        max_length=500,
        help_text=gettext_lazy("Several stand between semicolons. An empty cell is no answer and is left out."),
    )
    unreadable = forms.CharField(
        label=gettext_lazy("What it says where an answer could not be read"), required=False, max_length=500
    )

    def __init__(self, data: Any, *, table: IncomingTable, mapping: ColumnMapping, study: Study) -> None:
        rater = mapping.rater
        initial = {
            "rater_name": rater.name,
            "rater_prefix": rater.prefix,
            "rater_kind": rater.kind,
            "is_numbered": rater.is_numbered,
            "story_by": mapping.story.by,
            "declined": "; ".join(mapping.declined),
            "unreadable": "; ".join(mapping.unreadable),
        }
        super().__init__(data, table=table, initial=initial)
        self.saved = mapping
        self.fields["story_by"].choices = list_story_names(study)  # type: ignore[attr-defined]
        steps = protocol.load_protocol(protocol.latest(study))
        asked = (*steps.ratings, *steps.asked_once)
        self.asked = [(step, item) for step in asked for item in protocol.items_of(step)]
        step_by_item = {item.key: step.key for step, item in reversed(self.asked)}
        self.add_roles(self._list_roles(), _roles(mapping, step_by_item))
        self._means: dict[str, tuple[str, str, int]] = {}
        self._items: dict[str, tuple[str, str, int]] = {}
        self._add_meanings()

    def _list_roles(self) -> list[tuple[str, str]]:
        item_choices = [
            (f"{sign}{step.key}/{item.key}", words % {"item": item.title or item.key})
            for sign, words in ((ANSWER, _("Answer: %(item)s")), (REASON, _("Reason: %(item)s")))
            for step, item in self.asked
        ]
        several = [(f"story {letter}", _("Story %(letter)s of the group") % {"letter": letter}) for letter in LETTERS]
        return [
            ("", _("Leave out")),
            *((role.key, str(role.title)) for role in PLACES),
            *several[:MOST_STORIES],
            *((role.key, str(role.title)) for role in (*ANSWERS_BY_ROW, *FACTS)),
            *item_choices,
        ]

    def _add_meanings(self) -> None:
        keys = [("", _("as it is")), *((item.key, item.title or item.key) for _step, item in self.asked)]
        for answer in self.saved.answers:
            values = self.table.count_values(answer.value)
            if len(values) <= MOST_DIFFERENT:
                for value, n in sorted(values.items()):
                    if len(self._means) < MOST_MEANINGS:
                        name = f"means-{len(self._means)}"
                        self._means[name] = (answer.value, value, n)
                        self.fields[name] = forms.CharField(
                            label=value, required=False, max_length=500, initial=answer.means.get(value, "")
                        )
            for value, n in sorted(self.table.count_values(answer.items_in).most_common(MOST_ITEMS)):
                name = f"item-{len(self._items)}"
                self._items[name] = (answer.items_in, value, n)
                self.fields[name] = forms.ChoiceField(
                    label=value, required=False, choices=keys, initial=answer.items.get(value, "")
                )

    def meanings(self) -> list[Meaning]:
        return [Meaning(column, value, n, self[name]) for name, (column, value, n) in self._means.items()]

    def items(self) -> list[Meaning]:
        return [Meaning(column, value, n, self[name]) for name, (column, value, n) in self._items.items()]

    def clean_rater_name(self) -> str:
        name: str = self.cleaned_data["rater_name"].strip()
        try:
            return str(reader.code(name)) if name else ""
        except InvalidValue as error:
            raise forms.ValidationError(str(error)) from None

    def clean(self) -> None:
        roles = list(self.posted_roles().values())
        for place, role in enumerate(roles):
            is_once = role in ONCE or role.startswith((ANSWER, REASON, "story "))
            if is_once and roles.index(role) < place:
                message = _("This is said of the column %(name)s already.")
                self.add_error(f"role-{place}", message % {"name": self.table.columns[roles.index(role)]})

    def updated_mapping(self) -> ColumnMapping:
        """The mapping as it was saved, with what is posted."""
        posted = self.cleaned_data
        column_by_role = {role: column for column, role in self.posted_roles().items() if role}
        rater = replace(
            self.saved.rater,
            column=column_by_role.get("rater", ""),
            name=posted["rater_name"],
            prefix=posted["rater_prefix"].strip(),
            kind=posted["rater_kind"],
            is_numbered=posted["is_numbered"],
        )
        stories = tuple(column_by_role[f"story {letter}"] for letter in LETTERS if f"story {letter}" in column_by_role)
        return ColumnMapping(
            rater=rater,
            story=StoryColumn(column_by_role.get("story", ""), posted["story_by"] or CODE),
            group=GroupColumn(column_by_role.get("group", ""), stories),
            facts={role.key: column_by_role[role.key] for role in FACTS if role.key in column_by_role},
            answers=tuple(self._answers(column_by_role)),
            declined=_parts(posted["declined"]),
            unreadable=_parts(posted["unreadable"]),
        )

    def _answers(self, column_by_role: dict[str, str]) -> Iterator[AnswerColumn]:
        if column := column_by_role.get("value", ""):
            yield AnswerColumn(
                value=column,
                items_in=column_by_role.get("item", ""),
                items=self._posted(self._items, column_by_role.get("item", "")),
                rationale=column_by_role.get("reason", ""),
                means=self._means_of(column),
            )
        for step, item in self.asked:
            name = f"{step.key}/{item.key}"
            if column := column_by_role.get(ANSWER + name, ""):
                reason = column_by_role.get(REASON + name, "")
                means = self._means_of(column)
                yield AnswerColumn(value=column, item=item.key, step=step.key, rationale=reason, means=means)

    def _means_of(self, column: str) -> dict[str, Any]:
        """What the values of the column mean: as posted, and as saved for those that the page does not show."""
        before = next((answer.means for answer in self.saved.answers if answer.value == column), {})
        visible = {value for of_column, value, _n in self._means.values() if of_column == column}
        hidden = {value: meaning for value, meaning in before.items() if value not in visible}
        posted = self._posted(self._means, column)
        # A number that was saved as one stays one.
        alike = {value: before[value] if str(before.get(value)) == posted[value] else posted[value] for value in posted}
        return hidden | alike

    def _posted(self, fields: dict[str, tuple[str, str, int]], column: str) -> dict[str, str]:
        """What was typed or chosen for each value of the column, where anything was."""
        return {
            value: self.cleaned_data[name].strip()
            for name, (of_column, value, _n) in fields.items()
            if of_column == column and self.cleaned_data[name].strip()
        }


def _parts(words: str) -> tuple[str, ...]:
    """What stands between semicolons."""
    return tuple(part.strip() for part in words.split(";") if part.strip())


def _roles(mapping: ColumnMapping, step_by_item: Mapping[str, str]) -> dict[str, str]:
    """What each column is, by its name. step_by_item : the step of an item where the mapping names none"""
    roles = {mapping.rater.column: "rater", mapping.story.column: "story", mapping.group.column: "group"}
    roles |= {column: f"story {letter}" for letter, column in zip(LETTERS, mapping.group.stories, strict=False)}
    roles |= {column: role for role, column in mapping.facts.items()}
    for answer in mapping.answers:
        name = f"{answer.step or step_by_item.get(answer.item)}/{answer.item}" if answer.item else ""
        roles[answer.value] = ANSWER + name if name else "value"
        roles[answer.rationale] = REASON + name if name else "reason"
        roles[answer.items_in] = "item"
    return {column: role for column, role in roles.items() if column}
