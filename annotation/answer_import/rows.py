"""From a table and a mapping to answers, each with its row; what does not fit is named by row, all of it."""

from __future__ import annotations

import json
import re
from collections import ChainMap, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from annotation.answer_import.column_map import AnswerColumn, ColumnMapping
from annotation.answer_import.names import WHOLE, AnswerNames
from annotation.answer_import.roles import FACTS, GROUP, RATER, STORY
from annotation.models import Response
from annotation.responses import LETTERS
from annotation.responses.imports import Row, make_row
from studies import items, protocol
from studies.documents import reader
from studies.documents.errors import DocumentError, quote
from studies.incoming_tables.problems import InvalidRow
from studies.incoming_tables.roles import Role
from studies.incoming_tables.rows import IncomingRow, read_each
from studies.incoming_tables.tables import IncomingTable
from studies.models import Item, ProtocolVersion, Study

DEEPEST = 4  # lists and tables in one another, in an answer
ORDER_MARKS = re.compile(r"([>=])")  # between the stories of a ranking


@dataclass(frozen=True)
class TableRows:
    """The answers of a table; problems : of rows that cannot be read; n_empty : cells without an answer"""

    rows: tuple[Row, ...]
    problems: tuple[InvalidRow, ...]
    n_empty: int


def read_rows(table: IncomingTable, mapping: ColumnMapping, study: Study, version: ProtocolVersion) -> TableRows:
    """The answers in the table, by that mapping, for that study. A few queries, however many rows.

    Raises DocumentError if the mapping names a column, an item or a factor that is not there.
    """
    return _Reader(table, mapping, study, version).read()


