"""Texts of an archive, joined with the table that lies beside them and says of each what it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from django.utils.translation import gettext as _

from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.tables import IncomingTable, make_unique


def join_texts(texts: IncomingTable, paths: Sequence[PurePosixPath], table: IncomingTable) -> IncomingTable:
    """The rows of the table, each with the text that one of its columns names; then texts that no row names.

    texts : with the columns folder, file and text; paths : of the texts in the archive
    Raises UnreadableFile if no column names a text, or several name as many and differ.
    """
    place_by_name = _list_names(paths)
    at = _find_naming_column(table, place_by_name, paths)
    has_folders = len({folder for _n, (folder, _file, _text) in texts.rows}) > 1
    rows: list[tuple[int, tuple[str, ...]]] = []
    named: set[int] = set()
    for n, cells in table.rows:
        place = place_by_name.get(_plain(cells[at]))
        named |= set() if place is None else {place}
        rows.append((n, (*_read_text(texts, place, has_folders=has_folders), *cells)))
    last = max((n for n, _cells in table.rows), default=0)
    unnamed = [place for place in range(len(paths)) if place not in named]
    for n, place in enumerate(unnamed, start=last + 1):
        blank = ["" if column != at else str(paths[place]) for column in range(len(table.columns))]
        rows.append((n, (*_read_text(texts, place, has_folders=has_folders), *blank)))
    n_added = 2 if has_folders else 1
    return replace(
        table,
        name=texts.name,
        columns=make_unique([*(["folder"] if has_folders else []), "text", *table.columns]),
        rows=tuple(rows),
        formulas=tuple((n, column + n_added) for n, column in table.formulas),
        damaged=tuple((n, column + n_added) for n, column in table.damaged),
        encoding=table.encoding if table.encoding != "utf-8" else texts.encoding,
    )


def _find_naming_column(table: IncomingTable, place_by_name: Mapping[str, int], paths: Sequence[PurePosixPath]) -> int:
    """The place of the column that names the most texts. Raises UnreadableFile."""

    def match(at: int) -> list[int | None]:
        return [place_by_name.get(_plain(cells[at])) for _n, cells in table.rows]

    n_texts = [len({*match(at)} - {None}) for at in range(len(table.columns))]
    if not any(n_texts):
        message = _("No column of “%(table)s” names the texts of the archive, such as “%(file)s”. Add one.")
        raise UnreadableFile(message % {"table": table.name, "file": paths[0].name[-80:]})
    best, *others = [at for at, n in enumerate(n_texts) if n == max(n_texts)]
    if any(match(at) != match(best) for at in others):
        columns = ", ".join(table.columns[at] for at in (best, *others))
        message = _("Several columns of “%(table)s” name texts of the archive, and differ: %(columns)s. Keep one.")
        raise UnreadableFile(message % {"table": table.name, "columns": columns})
    return best


def _list_names(paths: Sequence[PurePosixPath]) -> dict[str, int]:
    """The places of texts by path, by name and by name without its end, where that is of one text alone."""
    names = [{_plain(str(path)), _plain(path.name), _plain(path.stem)} for path in paths]
    counts = Counter(name for each in names for name in each)
    return {name: place for place, each in enumerate(names) for name in each if counts[name] == 1}


def _plain(name: str) -> str:
    return name.strip().replace("\\", "/").casefold()


def _read_text(texts: IncomingTable, place: int | None, *, has_folders: bool) -> tuple[str, ...]:
    folder, _file, text = ("", "", "") if place is None else texts.rows[place][1]
    return (folder, text) if has_folders else (text,)
