"""From a table and a mapping to answers, each with its row; what does not fit is named by row, all of it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import ChainMap, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.answer_import.column_map import CODE, TITLE, AnswerColumn, ColumnMapping
from annotation.models import Response
from annotation.responses import LETTERS, Answer
from annotation.responses.imports import Row
from studies import items, protocol
from studies.documents import reader
from studies.documents.errors import DocumentError, InvalidValue, quote
from studies.incoming_tables.problems import InvalidRow
from studies.incoming_tables.tables import IncomingTable
from studies.models import Item, ProtocolVersion, Provenance, Study
from studies.story_groups import code_groups

WHOLE = re.compile(r"([+-]?[0-9]+)\.0+")
DEEPEST = 4  # lists and tables in one another, in an answer
LONGEST_NAME = 300  # characters of what a file calls a rater
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


def story_names(study: Study, by: str) -> dict[str, list[str]]:
    """The codes of the stories by what somebody else calls them: their code, their title or a factor."""
    names: dict[str, list[str]] = defaultdict(list)
    if by == CODE:
        return {code: [code] for code in study.stories.values_list("code", flat=True)}
    rows = Provenance.objects.filter(story__study=study).values_list("story__code", "title", "factors")
    for code, title, factors in rows:
        name = title if by == TITLE else str(factors.get(by, ""))
        if name.strip():
            names[name.strip()].append(code)
    return dict(names)


def factor_names(study: Study) -> list[str]:
    """The factors of the stories, in alphabetical order. One query."""
    rows = Provenance.objects.filter(story__study=study).values_list("factors", flat=True)
    return sorted({name for factors in rows for name in factors})


class _Reader:
    """One table, read with all that it may name at hand."""

    def __init__(self, table: IncomingTable, mapping: ColumnMapping, study: Study, version: ProtocolVersion) -> None:
        self.table, self.mapping = table, mapping
        self.place_by_column = {column: n for n, column in enumerate(table.columns)}
        self._check_columns()
        self.reasons = {answer.rationale for answer in mapping.answers}
        names = {name for _place, name in mapping.columns() if name}
        self.columns = [(name, self.place_by_column[name]) for name in sorted(names)]
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
        self.codes_by_name = story_names(study, mapping.story.by)
        self.code_by_name = {name: codes[0] for name, codes in self.codes_by_name.items() if len(codes) == 1}
        if not self.codes_by_name and (mapping.story.column or mapping.group.stories):
            reason = _("no story of the study has a %(name)s") % {"name": quote(mapping.story.by)}
            raise DocumentError(table.name, "story, by", reason)
        stories_by_group = defaultdict[str, set[str]](set)
        for group, story in study.groups.values_list("code", "stories__code"):
            stories_by_group[group].add(story)
        self.group_codes = set(stories_by_group)
        self.groups_by_story: dict[str, list[str]] = defaultdict(list)
        for group, stories in sorted(stories_by_group.items()):
            for story in stories:
                self.groups_by_story[story].append(group)
        self.groups_by_stories = defaultdict[frozenset[str], list[str]](list)
        for group, stories in stories_by_group.items():
            self.groups_by_stories[frozenset(stories)].append(group)
        self.about_one = {(s.key): s.scope in (s.Scope.STORY, s.Scope.STORIES) for s in steps}
        self.outcome_by_words = dict.fromkeys(mapping.declined, Response.Outcome.DECLINED)
        self.outcome_by_words |= dict.fromkeys(mapping.unreadable, Response.Outcome.UNREADABLE)
        self.rater_codes: dict[str, str] = {}
        self.name_by_person: dict[str, str] = {}  # as first written, by the name in small letters
        self.said_once: dict[tuple[str, str, str], Row] = {}
        self.now = timezone.now()
        self.n_empty = 0

    def _check_columns(self) -> None:
        for location, column in self.mapping.columns():
            if column and column not in self.place_by_column:
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
        rows: list[Row] = []
        problems: list[InvalidRow] = []
        for n, cells in self.table.rows:
            location = f"{Path(self.table.name).name}: " + _("row %(n)d") % {"n": n}
            try:
                rows += self._read_line(location, cells)
            except InvalidRow as problem:
                problems.append(problem)
        return TableRows(tuple(rows), tuple(problems), self.n_empty)

    def _read_line(self, location: str, cells: tuple[str, ...]) -> list[Row]:
        """The answers of one row of the file; all of them or, with a problem, none."""
        cell = {c: cells[place] if c in self.reasons else cells[place].strip() for c, place in self.columns}
        answers = [answer for answer in self.mapping.answers if self._has_answer(location, cell, answer)]
        if not answers:
            return []
        rater, at = self._rater(location, cell), self._time(location, cell)
        once: list[AnswerColumn] = []
        others: list[AnswerColumn] = []
        for answer in answers:
            is_once = self._step_of(answer, _key(answer, cell)) in self.once
            (once if is_once else others).append(answer)
        rows = [self._row(location, cell, answer, rater=rater, group="", story="", names={}, at=at) for answer in once]
        said_now = [row for row in rows if self._is_new(row)]
        if not others:
            return said_now
        code = self._story(location, cell, self.mapping.story.column) if self.mapping.story.column else ""
        stories = [self._story(location, cell, column) for column in self.mapping.group.stories]
        group = self._group(location, cell, code, stories)
        names = ChainMap(dict(zip(LETTERS, stories, strict=False)), self.code_by_name)
        return said_now + [
            self._row(location, cell, answer, rater=rater, group=group, story=code, names=names, at=at)
            for answer in others
        ]

    def _is_new(self, row: Row) -> bool:
        """Whether the rater says this for the first time: a file may repeat beside each story what is asked once."""
        first = self.said_once.setdefault((row.rater, row.step, row.item), row)
        if first.answer != row.answer:
            reason = _("%(rater)s is asked this once, and %(first)s says otherwise; let all rows say the same")
            raise InvalidRow(row.location, quote(row.item), reason % {"rater": row.rater, "first": first.location})
        return first is row

    def _has_answer(self, location: str, cell: Mapping[str, str], answer: AnswerColumn) -> bool:
        if cell[answer.value]:
            return True
        if answer.rationale and cell[answer.rationale].strip():
            raise InvalidRow(
                location, quote(answer.value), _("there is a reason and no answer; give one, or empty the reason")
            )
        self.n_empty += 1
        return False

    def _row(
        self,
        location: str,
        cell: Mapping[str, str],
        answer: AnswerColumn,
        *,
        rater: str,
        group: str,
        story: str,
        names: Mapping[str, str],
        at: datetime | None,
    ) -> Row:
        key = _key(answer, cell)
        step = self._step_of(answer, key)
        if not step:
            raise InvalidRow(location, quote(answer.items_in), self._explain_item(answer, key))
        about_one = self.about_one[step]
        if about_one and not story:
            raise InvalidRow(location, quote(answer.value), _("this is asked about one story, and the row names none"))
        outcome = self.outcome_by_words.get(cell[answer.value], "")
        value = None if outcome else self._value(cell[answer.value], answer, self.item_by_key[step, key], names)
        try:
            reason = reader.text(cell[answer.rationale]) if answer.rationale else ""
        except InvalidValue as error:
            raise InvalidRow(location, quote(answer.rationale), str(error)) from None
        return Row(
            location,
            rater,
            group,
            story if about_one else "",
            step,
            key,
            Answer(value=value, rationale=reason, outcome=outcome),
            kind=self.mapping.rater.kind,
            at=at,
        )

    def _value(self, cell: str, answer: AnswerColumn, item: Item, names: Mapping[str, str]) -> Any:
        """The answer as the item's own validator takes it."""
        kind = items.find_type(item.type)
        number = WHOLE.fullmatch(cell) if kind.level != "none" else None
        word = number[1] if number else cell
        value: Any = answer.means.get(cell, answer.means.get(word, word))
        if isinstance(value, str) and item.pk in self.lists:
            value = _as_list(value, is_of_stories=kind.about_stories)
        return _rename(value, names) if kind.about_stories else value

    def _rater(self, location: str, cell: Mapping[str, str]) -> str:
        rater = self.mapping.rater
        if rater.name:
            return rater.name
        name = cell[rater.column]
        if not name:
            raise InvalidRow(location, quote(rater.column), _("the row names no rater; name one, or take the row out"))
        if len(name) > LONGEST_NAME:
            reason = _("it has %(n)d characters; at most %(most)d name a rater")
            raise InvalidRow(location, quote(rater.column), reason % {"n": len(name), "most": LONGEST_NAME})
        person = unicodedata.normalize("NFKC", name).casefold()
        said = self.name_by_person.setdefault(person, name)
        if said != name and not rater.is_numbered:
            reason = _("%(name)s and %(other)s differ only in small and capital letters; write each rater in one way")
            names = {"name": quote(name), "other": quote(said)}
            raise InvalidRow(location, quote(rater.column), reason % names)
        name = said
        if name not in self.rater_codes:
            number = WHOLE.fullmatch(name)
            plain = number[1] if number else name
            code = str(len(self.rater_codes) + 1) if rater.is_numbered else plain
            try:
                self.rater_codes[name] = reader.code(rater.prefix + code.zfill(rater.digits))
            except InvalidValue as error:
                reason = _("%(why)s; or let raters be numbered") % {"why": error}
                raise InvalidRow(location, quote(rater.column), reason) from None
        return self.rater_codes[name]

    def _story(self, location: str, cell: Mapping[str, str], column: str) -> str:
        name = cell[column]
        codes = self.codes_by_name.get(name, [])
        if len(codes) == 1:
            return codes[0]
        if not name:
            raise InvalidRow(location, quote(column), _("the row names no story; name one, or take the row out"))
        reason = (
            _("%(n)d stories of the study are called %(name)s; name them by code")
            if codes
            else _("%(name)s is no story of the study; take the row out, or say how the file names stories")
        )
        raise InvalidRow(location, quote(column), reason % {"n": len(codes), "name": quote(name)})

    def _group(self, location: str, cell: Mapping[str, str], story: str, stories: list[str]) -> str:
        if self.mapping.group.column:
            return self._group_called(cell[self.mapping.group.column])
        if stories:
            groups, field = self.groups_by_stories.get(frozenset(stories), []), ", ".join(self.mapping.group.stories)
            reason = _("%(n)d groups of the study are made of just these stories; it takes a column with the group")
        else:
            groups, field = self.groups_by_story.get(story, []), self.mapping.story.column
            reason = _("the story stands in %(n)d groups; it takes a column with the group")
        if len(groups) != 1:
            raise InvalidRow(location, quote(field), reason % {"n": len(groups)})
        return groups[0]

    def _group_called(self, name: str) -> str:
        """The code of the group that a file calls so: the name, or what was made of it when its stories came in."""
        if name and name not in self.group_codes:
            [code] = code_groups([name]).values()
            # Where names such as “Group 1” and “Group/1” came to one code, nothing tells which of the two is meant.
            if code in self.group_codes and f"{code}-2" not in self.group_codes:
                return code
        return name

    def _time(self, location: str, cell: Mapping[str, str]) -> datetime | None:
        if not self.mapping.time or not cell[self.mapping.time]:
            return None
        try:
            at = datetime.fromisoformat(cell[self.mapping.time])
            aware = at if timezone.is_aware(at) else timezone.make_aware(at)
        except (ValueError, OverflowError):
            reason = _("%(cell)s is no day and time; write it as 2027-01-31T18:00")
            values = {"cell": quote(cell[self.mapping.time])}
            raise InvalidRow(location, quote(self.mapping.time), reason % values) from None
        if aware > self.now:
            raise InvalidRow(
                location, quote(self.mapping.time), _("this time is still to come; correct it, or empty the cell")
            )
        return aware


def _key(answer: AnswerColumn, cell: Mapping[str, str]) -> str:
    """The key of the item that the answer is to."""
    return answer.item or answer.items.get(cell[answer.items_in], cell[answer.items_in])


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
