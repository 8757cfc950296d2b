"""What the columns of the report's tables mean, for the documents of a package."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from reports.document.vocabulary import VERSION, column_word, old_names

ReportColumns = Mapping[str, Sequence[str]]  # of each file, in their order


def schema_fields(path: str, columns: Sequence[str]) -> list[dict[str, str]]:
    """The columns of a file, as a Data Package describes them."""
    table = PurePosixPath(path).stem
    words = [(name, column_word(table, name)) for name in columns]
    return [
        {
            "name": name,
            "type": word.kind,
            "description": f"{word.meaning} In {word.unit}." if word.unit else word.meaning,
        }
        for name, word in words
    ]


def codebook_entries(columns_by_file: ReportColumns) -> dict[str, Any]:
    """Every column of every file with what it means and what it was called before, and by which vocabulary."""
    return {
        "vocabulary": VERSION,
        "tables": {path: _entries(PurePosixPath(path).stem, columns) for path, columns in columns_by_file.items()},
    }


def _entries(table: str, columns: Sequence[str]) -> dict[str, dict[str, Any]]:
    words = {name: column_word(table, name) for name in columns}
    return {
        name: {"type": word.kind, "unit": word.unit, "meaning": word.meaning, "old_names": old_names(table, name)}
        for name, word in words.items()
    }
