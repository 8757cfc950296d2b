"""Scores that were computed elsewhere, of stories or of pairs: read from a file, and stored as answers of a metric.

Whatever computed them (a reward model, a detector, votes) becomes a rater of kind metric, with a card that says which
version it was, by whom, and which way is better. Its values stand in a metric step beside the frozen protocol.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.answer_import.rows import story_names
from annotation.models import Rater
from annotation.responses import Answer, imports
from annotation.responses.imports import Row
from judges import metrics
from judges.models import ScoreCard
from studies import loader, protocol
from studies.documents.errors import InvalidValue, quote
from studies.documents.instrument import parse_instrument
from studies.documents.names import SLUG
from studies.incoming_tables.errors import ImportRefused
from studies.incoming_tables.files import read_file
from studies.incoming_tables.problems import InvalidRow, list_lines
from studies.incoming_tables.roles import Role, recognise
from studies.incoming_tables.tables import IncomingTable, TableKind
from studies.items.number import LARGEST
from studies.models import Step, Study

SCORES = TableKind(
    (".csv", ".tsv", ".xlsx", ".jsonl", ".json"),
    200_000,
    60,
    gettext_lazy("There is a header and no row below it. Add a row for each score."),
)
ROLES = (
    Role("story", gettext_lazy("Story"), "story story_code story_id code"),
    Role("group", gettext_lazy("Group"), "group group_code pair"),
    Role("first", gettext_lazy("First story"), "first first_story story_1 story_a"),
    Role("second", gettext_lazy("Second story"), "second second_story story_2 story_b"),
    Role("value", gettext_lazy("Score"), "value score"),
)
ITEM = "score"
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
MOST_NAMED = 20  # problems or stories, in a message
LONGEST_NAME = 32  # metric and version together, so that the step that holds the scores can be named after them


class RefusedCard(ImportRefused):
    """What is said of the scores cannot stand. field : of `CardText`, which one; reason : why, without its name"""

    def __init__(self, field: str, reason: str, *, title: str = "") -> None:
        super().__init__(_("%(field)s: %(why)s") % {"field": title, "why": reason} if title else reason)
        self.field, self.reason = field, reason


@dataclass(frozen=True)
class CardText:
    """What the importing account says of scores. better : "higher" or "lower"; version : "" for the next number"""

    metric: str
    better: str
    scored_by: str
    version: str = ""
    scored_on: date | None = None
    note: str = ""


@dataclass(frozen=True)
class ScoreRow:
    """One score. groups : codes of those in which it stands; story : "" for a pair"""

    location: str
    groups: tuple[str, ...]
    story: str
    value: float


@dataclass(frozen=True)
class ScoreTable:
    """The scores of a file. problems : of its rows; missing : codes of the stories, or pairs, that have none"""

    about: ScoreCard.About
    scores: tuple[ScoreRow, ...]
    problems: tuple[InvalidRow, ...]
    missing: tuple[str, ...]


def read_scores(name: str, content: bytes) -> IncomingTable:
    """The table in a file of scores. Raises UnreadableFile with a sentence and a way out."""
    return read_file(name, content, SCORES)


def examine(study: Study, table: IncomingTable, *, story_column: str) -> ScoreTable:
    """The scores in the table with all that is wrong with them. Writes nothing; a few queries.

    story_column : how the file names stories: by "code", "title", or a factor of their provenance
    Raises ImportRefused if the columns are missing.
    """
    columns = _find_columns(table)
    stories_by_group = _list_stories(study)
    reader = _Reader(table, columns, story_names(study, story_column), stories_by_group)
    about = ScoreCard.About.STORIES if "story" in columns else ScoreCard.About.PAIRS
    scores, problems = [], []
    location_by_key: dict[tuple[str, str], str] = {}
    for n, cells in table.rows:
        location = f"{Path(table.name).name}: " + _("row %(n)d") % {"n": n}
        try:
            score = reader.read(location, cells)
            keys = [(group, score.story) for group in score.groups]
            if earlier := next(filter(None, map(location_by_key.get, keys)), None):
                reason = _("there is a score of the same already, in %(place)s; keep one of them")
                raise InvalidRow(location, _("story"), reason % {"place": earlier})
            location_by_key |= dict.fromkeys(keys, location)
            scores.append(score)
        except InvalidRow as problem:
            problems.append(problem)
    missing = _find_missing(about, scores, stories_by_group)
    return ScoreTable(about, tuple(scores), tuple(problems), tuple(missing))


@transaction.atomic
def import_scores(
    study: Study,
    table: IncomingTable,
    card: CardText,
    *,
    story_column: str = "code",
    may_be_missing: bool = False,
    sha256: str,
    by: str,
    at: datetime,
) -> ScoreCard:
    """The card of the scores, each of which is now an answer of a rater of kind metric.

    may_be_missing : whether stories without a score are left without one, in place of a refusal
    Raises ImportRefused, NotPlannable if nothing is frozen yet; then nothing has come in.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    version = protocol.current(study)
    name = f"{card.metric}-{check_card(study, card)}"
    scores = examine(study, table, story_column=story_column)
    _refuse_problems(scores, may_be_missing=may_be_missing)
    step = _make_step(study, card, name, scores.about)
    rows = list(_list_rows(scores, rater=name, step=step))
    try:
        imports.import_rows(study, rows, version=version, at=at, steps=[step])
    except InvalidRow as problem:
        raise ImportRefused(str(problem)) from None
    return ScoreCard.objects.create(
        study=study,
        rater=Rater.objects.get(study=study, code=name),
        metric=card.metric,
        version=name.removeprefix(f"{card.metric}-"),
        better=card.better,
        about=scores.about,
        scored_by=card.scored_by,
        scored_on=card.scored_on,
        note=card.note,
        n_scores=len(scores.scores),
        file_name=table.name,
        sha256=sha256,
        imported_by=by,
        imported_at=at,
    )