class _Reader:
    """One table, read with all that it may name at hand."""

    def __init__(self, table: IncomingTable, mapping: ColumnMapping, study: Study, version: ProtocolVersion) -> None:
        self.table, self.mapping = table, mapping
        self._check_columns()
        loaded_protocol = protocol.load_protocol(version)
        steps = (*loaded_protocol.ratings, *loaded_protocol.asked_once)
        self.once = {step.key for step in loaded_protocol.asked_once}
        self.item_by_key = {(step.key, item.key): item for step in steps for item in protocol.items_of(step)}
        self.steps_by_item: dict[str, list[str]] = defaultdict(list)
        for step, item in self.item_by_key:
            self.steps_by_item[item].append(step)
        self._check_items()
        self._check_place()
        asked_items = self.item_by_key.values()
        # Of items whose answers are lists.
        self.lists = {item.pk for item in asked_items if items.find_type(item.type).schema(item).get("type") == "array"}
        rater = mapping.rater
        self.names = AnswerNames(
            study, mapping.story.by, prefix=rater.prefix, digits=rater.digits, is_numbered=rater.is_numbered
        )
        if not self.names.codes_by_name and (mapping.story.column or mapping.group.stories):
            reason = _("no story of the study has a %(name)s") % {"name": quote(mapping.story.by)}
            raise DocumentError(table.name, "story, by", reason)
        self.about_one = {(s.key): s.scope in (s.Scope.STORY, s.Scope.STORIES) for s in steps}
        self.outcome_by_words = dict.fromkeys(mapping.declined, Response.Outcome.DECLINED)
        self.outcome_by_words |= dict.fromkeys(mapping.unreadable, Response.Outcome.UNREADABLE)
        self.said_once: dict[tuple[str, str, str], Row] = {}
        self.n_empty = 0

    def _check_columns(self) -> None:
        for location, column in self.mapping.columns():
            if column and column not in self.table.columns:
                names = ", ".join(self.table.columns)
                reason = _("%(file)s has no column %(name)s; it has %(names)s")
                values = {"file": self.table.name, "name": quote(column), "names": names[:300]}
                raise DocumentError(_("mapping"), location, reason % values)

    def _check_items(self) -> None:
        for n, answer in enumerate(self.mapping.answers, start=1):
            for key in filter(None, [answer.item, *answer.items.values()]):
                if not self._step_of(answer, key):
                    raise DocumentError(_("mapping"), f"answers {n}, item", self._explain_item(answer, key))

    def _check_place(self) -> None:
        """What is asked in groups needs a story or a group; what is asked once needs neither."""
        mapping = self.mapping
        is_placed = mapping.story.column or mapping.group.column or mapping.group.stories
        if not is_placed and not all(a.item and self._step_of(a, a.item) in self.once for a in mapping.answers):
            raise DocumentError(_("mapping"), "story", _("say which column holds the story, or the group"))

    def _explain_item(self, answer: AnswerColumn, key: str) -> str:
        """Why no one step can be named that asks the item, and what would do."""
        steps = self.steps_by_item.get(key, [])
        if len(steps) > 1 and not answer.step:
            message = _("several steps ask %(name)s (%(names)s); name the step in the mapping")
            return message % {"name": quote(key), "names": ", ".join(steps)}
        message = _("the study has no item %(name)s in a step of its groups; it has %(names)s")
        return message % {"name": quote(key), "names": ", ".join(self.steps_by_item)[:300]}

    def _step_of(self, answer: AnswerColumn, key: str) -> str:
        """The step that asks the item; "" if none does, or several and none is named."""
        steps = self.steps_by_item.get(key, [])
        if answer.step:
            return answer.step if answer.step in steps else ""
        return steps[0] if len(steps) == 1 else ""

    def read(self) -> TableRows:
        columns = dict.fromkeys(column for _place, column in self.mapping.columns() if column)
        rows, problems = read_each(self.table, columns, self._read_row)
        return TableRows(tuple(rows), tuple(problems), self.n_empty)

    def _read_row(self, line: IncomingRow) -> list[Row]:
        """The answers of one row of the file; all of them or, with a problem, none."""
        answers = [answer for answer in self.mapping.answers if self._has_answer(line, answer)]
        if not answers:
            return []
        rater = self.mapping.rater.name or self._find(line, RATER, self.mapping.rater.column)
        facts = {"kind": self.mapping.rater.kind, "rater": rater}
        facts |= line.read_roles(FACTS, self.mapping.facts, self.names)
        once: list[AnswerColumn] = []
        others: list[AnswerColumn] = []
        for answer in answers:
            is_once = self._step_of(answer, _key(answer, line)) in self.once
            (once if is_once else others).append(answer)
        rows = [self._row(line, answer, facts | {"group": "", "story": ""}, {}) for answer in once]
        said_now = [row for row in rows if self._is_new(row)]
        if not others:
            return said_now
        mapping = self.mapping
        story = self._find(line, STORY, mapping.story.column) if mapping.story.column else ""
        stories = [self._find(line, STORY, column) for column in mapping.group.stories]
        facts |= {"group": self._group(line, story, stories), "story": story}
        names = ChainMap(dict(zip(LETTERS, stories, strict=False)), self.names.code_by_name)
        return said_now + [self._row(line, answer, facts, names) for answer in others]

    def _find(self, line: IncomingRow, role: Role, column: str) -> str:
        """The code of what the column names. Raises InvalidRow."""
        return str(line.read(column, partial(role.read, self.names), if_empty=role.if_empty))

    def _is_new(self, row: Row) -> bool:
        """Whether the rater says this for the first time: a file may repeat beside each story what is asked once."""
        first = self.said_once.setdefault((row.rater, row.step, row.item), row)
        if first.answer != row.answer:
            reason = _("%(rater)s is asked this once, and %(first)s says otherwise; let all rows say the same")
            raise InvalidRow(row.location, quote(row.item), reason % {"rater": row.rater, "first": first.location})
        return first is row

    def _has_answer(self, line: IncomingRow, answer: AnswerColumn) -> bool:
        if line.cell(answer.value):
            return True
        if answer.rationale and line.cell(answer.rationale):
            raise line.fault(answer.value, _("there is a reason and no answer; give one, or empty the reason"))
        self.n_empty += 1
        return False

    def _row(self, line: IncomingRow, answer: AnswerColumn, facts: dict[str, Any], names: Mapping[str, str]) -> Row:
        """The answer. facts : what the row says of each of its answers; names : codes of stories in the answer"""
        key = _key(answer, line)
        step = self._step_of(answer, key)
        if not step:
            raise line.fault(answer.items_in, self._explain_item(answer, key))
        about_one = self.about_one[step]
        if about_one and not facts["story"]:
            raise line.fault(answer.value, _("this is asked about one story, and the row names none"))
        cell = line.cell(answer.value)
        outcome = self.outcome_by_words.get(cell, "")
        fields = {"step": step, "item": key, "outcome": outcome, "story": facts["story"] if about_one else ""}
        fields["value"] = None if outcome else self._value(cell, answer, self.item_by_key[step, key], names)
        if answer.rationale:
            fields["rationale"] = line.read(answer.rationale, reader.text, keeps_blanks=True)
        return make_row(location=line.location, **facts | fields)

    def _value(self, cell: str, answer: AnswerColumn, item: Item, names: Mapping[str, str]) -> Any:
        """The answer as the item's own validator takes it."""
        kind = items.find_type(item.type)
        number = WHOLE.fullmatch(cell) if kind.level != "none" else None
        word = number[1] if number else cell
        value: Any = answer.means.get(cell, answer.means.get(word, word))
        if isinstance(value, str) and item.pk in self.lists:
            value = _as_list(value, is_of_stories=kind.about_stories)
        return _rename(value, names) if kind.about_stories else value

    def _group(self, line: IncomingRow, story: str, stories: list[str]) -> str:
        if self.mapping.group.column:
            return self._find(line, GROUP, self.mapping.group.column)
        if stories:
            groups = self.names.groups_by_stories.get(frozenset(stories), [])
            column = ", ".join(self.mapping.group.stories)
            reason = _("%(n)d groups of the study are made of just these stories; it takes a column with the group")
        else:
            groups, column = self.names.groups_by_story.get(story, []), self.mapping.story.column
            reason = _("the story stands in %(n)d groups; it takes a column with the group")
        if len(groups) != 1:
            raise line.fault(column, reason % {"n": len(groups)})
        return groups[0]


