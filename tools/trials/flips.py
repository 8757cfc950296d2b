"""A byte flipped somewhere in the history, behind the back of the triggers: is it found?"""

from typing import Any, NamedTuple

import numpy as np
from django.db import DatabaseError, connection, transaction

from annotation import responses
from annotation.models import Assignment, Response, ResponseEvent, Withdrawal
from annotation.responses import Answer, submission, verification
from tests import factories


class Cell(NamedTuple):
    """One value in the database, by table, column and row."""

    table: str
    column: str
    pk: int


COLUMNS = {
    ResponseEvent: ("words", "commitment", "digest", "at", "revision", "key", "n_pasted", "response_id"),
    Response: (
        *("value", "outcome", "rationale", "quotes", "head", "revision", "first_answered_at", "last_edited_at"),
        *("assignment_id", "step_id", "item_id", "story_id"),
    ),
    Assignment: ("receipt",),
}


KINDS = {
    **dict.fromkeys(("at", "first_answered_at", "last_edited_at"), "timestamptz"),
    **dict.fromkeys(("revision", "n_pasted"), "integer"),
    **dict.fromkeys(("response_id", "assignment_id", "step_id", "item_id", "story_id"), "bigint"),
    **dict.fromkeys(("value", "quotes"), "jsonb"),
}


class _Undone(Exception):
    """Take the flip back."""


def run(n: int = 1000, *, seed: int = 1) -> dict[str, Any]:
    """How many of n flipped bytes are found, one at a time. The triggers must have been removed.

    A flip that the database itself refuses (an unknown outcome, a date that is none, broken UTF-8 or JSON on
    PostgreSQL) is drawn again and counted as refused.
    """
    material()
    rng = np.random.default_rng(seed)
    cells = all_cells()
    counts = {"flips": 0, "found": 0, "refused": 0}
    by_column: dict[str, int] = {}
    missed: list[str] = []
    if verification.verify().faults:
        raise AssertionError("the history does not hold before anything is flipped")
    while counts["flips"] < n:
        cell = cells[int(rng.integers(len(cells)))]
        try:
            faults = flipped(cell, rng)
        except DatabaseError:
            counts["refused"] += 1
            continue
        counts["flips"] += 1
        counts["found"] += bool(faults)
        name = f"{cell.table.removeprefix('annotation_')}.{cell.column}"
        by_column[name] = by_column.get(name, 0) + 1
        missed += [] if faults else [str(cell)]
    return counts | {"by column": by_column, "missed": missed}


def material() -> None:
    """Two submitted groups of answers with words in several scripts, some of them changed, one erased."""
    study = factories.study("flips", n_groups=2, n_stories=2, k=1)
    for rater in ("E01", "E02"):
        mine = factories.assignment(study, factories.rater(study, rater))
        factories.answer_all(mine)
        factories.answer(mine, value="no", why="Não — “quase”. 物語 🙂")
        factories.answer(mine, item=2, value="no", why="A second thought.")
        _quote(mine)
        submission.submit(mine, at=factories.NOON)
    erased = ResponseEvent.objects.earliest("pk")
    ResponseEvent.objects.filter(pk=erased.pk).update(words=None)
    Withdrawal.objects.create(rater=erased.response.assignment.rater)


def _quote(assignment: Assignment) -> None:
    """A second look at the first answer, with a passage and a large paste in its reasons."""
    first = assignment.responses.select_related("step", "item", "story").earliest("pk")
    answer = Answer(first.value, rationale="It went on.", quotes=[{"paragraph": 2, "text": "It went on."}])
    place = {"step": first.step, "item": first.item, "story": first.story}
    responses.record(assignment, **place, answer=answer, at=factories.NOON, n_pasted=250)


def all_cells() -> list[Cell]:
    """Every value that the history vouches for, but for empty ones."""
    cells: list[Cell] = []
    for model, columns in COLUMNS.items():
        for column in columns:
            filled = model.objects.exclude(**{f"{column}__isnull": True}).order_by("pk")
            rows = filled.values_list("pk", column)
            cells += [Cell(model._meta.db_table, column, pk) for pk, value in rows if value not in ("", None, [])]
    return cells


def flipped(cell: Cell, rng: np.random.Generator) -> list[str]:
    """What verification says when one bit of one byte of that value is another. The flip is undone."""
    faults: list[str] = []
    try:
        with transaction.atomic():
            flip(cell, rng)
            faults = verification.verify().faults
            raise _Undone
    except _Undone:
        return faults


def flip(cell: Cell, rng: np.random.Generator) -> None:
    """Change one bit in the database's own spelling of a value. Raises DatabaseError if it cannot be stored."""
    is_sqlite = connection.vendor == "sqlite"
    spelt = f"CAST({cell.column} AS {'BLOB' if is_sqlite else 'TEXT'})"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {spelt} FROM {cell.table} WHERE id = %s", [cell.pk])
        raw = cursor.fetchone()[0]
        old = raw if isinstance(raw, bytes) else str(raw).encode()
        new = bytearray(old)
        new[int(rng.integers(len(new)))] ^= 1 << int(rng.integers(8))
        if is_sqlite:
            kind = "INTEGER" if KINDS.get(cell.column) in ("integer", "bigint") else "TEXT"
            cursor.execute(
                f"UPDATE {cell.table} SET {cell.column} = CAST(%s AS {kind}) WHERE id = %s", [bytes(new), cell.pk]
            )
            cursor.execute(f"SELECT {spelt} FROM {cell.table} WHERE id = %s", [cell.pk])
            changed = cursor.fetchone()[0] != old
        else:
            changed = _store(cursor, cell, bytes(new), raw)
    if not changed:
        raise DatabaseError("the database reads the same value")


def _store(cursor: Any, cell: Cell, new: bytes, old: str) -> bool:
    """PostgreSQL: set the value from its text, if it is one; whether that made a difference."""
    try:
        text = new.decode()
    except UnicodeDecodeError as error:
        raise DatabaseError("not UTF-8") from error
    if "\0" in text:
        raise DatabaseError("PostgreSQL stores no NUL")
    cast = KINDS.get(cell.column, "text")
    cursor.execute(
        f"UPDATE {cell.table} SET {cell.column} = CAST(%s AS {cast}) WHERE id = %s "
        f"AND {cell.column} IS DISTINCT FROM CAST(%s AS {cast})",
        [text, cell.pk, text],
    )
    return bool(cursor.rowcount)
