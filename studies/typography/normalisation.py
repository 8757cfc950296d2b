"""Ways of typing made alike: each normalisation writes the same thing in one way. Words are never touched.

Functions on texts; nothing here reads the database.
"""

import html
import re
from collections.abc import Callable, Iterable

from django.utils.translation import gettext_noop as _

from studies.typography.emphasis import Emphasis, EmphasisMark
from studies.typography.features import (
    BOLD,
    ESCAPED_BREAK,
    INVISIBLE,
    ITALIC,
    LINK,
    MARKUP,
    ODD_SPACE,
    TAG_IN_LINE,
    TAG_OF_BLOCK,
    WRITTEN_SIGN,
)
from studies.typography.paragraphs import BLANK_LINES, is_break, is_one_paragraph

# Blanks before something, tried once for each run of them and not at each blank in it.
BLANKS = r"(?:(?<![ \t])[ \t]+)?"
# Headings, bullets and quotations at the beginning of a line, one after another; nothing is read twice.
_LINE_MARKS = re.compile(r"^(?:(?:#{1,6}[ \t]++|[ \t]*+[*+•>][ \t]++)(?=\S))++")
_BOLD_ANYWHERE = Emphasis(EmphasisMark("**", r"\*\*", r"\*\*"), EmphasisMark("__", "__", "__"))
# Marks within marks uncover each other; a text that has them deeper is a joke or an attack.
MOST_PASSES = 50


def _by_line(change: Callable[[str], str]) -> Callable[[str], str]:
    """The change made to every line that is not one between sections."""
    return lambda text: "\n".join(line if is_break(line) else change(line) for line in text.split("\n"))


def _markup(text: str) -> str:
    if not MARKUP.search(text):
        return text
    text = TAG_IN_LINE.sub("", TAG_OF_BLOCK.sub("\n\n", ESCAPED_BREAK.sub("\n", text)))
    text = WRITTEN_SIGN.sub(lambda entity: html.unescape(entity[0]), text)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def _dashes(line: str) -> str:
    head = re.match(r"[ \t]*(?:—|–|-{1,2}(?!-))[ \t]+(?=\S)|[ \t]*(?:—|--(?!-))(?=\S)", line)
    start, rest = ("— ", line[head.end() :]) if head else ("", line)  # dialogue begins with a dash in some languages
    rest = re.sub(rf"{BLANKS}(?:—|(?<!-)-{{2,3}}(?!-))[ \t]*|(?<=\S)[ \t]+[–-](?:[ \t]+|$)", "—", rest)
    return start + rest


def _quotes(text: str) -> str:
    # Straight ones: right in every language, and made without guessing which way a quote turns.
    text = re.sub(r"«\s*|(?:(?<!\s)\s+)?»|[“”„‟]", '"', text)
    return re.sub("[‘’‚‛]", "'", text)


def _italics(text: str) -> str:
    # Bold type keeps its marks here, so that it is not half undone.
    return "".join(
        part if part.startswith(("**", "__")) else ITALIC.unwrap(part) for part in _BOLD_ANYWHERE.split(text)
    )


def _markdown(line: str) -> str:
    line = _LINE_MARKS.sub("", BOLD.unwrap(line))
    return re.sub(r"`([^`\n]+)`", r"\1", re.sub(LINK, r"\1", line))


def _lines(text: str) -> str:
    text = text.strip("\n")
    if BLANK_LINES.search(text) or is_one_paragraph(text):
        return BLANK_LINES.sub("\n\n", text)
    return re.sub(r"\n+", "\n\n", text)


# In this order: marks of other programs and what is invisible first, since they hide the rest; line ends last.
NORMALISATIONS: dict[str, tuple[str, Callable[[str], str]]] = {
    "markup": (_("make tags, escaped line ends and escaped signs paragraphs and plain signs"), _markup),
    "invisible": (
        _("remove characters that cannot be seen; make every space a plain one"),
        lambda text: ODD_SPACE.sub(" ", INVISIBLE.sub("", text)),
    ),
    "markdown": (
        _("take out bold type, headings, bullets, back-ticks and links; their words stay"),
        _by_line(_markdown),
    ),
    "italics": (_("take out italics; their words stay"), _by_line(_italics)),
    "breaks": (
        _("write every line between sections as ***"),
        lambda text: "\n".join("***" if is_break(line) else line for line in text.split("\n")),
    ),
    "dashes": (_("write every dash as — without spaces, and with one where it begins a line"), _by_line(_dashes)),
    "quotes": (_("make all quotes and apostrophes straight"), _quotes),
    "ellipses": (_("write every ellipsis as …"), lambda text: re.sub(r"\.(?: ?\.){2}(?: (?=\.))?", "…", text)),
    "spaces": (
        _("one space between words, none at the edges of a line"),
        lambda text: "\n".join(re.sub(r"[ \t]+", " ", line).strip() for line in text.split("\n")),
    ),
    "lines": (_("one blank line between paragraphs"), _lines),
}


def normalise_text(text: str, kinds: Iterable[str]) -> str:
    """The text with these normalisations made. Doing it again changes nothing, unless marks stand in one another more
    than 50 deep."""
    chosen = set(kinds)
    changes = [change for kind, (_meaning, change) in NORMALISATIONS.items() if kind in chosen]
    for _pass in range(MOST_PASSES):  # what one takes away may uncover work for another; each makes the text plainer
        before = text
        for change in changes:
            text = change(text)
        if text == before:
            break
    return text
