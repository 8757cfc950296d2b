"""A text of a study as pages show it: paragraphs, lists, emphasis and links, in a small subset of Markdown.

Nothing here makes markup: templates write the tags, without attributes but a link's address, and escape every word. So
there is nothing that would have to be sanitised.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from studies.typography.emphasis import Emphasis, EmphasisMark
from studies.typography.paragraphs import keeps_lines, split_paragraphs, split_runs

ITEM = re.compile(r"[ ]{0,3}(?:(?P<bullet>-)|(?P<number>[0-9]{1,3})[.)])[ ]+(?P<words>\S.*)")
# Addresses that cannot run a script; a bracket with anything else stays the words that it is.
LINK = re.compile(r"\[([^\[\]\n]+)\]\((https?://[^\s()]+|mailto:[^\s()]+)\)")
STRONG = Emphasis(EmphasisMark("**", r"(?<!\*)\*\*(?![\s*])", r"(?<![\s*])\*\*(?!\*)"), spans_lines=True)


@dataclass(frozen=True)
class ProseRun:
    """A stretch of words. url : where it leads; "" if it is no link"""

    text: str
    is_italic: bool = False
    is_strong: bool = False
    url: str = ""


@dataclass(frozen=True)
class ProseBlock:
    """A paragraph, which has one entry, or a list.

    keeps_lines : whether a paragraph's line breaks are its author's
    start : the number of the first entry of a numbered list
    """

    kind: Literal["paragraph", "bullets", "numbers"]
    entries: tuple[tuple[ProseRun, ...], ...]
    keeps_lines: bool = False
    start: int = 1


def parse_prose(text: str) -> list[ProseBlock]:
    """The blocks of the text. One without dashes, numbers, stars and links is the paragraphs that it always was."""
    blocks: list[ProseBlock] = []
    for block in (part for paragraph in split_paragraphs(text) for part in _parts(paragraph)):
        if blocks and block.kind != "paragraph" and blocks[-1].kind == block.kind:
            blocks[-1] = ProseBlock(block.kind, blocks[-1].entries + block.entries, start=blocks[-1].start)
        else:
            blocks.append(block)
    return blocks


def _parts(paragraph: str) -> Iterator[ProseBlock]:
    """The paragraph; where lines of it begin as entries of a list, what stands around the list apart from it."""
    for kind, lines in groupby(paragraph.split("\n"), key=_kind):
        if kind == "paragraph":
            words = "\n".join(lines)
            is_kept = keeps_lines(words)
            yield ProseBlock(kind, (_runs(words if is_kept else words.replace("\n", " ")),), is_kept)
            continue
        entries = [match for line in lines if (match := ITEM.fullmatch(line))]
        start = int(entries[0]["number"] or 1)
        yield ProseBlock(kind, tuple(_runs(entry["words"]) for entry in entries), start=start)


def _kind(line: str) -> Literal["paragraph", "bullets", "numbers"]:
    entry = ITEM.fullmatch(line)
    if entry is None:
        return "paragraph"
    return "bullets" if entry["bullet"] else "numbers"


def _runs(words: str) -> tuple[ProseRun, ...]:
    """The words as stretches, links first: a star in an address is no emphasis."""
    runs: list[ProseRun] = []
    stretches = LINK.split(words)
    for index, stretch in enumerate(stretches):
        if index % 3 == 0:
            runs += _emphasised(stretch)
        elif index % 3 == 1:
            runs.append(ProseRun(stretch, url=stretches[index + 1]))
    return tuple(runs)


def _emphasised(words: str) -> Iterator[ProseRun]:
    for index, stretch in enumerate(STRONG.split(words)):
        is_strong = index % 2 == 1
        for run in split_runs(stretch[2:-2] if is_strong else stretch):
            yield ProseRun(run.text, is_italic=run.is_italic, is_strong=is_strong)
