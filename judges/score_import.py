"""Scores that were computed elsewhere, of stories or of pairs: read from a file, and stored as answers of a metric.

Whatever computed them (a reward model, a detector, votes) becomes a rater of kind metric, with a card that says which
version it was, by whom, and which way is better. Its values stand in a metric step beside the frozen protocol.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.answer_import.names import StoryNames
from annotation.answer_import.roles import GROUP, STORY
from annotation.models import Rater
from annotation.responses import imports
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
from studies.incoming_tables.rows import IncomingRow, read_each
from studies.incoming_tables.tables import TABLES, IncomingTable, TableKind
from studies.items.number import LARGEST
from studies.models import Step, Study

SCORES = TableKind(
    TABLES,
    200_000,
    60,
    gettext_lazy("There is a header and no row below it. Add a row for each score."),
)
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")


def _read_score(_names: object, cell: str) -> float:
    number = float(cell) if NUMBER.fullmatch(cell) else math.nan
    if not math.isfinite(number) or abs(number) > LARGEST:
        reason = _("%(cell)s is no finite number; write one with a point, such as 0.75")
        raise InvalidValue(reason % {"cell": quote(cell)})
    return number


# What else a row says, it says of its answer, as a field of `imports.Row` or of its `Answer`.
ROLES = (
    Role(
        "value",
        gettext_lazy("Score"),
        "value score",
        _read_score,
        if_empty=gettext_lazy("there is no score; write one, or take the row out"),
    ),
    replace(STORY, names="story story_code story_id code"),
    replace(GROUP, names="group group_code pair"),
    replace(STORY, key="first", title=gettext_lazy("First story"), names="first first_story story_1 story_a"),
    replace(STORY, key="second", title=gettext_lazy("Second story"), names="second second_story story_2 story_b"),
)
PLACES = ("story", "group", "first", "second")
ITEM = "score"
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
    """One score. groups : codes of those in which it stands; story : "" for a pair

    facts : the value, and what else the row says of its answer
    """

    location: str
    groups: tuple[str, ...]
    story: str
    facts: Mapping[str, Any]

    @property
    def value(self) -> float:
        return float(self.facts["value"])


@dataclass(frozen=True)
class ScoreTable:
    """The scores of a file.

    problems : of its rows; missing : codes of the stories, or pairs, that have none
    n_left_out : rows that stay out as the tool that wrote the file says, by the column and what it says
    """

    about: ScoreCard.About
    scores: tuple[ScoreRow, ...]
    problems: tuple[InvalidRow, ...]
    missing: tuple[str, ...]
    n_left_out: Mapping[tuple[str, str], int]


def read_scores(name: str, content: bytes) -> IncomingTable:
    """The table in a file of scores. Raises UnreadableFile with a sentence and a way out."""
    return read_file(name, content, SCORES)


def examine(study: Study, table: IncomingTable, *, story_column: str) -> ScoreTable:
    """The scores in the table with all that is wrong with them. Writes nothing; a few queries.

    story_column : how the file names stories: by "code", "title", or a factor of their provenance
    Raises ImportRefused if the columns are missing.
    """
    columns, names = _find_columns(table), StoryNames(study, story_column)
    about = ScoreCard.About.STORIES if "story" in columns else ScoreCard.About.PAIRS
    location_by_key: dict[tuple[str, str], str] = {}

    def read(row: IncomingRow) -> Iterator[ScoreRow]:
        score = _read_row(row, columns, names)
        keys = [(group, score.story) for group in score.groups]
        if earlier := next(filter(None, map(location_by_key.get, keys)), None):
            reason = _("there is a score of the same already, in %(place)s; keep one of them")
            raise InvalidRow(row.location, _("story"), reason % {"place": earlier})
        location_by_key.update(dict.fromkeys(keys, row.location))
        yield score

    numbers_by_value = table.find_left_out()
    out = {n for numbers in numbers_by_value.values() for n in numbers}
    within = replace(table, rows=tuple(row for row in table.rows if row[0] not in out))
    scores, problems = read_each(within, columns.values(), read)
    missing = _find_missing(about, scores, names.stories_by_group)
    n_left_out = {value: len(numbers) for value, numbers in numbers_by_value.items()}
    return ScoreTable(about, tuple(scores), tuple(problems), tuple(missing), n_left_out)


def _read_row(row: IncomingRow, columns: Mapping[str, str], names: StoryNames) -> ScoreRow:
    """The score of one row. Raises InvalidRow."""
    facts = row.read_roles(ROLES, columns, names)
    story, group, first, second = (facts.pop(place, "") for place in PLACES)
    if story:
        if group and story not in names.stories_by_group.get(group, ()):
            reason = _("group %(group)s does not hold this story; empty the cell, or name another group")
            raise row.fault(columns["group"], reason % {"group": quote(group)})
        return ScoreRow(row.location, (group,) if group else tuple(names.groups_by_story[story]), story, facts)
    if not first:
        if len(names.stories_by_group.get(group, ())) != 2:
            reason = _("%(group)s is no group of two stories; score its stories one by one")
            raise row.fault(columns["group"], reason % {"group": quote(group)})
        return ScoreRow(row.location, (group,), "", facts)
    groups = names.groups_by_stories.get(frozenset((first, second))) if first != second else None
    if groups is None:
        reason = _("these two are no pair of the study: no group holds just them; take the row out")
        raise row.fault(columns["second"], reason)
    # Kept as it is for the story whose code comes first.
    facts["value"] *= 1 if first < second else -1
    return ScoreRow(row.location, tuple(groups), "", facts)


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
    of_all = {"rater": rater, "step": step.key, "item": ITEM, "kind": Rater.Kind.METRIC}
    for score in scores.scores:
        for group in score.groups:
            yield imports.make_row(location=score.location, group=group, story=score.story, **of_all, **score.facts)


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


def _find_columns(table: IncomingTable) -> dict[str, str]:
    """The column of each role that is read. Raises ImportRefused."""
    columns = {role: column for column, role in recognise(table.columns, ROLES, table.hints).items()}
    names_both = {"first", "second"} <= columns.keys()
    is_of_pairs = "story" not in columns and ("group" in columns or names_both)
    if "value" not in columns or not ("story" in columns or is_of_pairs):
        message = _(
            "%(file)s needs a column “value”, and a column “story”, or for pairs “first” and “second” or “group”; it "
            "has %(names)s. Rename its columns."
        )
        raise ImportRefused(message % {"file": table.name, "names": ", ".join(table.columns)[:300]})
    unread = ("first", "second") if "story" in columns or not names_both else ("group",)
    return {role: column for role, column in columns.items() if role not in unread}
