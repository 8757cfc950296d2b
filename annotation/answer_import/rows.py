"""From a table and a mapping to answers, each with its row; what does not fit is named by row, all of it."""

from __future__ import annotations

from collections import ChainMap, Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from annotation.answer_import import cell_values
from annotation.answer_import.column_map import AnswerColumn, ColumnMapping
from annotation.answer_import.names import WHOLE, AnswerNames
from annotation.answer_import.roles import FACTS, GROUP, RATER, STORY
from annotation.answer_import.times import TimeReader, find_ambiguous, guess_dates
from annotation.models import Response
from annotation.responses import LETTERS
from annotation.responses.imports import Row, make_row
from studies import items, protocol
from studies.documents import reader
from studies.documents.errors import DocumentError, InvalidValue, quote
from studies.incoming_tables.problems import InvalidRow
from studies.incoming_tables.roles import Role
from studies.incoming_tables.rows import IncomingRow, read_each
from studies.incoming_tables.tables import IncomingTable
from studies.items.options import match_option
from studies.models import Item, ProtocolVersion, Study


@dataclass(frozen=True)
class TableRows:
    """The answers of a table.

    problems : of rows that cannot be read; n_empty : cells without an answer
    n_left_out : rows that do not count, by the column and what it says
    spellings : other ways in which a rater is written, with the first
    """

    rows: tuple[Row, ...]
    problems: tuple[InvalidRow, ...]
    n_empty: int
    n_left_out: Mapping[tuple[str, str], int] = field(default_factory=dict)
    spellings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Place:
    """What an answer is about. names : codes of stories by what the answer may call them"""

    group: str
    story: str
    names: Mapping[str, str]


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
        self.about_one = {(s.key): s.scope in (s.Scope.STORY, s.Scope.STORIES) for s in steps}
        self._check_items()
        groups = list(study.groups.values_list("code", flat=True)[:2])
        self.only_group = groups[0] if len(groups) == 1 else ""
        self._check_place()
        asked_items = self.item_by_key.values()
        # Of items whose answers are lists.
        self.lists = {item.pk for item in asked_items if items.find_type(item.type).schema(item).get("type") == "array"}
        rater = mapping.rater
        self.names = AnswerNames(
            study,
            mapping.story.by,
            mapping.story.names,
            prefix=rater.prefix,
            digits=rater.digits,
            is_numbered=rater.is_numbered,
            times=self._time_reader(),
        )
        self._check_stories(study)
        self.outcome_by_words = dict.fromkeys(mapping.declined, Response.Outcome.DECLINED)
        self.outcome_by_words |= dict.fromkeys(mapping.unreadable, Response.Outcome.UNREADABLE)
        self.left_out = [(rows.column, {word.casefold() for word in rows.words}) for rows in mapping.leave_out]
        self.said_once: dict[tuple[str, str, str], Row] = {}
        self.problems: list[InvalidRow] = []
        self.n_empty = 0
        self.n_left_out: Counter[tuple[str, str]] = Counter()

    def _check_columns(self) -> None:
        columns = set(self.table.columns)
        for location, column in self.mapping.columns():
            if column and column not in columns:
                names = ", ".join(self.table.columns)
                reason = _("%(file)s has no column %(name)s; it has %(names)s")
                values = {"file": self.table.name, "name": quote(column), "names": names[:300]}
                raise DocumentError(_("mapping"), location, reason % values)

    def _check_items(self) -> None:
        for n, answer in enumerate(self.mapping.answers, start=1):
            for key in filter(None, [answer.item, *answer.items.values()]):
                if not self._step_of(answer, key):
                    raise DocumentError(_("mapping"), f"answers {n}, item", self._explain_item(answer, key))
            kind = items.find_type(self._item_of(answer).type) if answer.item else None
            if (answer.ranks or answer.ranked) and not (kind and kind.gives_order):
                reason = _("%(name)s asks for no order, so that ranks are no answer") % {"name": quote(answer.item)}
                raise DocumentError(_("mapping"), f"answers {n}, ranks", reason)
            if answer.options and not (kind and kind.has_options):
                reason = _("%(name)s has no options to be chosen") % {"name": quote(answer.item)}
                raise DocumentError(_("mapping"), f"answers {n}, options", reason)

    def _item_of(self, answer: AnswerColumn) -> Item:
        return self.item_by_key[self._step_of(answer, answer.item), answer.item]

    def _check_place(self) -> None:
        """What is asked in groups needs a story or a group; what is asked once needs neither."""
        mapping = self.mapping
        if mapping.story.column or mapping.group.column or mapping.group.stories:
            return
        for answer in mapping.answers:
            step = self._step_of(answer, answer.item)
            needs_no_place = answer.story or answer.group or (answer.item and step in self.once)
            if not needs_no_place and not (answer.item and self.only_group and not self.about_one[step]):
                raise DocumentError(_("mapping"), "story", _("say which column holds the story, or the group"))

    def _check_stories(self, study: Study) -> None:
        """Stories and groups that the mapping itself names are there."""
        mapping, names = self.mapping, self.names
        with_story = [(n, answer) for n, answer in enumerate(mapping.answers, start=1) if answer.story]
        if not names.codes_by_name and (mapping.story.column or mapping.group.stories or with_story):
            reason = _("no story of the study has a %(name)s") % {"name": quote(mapping.story.by)}
            raise DocumentError(self.table.name, "story, by", reason)
        for name, code in mapping.story.names.items():
            if code not in names.groups_by_story:
                reason = _("%(code)s, for %(name)s, is no story of the study")
                raise DocumentError(_("mapping"), "story, names", reason % {"code": quote(code), "name": quote(name)})
        for n, answer in with_story:
            try:
                names.find_story(answer.story)
            except InvalidValue as error:
                raise DocumentError(_("mapping"), f"answers {n}, story", str(error)) from None

    def _time_reader(self) -> TimeReader:
        """Reads the column of times. Raises DocumentError if nobody can tell which number is the month."""
        forms, column = self.mapping.times, self.mapping.facts.get("time", "")
        cells = list(self.table.count_values(column)) if column and not forms.format and not forms.dates else []
        ambiguous = "" if guess_dates(cells) else find_ambiguous(cells)
        if ambiguous:
            reason = _("%(cell)s could be two days; say whether the day or the month comes first")
            raise DocumentError(_("mapping"), "times, dates", reason % {"cell": quote(ambiguous)})
        return TimeReader(forms, cells)

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
        rows, unreadable = read_each(self.table, columns, self._read_row, is_left_out=self._is_left_out)
        problems = (*unreadable, *self.problems)
        return TableRows(tuple(rows), problems, self.n_empty, self.n_left_out, self.names.spellings)

    def _read_row(self, line: IncomingRow) -> list[Row]:
        """The answers of one row of the file; all of them or, with a problem, none. All problems are noted."""
        n_before = len(self.problems)
        rows: list[Row] = []
        try:
            for answer, facts in self._list_answers(line):
                try:
                    rows += self._answer(line, answer, facts)
                except InvalidRow as problem:
                    self.problems.append(problem)
        except InvalidRow as problem:  # of what the whole row says
            self.problems.append(problem)
        return rows if len(self.problems) == n_before else []

    def _is_left_out(self, line: IncomingRow) -> bool:
        for column, words in self.left_out:
            cell = line.cell(column)
            if cell.casefold() in words:
                self.n_left_out[column, cell] += 1
                return True
        return False

    def _list_answers(self, line: IncomingRow) -> Iterator[tuple[AnswerColumn, dict[str, Any]]]:
        """The columns with an answer, each with what the row says of all its answers. Raises InvalidRow."""
        facts: dict[str, Any] = {}
        for answer in self.mapping.answers:
            if not self._has_answer(line, answer):
                continue
            if not facts:
                facts = {"kind": self.mapping.rater.kind, "rater": self.mapping.rater.name}
                if column := self.mapping.rater.column:
                    facts["rater"] = self._find(line, RATER, column)
                facts |= line.read_roles(FACTS, self.mapping.facts, self.names)
                place: _Place | None = None
            if self._step_of(answer, _key(answer, line)) in self.once:
                yield answer, facts | {"place": _Place("", "", {})}
                continue
            if answer.story or answer.group:
                yield answer, facts | {"place": self._own_place(line, answer)}
                continue
            place = place or self._place(line)
            yield answer, facts | {"place": place}

    def _own_place(self, line: IncomingRow, answer: AnswerColumn) -> _Place:
        """What the column itself says that it is about. Raises InvalidRow."""
        story = self.names.find_story(answer.story) if answer.story else ""
        group = self.names.find_group(answer.group) if answer.group else self._group(line, story, [])
        return _Place(group, story, self.names.code_by_name)

    def _place(self, line: IncomingRow) -> _Place:
        """What the row says that it is about. Raises InvalidRow."""
        mapping = self.mapping
        story = self._find(line, STORY, mapping.story.column) if mapping.story.column else ""
        stories = [self._find(line, STORY, column) for column in mapping.group.stories]
        names = ChainMap(dict(zip(LETTERS, stories, strict=False)), self.names.code_by_name)
        return _Place(self._group(line, story, stories), story, names)

    def _find(self, line: IncomingRow, role: Role, column: str) -> str:
        """The code of what the column names. Raises InvalidRow."""
        return str(line.read(column, partial(role.read, self.names), if_empty=role.if_empty))

    def _answer(self, line: IncomingRow, answer: AnswerColumn, facts: dict[str, Any]) -> Iterator[Row]:
        """The answer; none if it is asked once and was given in an earlier row. Raises InvalidRow."""
        if answer.rater:
            try:
                facts["rater"] = self.names.find_rater(answer.rater)
            except InvalidValue as error:
                raise line.fault(answer.columns[0], str(error)) from None
        place: _Place = facts.pop("place")
        row = self._row(line, answer, facts, place)
        if row.step not in self.once or self._is_new(row):
            yield row

    def _is_new(self, row: Row) -> bool:
        """Whether the rater says this for the first time: a file may repeat beside each story what is asked once."""
        first = self.said_once.setdefault((row.rater, row.step, row.item), row)
        if first.answer != row.answer:
            reason = _("%(rater)s is asked this once, and %(first)s says otherwise; let all rows say the same")
            raise InvalidRow(row.location, quote(row.item), reason % {"rater": row.rater, "first": first.location})
        return first is row

    def _has_answer(self, line: IncomingRow, answer: AnswerColumn) -> bool:
        if any(map(line.cell, answer.columns)) if not answer.options else self._says_option(line, answer):
            return True
        if answer.rationale and line.cell(answer.rationale):
            reason = _("there is a reason and no answer; give one, or empty the reason")
            self.problems.append(line.fault(answer.columns[0], reason))
        self.n_empty += 1
        return False

    def _says_option(self, line: IncomingRow, answer: AnswerColumn) -> bool:
        """Whether any of the options may have been chosen."""
        options = self._item_of(answer).options
        return any(
            cell.casefold() not in cell_values.NOT_CHOSEN or cell_values.is_unclear(cell, option, options)
            for column, option in answer.options.items()
            if (cell := line.cell(column))
        )

    def _row(self, line: IncomingRow, answer: AnswerColumn, facts: dict[str, Any], place: _Place) -> Row:
        """The answer. facts : what the row says of each of its answers. Raises InvalidRow."""
        key = _key(answer, line)
        step = self._step_of(answer, key)
        if not step:
            raise line.fault(answer.items_in, self._explain_item(answer, key))
        about_one = self.about_one[step]
        if about_one and not place.story and step not in self.once:
            raise line.fault(answer.columns[0], _("this is asked about one story, and the row names none"))
        outcome = self.outcome_by_words.get(line.cell(answer.value), "") if answer.value else ""
        fields: dict[str, Any] = {"step": step, "item": key, "outcome": outcome, "group": place.group}
        fields["story"] = place.story if about_one else ""
        fields["value"] = None if outcome else self._value(line, answer, self.item_by_key[step, key], place)
        if answer.rationale:
            fields["rationale"] = line.read(answer.rationale, reader.text, keeps_blanks=True)
        return make_row(location=line.location, **facts | fields)

    def _value(self, line: IncomingRow, answer: AnswerColumn, item: Item, place: _Place) -> Any:
        """The answer as the item's own validator takes it. Raises InvalidRow."""
        if answer.ranks:
            return self._ranks(line, answer, place)
        if answer.ranked:
            cells = [line.cell(column) for column in answer.ranked]
            return [self._story_in_answer(cell, place.names) for cell in cells if cell]
        if answer.options:
            return [
                option
                for column, option in answer.options.items()
                if line.read(column, partial(cell_values.is_chosen, option=option, options=item.options))
            ]
        return self._value_of(line.cell(answer.value), answer, item, place.names)

    def _ranks(self, line: IncomingRow, answer: AnswerColumn, place: _Place) -> dict[str, str]:
        """The rank by story; of stories of another group only where the file gives them one."""
        stories = self.names.stories_by_group.get(place.group, [])
        cells = {self._story_in_answer(name, place.names): line.cell(column) for column, name in answer.ranks.items()}
        return {story: _whole(cell) for story, cell in cells.items() if cell or story in stories}

    def _story_in_answer(self, name: str, names: Mapping[str, str]) -> str:
        """The code of the story that is called so; the name itself if none is, for the validator to refuse."""
        try:
            return names.get(name) or self.names.find_story(name)
        except InvalidValue:
            return name

    def _value_of(self, cell: str, answer: AnswerColumn, item: Item, names: Mapping[str, str]) -> Any:
        """The answer that one cell holds."""
        kind = items.find_type(item.type)
        word = _whole(cell) if kind.level != "none" else cell
        value: Any = answer.means.get(cell, answer.means.get(word, word))
        if isinstance(value, str) and item.pk in self.lists:
            value = self._as_list(value, answer, item, names)
        return cell_values.rename_stories(value, names) if kind.about_stories else value

    def _as_list(self, words: str, answer: AnswerColumn, item: Item, names: Mapping[str, str]) -> Any:
        """The list that a cell holds: JSON, or parts between signs. Anything else stays as it is."""
        if (parsed := cell_values.read_list(words)) is not None:
            return parsed
        if items.find_type(item.type).about_stories:
            return cell_values.split(words, names.__contains__) or words
        is_part = partial(_is_option, answer=answer, item=item)
        parts = cell_values.split(words, is_part) or cell_values.split_at_semicolons(words)
        return [answer.means.get(part, part) for part in parts]

    def _group(self, line: IncomingRow, story: str, stories: list[str]) -> str:
        if self.mapping.group.column:
            return self._find(line, GROUP, self.mapping.group.column)
        if not story and not stories:
            return self.only_group
        if stories:
            groups = self.names.groups_by_stories.get(frozenset(stories), [])
            column = ", ".join(self.mapping.group.stories)
            reason = _("%(n)d groups of the study are made of just these stories; it takes a column with the group")
        else:
            groups, column = self.names.groups_by_story.get(story, []), self.mapping.story.column or story
            reason = _("the story stands in %(n)d groups; it takes a column with the group")
        if len(groups) != 1:
            raise line.fault(column, reason % {"n": len(groups)})
        return groups[0]


def _key(answer: AnswerColumn, line: IncomingRow) -> str:
    """The key of the item that the answer is to."""
    return answer.item or answer.items.get(line.cell(answer.items_in), line.cell(answer.items_in))


def _whole(cell: str) -> str:
    """A whole number as one, where a table wrote 3.0."""
    number = WHOLE.fullmatch(cell)
    return number[1] if number else cell


def _is_option(words: str, *, answer: AnswerColumn, item: Item) -> bool:
    return match_option(item.options, words) is not None or words in answer.means
