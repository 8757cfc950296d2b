"""docs/reports.md names the files that there are and the keys of the document."""

import re
from pathlib import Path

import pytest

from reports import figures, results
from tests.reports import given

DOC = (Path(__file__).parents[2] / "docs" / "reports.md").read_text()


def named(heading: str) -> list[str]:
    """The first column of the table under a heading."""
    part = DOC.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([\w.-]+)` \|", part, re.MULTILINE)


def test_every_file_is_documented_and_no_other() -> None:
    assert named("Files") == [
        "responses_long.csv",
        "codebook.csv",
        *(f"{name}.csv" for name in figures.by_table()),
    ]


@pytest.mark.django_db
def test_every_key_of_the_document_is_documented_and_no_other() -> None:
    assert named("The document") == list(results.compute(given.closed_study()))
