"""What each column of a file of answers is, how it calls raters and stories, and what its values mean, as a form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
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
    write_mapping,
)
from annotation.answer_import.files import ANSWERS
from annotation.answer_import.guesses import read_crossing
from annotation.answer_import.names import CODE, StoryNames, list_story_names
from annotation.answer_import.roles import ANSWERS_BY_ROW, FACTS, PLACES, ROLES
from annotation.answer_import.times import TimeForms
from annotation.models import Rater
from annotation.responses import LETTERS
from annotation.views.designer.answer_import_parts import (
    CrossedFields,
    LeftOutFields,
    StoryFields,
    add_time_fields,
    join_words,
    split_words,
)
from studies import items, protocol
from studies.documents import reader
from studies.documents.errors import DocumentError, InvalidValue
from studies.incoming_tables.tables import IncomingTable
from studies.models import Study
from studies.views.incoming_tables import N_SAMPLES, RolesForm, UploadForm

MOST_DIFFERENT = 20  # values of a column whose meaning can be said one by one
MOST_MEANINGS = 120  # on one page
MOST_ITEMS = 60
MOST_STORIES = 6  # columns that name the stories of a group
MOST_LISTED = 150  # columns that can be mapped one by one; of more, a mapping says what they are
ANSWER, REASON, PLACE, RANK, OPTION = "answer:", "reason:", "place:", "rank:", "option:"
KEPT = "kept"  # a column as the saved mapping has it, in a way that the page cannot say
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

    def __init__(
        self, data: Any, *, table: IncomingTable, mapping: ColumnMapping, study: Study, may_cross: bool = True
    ) -> None:
        rater = mapping.rater
        initial = {
            "rater_name": rater.name,
            "rater_prefix": rater.prefix,
            "rater_kind": rater.kind,
            "is_numbered": rater.is_numbered,
            "story_by": mapping.story.by,
            "declined": join_words(mapping.declined),
            "unreadable": join_words(mapping.unreadable),
        }
        self.whole, self.saved, self.study = table, mapping, study
        steps = protocol.load_protocol(protocol.latest(study))
        all_steps = (*steps.ratings, *steps.asked_once)
        self.asked = [(step, item) for step in all_steps for item in protocol.items_of(step)]
        crossing = read_crossing(table, study, _column_by_role(mapping))
        crossed = {column.column for column in crossing.columns} if crossing else set()
        super().__init__(data, table=table, initial=initial)
        self.crossed = CrossedFields(self, crossing, mapping, self.asked, is_wanted=may_cross) if crossing else None
        columns = table.columns
        if self.crossed and self.crossed.is_read:
            columns = tuple(column for column in table.columns if column not in crossed)
        self.table = _narrow(table, _list_columns(columns, mapping))
        self.n_unlisted = len(columns) - len(self.table.columns)
        self.fields["story_by"].choices = list_story_names(study)  # type: ignore[attr-defined]
        step_by_item = {item.key: step.key for step, item in reversed(self.asked)}
        self.kept = _list_kept(mapping, step_by_item, set(self.table.columns))
        self.add_roles(self._list_roles(), _roles(mapping, step_by_item, self.kept))
        labels: Counter[str] = table.count_values(mapping.story.column)
        if crossing and crossing.kind == "story" and self.crossed and self.crossed.is_read:
            labels = Counter(column.about for column in crossing.columns)
        self.stories = StoryFields(self, labels, mapping, study)
        self.left_out = LeftOutFields(self, table, mapping)
        add_time_fields(self, mapping.times)
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
            *self._list_parts(),
            (KEPT, _("As the mapping says")),
        ]

    def _list_parts(self) -> Iterator[tuple[str, str]]:
        """What a column can be of an answer in several: a place, a story's rank, an option."""
        for step, item in self.asked:
            name, title, kind = f"{step.key}/{item.key}", item.title or item.key, items.find_type(item.type)
            if kind.gives_order:
                for n in range(1, MOST_STORIES + 1):
                    yield f"{PLACE}{name}:{n}", _("%(item)s: place %(n)d") % {"item": title, "n": n}
                for letter in LETTERS[:MOST_STORIES]:
                    words = _("%(item)s: rank of story %(letter)s")
                    yield f"{RANK}{name}:{letter}", words % {"item": title, "letter": letter}
            if kind.has_options and kind.level == "none":
                for option in item.options:
                    yield f"{OPTION}{name}:{option['value']}", f"{title}: {option['label']}"

    def _add_meanings(self) -> None:
        keys = [("", _("as it is")), *((item.key, item.title or item.key) for _step, item in self.asked)]
        for answer in self.saved.answers:
            values = self.whole.count_values(answer.value) if not (answer.story or answer.rater) else Counter[str]()
            if len(values) <= MOST_DIFFERENT:
                for value, n in sorted(values.items()):
                    if len(self._means) < MOST_MEANINGS:
                        name = f"means-{len(self._means)}"
                        self._means[name] = (answer.value, value, n)
                        self.fields[name] = forms.CharField(
                            label=value, required=False, max_length=500, initial=answer.means.get(value, "")
                        )
            for value, n in sorted(self.whole.count_values(answer.items_in).most_common(MOST_ITEMS)):
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
            is_once = role in ONCE or role.startswith((ANSWER, REASON, PLACE, RANK, OPTION, "story "))
            if is_once and roles.index(role) < place:
                message = _("This is said of the column %(name)s already.")
                self.add_error(f"role-{place}", message % {"name": self.table.columns[roles.index(role)]})
        if not self.errors:
            try:
                parse_mapping(write_mapping(self.updated_mapping()), _("mapping"), may_be_open=True)
            except DocumentError as error:
                self.add_error(None, f"{error.location}: {error.reason}")

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
        by, code_by_label = posted["story_by"] or CODE, self.stories.updated()
        return ColumnMapping(
            rater=rater,
            story=StoryColumn(column_by_role.get("story", ""), by, code_by_label),
            group=GroupColumn(column_by_role.get("group", ""), stories),
            facts={role.key: column_by_role[role.key] for role in FACTS if role.key in column_by_role},
            answers=(*self._crossed_answers(by, code_by_label), *self._answers(column_by_role), *self._kept_answers()),
            declined=split_words(posted["declined"]),
            unreadable=split_words(posted["unreadable"]),
            times=TimeForms(posted["dates"], posted["zone"], self.saved.times.format),
            leave_out=self.left_out.updated(),
        )

    def _crossed_answers(self, by: str, given: dict[str, str]) -> Iterator[AnswerColumn]:
        """The answers in columns that name what they are about; of each as saved, what its values mean."""
        if self.crossed and self.cleaned_data["is_crossed"]:
            means = {answer.value: answer.means for answer in self.saved.answers}
            for answer in self.crossed.updated_answers(StoryNames(self.study, by), given):
                yield replace(answer, means=means.get(answer.value, {}))

    def _kept_answers(self) -> Iterator[AnswerColumn]:
        """The answers that the page cannot say, unless one of their columns is something else now."""
        roles = self.posted_roles()
        crossed = {column.column for column in self.crossed.crossing.columns} if self.crossed else set()
        for answer in self.kept:
            names_place = bool(answer.story or answer.rater or not answer.value)
            is_crossed = bool(set(answer.columns) & crossed) and (names_place or self.cleaned_data["is_crossed"])
            if not is_crossed and all(roles.get(column, KEPT) == KEPT for column in answer.columns):
                yield replace(answer, means=self._means_of(answer.value)) if answer.value else answer

    def _answers(self, column_by_role: dict[str, str]) -> Iterator[AnswerColumn]:
        if column := column_by_role.get("value", ""):
            yield AnswerColumn(
                value=column,
                items_in=column_by_role.get("item", ""),
                items=self._posted(self._items, column_by_role.get("item", "")),
                rationale=column_by_role.get("reason", ""),
                means=self._means_of(column),
            )
        group_by_column = {answer.value: answer.group for answer in self.saved.answers}
        for step, item in self.asked:
            name = f"{step.key}/{item.key}"
            reason = column_by_role.get(REASON + name, "")
            answer = AnswerColumn(item=item.key, step=step.key, rationale=reason)
            if column := column_by_role.get(ANSWER + name, ""):
                group = group_by_column.get(column, "")
                yield replace(answer, value=column, means=self._means_of(column), group=group)
            if places := _parts_of(PLACE + name, column_by_role):
                yield replace(answer, ranked=tuple(sorted(places, key=lambda column: int(places[column]))))
            if ranks := _parts_of(RANK + name, column_by_role):
                yield replace(answer, ranks=ranks)
            if options := _parts_of(OPTION + name, column_by_role):
                yield replace(answer, options=options)

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


