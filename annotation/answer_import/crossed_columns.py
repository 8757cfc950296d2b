"""Columns that name story and question, as where each rater has a row; or rater and question, where each story has."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from annotation.answer_import.column_map import AnswerColumn
from annotation.answer_import.headers import REASONS, Header, NameIndex
from annotation.answer_import.names import CODE, fold, list_story_names, story_names
from studies import items, protocol
from studies.models import Item, Step, Study

MOST_BYTES = 400_000  # of all headers together, so that a mapping that names them all stays small
AskedItem = tuple[Step, Item]
_NUMBERED_STORY = re.compile(r"(?:story|text|passage|sample|output|s|t)0*([0-9]{1,3})")
_RATER = re.compile(r"(?:rater|expert|annotator|judge|coder|reviewer|participant|subject|r|e|p)[ _.-]*[0-9]{1,4}", re.I)
_LOOP = re.compile(r"[0-9]+_Q[0-9]+.*", re.I)  # a question that a tool repeated
RANK_WORDS = frozenset(("rank", "ranking", "order", "position", "place"))


@dataclass(frozen=True)
class CrossedColumn:
    """A column that names what it is about.

    about : the story or rater, as the header calls it
    question : what the header calls the question; "" if it names none
    is_reason : whether it holds the reason for the answer, not the answer
    """

    column: str
    about: str
    question: str
    is_reason: bool = False


@dataclass(frozen=True)
class Crossing:
    """The columns of a file that name what they are about.

    kind : "story" or "rater"; by : how they name stories, as `story_names` has it
    item_by_question : what each question seems to be
    """

    kind: Literal["story", "rater"]
    columns: tuple[CrossedColumn, ...]
    by: str
    item_by_question: Mapping[str, AskedItem]

    @property
    def n_known(self) -> int:
        """How many of the columns hold answers to a question that is known."""
        return sum(crossed.question in self.item_by_question for crossed in self.columns)

    @property
    def questions(self) -> dict[str, list[CrossedColumn]]:
        """The columns of each question, in the order of the file."""
        columns: dict[str, list[CrossedColumn]] = defaultdict(list)
        for crossed in self.columns:
            columns[crossed.question].append(crossed)
        return columns


def list_asked(study: Study) -> list[AskedItem]:
    """Each item with the step that asks it, in the study's latest version; what is asked once comes last."""
    loaded = protocol.load_protocol(protocol.latest(study))
    return [(step, item) for step in (*loaded.ratings, *loaded.asked_once) for item in protocol.items_of(step)]


def index_items(asked: Iterable[AskedItem]) -> NameIndex[AskedItem]:
    """Finds items by key, title and question. An item that several steps ask is that of the first of them."""
    first: dict[str, AskedItem] = {}
    for pair in asked:
        first.setdefault(pair[1].key, pair)
    pairs = first.values()
    return NameIndex((name, pair) for pair in pairs for name in (pair[1].key, pair[1].title, pair[1].question))


def find_crossing(columns: Sequence[str], study: Study, *, is_by_story: bool) -> Crossing | None:
    """The columns that name story and question (or, of a file with a row for each story, rater and question)."""
    if sum(len(column.encode()) for column in columns) > MOST_BYTES:
        return None
    pairs = [(step, item) for step, item in list_asked(study) if step.scope != Step.Scope.ONCE]
    about_one = [pair for pair in pairs if pair[0].scope != Step.Scope.GROUP]
    rankings = [pair for pair in pairs if items.find_type(pair[1].type).gives_order]
    finder = _Finder([Header.of(column) for column in columns], about_one, rankings)
    if is_by_story:
        return finder.find_raters(list(study.raters.values_list("code", flat=True)))
    crossings = [finder.find_stories(by, list(story_names(study, by))) for by, _title in list_story_names(study)]
    best = max(crossings, key=lambda crossing: (crossing.n_known, len(crossing.columns)))
    best = best if best.columns else finder.find_numbered_stories()
    return best if best.columns else None


