"""A text as paragraphs for a page. The small Markdown subset: blank lines, `*italic*`, and `***` between sections.

Nothing here makes markup: templates write the tags and escape every word.
"""

import re
from dataclasses import dataclass
from typing import Literal

BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
BREAK = re.compile(r"(?:\*[ \t]*){3,}|-{3,}|_{3,}|⁂")
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


def paragraphs(text: str) -> list[Paragraph]:
    """The text split at blank lines; at every line break if it has no blank lines at all."""
    # As browsers read a page: otherwise a passage marked there could not be found here.
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    blocks = [block.strip() for block in (BLANK_LINES.split(text) if BLANK_LINES.search(text) else text.split("\n"))]
    found: list[Paragraph] = []
    opens: Literal["", "opening", "section-opening"] = "section-opening"
    for block in filter(None, blocks):
        if BREAK.fullmatch(block):
            opens = "section-opening"
            continue
        is_opening = not found and len(block) >= LONG_ENOUGH
        found.append(Paragraph(len(found) + 1, runs(block), "opening" if is_opening else opens))
        opens = ""
    return found


def runs(block: str) -> tuple[Run, ...]:
    """The paragraph as stretches of upright and italic text."""
    # re.split with one group alternates: outside, inside, outside …
    stretches = enumerate(ITALIC.split(block))
    return tuple(Run(text, is_italic=i % 2 == 1) for i, text in stretches if text)
