"""docs/pairs.md names every column and filter, and what it says of the paper stands in the paper."""

import os
import re
from pathlib import Path

import pytest

from stats.vote_pairs import FILTERS, N_BUCKETS, VoteFilters
from studies.documents import rated_stories

DOC = (Path(__file__).parents[2] / "docs" / "pairs.md").read_text()


@pytest.fixture
def litbench() -> str:
    """The article, white space folded."""
    path = Path(os.environ.get("QUIRE_DATA", "")).parent / "sources" / "litbench.txt"
    if not os.environ.get("QUIRE_DATA") or not path.is_file():
        pytest.skip("there is no folder sources beside that which QUIRE_DATA names")
    return " ".join(path.read_text(encoding="utf-8").split())


def rows(heading: str) -> list[str]:
    return re.findall(r"^\| `?(\w+)`? \|", DOC.split(f"\n{heading}\n")[1].split("\n## ")[0], re.MULTILINE)


def test_every_column_and_every_filter_is_documented_and_no_other() -> None:
    assert rows("## The file")[1:] == list(rated_stories.COLUMNS)
    assert rows("## The filters, in their order")[1:] == list(FILTERS)


def test_the_limits_are_those_of_the_paper(litbench: str) -> None:
    filters = VoteFilters()

    assert f"fewer than {filters.least_upvotes} upvotes" in litbench
    assert f"greater than {filters.most_tokens} tokens" in litbench
    assert f"fewer than {filters.least_words} words" in litbench
    assert f"an upvote difference less than {100 * filters.margin:.0f}%" in litbench
    assert f"a histogram of length differences with {N_BUCKETS} buckets" in litbench
    assert "upvote differential of less than 25% of the chosen response" in litbench
    assert "where the higher-upvote story is also published later" in litbench
    assert "performed independently for both our benchmark and training dataset" in litbench


def test_what_the_paper_reports_of_models_is_in_the_paper(litbench: str) -> None:
    for words in (
        "This lightweight model achieves **61.2%** accuracy on held-out LitBench pairs",
        "Claude-3.7-Sonnet, achieves only 73% agreement with human preferences",
        "reach 78% accuracy, outperforming all zero-shot judges",
        "a training corpus of 43,827 story pairs",
        "We generate 64 stories each seeded from 40 LitBench prompts",
        "annotators selected the RM-preferred story 56.4% of the time",
    ):
        assert words in litbench
    for number in ("61.2 %", "73 %", "78 %", "43,827", "56.4 %"):
        assert number in DOC
