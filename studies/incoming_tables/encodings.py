"""The words that the bytes of a file spell, whatever their encoding."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies.incoming_tables.errors import UnreadableFile

DOCUMENTS = (".txt", ".md", ".docx", ".doc", ".docm", ".odt", ".rtf")
# Those that can be chosen. Of the others, Windows-1252 is guessed first, then that of old Macs, which spells any bytes.
ENCODINGS: dict[str, Promise | str] = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "cp1252": gettext_lazy("Western European (Windows-1252)"),
    "mac-roman": gettext_lazy("Western European (Mac)"),
    "cp1250": gettext_lazy("Central European (Windows-1250)"),
    "cp1251": gettext_lazy("Cyrillic (Windows-1251)"),
    "cp1253": gettext_lazy("Greek (Windows-1253)"),
    "cp1254": gettext_lazy("Turkish (Windows-1254)"),
    "gb18030": gettext_lazy("Chinese (GB 18030)"),
    "big5": gettext_lazy("Chinese (Big5)"),
    "shift_jis": gettext_lazy("Japanese (Shift JIS)"),
    "cp949": gettext_lazy("Korean (CP949)"),
}
_GUESSED = ("cp1252", "mac-roman")
_CODECS = {"utf-8": "utf-8-sig"}


@dataclass
class DecodedWords:
    """The encodings of the bytes that were turned to words, and how much documents unpacked to.

    chosen : the encoding that somebody chose; "" to guess it
    guessed : those other than UTF-8 and UTF-16 that were guessed
    """

    chosen: str = ""
    guessed: set[str] = field(default_factory=set)
    n_unpacked: int = 0
    has_utf_16: bool = False

    def decode(self, content: bytes, name: str) -> str:
        """The words. Raises UnreadableFile."""
        if self.chosen:
            words = _try_decode(content, self.chosen)
            if words is None:
                message = _("“%(file)s” cannot be read as %(encoding)s.")
                raise UnreadableFile(message % {"file": name, "encoding": ENCODINGS.get(self.chosen, self.chosen)})
        elif content.startswith((b"\xff\xfe", b"\xfe\xff")):
            words, self.has_utf_16 = _try_decode(content, "utf-16"), True
        elif (words := _try_decode(content, "utf-8")) is None and b"\0" not in content:
            encoding = next(encoding for encoding in _GUESSED if _try_decode(content, encoding) is not None)
            words = _try_decode(content, encoding)
            self.guessed.add(encoding)
        if words is None or _is_binary(words):
            raise not_text(name)
        return words

    @property
    def encoding(self) -> str:
        """The one that was chosen or guessed, of several files one that is not UTF-8 if there is such."""
        return self.chosen or next(iter(sorted(self.guessed)), "utf-16" if self.has_utf_16 else "utf-8")

    @property
    def doubtful_encoding(self) -> str:
        """The encoding if it was guessed and is neither UTF-8 nor UTF-16, else "utf-8"."""
        return self.encoding if self.guessed else "utf-8"


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
        return content.decode(_CODECS.get(encoding, encoding))
    except UnicodeDecodeError:
        return None


def _is_binary(words: str) -> bool:
    return len(re.findall(r"[\x00-\x08\x0e-\x1f]", words[:100_000])) > len(words[:100_000]) / 100
