"""The text of a .docx: paragraphs with a blank line between them, italics as `*italic*`, nothing else of its looks."""

from __future__ import annotations

from io import BytesIO
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.utils.translation import gettext as _

from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.formats.archives import read_office_file

_MAIN = b"wordprocessingml.document.main+xml"


def read_word_file(content: bytes) -> str:
    """What the document says. Raises UnreadableFile if it is none, or has macros."""
    parts = read_office_file(content, kind=".docx")
    if _MAIN not in parts.get("[Content_Types].xml", b"") or "word/document.xml" not in parts:
        raise UnreadableFile(_("This is not a .docx document. Save it as .docx or as plain text."))
    import docx  # heavy, and seldom needed

    try:
        document = docx.Document(BytesIO(content))
        paragraphs = [_words(paragraph) for paragraph in document.paragraphs]
    except Exception:  # whatever the library finds wrong, the file is refused
        raise UnreadableFile(_("The .docx document is damaged. Save it again, or as plain text.")) from None
    if document.tables:
        raise UnreadableFile(_("The .docx document holds a table, which would be lost. Write it as paragraphs."))
    return "\n\n".join(words for words in paragraphs if words.strip())


def _words(paragraph: Any) -> str:
    """The paragraph's words; neighbouring italic runs share one pair of asterisks, outside of which blanks stay."""
    runs = [(bool(run.italic), run.text) for run in paragraph.runs]
    stretches = [
        (is_italic, "".join(words for _is_italic, words in group)) for is_italic, group in groupby(runs, itemgetter(0))
    ]
    return "".join(_in_asterisks(words) if is_italic else words for is_italic, words in stretches).strip()


def _in_asterisks(words: str) -> str:
    core = words.strip()
    return words.replace(core, f"*{core}*", 1) if core and "\n" not in core else words
