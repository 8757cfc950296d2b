"""What a description is made of.

Words may be HTML, marked safe by `reports.document.phrases`; whatever is not marked is escaped by the page, and text
and files have it without its marks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.utils.functional import Promise

if TYPE_CHECKING:
    from reports.document.strips import Strip
    from reports.document.values import Reason

S = TypeVar("S")
T = TypeVar("T")
Phrase = str | Promise


@dataclass(frozen=True, kw_only=True)
class TableCell:
    """What a page or a text shows in one cell of a table.

    title : what is told of it when asked, in the language title_language ("" for the reader's)
    mark : a sign behind it, explained by mark_title, in English
    language : of the words, where it is not the reader's
    css : further classes, such as "lead-figure" for what the row is about
    """

    words: Phrase = ""
    title: str = ""
    title_language: str = ""
    mark: str = ""
    mark_title: str = ""
    language: str = ""
    css: str = ""
    strip: Strip | None = None


@dataclass(frozen=True, kw_only=True)
class TableColumn(Generic[T]):
    """A column of a table.

    heading : None for one that only files have
    cell : what the page shows of a row
    files : the columns of the CSV file that say the same, by their names in the vocabulary; unrounded
    is_head : whether it says what a row is about; it stays where a reason stands in place of the values
    is_kept : whether it stays there, too, though it is no head
    is_drawn : whether its cells are drawings, which text does without
    """

    heading: Phrase | None = None
    cell: Callable[[T], TableCell] = lambda row: TableCell()
    files: Mapping[str, Callable[[T], Any]] = field(default_factory=dict)
    is_number: bool = True
    is_head: bool = False
    is_kept: bool = False
    is_drawn: bool = False

    def at(self, part: Callable[[S], T]) -> TableColumn[S]:
        """The same column of rows of which `part` gives what it is about."""
        files = {name: partial(_value_at, part, value) for name, value in self.files.items()}
        return replace(self, cell=lambda row: self.cell(part(row)), files=files)  # type: ignore[arg-type,return-value]


def _value_at(part: Callable[[S], T], value: Callable[[T], Any], row: S) -> Any:
    return value(part(row))


@dataclass(frozen=True, kw_only=True)
class RowGroup(Generic[T]):
    """Rows under a heading of their own, "" for none.

    language : of the heading, where it is not the reader's
    axis : where the drawings of these rows begin and end, where other groups have other axes
    """

    rows: Sequence[T]
    heading: Phrase = ""
    language: str = ""
    axis: Phrase = ""


@dataclass(frozen=True, kw_only=True)
class ReportTable(Generic[T]):
    """A table, as the page shows it, as text has it and as it stands in its file.

    name : of its CSV file; "" for one that has none. A name may stand at several tables: their rows follow each other
    label : its name for screen readers
    rows : in the order of page and file
    groups : the same rows for the page, under headings; none where they have none
    foot : rows below the line, of page and text alone: a cell for each column that has a heading
    why : the reason that stands in place of a row's values, None where it has values
    summary : the words under which it is folded away; None where it stands open
    is_shown : whether the page and the text have it
    """

    label: Phrase
    columns: Sequence[TableColumn[T]]
    rows: Sequence[T] = ()
    name: str = ""
    caption: Phrase = ""
    groups: Sequence[RowGroup[T]] = ()
    foot: Sequence[Sequence[TableCell]] = ()
    why: Callable[[T], Reason | None] = lambda row: None
    summary: Phrase | None = None
    is_shown: bool = True
    css: str = "ruled"


@dataclass(frozen=True, kw_only=True)
class TextBlock:
    """A paragraph. css : such as "hint" """

    words: Phrase
    css: str = ""


class Notice(TextBlock):
    """A warning, set apart."""


@dataclass(frozen=True, kw_only=True)
class DrawnPlot:
    """A plot. label : what it shows, where a section has several; described : where its values stand"""

    plot: Any
    title: Phrase
    described: Phrase
    label: Phrase = ""
    caption: Phrase = ""


@dataclass(frozen=True, kw_only=True)
class Files:
    """The line of links below a plot or a table. words : what there is; table : its CSV file"""

    words: Phrase
    table: str
    is_count: bool = False


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Names with what they stand for, in the margin."""

    pairs: Sequence[tuple[Phrase, Phrase]]


@dataclass(frozen=True, kw_only=True)
class Subsection:
    """A part of a section under a heading of its own. summary : the words under which it is folded away"""

    blocks: Sequence[Block]
    heading: Phrase = ""
    summary: Phrase | None = None
    is_open: bool = False


@dataclass(frozen=True, kw_only=True)
class Own:
    """A drawing that is truly a figure's own. context : what its template needs"""

    template: str
    context: Mapping[str, Any]


Block = TextBlock | DrawnPlot | ReportTable[Any] | Files | Subsection | Own
Note = TextBlock | Facts


@dataclass(frozen=True, kw_only=True)
class DocumentSection:
    """A section of the report with what stands in its margin."""

    heading: Phrase
    body: Sequence[Block]
    margin: Sequence[Note] = ()


B = TypeVar("B")


def find_blocks(sections: Iterable[DocumentSection], kind: type[B]) -> Iterator[B]:
    """All blocks of a kind in some sections, also those within parts, in their order."""
    for section in sections:
        yield from _within(section.body, kind)


def _within(blocks: Iterable[Block], kind: type[B]) -> Iterator[B]:
    for block in blocks:
        if isinstance(block, kind):
            yield block
        elif isinstance(block, Subsection):
            yield from _within(block.blocks, kind)


@dataclass(frozen=True, kw_only=True)
class Head:
    """What a report is about, for figures that say it in a sentence.

    sources : their names, none while nothing may be told by source
    language : of the study's own words, "" where nobody reads it aloud
    """

    title: str = ""
    is_sealed: bool = False
    is_closed: bool = False
    sources: tuple[str, ...] = ()
    language: str = ""
