"""Tables of answers in a package: every answer a row, a story a row, and what is asked of rankings, guesses, pairs and
clozes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Any

from django.db.models import QuerySet

from annotation.models import Fill, Response, ResponseEvent
from annotation.responses import imports
from reports.dataset.choices import ranks_of
from reports.dataset.step_items import StepItem
from reports.export import long_table
from reports.export.content import PackageContent, PackageTable, Row, TableField
from reports.export.long_table_columns import COLUMNS

OF_ANSWER = ("study", "rater", "rater_kind", "group", "seat", "status", "step", "item", "order", "persona", "repeat")
OF_READING = ("study", "rater", "rater_kind", "group", "seat", "status", "story", "order", "persona", "repeat")
OF_SOURCE = {
    "source": TableField("Who wrote the story."),
    "source_kind": TableField("expert_writer, amateur_writer, language_model or other."),
}
TYPE_BY_COLUMN = {column.name: column.type for column in COLUMNS}


def long_fields(content: PackageContent) -> Mapping[str, TableField]:
    meaning_by_name = long_table.columns(content.study, with_sources=content.with_sources)
    return {name: TableField(text, TYPE_BY_COLUMN.get(name, "string")) for name, text in meaning_by_name.items()}


def long_rows(content: PackageContent) -> Iterator[Row]:
    return long_table.rows(content.study, with_sources=content.with_sources, among=content.responses)


def _answers(content: PackageContent, among: QuerySet[Response], shared: tuple[str, ...]) -> Iterator[Row]:
    """Answers in the order of the long file, with these of its columns and what was answered to which item."""
    names = {*shared, "story", "step", "item", "value"}
    return long_table.rows(content.study, with_sources=False, among=among, names=names)


def _shared(content: PackageContent, names: tuple[str, ...]) -> dict[str, TableField]:
    """Columns that the long file has as well."""
    fields = long_fields(content)
    return {name: fields[name] for name in names}


def _of_source(content: PackageContent, story: str) -> Row:
    source = content.source_by_story.get(story)
    return {"source": source.name, "source_kind": source.kind} if source else {}


def _answered(content: PackageContent, items: list[StepItem]) -> Iterator[tuple[StepItem, Row]]:
    """What was answered to these items, with the item, in the order of the long file."""
    item_by_key = {item.key: item for item in items}
    among = content.responses_to(items).filter(outcome=Response.Outcome.ANSWERED)
    for row in _answers(content, among, OF_ANSWER):
        if item := item_by_key.get((row["step"], row["item"])):
            yield item, row


def _cells(row: Row, names: tuple[str, ...]) -> Row:
    return {name: row[name] for name in names}


# ── one row a rater and story ──────────────────────────────────────────────────────────────────────────────────────


def wide_fields(content: PackageContent) -> Mapping[str, TableField]:
    asked = {
        f"{step}/{item}": TableField(f"Item {item} of step {step}: the answer as stored.")
        for step, item in dict.fromkeys(item.key for item in content.all_items)
    }
    return _shared(content, OF_READING) | (OF_SOURCE if content.with_sources else {}) | asked


def wide_rows(content: PackageContent) -> Iterator[Row]:
    rows = _answers(content, content.responses, OF_READING)
    for key, answers in groupby(rows, key=lambda row: tuple(row[name] for name in OF_READING)):
        row = dict(zip(OF_READING, key, strict=True))
        yield (
            row
            | _of_source(content, row["story"])
            | {f"{answer['step']}/{answer['item']}": answer["value"] for answer in answers}
        )


# ── rankings, guesses, pairs, clozes ───────────────────────────────────────────────────────────────────────────────


def ranking_items(content: PackageContent) -> list[StepItem]:
    return [item for item in content.items if item.is_ranking]


def ranking_rows(content: PackageContent) -> Iterator[Row]:
    for _item, row in _answered(content, ranking_items(content)):
        for story, rank in ranks_of(row["value"]).items():
            yield _cells(row, OF_ANSWER) | {"story": story, "rank": rank} | _of_source(content, story)


def guess_items(content: PackageContent) -> list[StepItem]:
    return [item for item in content.items if item.is_guess]


def guess_rows(content: PackageContent) -> Iterator[Row]:
    for item, row in _answered(content, guess_items(content)):
        author = item.author_by_option.get(row["value"], "")
        yield _cells(row, OF_ANSWER) | {
            "story": row["story"],
            "guess": row["value"],
            "guessed_kind": author,
            **_of_source(content, row["story"]),
        }


def pair_items(content: PackageContent) -> list[StepItem]:
    return [item for item in content.items if item.is_preference]


def pair_rows(content: PackageContent) -> Iterator[Row]:
    seats = content.assignments.values_list("rater__code", "group__code", "seat__number", "seat__order")
    order_by_place = {(rater, group, seat): order for rater, group, seat, order in seats}
    imported = _imported_answers(content)
    for item, row in _answered(content, pair_items(content)):
        order = order_by_place[row["rater"], row["group"], row["seat"]]
        chosen = row["value"] if row["value"] in order else ""
        is_known = (row["rater"], row["group"], *item.key) not in imported
        yield (
            _cells(row, OF_ANSWER)
            | {
                "stories": order,
                "order_is_known": is_known,
                "chosen": chosen,
                "chosen_position": order.index(chosen) + 1 if chosen and is_known else None,
            }
            | _of_source(content, chosen)
        )


def _imported_answers(content: PackageContent) -> set[tuple[str, str, str, str]]:
    """Rater, group, step and item of every answer that was imported."""
    events = ResponseEvent.objects.filter(key=imports.EVENT_KEY, response__in=content.responses.order_by())
    names = ("assignment__rater__code", "assignment__group__code", "step__key", "item__key")
    return set(events.values_list(*(f"response__{name}" for name in names)))


def blank_items(content: PackageContent) -> list[StepItem]:
    return [item for item in content.items if item.step.layout_type.fills_text]


def cloze_rows(content: PackageContent) -> Iterator[Row]:
    fills = Fill.objects.filter(assignment__in=content.assignments).values_list("assignment__rater__code", "state")
    state_by_rater = dict(fills)
    for _item, row in _answered(content, blank_items(content)):
        yield _cells(row, OF_ANSWER) | {"text": row["value"], "state": state_by_rater.get(row["rater"], "")}


def _fields(
    more: Mapping[str, TableField], *, has_source: bool = True
) -> Callable[[PackageContent], Mapping[str, TableField]]:
    def fields(content: PackageContent) -> Mapping[str, TableField]:
        of_source = OF_SOURCE if has_source and content.with_sources else {}
        return _shared(content, OF_ANSWER) | dict(more) | of_source

    return fields


def _count(items: Callable[[PackageContent], list[StepItem]]) -> Callable[[PackageContent], int]:
    """How many answers there are to these items; rankings have a row for each story of them."""

    def count(content: PackageContent) -> int:
        of_items = items(content)
        return content.responses_to(of_items).filter(outcome="answered").count() if of_items else 0

    return count


def _n_rankings(content: PackageContent) -> int:
    of_items = ranking_items(content)
    if not of_items:
        return 0
    values: Any = content.responses_to(of_items).filter(outcome="answered").values_list("value", flat=True)
    return sum(len(rank) for value in values.iterator() for rank in value)


def _n_readings(content: PackageContent) -> int:
    return content.responses.order_by().values("assignment_id", "story_id").distinct().count()


TABLES = (
    PackageTable(
        "responses_long.csv",
        "Every answer, one a row.",
        long_fields,
        long_rows,
        lambda content: content.responses.count(),
        is_needed=True,
    ),
    PackageTable(
        "responses_wide.csv",
        "One row for a rater and a story, one column an item.",
        wide_fields,
        wide_rows,
        _n_readings,
    ),
    PackageTable(
        "rankings.csv",
        "Every order that was given, one row a story in it.",
        _fields(
            {
                "story": TableField("Code of the story."),
                "rank": TableField("Its rank, 1 is best; stories that share a place share their ranks.", "number"),
            }
        ),
        ranking_rows,
        _n_rankings,
    ),
    PackageTable(
        "authorship.csv",
        "Every guess of who wrote a story.",
        _fields(
            {
                "story": TableField("Code of the story."),
                "guess": TableField("The option that was chosen."),
                "guessed_kind": TableField("The kind of author that the option means."),
            }
        ),
        guess_rows,
        _count(guess_items),
    ),
    PackageTable(
        "pairs.csv",
        "Every choice of one story out of a group.",
        _fields(
            {
                "stories": TableField(
                    "The stories in the order in which they were shown; by code if imported.", "array"
                ),
                "order_is_known": TableField("Whether anybody knows that order.", "boolean"),
                "chosen": TableField("The story that was chosen; empty if neither."),
                "chosen_position": TableField("Where it stood, from 1; empty if nobody knows.", "integer"),
            }
        ),
        pair_rows,
        _count(pair_items),
    ),
    PackageTable(
        "cloze.csv",
        "Every blank that was filled.",
        _fields(
            {
                "text": TableField("What was written into the blank."),
                "state": TableField("What became of the whole text: dropped_out, submitted, shortlisted, or empty."),
            },
            has_source=False,
        ),
        cloze_rows,
        _count(blank_items),
    ),
)