def _parts_of(name: str, column_by_role: Mapping[str, str]) -> dict[str, str]:
    """What each column is of an answer in several, by its role: a place, a story's letter, an option."""
    start = f"{name}:"
    return {column: role.removeprefix(start) for role, column in column_by_role.items() if role.startswith(start)}


def _list_columns(columns: tuple[str, ...], mapping: ColumnMapping) -> tuple[str, ...]:
    """The columns that the page lists, in their order: those that are mapped, and others as far as there is room."""
    present = set(columns)
    mapped = [column for _place, column in mapping.columns() if column in present]
    listed = set([*dict.fromkeys([*mapped, *columns])][:MOST_LISTED])
    return tuple(column for column in columns if column in listed)


def _list_kept(mapping: ColumnMapping, step_by_item: Mapping[str, str], listed: set[str]) -> list[AnswerColumn]:
    """The answers that stay as the mapping has them: the page does not list their columns, or has no words for them."""
    n_by_item = Counter(_name_item(answer, step_by_item) for answer in mapping.answers)
    return [
        answer
        for answer in mapping.answers
        if _has_no_words(answer)
        or n_by_item[_name_item(answer, step_by_item)] > 1
        or not {*answer.columns, answer.rationale, answer.items_in} - {""} <= listed
    ]


