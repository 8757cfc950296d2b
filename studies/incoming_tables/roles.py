"""What the columns of a table can be, and which of it they seem to be by their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise

NO_HINTS: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Role:
    """What a column can be: an entry in the list of its importer.

    key, title : as choices keep it; as the page offers it
    names : of columns that are recognised as it, as `plain_name` writes them, with blanks between
    read : what a cell says, with the names of the study at hand if the importer has some; raises InvalidValue
    field : what the row calls it; as the key if ""
    is_apart : whether raters and coordinators never see what it says
    may_repeat : whether several columns can be it
    if_missing : what to say if no column is it, where one has to be
    if_empty : what to say of an empty cell, where each row has to say it
    """

    key: str
    title: Promise
    names: str = ""
    read: Callable[[Any, str], Any] = lambda _names, cell: cell.strip()
    field: str = ""
    is_apart: bool = False
    may_repeat: bool = False
    if_missing: Promise | None = None
    if_empty: Promise | None = None


def as_field(read: Callable[[str], Any]) -> Callable[[Any, str], Any]:
    """Reads a cell as that reader of a document does, whatever the study holds."""
    return lambda _names, cell: read(cell)


def plain_name(column: str) -> str:
    """The name of a column in small letters, with underscores for blanks and signs."""
    return re.sub(r"[\W_]+", "_", column.strip().lower()).strip("_")


def last_part(column: str) -> str:
    """The name of a value within an object of JSON, such as source for meta.source; of another column its name."""
    return column.rpartition(".")[2] if re.fullmatch(r"\w+(?:\.\w+)+", column) else column


def recognise(columns: Sequence[str], roles: Sequence[Role], hints: Mapping[str, Any] = NO_HINTS) -> dict[str, str]:
    """The roles by key that the hints of a table or the names of its columns tell, each once unless it may repeat."""
    role_by_key, hinted_keys = {role.key: role for role in roles}, hints.get("roles", {})
    keys = {column: key for column, key in hinted_keys.items() if key in role_by_key}
    free = [column for column in columns if column not in keys and hinted_keys.get(column) != ""]
    role_by_name = {name: role for role in roles for name in role.names.split()}
    names = hints.get("names", {})
    likely = [
        (column, role)
        for column in free
        if (
            role := role_by_name.get(plain_name(column))
            or role_by_name.get(plain_name(names.get(column) or last_part(column)))
        )
    ]
    # A column that bears the very name of a role comes before one that is like it.
    likely.sort(key=lambda pair: plain_name(pair[0]) != pair[1].key)
    for column, role in likely:
        if role.may_repeat or role.key not in keys.values():
            keys.setdefault(column, role.key)
    return keys