class _Finder:
    """The headers of one file, and what the study asks."""

    def __init__(self, headers: Sequence[Header], asked: Sequence[AskedItem], rankings: Sequence[AskedItem]) -> None:
        self.headers, self.asked, self.rankings = headers, asked, rankings
        self.items = index_items([*asked, *rankings])
        self.item_by_question: dict[str, AskedItem] = {}

    def find_stories(self, by: str, names: Sequence[str]) -> Crossing:
        """The columns that name one of the stories."""
        stories = NameIndex((name, name) for name in names)
        columns = []
        for header in self.headers:
            if match := stories.find(header):
                columns.append(self._cross(header, header.without(match.first, match.last), match.thing))
        return self._crossing("story", columns, by)

    def find_numbered_stories(self) -> Crossing:
        """The columns that name a story by a number: “Story 3”, s3, or 3_Q7 as of a question that was repeated."""
        columns = [crossed for header in self.headers if (crossed := self._cross_number(header))]
        crossing = self._crossing("story", columns)
        is_likely = crossing.n_known or all(_LOOP.fullmatch(crossed.column) for crossed in columns)
        return crossing if is_likely else self._crossing("story", [])

    def find_raters(self, codes: Sequence[str]) -> Crossing | None:
        """The columns that name a rater, known or not, where a question comes with several."""
        code_by_name = {fold(code): code for code in codes}
        columns: list[CrossedColumn] = []
        for header in self.headers:
            match = self.items.find(header)
            rest = header.without(match.first, match.last) if match else header
            words = [word for word in rest.words if word.plain not in REASONS]
            label = rest.spell(words)
            if match and label:
                question = self._name_question(match.thing)
                columns.append(CrossedColumn(header.text, _as_code(label), question, len(words) < len(rest.words)))
            elif label and (_RATER.fullmatch(label) or fold(label) in code_by_name):
                columns.append(CrossedColumn(header.text, code_by_name.get(fold(label), _as_code(label)), ""))
        crossing = self._crossing("rater", columns)
        abouts = _collect_abouts(crossing.columns)
        return crossing if any(len(raters) > 1 for raters in abouts.values()) else None

    def _crossing(self, kind: Literal["story", "rater"], columns: Iterable[CrossedColumn], by: str = CODE) -> Crossing:
        """The crossing of those columns whose question is known, or is asked about several."""
        crossed = tuple(columns)
        if any(not column.question for column in crossed) and len(self.asked) == 1:
            self.item_by_question.setdefault("", self.asked[0])
        abouts = _collect_abouts(crossed)
        likely = [c for c in crossed if c.question in self.item_by_question or len(abouts[c.question]) > 1]
        return Crossing(kind, tuple(likely), by, self.item_by_question)

    def _name_question(self, pair: AskedItem) -> str:
        """What the page calls the item; two of one title by their keys."""
        question = pair[1].title or pair[1].key
        question = question if self.item_by_question.get(question, pair) == pair else pair[1].key
        self.item_by_question.setdefault(question, pair)
        return question

    def _cross(self, header: Header, rest: Header, about: str) -> CrossedColumn:
        """The column about that, with the question that the rest of its header names."""
        if alone := self.items.find_alone(rest):
            pair, is_reason = alone
            return CrossedColumn(header.text, about, self._name_question(pair), is_reason)
        question = rest.spell()
        if len(self.rankings) == 1 and {word.plain for word in rest.words} & RANK_WORDS:
            self.item_by_question.setdefault(question, self.rankings[0])
        return CrossedColumn(header.text, about, question)

    def _cross_number(self, header: Header) -> CrossedColumn | None:
        """The column about the story with the number that it names; None if it names none."""
        words = header.words if len(header.words) > 1 else ()
        for at, word in enumerate(words):
            if (
                word.plain.isdecimal()
                and at
                and words[at - 1].plain in ("story", "text", "passage", "sample", "output")
            ):
                return self._cross(header, header.without(at, at + 1), word.plain)
            if match := _NUMBERED_STORY.fullmatch(word.plain):
                return self._cross(header, header.without(at, at + 1), match[1])
        at = 0 if words and words[0].plain.isdecimal() else len(words) - 1
        if not words or not words[at].plain.isdecimal() or self.items.find_alone(header):
            return None
        return self._cross(header, header.without(at, at + 1), words[at].plain)


def _collect_abouts(columns: Iterable[CrossedColumn]) -> dict[str, set[str]]:
    """By question, about what there are columns."""
    abouts: dict[str, set[str]] = defaultdict(set)
    for crossed in columns:
        abouts[crossed.question].add(crossed.about)
    return abouts


def _as_code(label: str) -> str:
    """The label as a code; one with letters that no code has stays as it is, since two could come to one code."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", label).strip("-_.") if label.isascii() else label


def make_answers(
    crossing: Crossing, item_by_question: Mapping[str, AskedItem], groups_by_story: Mapping[str, Sequence[str]]
) -> Iterator[AnswerColumn]:
    """The answers in those columns whose question is known.

    groups_by_story : codes of groups by what the columns call a story in them
    """
    reasons = {(c.about, c.question): c.column for c in crossing.columns if c.is_reason}
    for question, columns in crossing.questions.items():
        if question not in item_by_question:
            continue
        step, item = item_by_question[question]
        columns = [crossed for crossed in columns if not crossed.is_reason]
        if items.find_type(item.type).gives_order and crossing.kind == "story":
            yield from _make_rankings(step, item, columns, groups_by_story)
            continue
        for crossed in columns:
            reason = reasons.get((crossed.about, question), "")
            answer = AnswerColumn(value=crossed.column, item=item.key, step=step.key, rationale=reason)
            is_story = crossing.kind == "story"
            yield replace(answer, story=crossed.about) if is_story else replace(answer, rater=crossed.about)


def _make_rankings(
    step: Step, item: Item, columns: Iterable[CrossedColumn], groups_by_story: Mapping[str, Sequence[str]]
) -> Iterator[AnswerColumn]:
    """A ranking of each group, whose stories have a column each; of the row's group where a story is in several."""
    columns = list(columns)
    if any(len(groups_by_story.get(crossed.about, ())) > 1 for crossed in columns):
        yield AnswerColumn(ranks={c.column: c.about for c in columns}, item=item.key, step=step.key)
        return
    ranks_by_group: dict[str, dict[str, str]] = defaultdict(dict)
    for crossed in columns:
        for group in groups_by_story.get(crossed.about, ()):
            ranks_by_group[group][crossed.column] = crossed.about
    for group, ranks in ranks_by_group.items():
        yield AnswerColumn(ranks=ranks, item=item.key, step=step.key, group=group)
