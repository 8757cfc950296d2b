"""The text of a cloze: with its blanks filled, marked for those who judge it, and laid out for a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from studies.documents import skeleton
from studies.documents.cloze import Blank, ClozeDocument, Section

RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class IncompleteText(ValueError):
    """A text with open blanks is no story; `numbers` says which are open."""

    def __init__(self, numbers: list[int]) -> None:
        listing = ", ".join(map(str, numbers))
        super().__init__(f"Blank {listing} is open." if len(numbers) == 1 else f"Blanks {listing} are open.")
        self.numbers = numbers


@dataclass(frozen=True)
class ClozeRun:
    """A stretch of a paragraph: fixed words, or a blank."""

    words: str = ""
    blank: Blank | None = None


@dataclass(frozen=True)
class SectionText:
    """A section as a page shows it: its paragraphs in runs."""

    section: Section
    paragraphs: tuple[tuple[ClozeRun, ...], ...]


def split_sections(document: ClozeDocument) -> list[SectionText]:
    """The text section by section, so that a page can put fields into its paragraphs."""
    blanks = {blank.number: blank for blank in document.blanks}
    by_section = skeleton.split_sections(document.skeleton, document.section_by_blank)
    return [
        SectionText(section, tuple(_runs(paragraph, blanks) for paragraph in by_section[section.number]))
        for section in document.sections
    ]


def join_runs(paragraph: Sequence[ClozeRun]) -> str:
    """The paragraph as it was written, markers included."""
    return "".join(f"{{{{{run.blank.number}}}}}" if run.blank else run.words for run in paragraph)


def fill_blanks(document: ClozeDocument, fills: Mapping[int, str]) -> str:
    """The whole text with every blank filled, paragraphs parted by blank lines.

    fills : text by number of the blank; blanks around a text are left out, all else stands as it was written
    Raises IncompleteText if a blank is open.
    """
    return _filled(document, document.marked_text, fills)


def numbered(document: ClozeDocument, fills: Mapping[int, str]) -> str:
    """The whole text as those read it who judge it: with a line “§ 2 Title” above each section, and the number of a
    blank, raised, where its fill begins and again where it ends. Raises IncompleteText if a blank is open.
    """
    headings = {section.number: f"§ {section.number} {section.title}".strip() for section in document.sections}
    marked = skeleton.join_sections(document.skeleton, document.section_by_blank, headings=headings)
    raised = {number: str(number).translate(RAISED) for number in fills}
    texts = {n: f"{raised[n]}{fill.strip()}{raised[n]}" for n, fill in fills.items() if fill.strip()}
    return _filled(document, marked, texts)


def _filled(document: ClozeDocument, marked: str, fills: Mapping[int, str]) -> str:
    """The text with every marker replaced by its fill. Raises IncompleteText if a blank is open."""
    if missing := [blank.number for blank in document.blanks if not fills.get(blank.number, "").strip()]:
        raise IncompleteText(missing)
    # In one pass: what stands in a fill is never taken for a marker.
    return skeleton.MARKER.sub(lambda marker: fills[int(marker[1])].strip(), marked)


def _runs(paragraph: str, blanks: Mapping[int, Blank]) -> tuple[ClozeRun, ...]:
    runs = (
        ClozeRun(words=p) if isinstance(p, str) else ClozeRun(blank=blanks[p]) for p in skeleton.split_text(paragraph)
    )
    return tuple(run for run in runs if run.words or run.blank)
