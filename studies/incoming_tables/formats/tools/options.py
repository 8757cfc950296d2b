"""Several options as one cell: of a list in JSON, or of columns with a tick for each option."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from studies.incoming_tables.tables import IncomingTable, make_unique

TICKS = dict.fromkeys(("1", "true", "checked", "yes"), True) | dict.fromkeys(("0", "false", "unchecked", "no"), False)


def join_options(options: Iterable[str]) -> str:
    """The options between semicolons, as importers read them; as JSON where one of them has a semicolon itself."""
    words = list(options)
    return json.dumps(words, ensure_ascii=False) if any(";" in option for option in words) else "; ".join(words)


def spell(value: Any) -> Any:
    """A value of JSON as a cell holds it: a list of words or numbers as options, an object or a deeper list as JSON."""
    if isinstance(value, list) and all(isinstance(part, str | int | float) for part in value):
        return join_options(map(str, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def flatten(entry: Mapping[str, Any], *, prefix: str = "") -> dict[str, Any]:
    """The values of an object by name, those of an object in it by both names with a point between."""
    cells: dict[str, Any] = {}
    for name, value in entry.items():
        if isinstance(value, dict) and not prefix:
            cells |= flatten(value, prefix=f"{name}.")
        else:
            cells[prefix + name] = spell(value)
    return cells


def fold_ticks(table: IncomingTable, pattern: re.Pattern[str], ticks: Mapping[str, bool] = TICKS) -> IncomingTable:
    """The table with one column a question, in place of a column of ticks for each of its options.

    pattern : matches the name of such a column; its first group is the question, its second the option
    ticks : what cells in small letters say of their option
    Questions with a cell that is no tick stay as they are.
    """
    places_by_question: dict[str, list[tuple[int, str]]] = {}
    for at, column in enumerate(table.columns):
        if match := pattern.fullmatch(column):
            places_by_question.setdefault(match[1], []).append((at, match[2]))
    for question, places in list(places_by_question.items()):
        cells = {cells[at].strip().lower() for _n, cells in table.rows for at, _option in places}
        if not cells <= ticks.keys() | {""}:
            del places_by_question[question]
    if not places_by_question:
        return table
    folded = {at for places in places_by_question.values() for at, _option in places}

    def answer(cells: tuple[str, ...]) -> list[str]:
        return [
            join_options(option for at, option in places if ticks.get(cells[at].strip().lower()))
            for places in places_by_question.values()
        ]

    return merge_columns(table, folded, list(places_by_question), answer)


def merge_columns(
    table: IncomingTable, merged: set[int], names: Sequence[str], answer: Callable[[tuple[str, ...]], list[str]]
) -> IncomingTable:
    """The table with other columns at its end in place of some.

    merged : places of the columns that go
    names, answer : of the columns that come; the cells of a row in them
    """
    others = [at for at in range(len(table.columns)) if at not in merged]
    place_by_earlier = {at: place for place, at in enumerate(others)}
    return replace(
        table,
        columns=make_unique([*(table.columns[at] for at in others), *names]),
        rows=tuple((n, (*(cells[at] for at in others), *answer(cells))) for n, cells in table.rows),
        formulas=tuple((n, place_by_earlier[at]) for n, at in table.formulas if at in place_by_earlier),
        damaged=tuple((n, place_by_earlier[at]) for n, at in table.damaged if at in place_by_earlier),
    )
