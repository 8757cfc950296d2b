"""What the columns of a file of answers seem to be, by their names and what they say; whoever brings it says whether
that is so."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from zoneinfo import available_timezones

from annotation.answer_import.column_map import (
    MOST_LEFT_OUT,
    MOST_MEANINGS,
    AnswerColumn,
    ColumnMapping,
    GroupColumn,
    OmittedRows,
    RaterColumn,
    StoryColumn,
)
from annotation.answer_import.crossed_columns import (
    RANK_WORDS,
    AskedItem,
    Crossing,
    find_crossing,
    index_items,
    list_asked,
    make_answers,
)
from annotation.answer_import.headers import Header, NameIndex
from annotation.answer_import.names import StoryNames, guess_by_number, list_story_names, story_names
from annotation.answer_import.roles import FACTS, ROLES
from annotation.answer_import.times import TimeForms, guess_dates
from annotation.responses import LETTERS
from studies import items
from studies.documents.names import CODE as CODE_GRAMMAR
from studies.incoming_tables.roles import plain_name, recognise
from studies.incoming_tables.tables import IncomingTable
from studies.models import Step, Study

MOST_STORIES = 6  # of a group, named by columns
# What well-known columns say of rows that hold no answers.
_NO_ANSWERS = {
    "status": (
        *("survey preview", "survey test", "preview", "spam", "returned", "timed-out", "timed out", "rejected"),
        *("screened out", "incomplete", "partial"),
    ),
    "finished": ("false", "0", "no"),
    "assignmentstatus": ("rejected",),
    "assignment_status": ("rejected",),
    "distributionchannel": ("preview", "test"),
    "distribution_channel": ("preview", "test"),
    "submitdate": ("",),
    "completed": ("false", "0", "no"),
}
_PLACE = re.compile(r"(?:rank|place|position)?([1-9])(?:st|nd|rd|th)?")
_PLACES = {"best": 1, "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6}


def guess_mapping(table: IncomingTable, study: Study) -> ColumnMapping:
    """The mapping that the columns suggest, perhaps with gaps. A few queries."""
    hints = table.hints
    keys = recognise(table.columns, ROLES, hints)
    column_by_role = {role: column for column, role in keys.items()}
    crossing = read_crossing(table, study, column_by_role)
    story, by = column_by_role.get("story", ""), crossing.by if crossing and crossing.kind == "story" else ""
    group_stories = _find_group_stories(table.columns) if not story else ()
    if not story and not crossing and not group_stories and "group" not in column_by_role:
        story = _find_story_column(table, study, used=set(keys))
    by = _guess_names(table, story, study) if story else by or StoryColumn.by
    names = StoryNames(study, by)
    labels = [*table.count_values(story)]
    if crossing and crossing.kind == "story":
        labels = list(dict.fromkeys(crossed.about for crossed in crossing.columns))
    code_by_label = guess_by_number([label for label in labels if not names.knows(label)], names.groups_by_story)
    group = GroupColumn(column="" if story else column_by_role.get("group", ""), stories=group_stories)
    facts = {role.key: column_by_role[role.key] for role in FACTS if role.key in column_by_role}
    guess = _AnswerGuess(table, study, column_by_role, crossing, has_place=bool(story or group.column or group_stories))
    return ColumnMapping(
        rater=_guess_rater(table, column_by_role.get("rater", ""), crossing),
        story=StoryColumn(column=story, by=by, names=dict([*code_by_label.items()][:MOST_MEANINGS])),
        group=group,
        facts=facts,
        answers=tuple(guess.find(names, code_by_label)),
        times=TimeForms(guess_dates(table.count_values(facts.get("time", ""))), guess_zone(table)),
        leave_out=guess_left_out(table),
    )


def read_crossing(table: IncomingTable, study: Study, column_by_role: Mapping[str, str]) -> Crossing | None:
    """The columns that name story and question or, beside a column of stories, rater and question."""
    story = column_by_role.get("story", "")
    if story and column_by_role.get("rater"):
        return None
    used = {column_by_role.get(role, "") for role in ("rater", "story", "group", "time")}
    columns = [column for column in table.columns if column not in used]
    return find_crossing(columns, study, is_by_story=bool(story))


def _guess_rater(table: IncomingTable, column: str, crossing: Crossing | None) -> RaterColumn:
    """Raters are numbered where the file names them by what no code can be, such as an address."""
    grammar = CODE_GRAMMAR.pattern
    names = {*table.count_values(column)}
    if crossing and crossing.kind == "rater":
        names |= {crossed.about for crossed in crossing.columns}
    return RaterColumn(column, is_numbered=not all(map(grammar.fullmatch, names)))


def _find_story_column(table: IncomingTable, study: Study, *, used: set[str]) -> str:
    """The column of which every cell names a story; "" if there is none."""
    names = {name for by, _title in list_story_names(study) for name in story_names(study, by)}
    for column in table.columns:
        values = set(table.count_values(column)) if column not in used else set()
        if values and values <= names and not all(value.isdecimal() for value in values):
            return column
    return ""


def _find_group_stories(columns: Sequence[str]) -> tuple[str, ...]:
    """The columns that name the stories of a group by letter, in order."""
    column_by_name = {plain_name(column): column for column in columns}
    letters = [letter.lower() for letter in LETTERS[:MOST_STORIES]]
    names = [column_by_name.get(f"story_{letter}", "") for letter in letters]
    leading = names[: names.index("")] if "" in names else names
    return tuple(leading) if len(leading) > 1 else ()


def guess_zone(table: IncomingTable) -> str:
    """The zone that the file names for its times; "" if it names none that there is."""
    zone = str(table.hints.get("zone") or "")
    zone = "UTC" if zone == "Z" else zone
    return zone if zone in available_timezones() else ""


def guess_left_out(table: IncomingTable) -> tuple[OmittedRows, ...]:
    """The rows that well-known columns, or the tool's own, mark as no answers; of words that are there."""
    hinted: Mapping[str, Sequence[str]] = table.hints.get("left_out", {})
    left_out = {column: tuple(words) for column, words in hinted.items() if column in table.columns}
    for column in table.columns:
        words = _NO_ANSWERS.get(plain_name(column), ())
        values = table.count_values(column)
        present = [value for value in values if value.casefold() in words]
        if "" in words and sum(values.values()) < len(table.rows):
            present.append("")
        if present and column not in left_out:
            left_out[column] = tuple(present)
    return tuple(OmittedRows(column, words) for column, words in left_out.items())[:MOST_LEFT_OUT]


