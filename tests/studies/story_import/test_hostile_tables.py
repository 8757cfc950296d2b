"""Tables that were made to be slow: twice the size costs about twice as much, in every reader and every check."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import docx
import pytest

from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.formats.word_files import _words
from studies.incoming_tables.tables import IncomingTable
from studies.story_groups import Member, code_groups, form_groups, missing_sources
from studies.story_import import near_names
from studies.story_import.columns import ColumnChoices, count_kind_values, fill_kinds, guess_choices
from studies.story_import.files import read_file, read_pasted
from studies.story_import.problems import LETTERS_LOOKED_AT, StudyContents, examine
from tests.doubling import MOST_PER_DOUBLING, cost_per_doubling
from tests.studies.story_import.files import word_file

ROLES = {"text": "text", "source": "source", "kind": "source_kind", "group": "group", "code": "code", "title": "title"}
KINDS = {"model": "language_model", "person": "expert_writer"}


def spell(n: int) -> str:
    """A name without digits, one letter from its neighbours."""
    return "".join("abcdefghij"[int(digit)] for digit in f"{n:06}")


# Bytes or words that are read, by how many there are of what makes them slow.
FILES: dict[str, tuple[int, Callable[[int], tuple[str, str]]]] = {
    "columns of one name": (1_000, lambda n: ("a.csv", ",".join(["x"] * n) + "\n" + ",".join("1" * n))),
    "columns of one name that ends in a number": (500, lambda n: ("a.csv", ",".join(["x (2)", "x"] * n) + "\n1")),
    "columns without a name": (2_500, lambda n: ("a.csv", "a" + "," * n + "b\n1")),
    "columns in objects": (5_000, lambda n: ("a.jsonl", "{" + ",".join(f'"{k}": 1' for k in range(n)) + "}")),
    "objects of other columns": (5_000, lambda n: ("a.jsonl", "\n".join(f'{{"{k}": 1}}' for k in range(n)))),
    "lists in one another": (50_000, lambda n: ("a.json", "[" * n)),
    "quotation marks": (100_000, lambda n: ("a.csv", "a,b\n1," + '"' * n)),
    "doubled quotation marks": (100_000, lambda n: ("a.csv", 'a,b\n1,"' + '""' * n + '"')),
    "signs between columns": (50_000, lambda n: ("a.csv", "a;b\n1" + ";,\t" * n)),
    "line ends": (50_000, lambda n: ("a.csv", "a,b" + "\r\n\r" * n + "1,2")),
    "one line": (400_000, lambda n: ("a.txt", "a" * n)),
    "rows": (4_000, lambda n: ("a.csv", "a,b\n" + "1,2\n" * n)),
}
PASTES: dict[str, Callable[[int], str]] = {
    "commas": lambda n: "," * n + "\n1",
    "blanks": lambda n: "a," + " " * n + "b\n1",
    "commas and blanks": lambda n: ", " * n + "\n1",
    "text after text": lambda n: "text " * n + ",\n1",
}


def read(file: tuple[str, str]) -> None:
    with suppress(UnreadableFile):
        read_file(file[0], file[1].encode())


def paste(words: str) -> None:
    with suppress(UnreadableFile):
        read_pasted(words)


@pytest.mark.parametrize(("n", "build"), FILES.values(), ids=FILES)
def test_reading_a_file_costs_as_much_as_it_is_long(n: int, build: Callable[[int], tuple[str, str]]) -> None:
    assert cost_per_doubling(build, read, n) <= MOST_PER_DOUBLING


@pytest.mark.parametrize("build", PASTES.values(), ids=PASTES)
def test_reading_what_is_pasted_costs_as_much_as_it_is_long(build: Callable[[int], str]) -> None:
    assert cost_per_doubling(build, paste, 50_000) <= MOST_PER_DOUBLING


class Run:
    """A run of a document, as its library gives it."""

    def __init__(self, *, italic: bool) -> None:
        self.italic, self.text = italic, "word " * 20


class Paragraph:
    def __init__(self, runs: list[Run]) -> None:
        self.runs = runs


@pytest.mark.parametrize("n_alike", [1, 1_000_000])
def test_runs_of_a_word_document_cost_as_much_as_they_are_many(n_alike: int) -> None:
    def build(n: int) -> Paragraph:
        return Paragraph([Run(italic=at // n_alike % 2 == 1) for at in range(n)])

    assert cost_per_doubling(build, _words, 10_000) <= MOST_PER_DOUBLING


def test_runs_stay_what_they_are() -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("She ")
    for words, is_italic in (("nev", True), ("er ", True), ("went", False), (".", False)):
        paragraph.add_run(words).italic = is_italic

    assert _words(paragraph) == "She *never* went."
    assert read_file("a.docx", word_file("One.", "Two.")).rows == ((1, ("", "a", "One.\n\nTwo.")),)


def test_a_table_of_too_many_columns_of_one_name_is_refused_with_a_way_out() -> None:
    with pytest.raises(UnreadableFile, match="columns"):
        read_file("a.csv", b",".join([b"x"] * 10_000) + b"\n1")
    assert read_file("a.csv", b"x,x,x (2),x\n1,2,3,4").columns == ("x", "x (2)", "x (2) (2)", "x (3)")


def table_of(rows: list[dict[str, str]]) -> IncomingTable:
    columns = tuple(rows[0])
    return IncomingTable("a.csv", columns, tuple((n, tuple(row.values())) for n, row in enumerate(rows, start=2)))


def story(n: int, **cells: str) -> dict[str, str]:
    return {"text": f"Story {n} of some words.", "source": "Ann", "kind": "person", "group": "g"} | cells


# Rows by their number of how many; each such table is examined by the column of groups.
TABLES: dict[str, tuple[int, Callable[[int, int], dict[str, str]]]] = {
    "group names alike": (75, lambda k, n: story(k, group=spell(k * 3 // 2 if k % 3 else k // 3 * 3 // 2))),
    "long group names alike": (75, lambda k, n: story(k, group="the long plot of the sea " * 2 + spell(k * 2 // 3))),
    "group names of one code": (
        1_500,
        lambda k, n: story(k, group="plum" + "!?"[k % 2] * (k % 150) + "#" * (k // 150)),
    ),
    "group names of signs alone": (1_500, lambda k, n: story(k, group=chr(0x4E00 + k))),
    "one large group": (1_500, lambda k, n: story(k)),
    "kinds alike": (100, lambda k, n: story(k, kind=spell(k) + " writer", source=spell(k))),
    "long kinds": (50, lambda k, n: story(k, kind=spell(k) * 3_000)),
    "codes twice": (1_500, lambda k, n: story(k, code=f"s{k // 2}")),
    "codes that tell": (1_500, lambda k, n: story(k, code=f"s-{spell(k)}", source=spell(k))),
    "codes that are none": (1_500, lambda k, n: story(k, code="[" * (k % 500))),
    "one text": (1_500, lambda k, n: story(k, text="Once.")),
    "no text": (1_500, lambda k, n: story(k, text=" ")),
    "one source of two kinds": (1_500, lambda k, n: story(k, kind=list(KINDS)[k % 2], group=f"g{k // 2}")),
    "a source for each": (1_500, lambda k, n: story(k, source=spell(k), group=f"g{k // 2}")),
    "texts that end alike": (1_500, lambda k, n: story(k, text=f'{k} words";Annabel', source="Annabel")),
    "titles": (100, lambda k, n: story(k, title="!" * 3_000)),
}
# Cells of one story by how many signs they are long.
CELLS: dict[str, Callable[[int], dict[str, str]]] = {
    "text of open asterisks": lambda n: {"text": "*a " * n},
    "title": lambda n: {"title": "!" * n},
    "code": lambda n: {"code": "[" * n},
    "source": lambda n: {"source": "a " * n},
    "group": lambda n: {"group": "!" * n},
}
CHOICES = {"kinds": KINDS | {f"{spell(n)[::-1]} writer": "other" for n in range(300)}}


def choose(table: IncomingTable, **choices: Any) -> ColumnChoices:
    roles = {column: ROLES[column] for column in table.columns}
    return ColumnChoices(**({"roles": roles, "grouping": "column"} | CHOICES | choices))


def check(table: IncomingTable) -> None:
    guessed, _unsure = guess_choices(table)
    fill_kinds(guessed, list(count_kind_values(table, guessed))[:300], {})
    examine(table, choose(table), StudyContents())


@pytest.mark.parametrize(("n", "row"), TABLES.values(), ids=TABLES)
def test_examining_a_table_costs_as_much_as_it_has_rows(n: int, row: Callable[[int, int], dict[str, str]]) -> None:
    def build(n: int) -> IncomingTable:
        return table_of([row(k, n) for k in range(n)])

    assert cost_per_doubling(build, check, n) <= MOST_PER_DOUBLING


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
def test_examining_a_table_costs_as_much_as_a_cell_is_long(cell: Callable[[int], dict[str, str]]) -> None:
    assert cost_per_doubling(lambda n: table_of([story(1, **cell(n))]), check, 30_000) <= MOST_PER_DOUBLING


@pytest.mark.parametrize("grouping", ["premise", "balanced", "pairs", "size", "alone"])
@pytest.mark.parametrize("shares", ["one source has half", "sources for all", "premises for all"])
def test_forming_groups_costs_as_much_as_there_are_stories(grouping: str, shares: str) -> None:
    def build(n: int) -> list[Member]:
        sources = [spell(k) if shares != "one source has half" or k % 2 else "Ann" for k in range(n)]
        premises = [spell(k) if shares == "premises for all" else "" for k in range(n)]
        return [Member(k, str(k), sources[k], premises[k]) for k in range(n)]

    def form(members: list[Member]) -> None:
        groups = form_groups(members, grouping, seed=7, size=3)
        missing_sources(groups, {member.key: member.source for member in members})

    assert cost_per_doubling(build, form, 5_000) <= MOST_PER_DOUBLING


def test_balanced_groups_have_one_story_of_each_source_and_last_what_is_left() -> None:
    members = [Member(n, str(n), source) for n, source in enumerate("AAABBC")]
    source_by_key = {member.key: member.source for member in members}

    groups = form_groups(members, "balanced", seed=7)

    assert [sorted(source_by_key[key] for key in keys) for keys in groups.values()] == [list("ABC"), list("AB"), ["A"]]


def test_names_that_fall_to_one_code_are_numbered_around_those_that_are_taken() -> None:
    assert code_groups(["plum!", "plum?", "plum-2", "plum#", "plum"]) == {
        "plum-2": "plum-2",
        "plum": "plum",
        "plum!": "plum-3",
        "plum?": "plum-4",
        "plum#": "plum-5",
    }


@pytest.mark.parametrize(
    "slip", ["Orchards", "orchrd", "Ochrard", "ORCHARD", "or-chard ", "orchyrd", "rochard", "orchar"]
)
def test_a_name_of_which_one_letter_differs_is_near(slip: str) -> None:
    assert near_names.NearNames(["harbour", "orchard"]).find(slip) == "orchard"


@pytest.mark.parametrize("other", ["", "oxen", "orange", "orchid garden", "0", "!", "orchard" * 20])
def test_another_name_is_not_near(other: str) -> None:
    assert near_names.NearNames(["harbour", "orchard", "?"]).find(other) == ""


def test_of_long_texts_the_beginnings_alone_are_compared_in_typing(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def count(text: str) -> str:
        seen.append(len(text))
        return text

    monkeypatch.setattr("studies.story_import.problems.NORMALISATIONS", {"dashes": ("count", count)})
    rows = [story(n, source=spell(n % 2), text=f"{n} word" * 70_000, group=f"g{n // 2}") for n in range(20)]
    table = table_of(rows)

    examine(table, choose(table), StudyContents())

    assert seen == [LETTERS_LOOKED_AT // 20] * 20
