"""Ways of typing: the signs by which formatting tells its source.

Functions on texts; nothing here reads the database. Words are never touched.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile

from django.utils.translation import gettext_noop as _

from studies.typography.emphasis import Emphasis, EmphasisMark
from studies.typography.paragraphs import is_break, normalise_line_ends, split_paragraphs
from studies.typography.word_boundaries import split_words

ITALIC = Emphasis(
    EmphasisMark("*", r"(?<![\w*])\*(?![\s*])", r"(?<![\s*])\*(?![\w*])"),
    EmphasisMark("_", r"(?<![\w_])_(?![\s_])", r"(?<![\s_])_(?![\w_])"),
)
BOLD = Emphasis(
    EmphasisMark("**", r"\*\*(?!\s)", r"(?<!\s)\*\*"),
    EmphasisMark("__", r"(?<!\w)__(?!\s)", r"(?<!\s)__(?!\w)"),
)
# Joiners belong to the words of some scripts (Arabic to Sinhala) and are left between their letters.
INVISIBLE = re.compile(
    "[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe0f\ufeff\U000e0000-\U000e007f]"
    "|(?<![\u0600-\u0dff])[\u200c\u200d]"
)
# Neither part of a link holds a bracket that could open another: else each of many would be read on from to the end.
LINK = r"\[([^\[\]\n]+)\]\([^)\[\n]+\)"
ODD_SPACE = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
# What programs write for line ends, tags and signs: HTML, escapes of JSON and CSV, the files of WritingPrompts.
ESCAPED_BREAK = re.compile(r"_x000d_\n?|<newline>|<br[ \t]*/?>|\\r\\n|\\n|\\r", re.IGNORECASE)
TAG_OF_BLOCK = re.compile(r"</?(?:p|div|h[1-6]|li|ul|ol|blockquote)(?:[ \t][^<>]*)?>", re.IGNORECASE)
TAG_IN_LINE = re.compile(r"</?(?:b|i|em|strong|u|s|span|a|font|small|sub|sup)(?:[ \t][^<>]*)?>", re.IGNORECASE)
WRITTEN_SIGN = re.compile(r"&(?:[a-z][a-z0-9]{1,31}|#[0-9]{1,7}|#x[0-9a-f]{1,6});", re.IGNORECASE)
MARKUP = re.compile(
    "|".join(kind.pattern for kind in (ESCAPED_BREAK, TAG_OF_BLOCK, TAG_IN_LINE, WRITTEN_SIGN)), re.IGNORECASE
)
FULL_STOPS = frozenset(".!?…。！？؟۔।॥」』\"”’'")


@dataclass(frozen=True)
class Sign:
    """One way of typing something.

    mends : the normalisation that makes it alike, or nothing
    among : what it is one of several ways of typing, or nothing
    is_once : whether it stands in a text once or not at all
    """

    key: str
    title: str
    count: Callable[[str], int]
    mends: str = ""
    among: str = ""
    is_once: bool = False


def _count(pattern: str, flags: re.RegexFlag = re.MULTILINE) -> Callable[[str], int]:
    """What counts the places of a text in which the pattern stands."""
    compiled = re.compile(pattern, flags)
    return lambda text: len(compiled.findall(text))


def _count_breaks(text: str) -> int:
    return sum(map(is_break, normalise_line_ends(text).split("\n")))


def _starts_with_title(text: str) -> int:
    """1 if the first paragraph reads like a title: a few words on one line that no full stop ends."""
    first = next(iter(split_paragraphs(text)), "")
    n_words = len(split_words(first.replace("_", " ")))
    # From the end, since a pattern would start again at each of many full stops.
    signs = takewhile(lambda sign: not (sign.isalnum() or sign == "_"), reversed(first))
    return int(0 < n_words <= 10 and "\n" not in first and FULL_STOPS.isdisjoint(signs))


SIGNS = (
    Sign("em_dash", _("em dash without spaces, a—b"), _count(r"(?<=\S)—(?=\S)"), "dashes", _("dashes")),
    Sign("em_dash_spaced", _("em dash with spaces, a — b"), _count(r"\S[ \t]+—|—[ \t]+\S"), "dashes", _("dashes")),
    Sign("en_dash", _("en dash as a dash, a – b"), _count(r"(?:^|[ \t])–(?:[ \t]|$)"), "dashes", _("dashes")),
    Sign(
        "hyphens",
        _("hyphens as a dash, a -- b or a - b"),
        _count(r"(?<!-)--(?!-)|\S[ \t]-[ \t]\S"),
        "dashes",
        _("dashes"),
    ),
    Sign("double_straight", _('straight double quotes, "'), _count('"'), "quotes", _("double quotes")),
    Sign("double_curly", _("curly double quotes, “ ”"), _count("[“”„‟]"), "quotes", _("double quotes")),
    Sign("guillemets", _("guillemets, « »"), _count("[«»]"), "quotes", _("double quotes")),
    Sign("single_straight", _("straight apostrophes, '"), _count("'"), "quotes", _("apostrophes and single quotes")),
    Sign("single_curly", _("curly apostrophes, ’"), _count("[‘’‚‛]"), "quotes", _("apostrophes and single quotes")),
    Sign("ellipsis_sign", _("ellipsis as one sign, …"), _count("…"), "ellipses", _("ellipses")),
    Sign("ellipsis_dots", _("ellipsis as dots, ..."), _count(r"\.(?: ?\.){2,}"), "ellipses", _("ellipses")),
    Sign("italics", _("italics, *a* or _a_"), ITALIC.count, "italics"),
    Sign("bold", _("bold type, **a**"), BOLD.count, "markdown"),
    Sign("headings", _("headings, # a"), _count(r"^#{1,6}[ \t]+\S"), "markdown"),
    Sign(
        "lists",
        _("bullets and quotation marks of Markdown, * a or > a"),
        _count(r"^[ \t]*[*+•>][ \t]+[^\s*]"),
        "markdown",
    ),
    Sign("code", _("back-ticks and links, `a` or [a](…)"), _count(rf"`[^`\n]+`|{LINK}"), "markdown"),
    Sign(
        "breaks",
        _("lines between sections, ***"),
        _count_breaks,
        "breaks",
    ),
    Sign(
        "markup",
        _("tags, escaped line ends and escaped signs of other programs"),
        lambda text: len(MARKUP.findall(text)),
        "markup",
    ),
    Sign("invisible", _("characters that cannot be seen"), lambda text: len(INVISIBLE.findall(text)), "invisible"),
    Sign("odd_spaces", _("spaces that do not break, and other odd ones"), _count(ODD_SPACE.pattern), "invisible"),
    Sign("double_spaces", _("two spaces in a row, and tabs"), _count(r"(?<=\S)(?: {2,}|\t)(?=\S)"), "spaces"),
    Sign(
        "edge_spaces",
        _("spaces at the beginning or end of a line"),
        _count(r"^[ \t]+(?=\S)|(?<=\S)[ \t]+$"),
        "spaces",
    ),
    Sign("blank_lines", _("more than one blank line in a row"), _count(r"\n[ \t]*\n[ \t]*\n"), "lines"),
    Sign("single_lines", _("paragraphs without a blank line between them"), _count(r"\S[ \t]*\n[ \t]*\S"), "lines"),
    Sign("title", _("a first line that reads like a title"), _starts_with_title, is_once=True),
)
