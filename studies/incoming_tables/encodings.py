"""The words that the bytes of a file spell, whatever their encoding."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from django.utils.translation import gettext as _

from studies.incoming_tables.errors import UnreadableFile

DOCUMENTS = (".txt", ".md", ".docx", ".doc", ".docm", ".odt", ".rtf")


@dataclass
class DecodedWords:
    """Whether any of the bytes that were turned to words were no UTF-8, and how much documents unpacked to."""

    encodings: set[str] = field(default_factory=set)
    n_unpacked: int = 0

    def decode(self, content: bytes, name: str) -> str:
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            words = _try_decode(content, "utf-16")
        elif (words := _try_decode(content, "utf-8-sig")) is None and b"\0" not in content:
            words = _try_decode(content, "cp1252")
            self.encodings.add("cp1252")
        if words is None or _is_binary(words):
            raise not_text(name)
        return words

    @property
    def encoding(self) -> str:
        return next(iter(self.encodings), "utf-8")


def not_text(name: str) -> UnreadableFile:
    reason = _("“%(file)s” is not text.") % {"file": name}
    return UnreadableFile(f"{reason} {name_way_out(PurePosixPath(name).suffix.lower())}")


def name_way_out(suffix: str, *, may_be_document: bool = True) -> str:
    """As what to save the file: a document where one may hold what is asked for, a table as a table."""
    if suffix in DOCUMENTS and may_be_document:
        return _("Save it as .docx or as plain text.")
    return _("Save it as .xlsx or as CSV.")


def _try_decode(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return None


def _is_binary(words: str) -> bool:
    return len(re.findall(r"[\x00-\x08\x0e-\x1f]", words[:100_000])) > len(words[:100_000]) / 100