def _guess_names(table: IncomingTable, column: str, study: Study) -> str:
    """By what the column names stories: what most of its values are of some story."""
    values = set(table.count_values(column))
    n_by_name = {by: len(values & set(story_names(study, by))) for by, _title in list_story_names(study)}
    return max(n_by_name, key=lambda by: n_by_name[by])


class _AnswerGuess:
    """Which columns hold answers. has_place : whether the rows name a story or a group"""

    def __init__(
        self,
        table: IncomingTable,
        study: Study,
        column_by_role: Mapping[str, str],
        crossing: Crossing | None,
        *,
        has_place: bool,
    ) -> None:
        self.table, self.column_by_role, self.crossing, self.has_place = table, column_by_role, crossing, has_place
        self.asked = list_asked(study)
        self.items = index_items(self.asked)
        self.groups = list(study.groups.values_list("code", flat=True))
        self.group_index = NameIndex((code, code) for code in self.groups)
        used = {column_by_role.get(role, "") for role in ("rater", "story", "group", "time")}
        used |= {crossed.column for crossed in crossing.columns} if crossing else set()
        used |= {column for column, key in table.hints.get("roles", {}).items() if not key}
        self.names = table.hints.get("names", {})
        self.headers = [Header.of(column) for column in table.columns if column not in used]

    def find(self, names: StoryNames, given: Mapping[str, str]) -> Iterator[AnswerColumn]:
        """The answers that the columns seem to hold. given : codes of stories that the file calls otherwise"""
        wide = [*self._find_several(), *self._find_wide()]
        crossed: list[AnswerColumn] = []
        if self.crossing:
            abouts = {column.about for column in self.crossing.columns}
            groups = {
                about: names.groups_by_story.get(given.get(about) or names.code_of(about), []) for about in abouts
            }
            crossed = list(make_answers(self.crossing, self.crossing.item_by_question, groups))
        yield from crossed
        yield from wide
        if not crossed and not wide:
            yield from self._find_long()

    def _find_wide(self) -> Iterator[AnswerColumn]:
        """A column for each item that it names."""
        columns: dict[tuple[str, str, str], str] = {}  # by step, item and group
        reasons: dict[tuple[str, str, str], str] = {}
        for header in self.headers:
            group = self.group_index.find(header) if not self.has_place else None
            alone = self.items.find_alone(header.without(group.first, group.last) if group else header)
            if alone is None:
                alone = self.items.find_alone(Header.of(self.names.get(header.text, "")))
            if alone is None:
                continue
            (step, item), is_reason = alone
            if not self.has_place and step.scope == Step.Scope.GROUP:
                code = group.thing if group else self.groups[0] if len(self.groups) == 1 else None
            else:
                code = "" if self.has_place or step.scope == Step.Scope.ONCE else None
            if code is not None:
                column_by_key = reasons if is_reason else columns
                column_by_key.setdefault((step.key, item.key, code), header.text)
        for (step_key, item_key, group_code), column in columns.items():
            reason = reasons.get((step_key, item_key, group_code), "")
            yield AnswerColumn(value=column, item=item_key, step=step_key, rationale=reason, group=group_code)

    def _find_long(self) -> Iterator[AnswerColumn]:
        """One column of answers, with another that names the items."""
        value, rationale = self.column_by_role.get("value", ""), self.column_by_role.get("reason", "")
        if items_in := self.column_by_role.get("item", "") if value else "":
            yield AnswerColumn(value=value, items_in=items_in, rationale=rationale)
        elif value and self.asked:
            step, item = self.asked[0]
            yield AnswerColumn(value=value, item=item.key, step=step.key, rationale=rationale)

    def _find_several(self) -> Iterator[AnswerColumn]:
        """Answers in several columns: a choice among options, or an order of stories."""
        used: set[str] = set()
        for answer in (*self._find_choices(), *self._find_orders()):
            used |= set(answer.columns)
            yield answer
        self.headers = [header for header in self.headers if header.text not in used]

    def _find_choices(self) -> Iterator[AnswerColumn]:
        options_by_item: dict[int, dict[str, str]] = defaultdict(dict)
        pair_by_item: dict[int, AskedItem] = {}
        for header in self.headers:
            match = self.items.find(header)
            if match is None or items.find_type(match.thing[1].type).level != "none" or not match.thing[1].options:
                continue
            item = match.thing[1]
            if option := _find_option(header.without(match.first, match.last), item.options):
                options_by_item[item.pk][header.text] = option
                pair_by_item[item.pk] = match.thing
        for key, options in options_by_item.items():
            if len(options) > 1:
                step, item = pair_by_item[key]
                yield AnswerColumn(options=options, item=item.key, step=step.key)

    def _find_orders(self) -> Iterator[AnswerColumn]:
        """Of the one ranking of the study: a column for each rank, or one for each story of the group by its letter."""
        rankings = [pair for pair in self.asked if items.find_type(pair[1].type).gives_order]
        if len(rankings) != 1 or not self.has_place:
            return
        step, item = rankings[0]
        own = {word.plain for name in (item.key, item.title) for word in Header.of(name).words}
        column_by_rank: dict[int, str] = {}
        letter_by_column: dict[str, str] = {}
        for header in self.headers:
            plain = [word.plain for word in header.words]
            rest = [word for word in plain if word not in RANK_WORDS | own | {"story", "of", "the"}]
            if len(rest) != 1 or (len(plain) == 1 and not _says_rank(rest[0])):
                continue
            if rest[0].upper() in LETTERS[:MOST_STORIES] and set(plain) & (RANK_WORDS | own):
                letter_by_column[header.text] = rest[0].upper()
            elif (rank := _read_rank(rest[0])) and self._names_stories(header.text):
                column_by_rank.setdefault(rank, header.text)
        if len(letter_by_column) > 1:
            ranks = letter_by_column
            yield AnswerColumn(ranks=ranks, item=item.key, step=step.key)
        elif len(column_by_rank) > 1:
            ranked = tuple(column_by_rank[rank] for rank in sorted(column_by_rank))
            yield AnswerColumn(ranked=ranked, item=item.key, step=step.key)

    def _names_stories(self, column: str) -> bool:
        """Whether the cells of the column could name stories: they are no ranks."""
        values = self.table.count_values(column)
        return bool(values) and not all(value.isdecimal() for value in values)


def _find_option(rest: Header, options: Sequence[Mapping[str, Any]]) -> str:
    """The option that the rest of a header names, by label, value or number; "" if none."""
    index = NameIndex((str(option[part]), str(option["value"])) for option in options for part in ("label", "value"))
    if match := index.find(rest):
        return match.thing
    if rest.words and rest.words[-1].plain.isdecimal() and 1 <= int(rest.words[-1].plain[:4]) <= len(options):
        return str(options[int(rest.words[-1].plain[:4]) - 1]["value"])
    return ""


def _read_rank(word: str) -> int:
    """The rank that the word says, 1 the best; 0 if it says none."""
    match = _PLACE.fullmatch(word)
    return int(match[1]) if match else _PLACES.get(word, 0)


def _says_rank(word: str) -> bool:
    """Whether the word alone can be nothing else than a rank."""
    return bool(_read_rank(word)) and not word.isdecimal()
