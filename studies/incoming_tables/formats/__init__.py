"""How files are read as tables: a file for each format, discovered, never listed."""

from functools import cache

from studies.discovery import find_classes
from studies.incoming_tables.formats.base import FileFormat

__all__ = ["FileFormat", "all_formats", "find_format"]


@cache
def all_formats() -> list[type[FileFormat]]:
    """Every format, those of one tool first. Raises TypeError if two share a name."""
    formats = find_classes(__name__, FileFormat, key="name")  # type: ignore[type-abstract]
    return sorted(formats.values(), key=lambda format: not format.is_of_one_tool)


def find_format(suffix: str, content: bytes) -> type[FileFormat]:
    """The format of a file: of the tool that wrote it, else the general one of the suffix, which there is."""
    formats = (format for format in all_formats() if suffix in format.suffixes)
    return next(format for format in formats if not format.is_of_one_tool or format.recognises(content))