def next_version(study: Study, metric: str) -> str:
    """The first whole number that is no version of that metric in the study yet."""
    versions = set(ScoreCard.objects.filter(study=study, metric=metric).values_list("version", flat=True))
    return next(str(n) for n in range(1, len(versions) + 2) if str(n) not in versions)


def check_card(study: Study, card: CardText) -> str:
    """The version of the scores. Raises RefusedCard."""
    version = card.version or next_version(study, card.metric)
    for field, title, word in (("metric", _("metric"), card.metric), ("version", _("version"), version)):
        try:
            SLUG.check(word)
        except InvalidValue as error:
            raise RefusedCard(field, str(error), title=title) from None
    if len(f"{card.metric}-{version}") > LONGEST_NAME:
        message = _("the names of metric and version are too long; together they have at most %(n)d characters")
        raise RefusedCard("metric", message % {"n": LONGEST_NAME - 1})
    if card.metric in metrics.all_metrics():
        message = _("%(metric)s is a metric of Quire’s own; give these scores another name")
        raise RefusedCard("metric", message % {"metric": quote(card.metric)})
    if not card.scored_by.strip():
        raise RefusedCard("scored_by", _("say who computed the scores"))
    if card.better not in ScoreCard.Better.values:
        raise RefusedCard("better", _("say whether a higher or a lower score is better"))
    name = f"{card.metric}-{version}"
    if study.raters.filter(code=name).exists():
        message = _("%(name)s has scores in this study already; give these another version, such as %(next)s")
        raise RefusedCard("version", message % {"name": name, "next": next_version(study, card.metric)})
    return version


def _refuse_problems(scores: ScoreTable, *, may_be_missing: bool) -> None:
    lines = list_lines(scores.problems, MOST_NAMED)
    if scores.missing and not may_be_missing:
        lines.append(describe_missing(scores))
    if not scores.scores and not lines:
        lines.append(_("the file has no score"))
    if lines:
        raise ImportRefused("\n".join(lines))


def describe_missing(scores: ScoreTable) -> str:
    """Which stories, or pairs, have no score, in one sentence with the way out; "" if none is missing."""
    n = len(scores.missing)
    if not n:
        return ""
    message = ngettext(
        "%(n)d has no score (%(names)s); add it to the file, or say that some may be missing.",
        "%(n)d have no score (%(names)s); add them to the file, or say that some may be missing.",
        n,
    )
    names = ", ".join(scores.missing[:MOST_NAMED]) + (" …" if n > MOST_NAMED else "")
    return message % {"n": n, "names": names}


def _make_step(study: Study, card: CardText, name: str, about: ScoreCard.About) -> Step:
    """The metric step that holds the scores. Raises ImportRefused."""
    is_of_pairs = about == ScoreCard.About.PAIRS
    # What is published depends on these alone, so that other studies with scores of that name share it.
    question = (
        "By how much does it put the first of the two stories above the second?" if is_of_pairs else "Which score?"
    )
    slug, version = f"scores-{card.metric}{'-pairs' if is_of_pairs else ''}", name.removeprefix(f"{card.metric}-")
    table: dict[str, Any] = {
        "slug": slug,
        "version": version,
        "title": f"Scores from elsewhere: {card.metric}",
        "items": [{"key": ITEM, "type": "number", "question": question}],
    }
    try:
        instrument = loader.load_instrument(parse_instrument(table, card.metric))
        return protocol.add_metric_step(protocol.current(study), instrument, key=f"scores-{name}")
    except (loader.VersionConflict, protocol.NotPlannable) as error:
        raise ImportRefused(str(error)) from None


def _list_rows(scores: ScoreTable, *, rater: str, step: Step) -> Iterator[Row]:
    """Each score as an answer, in each of its groups."""
    for score in scores.scores:
        for group in score.groups:
            answer = Answer(value=score.value)
            yield Row(score.location, rater, group, score.story, step.key, ITEM, answer, kind=Rater.Kind.METRIC)


