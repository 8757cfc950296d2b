"""How the columns of somebody's file are read as answers: a small TOML document, the same for page and command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import tomli_w
from django.utils.translation import gettext as _

from annotation.answer_import.names import CODE
from annotation.answer_import.roles import FACTS
from annotation.answer_import.times import ORDERS, TimeForms, check_format, check_zone
from annotation.models import Rater
from studies.documents import reader
from studies.documents.errors import DocumentError, InvalidValue
from studies.documents.reader import FieldReader
from studies.incoming_tables.tables import LONGEST_COLUMN

GUIDE = "docs/imports.md"
MOST_ANSWERS = 1_500
MOST_MEANINGS = MOST_ANSWERS  # a rank, an option or a story for each column
MOST_LEFT_OUT = 30
KINDS = (str(Rater.Kind.PERSON), str(Rater.Kind.MODEL))


@dataclass(frozen=True)
class RaterColumn:
    """Who answered.

    column, name : one of them: the column that says it, or the code of the one rater of the whole file
    prefix, digits : what the code begins with; to how many digits a number is filled up with zeros
    is_numbered : whether raters get numbers in the order in which they come, so that no name enters the study
    """

    column: str = ""
    name: str = ""
    prefix: str = ""
    digits: int = 0
    kind: str = KINDS[0]
    is_numbered: bool = False


@dataclass(frozen=True)
class StoryColumn:
    """About which story.

    by : "code", "title", or the name of a factor in the stories' provenance
    names : code of a story by what the file calls it, where it is called neither
    """

    column: str = ""
    by: str = CODE
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class GroupColumn:
    """About which group. column : with its code; stories : the columns that name all of its stories"""

    column: str = ""
    stories: tuple[str, ...] = ()


@dataclass(frozen=True)
class AnswerColumn:
    """One column of answers, or several that make one answer.

    value : the column; or, in its place, one of
    ranks : the story by column, whose cells are its rank, 1 the best
    ranked : columns whose cells name a story, the best first
    options : the option by column, whose cells say whether it is chosen
    item : the key of the item that it answers; else `items_in` is the column that names the item of each row
    items : key by what the file calls it, where they differ
    step : "" where only one step asks the item
    story, group, rater : what it is about and who answered, where not a cell but the column itself says so
    means : answer by what the file says, where they differ
    """

    value: str = ""
    ranks: Mapping[str, str] = field(default_factory=dict)
    ranked: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    item: str = ""
    items_in: str = ""
    items: Mapping[str, str] = field(default_factory=dict)
    step: str = ""
    story: str = ""
    group: str = ""
    rater: str = ""
    rationale: str = ""
    means: Mapping[str, str | int | float] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """Those whose cells make the answer."""
        return (*filter(None, [self.value]), *self.ranks, *self.ranked, *self.options)


@dataclass(frozen=True)
class OmittedRows:
    """Rows that are no answers, such as previews: those in which the column says one of these words, in any case.

    words : "" for an empty cell
    """

    column: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class ColumnMapping:
    """How a file is read.

    facts : the column of each role of `FACTS` that has one, by its key
    times : how the file writes them
    declined, unreadable : what stands in place of an answer where the rater gave none, or none that could be read
    leave_out : which rows do not count
    """

    rater: RaterColumn = field(default_factory=RaterColumn)
    story: StoryColumn = field(default_factory=StoryColumn)
    group: GroupColumn = field(default_factory=GroupColumn)
    facts: Mapping[str, str] = field(default_factory=dict)
    answers: tuple[AnswerColumn, ...] = ()
    declined: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    times: TimeForms = field(default_factory=TimeForms)
    leave_out: tuple[OmittedRows, ...] = ()

    def columns(self) -> Iterator[tuple[str, str]]:
        """Each column that is read, with where the mapping names it."""
        yield "rater, column", self.rater.column
        yield "story, column", self.story.column
        yield "group, column", self.group.column
        yield from (("group, stories", column) for column in self.group.stories)
        yield from self.facts.items()
        yield from ((f"leave_out {n}, column", rows.column) for n, rows in enumerate(self.leave_out, start=1))
        for n, answer in enumerate(self.answers, start=1):
            yield from ((f"answers {n}, value", column) for column in answer.columns)
            for name in ("items_in", "rationale"):
                yield f"answers {n}, {name}", getattr(answer, name)


def _columns(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InvalidValue('must be a list of columns, such as ["first", "second"]')
    return tuple(value)


def _words(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(words, str) and words.strip() for words in value):
        raise InvalidValue('must be a list of what the file says, such as ["declined", "no answer"]')
    return tuple(words.strip() for words in value)


def _left_out_words(value: Any) -> tuple[str, ...]:
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        raise InvalidValue('must be a list of what the column says, such as ["Survey Preview"]')
    return tuple(word.strip() for word in words)


def _checked(check: Any) -> FieldReader:
    def read(value: Any) -> str:
        words = str(reader.line(80)(value))
        check(words)
        return words

    return read


def _answer(value: Any) -> str | int | float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InvalidValue(f"must be text or a number, not {reader.name_kind(value)}")
    return value if not isinstance(value, str) else str(reader.text(value))


def _table_of(read: FieldReader) -> FieldReader:
    def read_table(value: Any) -> dict[str, Any]:
        table = reader.mapping(value)
        if len(table) > MOST_MEANINGS:
            raise InvalidValue(f"has {len(table)} entries; at most {MOST_MEANINGS} are read")
        return {key: read(inner) for key, inner in table.items()}

    return read_table


_COLUMN = reader.verbatim(LONGEST_COLUMN)
_TOP: dict[str, FieldReader] = {
    **dict.fromkeys(("rater", "story", "group", "times"), reader.mapping),
    **{role.key: _COLUMN for role in FACTS},
    **dict.fromkeys(("declined", "unreadable"), _words),
    "answers": reader.tables(MOST_ANSWERS),
    "leave_out": reader.tables(MOST_LEFT_OUT),
}
_RATER: dict[str, FieldReader] = {
    "column": _COLUMN,
    "name": reader.code,
    "prefix": reader.line(20),
    "digits": reader.whole_number(0, 12),
    "kind": reader.one_of(*KINDS),
    "is_numbered": reader.boolean,
}
_STORY: dict[str, FieldReader] = {"column": _COLUMN, "by": reader.line(80), "names": _table_of(reader.line(80))}
_GROUP: dict[str, FieldReader] = {"column": _COLUMN, "stories": _columns}
_TIMES: dict[str, FieldReader] = {
    "dates": reader.one_of(*ORDERS),
    "zone": _checked(check_zone),
    "format": _checked(check_format),
}
_LEFT_OUT: dict[str, FieldReader] = {"column": _COLUMN, "is": _left_out_words}
_ANSWER: dict[str, FieldReader] = {
    **dict.fromkeys(("value", "items_in", "rationale"), _COLUMN),
    **dict.fromkeys(("item", "step", "group"), reader.line(80)),
    **dict.fromkeys(("story", "rater"), reader.line(LONGEST_COLUMN)),
    "ranked": _columns,
    **dict.fromkeys(("items", "ranks", "options"), _table_of(reader.line(LONGEST_COLUMN))),
    "means": _table_of(_answer),
}


def parse_mapping(content: str | bytes, path: Path | str, *, may_be_open: bool = False) -> ColumnMapping:
    """The mapping that the TOML says; `path` names it in errors. Raises DocumentError.

    may_be_open : whether it may have gaps, which somebody is about to fill
    """
    raw = {} if may_be_open and not content.strip() else reader.parse_toml(content, path, guide=GUIDE)
    top = reader.read_table(raw, _TOP, path=path)
    rater = reader.read_table(top.get("rater", {}), _RATER, path=path, location="rater")
    story = reader.read_table(top.get("story", {}), _STORY, path=path, location="story")
    group = reader.read_table(top.get("group", {}), _GROUP, path=path, location="group")
    times = reader.read_table(top.get("times", {}), _TIMES, path=path, location="times")
    leave_out = []
    for n, entry in enumerate(top.get("leave_out", []), start=1):
        location = f"leave_out {n}"
        typed = reader.read_table(entry, _LEFT_OUT, path=path, location=location)
        reader.check_required(typed, ["column", "is"], path=path, location=location)
        leave_out.append(OmittedRows(typed["column"], typed["is"]))
    answers = []
    for n, entry in enumerate(top.get("answers", []), start=1):
        location = f"answers {n}"
        typed = reader.read_table(entry, _ANSWER, path=path, location=location)
        if sum(bool(typed.get(name)) for name in ("value", "ranks", "ranked", "options")) != 1:
            raise DocumentError(path, f"{location}, value", "is missing or empty, or more than one says what is read")
        answers.append(AnswerColumn(**typed))
    mapping = ColumnMapping(
        RaterColumn(**rater),
        StoryColumn(**story),
        GroupColumn(**group),
        {role.key: column for role in FACTS if (column := top.get(role.key, ""))},
        tuple(answers),
        top.get("declined", ()),
        top.get("unreadable", ()),
        TimeForms(**times),
        tuple(leave_out),
    )
    if not may_be_open and (gap := find_gap(mapping)):
        raise DocumentError(path, *gap)
    return mapping


def find_gap(mapping: ColumnMapping) -> tuple[str, str] | None:
    """What the mapping leaves open, as a place in it and a sentence; None if it can be used."""
    if mapping.rater.column and mapping.rater.name:
        return "rater", _("name a column or one rater, not both")
    if both := sorted({*mapping.declined} & {*mapping.unreadable}):
        return "declined", _("“%(words)s” cannot be both declined and unreadable") % {"words": both[0]}
    is_named = mapping.rater.column or mapping.rater.name
    if not is_named and not (mapping.answers and all(answer.rater for answer in mapping.answers)):
        return "rater", _("say which column holds the rater, or give the one rater of the file a name")
    if not mapping.answers:
        return "answers", _("say which column holds answers")
    n_by_column = Counter(column for answer in mapping.answers for column in answer.columns)
    for n, answer in enumerate(mapping.answers, start=1):
        if bool(answer.item) == bool(answer.items_in):
            return f"answers {n}", _("name the item that is answered, or the column that says which one it is")
        if answer.items_in and not answer.value:
            return f"answers {n}", _("an answer in several columns is to one item; name it")
        if twice := next((column for column in answer.columns if n_by_column[column] > 1), ""):
            return f"answers {n}, value", _("the column “%(name)s” stands twice") % {"name": twice}
    return None


def write_mapping(mapping: ColumnMapping) -> str:
    """The mapping as TOML, without what it leaves open. `parse_mapping` reads back the same."""
    table = asdict(mapping)
    parts = {name: _without_empty(table[name]) for name in ("rater", "story", "group", "times")}
    if mapping.group.stories:
        parts["group"]["stories"] = list(mapping.group.stories)
    outcomes = {name: list(table[name]) for name in ("declined", "unreadable")}
    toml = tomli_w.dumps(_without_empty({**table["facts"], **outcomes, **parts}))
    for rows in mapping.leave_out:
        toml += f"\n[[leave_out]]\n{tomli_w.dumps({'column': rows.column, 'is': list(rows.words)})}"
    for answer in table["answers"]:
        answer["ranked"] = list(answer["ranked"])
        tables = {name: answer.pop(name) for name in ("items", "means", "ranks", "options")}
        toml += f"\n[[answers]]\n{tomli_w.dumps(_without_empty(answer))}"
        toml += "".join(f"\n[answers.{name}]\n{tomli_w.dumps(inner)}" for name, inner in tables.items() if inner)
    return toml


def _without_empty(table: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if value}
