"""The running text of a cloze: fixed words and markers such as {{3}}, in paragraphs as pages split them.

A line "## 2" opens section 2; it is no part of the story. Without such lines a section begins with the paragraph after
the one that holds the last blank of the section before.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise

from studies.typography.paragraphs import has_blank_lines, split_blocks

MARKER = re.compile(r"\{\{([1-9][0-9]{0,3})\}\}")
HEADING = re.compile(r"^##[ \t]*([1-9][0-9]{0,3})[ \t]*$", re.MULTILINE)
LIKE_MARKER = re.compile(r"\{\{[^{}\n]{0,20}\}{0,2}|[^\s{}]{0,9}\}\}")
LIKE_HEADING = re.compile(r"^[ \t]*#.{0,40}", re.MULTILINE)
BREAK = "***"  # between the sections of a text, where the author opens them with lines of their own
Fault = tuple[str, str]  # where, and the reason with the way out


def split_text(text: str) -> list[str | int]:
    """The text as fixed words and numbers of blanks in turn: words, 1, words, 2, words; words can be empty."""
    # re.split with one group alternates: outside, inside, outside …
    return [int(part) if i % 2 else part for i, part in enumerate(MARKER.split(text))]


def find_markers(text: str) -> list[int]:
    """The numbers of the blanks in the order of the text."""
    return [int(number) for number in MARKER.findall(text)]


def _paragraphs(skeleton: str) -> list[str]:
    """The paragraphs of the whole text, the lines left out that open sections."""
    return split_blocks(HEADING.sub("\n\n", skeleton), by_blank_lines=_has_blank_lines(skeleton))


def _has_blank_lines(skeleton: str) -> bool:
    return has_blank_lines(HEADING.sub("", skeleton))


def has_headings(skeleton: str) -> bool:
    return HEADING.search(skeleton) is not None


def split_sections(skeleton: str, section_by_blank: Mapping[int, int]) -> dict[int, list[str]]:
    """The paragraphs of each section.

    Where no lines open the sections, paragraphs without a blank go with the section that comes next, or with the last.
    """
    if has_headings(skeleton):
        by_blank_lines = _has_blank_lines(skeleton)
        _, *parts = HEADING.split(skeleton)
        return {
            int(number): split_blocks(text, by_blank_lines=by_blank_lines)
            for number, text in zip(parts[::2], parts[1::2], strict=True)
        }
    by_section: dict[int, list[str]] = {}
    waiting: list[str] = []
    for paragraph in _paragraphs(skeleton):
        waiting.append(paragraph)
        if numbers := find_markers(paragraph):
            by_section.setdefault(section_by_blank[numbers[0]], []).extend(waiting)
            waiting = []
    by_section[max(by_section)] += waiting
    return by_section


def join_sections(
    skeleton: str, section_by_blank: Mapping[int, int], *, headings: Mapping[int, str] | None = None
) -> str:
    """The text with its markers: paragraphs parted by blank lines, and sections by *** where lines open them.

    headings : by section the line that stands above it
    """
    by_section = split_sections(skeleton, section_by_blank)
    between = f"\n\n{BREAK}\n\n" if has_headings(skeleton) else "\n\n"
    return between.join(
        "\n\n".join([headings[section], *by_section[section]] if headings else by_section[section])
        for section in sorted(by_section)
    )


def find_faults(skeleton: str, section_by_blank: Mapping[int, int]) -> Iterator[Fault]:
    """What keeps the text from being filled; the first is certain, later ones may follow from it."""
    yield from _faults_of_markers(skeleton, section_by_blank)
    yield from _faults_of_places(skeleton)
    if LIKE_HEADING.search(skeleton):
        yield from _faults_of_headings(skeleton, section_by_blank)
    yield from _faults_of_sections(skeleton, section_by_blank)


def _faults_of_markers(skeleton: str, section_by_blank: Mapping[int, int]) -> Iterator[Fault]:
    for words in MARKER.split(skeleton)[::2]:
        if stray := LIKE_MARKER.search(words):
            yield "skeleton", f"“{stray[0]}” is no marker; a marker is written {{{{1}}}}, a number in double braces"
    times_by_number = Counter(find_markers(skeleton))
    for number, times in times_by_number.items():
        if number not in section_by_blank:
            yield "skeleton", f"{_marker(number)} has no blank; add one under [[blanks]] or take the marker out"
        if times > 1:
            yield "skeleton", f"{_marker(number)} stands twice; every blank has one place"
    for number in section_by_blank:
        if number not in times_by_number:
            yield f"blank {number}", f"has no marker; put {_marker(number)} into the skeleton or remove the blank"


def _faults_of_places(skeleton: str) -> Iterator[Fault]:
    for first, second in pairwise(find_markers(skeleton)):
        if first > second:
            yield (
                "skeleton",
                f"{_marker(second)} stands after {_marker(first)}; number the blanks in the order of the text",
            )
    for paragraph in _paragraphs(skeleton):
        inner = MARKER.split(paragraph)[1:-1]  # number, words, number … number
        for before, words, after in zip(inner[::2], inner[1::2], inner[2::2], strict=False):
            if not words.strip():
                yield (
                    "skeleton",
                    f"nothing stands between {_marker(before)} and {_marker(after)}; put words between them, begin a "
                    "new paragraph, or make them one blank",
                )


def _faults_of_headings(skeleton: str, section_by_blank: Mapping[int, int]) -> Iterator[Fault]:
    before, *parts = HEADING.split(skeleton)
    for words in (before, *parts[1::2]):
        if stray := LIKE_HEADING.search(words):
            yield "skeleton", f"“{stray[0].strip()}” opens no section; the line that opens section 1 is ## 1"
    opened = [int(number) for number in parts[::2]]
    expected = sorted(set(section_by_blank.values()))
    if opened != expected:
        numbers_found, numbers_expected = (", ".join(map(str, numbers)) for numbers in (opened, expected))
        yield (
            "skeleton",
            f"its lines open the sections {numbers_found or 'not at all'}; "
            f"they have to open {numbers_expected}, in this order",
        )
    if before.strip():
        yield "skeleton", "words stand before the line ## 1; move them below it, or take all such lines out"
    for section, text in zip(opened, parts[1::2], strict=True):
        for number in find_markers(text):
            if section_by_blank[number] != section:
                yield (
                    "skeleton",
                    f"{_marker(number)} of section {section_by_blank[number]} stands below the line ## {section}",
                )


def _faults_of_sections(skeleton: str, section_by_blank: Mapping[int, int]) -> Iterator[Fault]:
    for paragraph in _paragraphs(skeleton):
        for first, second in pairwise(find_markers(paragraph)):
            if section_by_blank[first] != section_by_blank[second]:
                yield (
                    "skeleton",
                    f"{_marker(first)} of section {section_by_blank[first]} and {_marker(second)} of section "
                    f"{section_by_blank[second]} share a paragraph; begin a new paragraph with the section",
                )
    last = 0
    for number in find_markers(skeleton):
        section = section_by_blank[number]
        if section < last:
            yield (
                "skeleton",
                f"{_marker(number)} of section {section} stands after section {last} has begun; the blanks of a "
                "section stand together, and sections are numbered in the order of the text",
            )
        last = max(last, section)


def _marker(number: int | str) -> str:
    """The marker of that blank, as it is written."""
    return f"{{{{{number}}}}}"
