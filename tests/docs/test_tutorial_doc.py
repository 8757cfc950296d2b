"""docs/tutorial.md is of the walk as it is now."""

import re
from pathlib import Path

from tests.browser.designing import PARTS

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "tutorial.md").read_text()


def test_every_part_of_the_walk_stands_in_the_tutorial_in_order_and_no_other() -> None:
    assert re.findall(r"^## \d+\. (.+)\n\n(.+)$", PAGE, re.MULTILINE) == [(part.title, part.text) for part in PARTS]


def test_every_part_has_its_picture_and_there_is_no_other() -> None:
    assert re.findall(r'src="tutorial/(\w+)\.png"', PAGE) == [part.name for part in PARTS]
    assert {file.stem for file in (DOCS / "tutorial").iterdir()} == {part.name for part in PARTS}
