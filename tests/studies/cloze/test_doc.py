"""docs/cloze.md says all there is to say, and what it shows works."""

import re
from pathlib import Path

import pytest

from studies.cloze.compilation import filling_instrument, judging_instrument
from studies.cloze.graph import draw_svg
from studies.documents import cloze as document
from studies.documents.errors import InvalidValue

DOC = (Path(__file__).parents[3] / "docs" / "cloze.md").read_text()
(CLOZE,) = re.findall(r"^```toml\n(.*?)^```$", DOC, flags=re.DOTALL | re.MULTILINE)


def rows(title: str) -> list[tuple[str, str]]:
    """The first two columns of the table in that section."""
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", DOC, flags=re.DOTALL | re.MULTILINE)
    assert section, f"no section “{title}”"
    return re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", section[1], flags=re.MULTILINE)


@pytest.mark.parametrize("part", ["cloze", "blank", "section", "constraint", "check", "edge"])
def test_every_key_is_documented_and_no_other(part: str) -> None:
    documented = rows(f"Keys of an {part}" if part == "edge" else f"Keys of a {part}")

    assert sorted(key for key, _ in documented) == sorted(document.READERS[part])
    assert {key for key, kind in documented if not kind.endswith("needed")} == {
        key for key in document.READERS[part] if key in document.OPTIONAL
    }


def test_the_example_loads_and_compiles_as_the_page_says() -> None:
    read = document.parse_cloze(CLOZE, "example.toml")
    instruments = {instrument.slug: instrument for instrument in (filling_instrument(read), judging_instrument(read))}
    page = re.findall(r"^\| `(seven\S+)` \|.*\| ([^|]+) \|$", DOC, flags=re.MULTILINE)

    assert draw_svg(read)
    assert [slug for slug, _ in page] == list(instruments)
    for slug, keys in page:
        # The example has no checks; that their keys look so is tested where they are compiled.
        assert set(re.findall(r"`([^`]+)`", keys)) - {"s1-c1-k1"} <= {item.key for item in instruments[slug].items}


def test_the_shipped_cloze_has_the_size_that_the_page_says() -> None:
    read = document.read_cloze(Path(__file__).parents[3] / "studies" / "demo" / "mystery" / "cloze.toml")
    n_constraints = sum(len(section.constraints) for section in read.sections)

    assert len(read.sections) == 7
    assert f"seven sections, {len(read.blanks)} blanks, {n_constraints} constraints, {len(read.edges)} edges" in DOC


@pytest.mark.parametrize(
    ("part", "key", "most"),
    [("cloze", "blanks", "1,000"), ("cloze", "sections", "50"), ("cloze", "edges", "1,000"),
     ("section", "constraints", "20"), ("constraint", "checks", "10")],
)  # fmt: skip
def test_the_caps_are_those_that_the_page_says(part: str, key: str, most: str) -> None:
    n = int(most.replace(",", ""))

    assert re.search(rf"^\| `{key}` \|.*at most {most} \|$", DOC, flags=re.MULTILINE)
    assert document.READERS[part][key]([{}] * n) == [{}] * n
    with pytest.raises(InvalidValue, match=rf"^has {n + 1} entries; at most {n} are read$"):
        document.READERS[part][key]([{}] * (n + 1))
