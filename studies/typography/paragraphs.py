"""A text in paragraphs: what ends one, and which line is a break between sections. Everybody splits texts here.

For a page there is the small Markdown subset: blank lines, `*italic*`, and a break such as `***`. Nothing here makes
markup: templates write the tags and escape every word.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
BREAK = re.compile(r"(?:[*\-_~#][ \t]*){3,}|#|⁂")
# A raised number, such as a blank's, is no letter of the word that it stands at.
_LETTER = r"[^\W⁰¹²³⁴-⁹]"
CLOSES = re.compile(rf"(?<![\s*])\*(?!{_LETTER}|\*)")
ITALIC = re.compile(rf"(?<!{_LETTER})(?<!\*)\*(?![\s*])(.+?){CLOSES.pattern}", re.DOTALL)
# What calls a note, and what the note begins with: [1], [^1] and ¹.
NOTE_MARK = re.compile(r"\[\^[\w-]{1,20}\]|\[[0-9]{1,3}\]|[⁰¹²³⁴-⁹]{1,3}")
HEADING = re.compile(r"§ [1-9][0-9]*(?: .*)?")
# A three-line initial needs three lines beside it; shorter openings go without.
LONG_ENOUGH = 160
# Nobody wraps prose at fewer characters a line, nor at more.
NARROWEST, WIDEST = 60, 100
# What ends a line that is a paragraph of its own; a dash does where speech breaks off.
STOP = re.compile(r"""(?:[.!?…:。！？]["'”’»)\]*_]*|[—–-]["'”’»]+)$""")


@dataclass(frozen=True)
class TextRun:
    """A stretch of words. note : the number of the paragraph with the note that it calls; 0 if it calls none"""

    text: str
    is_italic: bool = False
    note: int = 0


@dataclass(frozen=True)
class Paragraph:
    """A paragraph by its number.

    opens : the story or a section, or nothing; a story's short opening opens a section.
    keeps_lines : whether its line breaks and indents are the author's (`keeps_lines`); if not, they are spaces here

    A line such as “§ 2 The Cellar” is the mark of a section, and what follows opens it.
    """

    number: int
    runs: tuple[TextRun, ...]
    opens: Literal["", "opening", "section-opening", "section-mark"] = ""
    keeps_lines: bool = False

    @property
    def css(self) -> str:
        """Its classes on a page."""
        return " ".join(filter(None, [self.opens, "verse" if self.keeps_lines else ""]))

    @property
    def words(self) -> str:
        """What the paragraph says, as the browser finds it on the page."""
        return "".join(run.text for run in self.runs)


def is_break(line: str) -> bool:
    """Whether the line stands between sections and is no part of the text, such as `***`, `~ ~ ~` or `⁂`."""
    return BREAK.fullmatch(line.strip()) is not None


def keeps_lines(block: str) -> bool:
    """Whether the line breaks of a paragraph are its author's, as in verse, letters and lists.

    They are an editor's, and the lines run on as prose, if no line after the first is indented, the longest line has at
    least 60 characters, and no break could have come later: the next line's first word would have made its line longer
    than the longest.
    """
    lines = [line.rstrip() for line in block.split("\n")]
    if len(lines) == 1:
        return False
    longest = max(map(len, lines))
    if longest < NARROWEST or any(line[:1].isspace() for line in lines[1:]):
        return True
    return any(len(line) + 1 + len(after.split()[0]) <= longest for line, after in pairwise(lines) if after.split())


def as_set(text: str) -> str:
    """The text as a page sets it: prose runs on over an editor's line breaks, the author's own are kept."""
    return "\n\n".join(block if keeps_lines(block) else block.replace("\n", " ") for block in split_blocks(text))


def has_blank_lines(text: str) -> bool:
    """Whether blank lines part the paragraphs of the text; in one that has none, every line is a paragraph, unless
    `is_one_paragraph`."""
    return BLANK_LINES.search(normalise_line_ends(text).strip()) is not None


def is_one_paragraph(text: str) -> bool:
    """Whether the lines of a text without blank lines belong together, as in verse of one stanza, or in prose that an
    editor wrapped. (`keeps_lines` tells the two apart.)

    They do if none is longer than 100 characters and a third of those before the last end in mid-sentence; or if all
    are shorter than 60 and some after the first are indented.
    """
    lines = [line.rstrip() for line in normalise_line_ends(text).split("\n") if line.strip() and not is_break(line)]
    if len(lines) == 1 or max(map(len, lines), default=0) > WIDEST:
        return False
    if max(map(len, lines), default=0) < NARROWEST and any(line[:1].isspace() for line in lines[1:]):
        return True
    n_open = sum(STOP.search(line) is None for line in lines[:-1])
    return 0 < n_open >= (len(lines) - 1) / 3


def normalise_line_ends(text: str) -> str:
    """The text with the line ends of Unix, as browsers read a page."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def split_blocks(text: str, *, by_blank_lines: bool | None = None) -> list[str]:
    """The paragraphs and breaks of the text in their order, none of them empty. A break ends a paragraph on its own.

    by_blank_lines : whether only blank lines part paragraphs, where that is known of the text that this is a part of
    """
    text = normalise_line_ends(text).rstrip()
    if by_blank_lines is None:
        by_blank_lines = has_blank_lines(text) or is_one_paragraph(text)
    blocks: list[list[str]] = [[]]
    for line in text.split("\n"):
        if is_break(line):
            blocks += [[line], []]
        elif by_blank_lines and line.strip(" \t"):
            blocks[-1].append(line)
        else:
            blocks += [[line], []]
    return [block for block in map(_trimmed, blocks) if block]


def _trimmed(lines: list[str]) -> str:
    """The lines as a paragraph, without space around it; where lines are kept, the first keeps its indent."""
    block = "\n".join(lines)
    if not block.strip() or not keeps_lines(block.strip()):
        return block.strip()
    return re.sub(r"\A\s*\n", "", block).rstrip()


def split_paragraphs(text: str) -> list[str]:
    """The paragraphs of the text, breaks left out: what pages number and reports count."""
    return [block for block in split_blocks(text) if not is_break(block)]


def number_paragraphs(text: str) -> list[Paragraph]:
    """The text's paragraphs as a page shows them, numbered from 1."""
    numbered: list[Paragraph] = []
    opens: Literal["", "opening", "section-opening", "section-mark"] = "section-opening"
    has_opened = False
    for block in split_blocks(text):
        if is_break(block):
            opens = "section-opening"
            continue
        if HEADING.fullmatch(block):
            numbered.append(Paragraph(len(numbered) + 1, split_runs(block), "section-mark"))
            opens = "section-opening"
            continue
        is_kept = keeps_lines(block)
        is_opening = not has_opened and len(block) >= LONG_ENOUGH and not is_kept
        # A space for a break: what a browser counts to find a passage stays the same.
        words = block if is_kept else block.replace("\n", " ")
        has_opened = True
        numbered.append(Paragraph(len(numbered) + 1, split_runs(words), "opening" if is_opening else opens, is_kept))
        opens = ""
    return link_notes(numbered)


def link_notes(paragraphs: Sequence[Paragraph]) -> list[Paragraph]:
    """The paragraphs with every mark of a note linked to the next paragraph after it that begins with the same mark,
    in whose lines each may begin another note. Not a word changes, and a mark without a note stays what it is."""
    linked: list[Paragraph] = []
    note_by_mark: dict[str, int] = {}
    for paragraph in reversed(paragraphs):
        marks = _marks_of_notes(paragraph)
        if not marks and note_by_mark:
            runs = tuple(part for run in paragraph.runs for part in _link_run(run, note_by_mark))
            paragraph = replace(paragraph, runs=runs)
        note_by_mark |= dict.fromkeys(marks, paragraph.number)
        linked.append(paragraph)
    return linked[::-1]


def _marks_of_notes(paragraph: Paragraph) -> list[str]:
    """The marks with which its lines begin, if the first one does."""
    matches = [NOTE_MARK.match(line.lstrip()) for line in paragraph.words.split("\n")]
    return [match[0] for match in matches if match] if matches[0] else []


def _link_run(run: TextRun, note_by_mark: Mapping[str, int]) -> Iterator[TextRun]:
    """The run in stretches, those that call a note apart."""
    done = 0
    for match in NOTE_MARK.finditer(run.text):
        if match[0] not in note_by_mark:
            continue
        if done < match.start():
            yield replace(run, text=run.text[done : match.start()])
        yield replace(run, text=match[0], note=note_by_mark[match[0]])
        done = match.end()
    if done < len(run.text):
        yield replace(run, text=run.text[done:])


def split_runs(block: str) -> tuple[TextRun, ...]:
    """The paragraph as stretches of upright and italic text."""
    # After the last asterisk that can close nothing is in italics; looking there for an end, from each that can open,
    # would take minutes where many are left open.
    end = max((match.end() for match in CLOSES.finditer(block)), default=0)
    # re.split with one group alternates: outside, inside, outside …
    *stretches, last = ITALIC.split(block[:end])
    stretches.append(last + block[end:])
    return tuple(TextRun(text, is_italic=i % 2 == 1) for i, text in enumerate(stretches) if text)
