"""What cells say as answers: lists in one cell, an order or a choice in several, stories called otherwise."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from studies.documents.errors import InvalidValue, quote
from studies.items.options import Options, fold_case, match_option

DEEPEST = 4  # lists and tables in one another, in an answer
MOST_PARTS = 200  # of a cell that names several options or stories
ORDER_MARKS = re.compile(r"([>=])")  # between the stories of a ranking
_SIGNS = (";", "|", "\n", ",")  # between the parts of a cell, the least likely inside a part first
CHOSEN = frozenset(("1", "yes", "true", "x", "y", "checked", "selected", "on", "✓"))
NOT_CHOSEN = frozenset(("", "0", "no", "false", "n", "unchecked", "not selected", "off", "-"))


def is_chosen(cell: str, option: str, options: Options) -> bool:
    """Whether the cell of that option's column says that it was chosen: 1, Yes, a tick, or the option once more.

    Raises InvalidValue for a cell that says neither yes nor no.
    """
    word = fold_case(cell)
    if is_unclear(cell, option, options):
        reason = _("%(cell)s may be the option itself or say that it was not chosen; write x, or empty the cell")
        raise InvalidValue(reason % {"cell": quote(cell)})
    if word in NOT_CHOSEN:
        return False
    if word in CHOSEN or match_option(options, cell) == option:
        return True
    reason = _("%(cell)s does not say whether %(option)s was chosen; write 1 or 0")
    raise InvalidValue(reason % {"cell": quote(cell), "option": quote(option)})


def is_unclear(cell: str, option: str, options: Options) -> bool:
    """Whether the cell of that option's column says “not chosen” in the words of the option, such as No."""
    return bool(cell) and fold_case(cell) in NOT_CHOSEN and match_option(options, cell) == option


def read_list(words: str) -> list[Any] | None:
    """The list that a cell holds as JSON; None if it holds none."""
    if not words.startswith("["):
        return None
    try:
        parsed = json.loads(words)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, list) and not _is_deep(parsed) else None


def _is_deep(value: Any, n_levels: int = DEEPEST) -> bool:
    """Whether there is more in one another than any answer has, so that whoever follows it could run out of stack."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return bool(parts) and (n_levels == 0 or any(_is_deep(part, n_levels - 1) for part in parts))


def split(words: str, is_part: Callable[[str], bool]) -> list[str] | None:
    """The parts of a cell, which stand between semicolons, bars, line ends or commas; None if there is but one.

    A part may hold the sign itself, as the labels of options do: then the longest parts that are some are taken.
    is_part : whether these words are one
    """
    if is_part(words):
        return None
    for sign in _SIGNS:
        pieces = words.split(sign)
        if 1 < len(pieces) <= MOST_PARTS and (parts := _join(pieces, sign, is_part)):
            return parts
    return None


def _join(pieces: Sequence[str], sign: str, is_part: Callable[[str], bool]) -> list[str] | None:
    """The pieces as parts, each of as many as can be one; None if some are in none."""
    parts: list[str] = []
    at = 0
    while at < len(pieces):
        if not pieces[at].strip():
            at += 1
            continue
        ends = range(min(len(pieces), at + 8), at, -1)
        end = next((end for end in ends if is_part(sign.join(pieces[at:end]).strip())), None)
        if end is None:
            return None
        parts.append(sign.join(pieces[at:end]).strip())
        at = end
    return parts


def split_at_semicolons(words: str) -> list[str]:
    return [part.strip() for part in words.split(";") if part.strip()]


def rename_stories(value: Any, code_by_name: Mapping[str, str]) -> Any:
    """An answer that names stories, each by its code where it is called otherwise."""
    if isinstance(value, list):
        return [rename_stories(part, code_by_name) for part in value]
    if isinstance(value, dict):
        return {name: rename_stories(part, code_by_name) if name == "story" else part for name, part in value.items()}
    words = str(value)
    parts = [part.strip() for part in ORDER_MARKS.split(words)]
    if len(parts) == 1:
        return code_by_name.get(words, value)
    return "".join(code_by_name.get(part, part) for part in parts)
