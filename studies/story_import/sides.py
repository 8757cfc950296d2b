"""Several stories in one row of a table, as files of preferences have them: which columns are about which story."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

# Words in which the names of two columns differ that hold the two stories of a pair.
_OPPOSITES = frozenset(
    frozenset(pair.split("/"))
    for pair in (
        *("chosen/rejected", "accepted/rejected", "preferred/rejected", "preferred/dispreferred", "preferred/other"),
        *("winner/loser", "winning/losing", "better/worse", "best/worst", "good/bad", "left/right", "first/second"),
        *("a/b", "x/y", "1/2", "0/1", "one/two", "human/model", "human/ai", "original/rewritten", "before/after"),
    )
)
_SHORTEST = 40  # characters that such texts have on average


def split_name(column: str) -> list[str]:
    """The words and numbers of a column's name, in small letters: response and a for responseA."""
    return re.findall(r"[^\W\d_]+|\d+", re.sub(r"(?<=[a-z\d])(?=[A-Z])", " ", column).lower())


def find_texts_of_row(mean_length_by_column: Mapping[str, float]) -> tuple[str, ...]:
    """The two columns that hold the stories of a row, by their names and how long their cells are; () if none do."""
    long_columns = [column for column, length in mean_length_by_column.items() if length >= _SHORTEST]
    pairs = [pair for pair in combinations(long_columns[:_MOST_LONG], 2) if _are_opposites(*pair)]
    return max(pairs, key=lambda pair: sum(mean_length_by_column[column] for column in pair), default=())


_MOST_LONG = 60  # columns of long cells that are compared with one another


def _are_opposites(column: str, other: str) -> bool:
    words, others = split_name(column), split_name(other)
    if len(words) != len(others):
        return False
    differences = [frozenset(pair) for pair in zip(words, others, strict=True) if len(set(pair)) > 1]
    return len(differences) == 1 and differences[0] in _OPPOSITES


@dataclass(frozen=True)
class SideColumn:
    """A column about one of the stories of a row. text : the column of that story; name : its own, without the side"""

    text: str
    name: str


def find_sides(columns: Sequence[str], texts: Sequence[str]) -> dict[str, SideColumn]:
    """Those columns that say something of one story of the row: upvotes_chosen, where upvotes_rejected is there too."""
    words_by_text = {text: set(split_name(text)) for text in texts}
    common = set.intersection(*words_by_text.values()) if words_by_text else set()
    sides = {text: words - common for text, words in words_by_text.items()}
    if len(texts) < 2 or not all(sides.values()):
        return {}
    text_by_rest: dict[str, dict[str, str]] = {}
    for column in columns:
        words = split_name(column)
        likely = [text for text, side in sides.items() if side <= set(words)]
        if column not in texts and len(likely) == 1:
            rest = "_".join(word for word in words if word not in sides[likely[0]])
            if rest:
                text_by_rest.setdefault(rest, {}).setdefault(likely[0], column)
    return {
        column: SideColumn(text, rest)
        for rest, column_by_text in text_by_rest.items()
        if len(column_by_text) == len(texts)
        for text, column in column_by_text.items()
    }
