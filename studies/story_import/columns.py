"""What each column of a table is, guessed from its name and first rows; and all else that is chosen on screen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from studies.documents import stories as documents
from studies.documents.errors import InvalidValue
from studies.incoming_tables.roles import Role, as_field, recognise
from studies.incoming_tables.tables import IncomingTable
from studies.story_import.sides import SideColumn, find_sides, find_texts_of_row
from studies.vocabulary import SourceKind

FACTOR, LEFT_OUT = "factor", ""
BY_ROW = "row"  # the grouping of tables that hold several stories in a row
WORDS_OF_A_PREMISE = 4  # from which on average what is called a group, or a plot, is told and not numbered
_TRUTHS = dict.fromkeys(("yes", "true", "y", "1", "x", "ja", "sim", "oui"), True) | dict.fromkeys(
    ("no", "false", "n", "0", "-", "nein", "não", "non"), False
)


def _truth(_names: object, cell: str) -> bool:
    truth = _TRUTHS.get(cell.strip().casefold())
    if truth is None:
        raise InvalidValue(_("say yes or no"))
    return truth


def _as(field: str) -> Callable[[Any, str], Any]:
    """Reads a cell as that field of a study file."""
    return as_field(partial(documents.read_field, field))


# What is no field of a study file becomes a property of the story, under the role's key.
ROLES = (
    Role("code", pgettext_lazy("column", "Our code"), "code id no number story story_id", _as("story"), field="story"),
    # The name of a group is words on a line, as long as a source's name.
    Role("group", pgettext_lazy("column", "Group"), "group plot set pair item group_id", _as("source")),
    Role(
        "text",
        pgettext_lazy("column", "The story"),
        "text fulltext full_text story_text content response output body",
        _as("text"),
        field="raw_text",
        may_repeat=True,
        if_missing=gettext_lazy("No column is the story. Say which one it is."),
    ),
    Role(
        "source",
        pgettext_lazy("column", "Source"),
        "source author writer model by written_by author_name",
        _as("source"),
        is_apart=True,
    ),
    Role(
        "source_kind",
        pgettext_lazy("column", "Who wrote it"),
        "source_kind author_type source_type kind writer_type type",
        field="source_kind_said",
        is_apart=True,
    ),
    Role(
        "premise",
        pgettext_lazy("column", "Writing prompt"),
        "premise prompt writing_prompt story_prompt plot_summary task",
        _as("premise"),
    ),
    Role(
        "title",
        pgettext_lazy("column", "Original title"),
        "title file original_title name story_title story_name title_of_story name_of_story",
        _as("title"),
        is_apart=True,
    ),
    Role("url", pgettext_lazy("column", "Address"), "url address link", _as("url"), is_apart=True),
    Role("licence", pgettext_lazy("column", "Licence"), "licence license rights", _as("licence"), is_apart=True),
    Role(
        "may_send_out",
        pgettext_lazy("column", "May go to a model"),
        "may_send_out send_out to_models",
        _truth,
        is_apart=True,
    ),
    Role(
        "may_redistribute",
        pgettext_lazy("column", "May be in exports"),
        "may_redistribute redistribute in_exports",
        _truth,
        is_apart=True,
    ),
    # Votes, dates and tiers differ from row to row, so that nothing but their names tells that they are wanted.
    Role(
        FACTOR,
        pgettext_lazy("column", "A property to compare by"),
        "votes upvotes score likes date posted posted_at created_at tier level",
        as_field(partial(documents.read_factor, "x")),
        is_apart=True,
        may_repeat=True,
    ),
    Role(LEFT_OUT, pgettext_lazy("column", "Leave out"), "notes comment comments", may_repeat=True),
)
ROLE_BY_KEY = {role.key: role for role in ROLES}

# By words that stand in a kind or in a source's name; the first that does.
_WORDS_OF_KIND = (
    (SourceKind.AMATEUR, r"amateur|student|novice|crowd|reddit|hobby|lay"),
    (SourceKind.MODEL, r"model|gpt|claude|llama|gemini|mistral|qwen|deepseek|\bai\b|llm|machine|generated"),
    (SourceKind.EXPERT, r"expert|profession|publish|novelist|author|new yorker|master"),
    (SourceKind.OTHER, r"other|unknown"),
)


@dataclass
class ColumnChoices:
    """What somebody says of a table, as it is kept.

    roles : by column; kinds : the kind of source by what the file says; merged : by a group's name the one meant
    left_out : numbers of rows; normalisations : by key; group_size : where the grouping is “size”
    the last five : for all stories where the file says nothing
    """

    roles: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    merged: dict[str, str] = field(default_factory=dict)
    left_out: list[int] = field(default_factory=list)
    normalisations: list[str] = field(default_factory=list)
    has_new_codes: bool = False
    accepts_encoding: bool = False
    grouping: str = ""
    group_size: int = 0
    source: str = ""
    source_kind: str = ""
    licence: str = ""
    may_send_out: bool = False
    may_redistribute: bool = False

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def for_next_file(self) -> dict[str, Any]:
        """What holds for another file of the same columns as well."""
        return self.as_json() | {"left_out": [], "accepts_encoding": False}

    def column_of(self, role: str) -> str:
        """The first column of that role; "" if there is none."""
        return next(iter(self.columns_of(role)), "")

    def columns_of(self, role: str) -> list[str]:
        return [column for column, key in self.roles.items() if key == role]

    @property
    def sides(self) -> dict[str, SideColumn]:
        """The columns that say something of one of the stories of a row alone."""
        return find_sides(list(self.roles), self.columns_of("text"))

    @property
    def names_sources_by_column(self) -> bool:
        """Whether each of several stories in a row is by the source that its column is called."""
        return len(self.columns_of("text")) > 1 and not self.column_of("source") and not self.source

    def are_of_different_stories(self, columns: Sequence[str]) -> bool:
        """Whether each of the columns says something of another story of the row."""
        sides = self.sides
        texts = [sides[column].text for column in columns if column in sides]
        return len(texts) == len(columns) == len(set(texts))


def restore_choices(values: Mapping[str, Any]) -> ColumnChoices:
    """The choices as they were kept; what is not there any more is left out."""
    return ColumnChoices(**{f.name: values[f.name] for f in fields(ColumnChoices) if f.name in values})


def guess_choices(table: IncomingTable) -> tuple[ColumnChoices, set[str]]:
    """What the columns seem to be, and those of which nothing is sure."""
    roles = recognise(table.columns, ROLES, table.hints)
    unsure = {column for column, role in roles.items() if role == FACTOR}
    left_out = {n for numbers in table.find_left_out().values() for n in numbers}
    rows = [cells for _n, cells in table.rows[:200]]
    samples = {column: [cells[at] for cells in rows if cells[at]] for at, column in enumerate(table.columns)}
    if (group := next((column for column, role in roles.items() if role == "group"), "")) and (
        "premise" not in roles.values() and _mean_words(samples[group]) >= WORDS_OF_A_PREMISE
    ):
        roles[group] = "premise"
        unsure.add(group)
    lengths = {column: _mean_length(cells) for column, cells in samples.items() if column not in roles}
    if "text" not in roles.values() and (texts := find_texts_of_row(lengths)):
        roles |= dict.fromkeys(texts, "text")
        sides = find_sides(table.columns, texts)
        role_by_name = recognise(list(dict.fromkeys(side.name for side in sides.values())), ROLES)
        roles |= {column: role_by_name[side.name] for column, side in sides.items() if side.name in role_by_name}
        unsure |= {*texts, *(column for column in sides if column in roles)}
    if "text" not in roles.values() and (
        longest := max(
            (column for column in samples if column not in table.hints.get("roles", {})),
            key=lambda column: _mean_length(samples[column]),
            default="",
        )
    ):
        roles[longest] = "text"
        unsure.add(longest)
    for column in table.columns:
        if column not in roles:
            n_values = len(set(samples[column]))
            is_factor = 1 < n_values <= 20 and n_values < len(samples[column]) and _mean_length(samples[column]) < 60
            roles[column] = FACTOR if is_factor else LEFT_OUT
            unsure |= {column} if is_factor else set()
    choices = ColumnChoices(roles={column: roles[column] for column in table.columns}, left_out=sorted(left_out))
    choices.grouping = (
        "column" if choices.column_of("group") else "premise" if choices.column_of("premise") else "alone"
    )
    if len(choices.columns_of("text")) > 1:
        # A code of the row is that of no story; and codes that end in a and b would tell which column it was.
        choices.grouping, choices.has_new_codes = BY_ROW, bool(choices.column_of("code"))
    return choices, unsure


def _mean_length(words: Sequence[str]) -> float:
    return sum(map(len, words)) / max(len(words), 1)


def _mean_words(values: Sequence[str]) -> float:
    return sum(len(value.split()) for value in values) / max(len(values), 1)


def guess_kind(words: str) -> str:
    """The kind of source that words such as “gpt-4” or “human, published” mean; "" if they do not say."""
    plain = words.strip().casefold().replace("_", " ")
    for kind in SourceKind:
        if plain in (kind.value.replace("_", " "), str(kind.label).casefold()):
            return kind.value
    return next((kind.value for kind, pattern in _WORDS_OF_KIND if re.search(pattern, plain)), "")


def count_kind_values(table: IncomingTable, choices: ColumnChoices) -> Counter[str]:
    """What is to be translated into kinds of sources: values of the column that says who wrote, else the sources."""
    if choices.names_sources_by_column and not choices.column_of("source_kind"):
        n = len(table.rows) - len(choices.left_out)
        return Counter(dict.fromkeys(choices.columns_of("text"), n))
    columns = choices.columns_of("source_kind") or choices.columns_of("source")
    counts = (table.count_values(column, omitted=choices.left_out) for column in columns)
    return sum(counts, Counter())


def fill_kinds(choices: ColumnChoices, values: Iterable[str], kind_by_source: Mapping[str, str]) -> None:
    """Guess the kinds that nobody has said yet; a source that is known keeps the one it has."""
    for value in values:
        if not choices.kinds.get(value):
            choices.kinds[value] = kind_by_source.get(value) or guess_kind(value)
