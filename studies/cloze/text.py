"""The text of a cloze: with its blanks filled, and laid out for a page."""

from collections.abc import Mapping
from dataclasses import dataclass

from studies.documents import skeleton
from studies.documents.cloze import Blank, ClozeDocument, Section


class IncompleteText(ValueError):
    """A text with open blanks is no story; `numbers` says which are open."""

    def __init__(self, numbers: list[int]) -> None:
        listing = ", ".join(map(str, numbers))
        super().__init__(f"Blank {listing} is open." if len(numbers) == 1 else f"Blanks {listing} are open.")
        self.numbers = numbers


@dataclass(frozen=True)
class Run:
    """A stretch of a paragraph: fixed words, or a blank."""

    words: str = ""
    blank: Blank | None = None


@dataclass(frozen=True)
class Passage:
    """A section as a page shows it: its paragraphs in runs."""

    section: Section
    paragraphs: tuple[tuple[Run, ...], ...]


def split_sections(document: ClozeDocument) -> list[Passage]:
    """The text section by section, so that a page can put fields into its paragraphs."""
    blanks = {blank.number: blank for blank in document.blanks}
    by_section = skeleton.split_sections(document.skeleton, document.section_by_blank)
    return [
        Passage(section, tuple(_runs(paragraph, blanks) for paragraph in by_section[section.number]))
        for section in document.sections
    ]


def fill_blanks(document: ClozeDocument, fills: Mapping[int, str]) -> str:
    """The whole text with every blank filled, paragraphs parted by blank lines.

    fills : text by number of the blank; blanks around a text are left out, all else stands as it was written
    Raises IncompleteText if a blank is open.
    """
    if missing := [blank.number for blank in document.blanks if not fills.get(blank.number, "").strip()]:
        raise IncompleteText(missing)
    # In one pass: what stands in a fill is never taken for a marker.
    return skeleton.MARKER.sub(lambda marker: fills[int(marker[1])].strip(), document.marked_text)


def _runs(paragraph: str, blanks: Mapping[int, Blank]) -> tuple[Run, ...]:
    runs = (Run(words=p) if isinstance(p, str) else Run(blank=blanks[p]) for p in skeleton.split_text(paragraph))
    return tuple(run for run in runs if run.words or run.blank)