def _list_stories(study: Study) -> dict[str, list[str]]:
    """The codes of the stories of each group, in order."""
    stories_by_group = defaultdict[str, list[str]](list)
    for group, story in sorted(study.groups.values_list("code", "stories__code")):
        stories_by_group[group].append(story)
    return dict(stories_by_group)


def _find_missing(
    about: ScoreCard.About, scores: Sequence[ScoreRow], stories_by_group: Mapping[str, Sequence[str]]
) -> list[str]:
    """The stories of groups, or the groups of two, without a score."""
    scored = {(group, score.story) for score in scores for group in score.groups}
    if about == ScoreCard.About.PAIRS:
        pairs = [group for group, stories in stories_by_group.items() if len(stories) == 2]
        return [group for group in pairs if (group, "") not in scored]
    return sorted(
        {story for group, stories in stories_by_group.items() for story in stories if (group, story) not in scored}
    )


def _find_columns(table: IncomingTable) -> dict[str, int]:
    """The place of each column that is read. Raises ImportRefused."""
    columns = {role: table.columns.index(column) for column, role in recognise(table.columns, ROLES).items()}
    is_of_pairs = "story" not in columns and ("group" in columns or {"first", "second"} <= set(columns))
    if "value" not in columns or not ("story" in columns or is_of_pairs):
        message = _(
            "%(file)s needs a column “value”, and a column “story”, or for pairs “first” and “second” or “group”; it "
            "has %(names)s. Rename its columns."
        )
        raise ImportRefused(message % {"file": table.name, "names": ", ".join(table.columns)[:300]})
    return columns


class _Reader:
    """Rows of scores, read with the stories and groups of the study at hand."""

    def __init__(
        self,
        table: IncomingTable,
        columns: Mapping[str, int],
        codes_by_name: Mapping[str, Sequence[str]],
        stories_by_group: Mapping[str, Sequence[str]],
    ) -> None:
        self.columns, self.codes_by_name, self.stories_by_group = columns, codes_by_name, stories_by_group
        self.header = table.columns
        self.groups_by_story = defaultdict[str, list[str]](list)
        self.groups_by_pair = defaultdict[frozenset[str], list[str]](list)
        for group, stories in stories_by_group.items():
            for story in stories:
                self.groups_by_story[story].append(group)
            if len(stories) == 2:
                self.groups_by_pair[frozenset(stories)].append(group)

    def read(self, location: str, cells: Sequence[str]) -> ScoreRow:
        """The score of one row. Raises InvalidRow."""
        value = self._value(location, self._cell(cells, "value"))
        if "story" in self.columns:
            story, group = self._story(location, cells, "story"), self._cell(cells, "group")
            if group and story not in self.stories_by_group.get(group, ()):
                reason = _("group %(group)s does not hold this story; empty the cell, or name another group")
                raise InvalidRow(location, self._title("group"), reason % {"group": quote(group)})
            return ScoreRow(location, (group,) if group else tuple(self.groups_by_story[story]), story, value)
        if "first" not in self.columns:
            return ScoreRow(location, (self._pair(location, cells),), "", value)
        first, second = self._story(location, cells, "first"), self._story(location, cells, "second")
        groups = self.groups_by_pair.get(frozenset((first, second)))
        if groups is None:
            reason = _("these two are no pair of the study: no group holds just them; take the row out")
            raise InvalidRow(location, self._title("second"), reason)
        # Kept as it is for the story whose code comes first.
        return ScoreRow(location, tuple(groups), "", value if first < second else -value)

    def _pair(self, location: str, cells: Sequence[str]) -> str:
        group = self._cell(cells, "group")
        if len(self.stories_by_group.get(group, ())) != 2:
            reason = _("%(group)s is no group of two stories; score its stories one by one")
            raise InvalidRow(location, self._title("group"), reason % {"group": quote(group)})
        return group

    def _cell(self, cells: Sequence[str], role: str) -> str:
        return cells[self.columns[role]].strip() if role in self.columns else ""

    def _title(self, role: str) -> str:
        return quote(self.header[self.columns[role]])

    def _story(self, location: str, cells: Sequence[str], role: str) -> str:
        name = self._cell(cells, role)
        codes = self.codes_by_name.get(name, ())
        if len(codes) == 1:
            return codes[0]
        reason = (
            _("%(n)d stories of the study are called %(name)s; name them by code")
            if codes
            else _("%(name)s is no story of the study; take the row out, or say how the file names stories")
        )
        raise InvalidRow(location, self._title(role), reason % {"n": len(codes), "name": quote(name)})

    def _value(self, location: str, cell: str) -> float:
        if not cell:
            raise InvalidRow(location, self._title("value"), _("there is no score; write one, or take the row out"))
        number = float(cell) if NUMBER.fullmatch(cell) else math.nan
        if not math.isfinite(number) or abs(number) > LARGEST:
            reason = _("%(cell)s is no finite number; write one with a point, such as 0.75")
            raise InvalidRow(location, self._title("value"), reason % {"cell": quote(cell)})
        return number
