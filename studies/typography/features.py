"""Ways of typing: the signs by which formatting tells its source, and how each is written in one way.

Functions on texts; nothing here reads the database. Words are never touched.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.utils.translation import gettext_noop as _

BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
BREAK = re.compile(r"(?:[*\-_~#][ \t]*){3,}|#|⁂")
ITALIC = re.compile(r"(?<![\w*])\*(?![\s*])(.+?)(?<![\s*])\*(?![\w*])|(?<![\w_])_(?![\s_])(.+?)(?<![\s_])_(?![\w_])")
BOLD = re.compile(r"\*\*(?!\s)(.+?)(?<!\s)\*\*|(?<!\w)__(?!\s)(.+?)(?<!\s)__(?!\w)")
# Joiners belong to the words of some scripts (Arabic to Sinhala) and are left between their letters.
INVISIBLE = re.compile(
    "[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe0f\ufeff\U000e0000-\U000e007f]"
    "|(?<![\u0600-\u0dff])[\u200c\u200d]"
)
ODD_SPACE = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")


# ── signs: what is counted ─────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Sign:
    """One way of typing something.

    mends : the normalisation that makes it alike, or nothing
    among : what it is one of several ways of typing, or nothing
    """

    key: str
    title: str
    count: Callable[[str], int]
    mends: str = ""
    among: str = ""


def _found(pattern: str, flags: re.RegexFlag = re.MULTILINE) -> Callable[[str], int]:
    compiled = re.compile(pattern, flags)
    return lambda text: len(compiled.findall(text))


def _is_break(line: str) -> bool:
    return bool(BREAK.fullmatch(line.strip()))


def _starts_with_title(text: str) -> int:
    """1 if the first paragraph reads like a title: a few words on one line that no full stop ends."""
    first = blocks(text)[0] if text.strip() else ""
    words = re.sub(r"[*_#]", "", first).split()
    return int(0 < len(words) <= 10 and "\n" not in first and not re.search(r"[.!?…\"”’']\W*$", first))


SIGNS = (
    Sign("em_dash", _("em dash without spaces, a—b"), _found(r"(?<=\S)—(?=\S)"), "dashes", _("dashes")),
    Sign("em_dash_spaced", _("em dash with spaces, a — b"), _found(r"\S[ \t]+—|—[ \t]+\S"), "dashes", _("dashes")),
    Sign("en_dash", _("en dash as a dash, a – b"), _found(r"(?:^|[ \t])–(?:[ \t]|$)"), "dashes", _("dashes")),
    Sign(
        "hyphens",
        _("hyphens as a dash, a -- b or a - b"),
        _found(r"(?<!-)--(?!-)|\S[ \t]-[ \t]\S"),
        "dashes",
        _("dashes"),
    ),
    Sign("double_straight", _('straight double quotes, "'), _found('"'), "quotes", _("double quotes")),
    Sign("double_curly", _("curly double quotes, “ ”"), _found("[“”„‟]"), "quotes", _("double quotes")),
    Sign("guillemets", _("guillemets, « »"), _found("[«»]"), "quotes", _("double quotes")),
    Sign("single_straight", _("straight apostrophes, '"), _found("'"), "quotes", _("apostrophes and single quotes")),
    Sign("single_curly", _("curly apostrophes, ’"), _found("[‘’‚‛]"), "quotes", _("apostrophes and single quotes")),
    Sign("ellipsis_sign", _("ellipsis as one sign, …"), _found("…"), "ellipses", _("ellipses")),
    Sign("ellipsis_dots", _("ellipsis as dots, ..."), _found(r"\.(?: ?\.){2,}"), "ellipses", _("ellipses")),
    Sign("italics", _("italics, *a* or _a_"), lambda text: len(ITALIC.findall(text)), "italics"),
    Sign("bold", _("bold type, **a**"), lambda text: len(BOLD.findall(text)), "markdown"),
    Sign("headings", _("headings, # a"), _found(r"^#{1,6}[ \t]+\S"), "markdown"),
    Sign(
        "lists",
        _("bullets and quotation marks of Markdown, * a or > a"),
        _found(r"^[ \t]*[*+•>][ \t]+[^\s*]"),
        "markdown",
    ),
    Sign("code", _("back-ticks and links, `a` or [a](…)"), _found(r"`[^`\n]+`|\[[^\]\n]+\]\([^)\n]+\)"), "markdown"),
    Sign("breaks", _("lines between sections, ***"), lambda text: sum(map(_is_break, text.split("\n"))), "breaks"),
    Sign("invisible", _("characters that cannot be seen"), lambda text: len(INVISIBLE.findall(text)), "invisible"),
    Sign("odd_spaces", _("spaces that do not break, and other odd ones"), _found(ODD_SPACE.pattern), "invisible"),
    Sign("double_spaces", _("two spaces in a row, and tabs"), _found(r"(?<=\S)(?: {2,}|\t)(?=\S)"), "spaces"),
    Sign(
        "edge_spaces", _("spaces at the beginning or end of a line"), _found(r"^[ \t]+(?=\S)|(?<=\S)[ \t]+$"), "spaces"
    ),
    Sign("blank_lines", _("more than one blank line in a row"), _found(r"\n[ \t]*\n[ \t]*\n"), "lines"),
    Sign("single_lines", _("paragraphs without a blank line between them"), _found(r"\S[ \t]*\n[ \t]*\S"), "lines"),
    Sign("title", _("a first line that reads like a title"), _starts_with_title),
)


def blocks(text: str) -> list[str]:
    """The paragraphs as pages show them: split at blank lines; at every line break if there are no blank lines."""
    text = text.strip()
    found = BLANK_LINES.split(text) if BLANK_LINES.search(text) else text.split("\n")
    return [block for block in (each.strip() for each in found) if block and not _is_break(block)]


# ── making alike ───────────────────────────────────────────────────────────────────────────────────────────────────


def _by_line(change: Callable[[str], str]) -> Callable[[str], str]:
    """The change made to every line that is not one between sections."""
    return lambda text: "\n".join(line if _is_break(line) else change(line) for line in text.split("\n"))


def _dashes(line: str) -> str:
    head = re.match(r"[ \t]*(?:—|–|-{1,2}(?!-))[ \t]+(?=\S)|[ \t]*(?:—|--(?!-))(?=\S)", line)
    start, rest = ("— ", line[head.end() :]) if head else ("", line)  # dialogue begins with a dash in some languages
    rest = re.sub(r"[ \t]*(?:—|(?<!-)-{2,3}(?!-))[ \t]*|(?<=\S)[ \t]+[–-](?:[ \t]+|$)", "—", rest)
    return start + rest


def _quotes(text: str) -> str:
    # Straight ones: right in every language, and made without guessing which way a quote turns.
    text = re.sub("«[\\s\u00a0\u202f]*|[\\s\u00a0\u202f]*»|[“”„‟]", '"', text)
    return re.sub("[‘’‚‛]", "'", text)


def _unwrapped(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None)


def _italics(text: str) -> str:
    # Bold type keeps its marks here, so that it is not half undone.
    return "".join(
        part if part.startswith(("**", "__")) else ITALIC.sub(_unwrapped, part)
        for part in re.split(r"(\*\*.+?\*\*|__.+?__)", text)
    )


def _markdown(line: str) -> str:
    line = re.sub(r"^#{1,6}[ \t]+(?=\S)|^[ \t]*[*+•>][ \t]+(?=\S)", "", BOLD.sub(_unwrapped, line))
    return re.sub(r"`([^`\n]+)`", r"\1", re.sub(r"\[([^\]\n]+)\]\([^)\n]+\)", r"\1", line))


def _lines(text: str) -> str:
    text = text.strip("\n")
    return BLANK_LINES.sub("\n\n", text) if BLANK_LINES.search(text) else re.sub(r"\n+", "\n\n", text)


# In this order: what is invisible first, since it hides the rest; line ends last.
NORMALISATIONS: dict[str, tuple[str, Callable[[str], str]]] = {
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
        lambda text: "\n".join("***" if _is_break(line) else line for line in text.split("\n")),
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


def normalised(text: str, kinds: Iterable[str]) -> str:
    """The text with these normalisations made. Doing it again changes nothing."""
    chosen = set(kinds)
    changes = [change for kind, (_meaning, change) in NORMALISATIONS.items() if kind in chosen]
    before = None
    while text != before:  # what one takes away may uncover work for another; each makes the text shorter or plainer
        before = text
        for change in changes:
            text = change(text)
    return text