def _has_no_words(answer: AnswerColumn) -> bool:
    is_by_letter = all(story in LETTERS[:MOST_STORIES] for story in answer.ranks.values())
    return bool(answer.story or answer.rater or not is_by_letter or (answer.group and not answer.value))


def _name_item(answer: AnswerColumn, step_by_item: Mapping[str, str]) -> str:
    return f"{answer.step or step_by_item.get(answer.item)}/{answer.item}" if answer.item else ""


def _narrow(table: IncomingTable, columns: tuple[str, ...]) -> IncomingTable:
    """The first rows of those columns, as far as the page shows them."""
    places = [table.columns.index(column) for column in columns]
    rows = tuple((n, tuple(cells[at] for at in places)) for n, cells in table.rows[:N_SAMPLES])
    return IncomingTable(table.name, columns, rows)


def _column_by_role(mapping: ColumnMapping) -> dict[str, str]:
    columns = {"rater": mapping.rater.column, "story": mapping.story.column, "group": mapping.group.column}
    return {role: column for role, column in (columns | dict(mapping.facts)).items() if column}


def _roles(mapping: ColumnMapping, step_by_item: Mapping[str, str], kept: Collection[AnswerColumn]) -> dict[str, str]:
    """What each column is, by its name. step_by_item : the step of an item where the mapping names none"""
    roles = {mapping.rater.column: "rater", mapping.story.column: "story", mapping.group.column: "group"}
    roles |= {column: f"story {letter}" for letter, column in zip(LETTERS, mapping.group.stories, strict=False)}
    roles |= {column: role for role, column in mapping.facts.items()}
    kept_ids = {id(answer) for answer in kept}
    for answer in mapping.answers:
        name = _name_item(answer, step_by_item)
        if id(answer) in kept_ids:
            roles |= dict.fromkeys((*answer.columns, answer.rationale), KEPT)
            continue
        roles |= {column: f"{PLACE}{name}:{n}" for n, column in enumerate(answer.ranked, start=1)}
        roles |= {column: f"{RANK}{name}:{letter}" for column, letter in answer.ranks.items()}
        roles |= {column: f"{OPTION}{name}:{option}" for column, option in answer.options.items()}
        roles[answer.value] = ANSWER + name if name else "value"
        roles[answer.rationale] = REASON + name if name else "reason"
        roles[answer.items_in] = "item"
    return {column: role for column, role in roles.items() if column}
