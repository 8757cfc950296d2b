from pathlib import Path

import pytest

from studies.cloze.alignment import align
from studies.cloze.text import fill_blanks
from studies.documents.cloze import read_cloze
from studies.documents.errors import DocumentError
from tests.studies.cloze.documents import shoes
from tests.studies.cloze.fills import parse, read

MYSTERY = Path(__file__).parents[3] / "studies" / "demo" / "mystery"


def test_fills_are_read_by_number_and_open_ones_left_out() -> None:
    said = 'cloze = "shoes"\nnotes = "First."\n[fills]\n5 = ""\n2 = "a ticket "\n1 = "boots"\n'

    assert parse(said, "one.toml", shoes()) == {1: "boots", 2: "a ticket"}


@pytest.mark.parametrize("name", ["solution.toml", "weak.toml"])
def test_the_solutions_of_the_mystery_are_complete_and_can_be_taken_apart_again(name: str) -> None:
    document = read_cloze(MYSTERY / "cloze.toml")
    fills = read(MYSTERY / name, document)

    assert sorted(fills) == list(range(1, 45))
    assert align(document, fill_blanks(document, fills)) == fills


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ('cloze = "boots"\nfills.1 = "x"', "cloze: “boots” is another cloze than “shoes”"),
        ('cloze = "shoes"', "fills: is missing or empty"),
        ('fills.1 = "x"', "cloze: is missing or empty"),
        ('cloze = "shoes"\nfills = "x"', 'fills: must be a table, such as 1 = "a word", not text'),
        ('cloze = "shoes"\nfills.6 = "x"', "fills, 6: there is no such blank; the last is 5"),
        ('cloze = "shoes"\nfills.one = "x"', "fills: “one” is no number of a blank; write it in digits"),
        ('cloze = "shoes"\nfills.1 = "x"\nfills.01 = "y"', "fills: 1 stands twice"),
        ('cloze = "shoes"\nfills.1 = 3', "fills: 1 must be text, not a whole number"),
        ('cloze = "shoes"\nfills.1 = "\\u0000"', "fills: 1 contains the control character U+0000; remove it"),
        ('cloze = "shoes"\nfill.1 = "x"', "fill: there is no such key; did you mean “fills”?"),
        ("", "file: the file is empty; docs/cloze.md has an example to start from"),
        (f"cloze = {'[' * 5000}", "file: is nested too deeply"),
    ],
)
def test_fills_that_do_not_fit_are_refused(said: str, message: str) -> None:
    with pytest.raises(DocumentError) as refused:
        parse(said, "one.toml", shoes())

    assert str(refused.value) == f"one.toml: {message}"
