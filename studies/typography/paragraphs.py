"""A text in paragraphs: what ends one, and which line is a break between sections. Everybody splits texts here.

For a page there is the small Markdown subset: blank lines, `*italic*`, and a break such as `***`. Nothing here makes
markup: templates write the tags and escape every word.
"""

import re
from dataclasses import dataclass
from typing import Literal

BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
BREAK = re.compile(r"(?:[*\-_~#][ \t]*){3,}|#|⁂")
ITALIC = re.compile(r"(?<![\w*])\*(?![\s*])(.+?)(?<![\s*])\*(?![\w*])", re.DOTALL)
# A three-line initial needs three lines beside it; shorter openings go without.
LONG_ENOUGH = 160


@dataclass(frozen=True)
class Run:
    text: str
    is_italic: bool = False


@dataclass(frozen=True)
class Paragraph:
    """A paragraph by its number. opens: the story or a section, or nothing; a story's short opening opens a section."""

    number: int
    runs: tuple[Run, ...]
    opens: Literal["", "opening", "section-opening"] = ""

    @property
    def words(self) -> str:
        """What the paragraph says, as the browser finds it on the page."""
        return "".join(run.text for run in self.runs)


def is_break(line: str) -> bool:
    """Whether the line stands between sections and is no part of the text, such as `***`, `~ ~ ~` or `⁂`."""
    return BREAK.fullmatch(line.strip()) is not None


def has_blank_lines(text: str) -> bool:
    """Whether blank lines part the paragraphs of the text; in one that has none, every line is a paragraph."""
    return BLANK_LINES.search(normalise_line_ends(text).strip()) is not None


def normalise_line_ends(text: str) -> str:
    """The text with the line ends of Unix, as browsers read a page."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def split_blocks(text: str, *, by_blank_lines: bool | None = None) -> list[str]:
    """The paragraphs and breaks of the text in their order, none of them empty. A break ends a paragraph by itself.

    by_blank_lines : what `has_blank_lines` says of the whole text, where this is a part of it
    """
    text = normalise_line_ends(text).strip()
    if by_blank_lines is None:
        by_blank_lines = has_blank_lines(text)
    blocks: list[list[str]] = [[]]
    for line in text.split("\n"):
        if is_break(line):
            blocks += [[line], []]
        elif by_blank_lines and line.strip(" \t"):
            blocks[-1].append(line)
        else:
            blocks += [[line], []]
    joined = ("\n".join(lines).strip() for lines in blocks)
    return [block for block in joined if block]


def split_paragraphs(text: str) -> list[str]:
    """The paragraphs of the text, breaks left out: what pages number and reports count."""
    return [block for block in split_blocks(text) if not is_break(block)]


def number_paragraphs(text: str) -> list[Paragraph]:
    """The text's paragraphs as a page shows them, numbered from 1."""
    numbered: list[Paragraph] = []
    opens: Literal["", "opening", "section-opening"] = "section-opening"
    for block in split_blocks(text):
        if is_break(block):
            opens = "section-opening"
            continue
        is_opening = not numbered and len(block) >= LONG_ENOUGH
        numbered.append(Paragraph(len(numbered) + 1, split_runs(block), "opening" if is_opening else opens))
        opens = ""
    return numbered


def split_runs(block: str) -> tuple[Run, ...]:
    """The paragraph as stretches of upright and italic text."""
    # re.split with one group alternates: outside, inside, outside …
    stretches = enumerate(ITALIC.split(block))
    return tuple(Run(text, is_italic=i % 2 == 1) for i, text in stretches if text)