def _key(answer: AnswerColumn, line: IncomingRow) -> str:
    """The key of the item that the answer is to."""
    return answer.item or answer.items.get(line.cell(answer.items_in), line.cell(answer.items_in))


def _as_list(words: str, *, is_of_stories: bool) -> Any:
    """The list that a cell holds: JSON, or parts between semicolons. Anything else stays as it is."""
    if words.startswith("["):
        try:
            parsed = json.loads(words)
        except (ValueError, RecursionError):
            return words
        return parsed if isinstance(parsed, list) and not _is_deep(parsed) else words
    return words if is_of_stories else [part.strip() for part in words.split(";") if part.strip()]


def _is_deep(value: Any, n_levels: int = DEEPEST) -> bool:
    """Whether there is more in one another than any answer has, so that whoever follows it could run out of stack."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return bool(parts) and (n_levels == 0 or any(_is_deep(part, n_levels - 1) for part in parts))


def _rename(value: Any, code_by_name: Mapping[str, str]) -> Any:
    """An answer that names stories, each by its code where it is called otherwise."""
    if isinstance(value, list):
        return [_rename(part, code_by_name) for part in value]
    if isinstance(value, dict):
        return {name: _rename(part, code_by_name) if name == "story" else part for name, part in value.items()}
    words = str(value)
    parts = [part.strip() for part in ORDER_MARKS.split(words)]
    if len(parts) == 1:
        return code_by_name.get(words, value)
    return "".join(code_by_name.get(part, part) for part in parts)
