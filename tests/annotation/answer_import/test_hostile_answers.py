"""Files of answers that were made to be slow: twice the size costs about twice as much; what runs deep is refused."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from annotation.answer_import.column_map import AnswerColumn, ColumnMapping, RaterColumn, StoryColumn, parse_mapping
from annotation.answer_import.files import ANSWERS, examine
from annotation.answer_import.guesses import guess_mapping
from annotation.answer_import.rows import read_rows
from studies import protocol
from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.files import read_file
from studies.incoming_tables.tables import IncomingTable
from studies.items import InvalidAnswer, StoryLabel, all_types
from studies.models import Study
from tests import factories
from tests.annotation.answer_import.test_answer_import import OF_GROUPS, WIDE
from tests.doubling import MOST_PER_DOUBLING, cost_per_doubling
from tests.replay import replayed
from tests.studies.items.examples import item as make_item

pytestmark = pytest.mark.django_db
COLUMNS = ("who", "story", "q1", "why", "q2", "at")


@pytest.fixture
@replayed
def study() -> Study:
    """Two groups of two stories."""
    return factories.study(n_groups=2, n_stories=2, state="closed")


def table_of(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> IncomingTable:
    return IncomingTable("a.csv", columns, tuple(enumerate(rows, start=2)))


# Rows by their number; all or none of them come in.
ROWS: dict[str, Callable[[int], tuple[str, ...]]] = {
    "raters": lambda k: (f"R{k}", "p1s1", "1", "It is so.", "", ""),
    "one rater": lambda k: ("Ann", "p1s1", "1", "", "", ""),
    "stories that are none": lambda k: (f"R{k}", f"q{k}", "1", "", "", ""),
    "other answers": lambda k: (f"R{k}", "p1s1", f"answer {k}", "", "", ""),
    "other times": lambda k: (f"R{k}", "p1s1", "1", "", "", f"day {k}"),
    "no answer": lambda k: (f"R{k}", "p1s1", "", "", "", ""),
}
# A cell by how long it is, and the columns in which it may stand.
CELLS: dict[str, Callable[[int], str]] = {
    "brackets": lambda n: "[" * n,
    "lists": lambda n: "[" + "[]," * n + "[]]",
    "names": lambda n: json.dumps(["p1s1"] * n),
    "marks of order": lambda n: "A > " * n + "B",
    "equal signs": lambda n: "=" * n,
    "digits": lambda n: "1" * n,
    "digits and noughts": lambda n: "1" * n + "." + "0" * n + "x",
    "semicolons": lambda n: "a; " * n,
    "accents out of order": lambda n: "a" + "\u0315\u0300" * n,
    "blanks": lambda n: "a" + " " * n + "b",
    "signs": lambda n: "!" * n,
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_examining_answers_costs_as_much_as_they_are_many(study: Study, row: Callable[[int], tuple[str, ...]]) -> None:
    mapping = parse_mapping(WIDE, "map.toml")

    def build(n: int) -> IncomingTable:
        return table_of(COLUMNS, [row(k) for k in range(n)])

    assert cost_per_doubling(build, lambda table: examine(study, table, mapping), 1_500) <= MOST_PER_DOUBLING


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
@pytest.mark.parametrize("place", COLUMNS)
def test_a_cell_costs_as_much_as_it_is_long(study: Study, place: str, cell: Callable[[int], str]) -> None:
    mapping, plain = parse_mapping(WIDE, "map.toml"), ("Ann", "p1s1", "1", "So.", "yes", "2026-01-01")

    def build(n: int) -> IncomingTable:
        return table_of(COLUMNS, [tuple(cell(n) if c == place else p for c, p in zip(COLUMNS, plain, strict=True))])

    assert cost_per_doubling(build, lambda table: examine(study, table, mapping), 15_000) <= MOST_PER_DOUBLING


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
def test_an_order_costs_as_much_as_it_is_long(study: Study, cell: Callable[[int], str]) -> None:
    mapping = parse_mapping(OF_GROUPS, "map.toml")

    def build(n: int) -> IncomingTable:
        return table_of(("left", "right", "order"), [("p1s1", "p1s2", cell(n))])

    assert cost_per_doubling(build, lambda table: examine(study, table, mapping), 15_000) <= MOST_PER_DOUBLING


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
@pytest.mark.parametrize("kind", all_types().values(), ids=lambda kind: kind.name)
def test_each_kind_of_answer_is_checked_at_the_cost_of_its_length(kind: Any, cell: Callable[[int], str]) -> None:
    item = make_item(**kind.example["item"])
    labels = [StoryLabel(letter) for letter in kind.example.get("stories", ["A", "B"])]

    def clean(raw: Any) -> None:
        with suppress(InvalidAnswer):
            kind.clean(item, raw, stories=labels)

    assert cost_per_doubling(cell, clean, 50_000) <= MOST_PER_DOUBLING
    assert cost_per_doubling(lambda n: cell(n).split(), clean, 50_000) <= MOST_PER_DOUBLING


def test_many_columns_of_answers_are_parted_at_the_cost_of_their_number(study: Study) -> None:
    def build(n: int) -> tuple[IncomingTable, ColumnMapping]:
        columns = ("who", "story", *(f"q{k}" for k in range(n)))
        answers = tuple(AnswerColumn(value=f"q{k}", item="item-1", step="tests") for k in range(n))
        mapping = ColumnMapping(rater=RaterColumn("who"), story=StoryColumn("story"), answers=answers)
        return table_of(columns, [("Ann", "p1s1", *["yes"] * n)] * 3), mapping

    def read(pair: tuple[IncomingTable, ColumnMapping]) -> None:
        read_rows(*pair, study, protocol.latest(study))
        guess_mapping(pair[0], study)

    assert cost_per_doubling(build, read, 300) <= MOST_PER_DOUBLING


@pytest.mark.parametrize("n", [6, 300, 900, 100_000])
@pytest.mark.parametrize("part", ["[", '[{"story":'])
def test_lists_that_run_deep_are_no_answer_and_no_error_of_the_server(study: Study, n: int, part: str) -> None:
    cell = part * n + ("1" if "{" in part else "") + ("]" if part == "[" else "}]") * n
    table = table_of(("left", "right", "order"), [("p1s1", "p1s2", cell)])

    examination = examine(study, table, parse_mapping(OF_GROUPS, "map.toml"))

    assert [problem.column for problem in examination.problems] == ["value"]


# What is read of 900 depends on how much of the stack is left.
@pytest.mark.parametrize(("n", "n_rows"), [(300, {1}), (900, {0, 1}), (100_000, {0})])
def test_a_file_of_lists_that_run_deep_is_read_or_refused(n: int, n_rows: set[int]) -> None:
    file = f'[{{"who": {"[" * n}{"]" * n}}}]'.encode()

    try:
        n_read = len(read_file("a.json", file, ANSWERS).rows)
    except UnreadableFile:
        n_read = 0

    assert n_read in n_rows


def test_who_is_called_by_a_whole_text_is_nobody(study: Study) -> None:
    mapping = parse_mapping(WIDE.replace('column = "who"', 'column = "who"\nis_numbered = true'), "map.toml")
    table = table_of(COLUMNS, [("x" * 301, "p1s1", "1", "", "", ""), ("x" * 300, "p1s2", "1", "", "", "")])

    examination = examine(study, table, mapping)

    assert [(problem.location, problem.column) for problem in examination.problems] == [("a.csv: row 2", "“who”")]
    assert len(examination.rows) == 1
