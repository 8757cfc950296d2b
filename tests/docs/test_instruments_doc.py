"""docs/instruments.md says all there is to say, and what it shows works."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from studies.documents import instrument
from studies.documents.instrument import InstrumentDocument, ItemDocument
from studies.documents.scores import ScoreDocument
from studies.items import all_types

DOC = (Path(__file__).parents[2] / "docs" / "instruments.md").read_text()
EXAMPLES = re.findall(r"^```toml\n(.*?)^```$", DOC, flags=re.DOTALL | re.MULTILINE)


def section(title: str) -> str:
    """What stands under that heading, up to the next heading of the same or a higher level."""
    found = re.search(rf"^(#+) {re.escape(title)}\n(.*?)(?=^#{{1,2}} |^### |\Z)", DOC, flags=re.DOTALL | re.MULTILINE)
    assert found, f"no section “{title}”"
    return found[2]


def rows(title: str) -> list[str]:
    """The first column of the table in that section."""
    return re.findall(r"^\| `([^`]+)` \|", section(title), flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("title", "kind"),
    [("Keys of an instrument", InstrumentDocument), ("Keys of an item", ItemDocument), ("Scores", ScoreDocument)],
)
def test_every_key_is_documented_and_no_other(title: str, kind: Any) -> None:
    assert rows(title) == [field.name for field in fields(kind)]


def test_every_type_has_a_section_and_no_other() -> None:
    types = re.search(r"^## Types\n(.*?)^## ", DOC, flags=re.DOTALL | re.MULTILINE)
    assert types

    assert sorted(re.findall(r"^### (\w+)$", types[1], flags=re.MULTILINE)) == sorted(all_types())


@pytest.mark.parametrize("name", all_types())
def test_every_setting_of_a_type_is_documented_and_no_other(name: str) -> None:
    assert rows(name) == list(all_types()[name].settings)


@pytest.mark.parametrize("name", all_types())
def test_every_type_is_shown_in_an_example(name: str) -> None:
    assert f'type = "{name}"' in section(name)


def test_every_built_in_instrument_is_listed_and_no_other() -> None:
    assert sorted(rows("The instruments that come with Quire")) == sorted(instrument.discover())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.split('"')[1])
def test_every_example_loads(example: str, tmp_path: Path) -> None:
    file = tmp_path / "example.toml"
    file.write_text(example)

    document = instrument.read_instrument(file)

    assert document.items


def test_the_error_that_is_shown_is_the_error_that_is_given(tmp_path: Path) -> None:
    file = tmp_path / "mood.toml"
    file.write_text(
        'slug = "mood"\nversion = "1"\ntitle = "Mood"\n[[items]]\nkey = "mood"\ntyp = "text"\nquestion = "?"\n'
    )

    with pytest.raises(instrument.DocumentError) as caught:
        instrument.read_instrument(file)

    assert str(caught.value) in DOC
