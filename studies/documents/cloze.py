"""Cloze documents: a text with blanks, what each section must achieve, and how later sections hang on earlier ones.

One TOML file says it all; `docs/cloze.md` explains every key. Reading is strict.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, Literal, get_args

from studies.documents import reader, skeleton
from studies.documents.errors import DocumentError, InvalidValue, quote
from studies.documents.instrument import LONGEST
from studies.documents.reader import FieldReader
from studies.items import is_empty

Kind = Literal["word", "sentence", "paragraph"]
GUIDE = "docs/cloze.md"
LONGEST_SLUG = 73  # "-coarse" is added to it, and an instrument's slug has 80 characters
LONGEST_TITLE = 180  # likewise


@dataclass(frozen=True)
class Check:
    """One thing that can be answered with Yes or No; a required one decides whether its constraint is kept at all."""

    text: str
    required: bool = False


@dataclass(frozen=True)
class Constraint:
    """What the blanks of a section must achieve together. must: breaking it caps the score (the knock-out)."""

    text: str
    must: bool = False
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True)
class Section:
    """Blanks that are one decision and are judged together."""

    number: int
    title: str
    constraints: tuple[Constraint, ...]


@dataclass(frozen=True)
class Blank:
    """One place to fill. hint: what belongs there; follows: the earlier blanks that it has to agree with."""

    number: int
    kind: Kind
    section: int
    hint: str = ""
    follows: tuple[int, ...] = ()


@dataclass(frozen=True)
class Edge:
    """What section `from_` settles narrows what section `to` can be; the question asks whether the two agree."""

    from_: int
    to: int
    question: str


@dataclass(frozen=True)
class ClozeDocument:
    """A cloze in one version. Blanks and sections are numbered from 1 in the order of the text.

    skeleton : the running text with markers such as {{3}}; paragraphs are parted by blank lines; a line ## 2 opens
        section 2
    citation : who wrote it, and where it comes from
    notes : what the author wants designers to know; never shown to raters
    """

    slug: str
    title: str
    skeleton: str
    blanks: tuple[Blank, ...]
    sections: tuple[Section, ...]
    edges: tuple[Edge, ...] = ()
    version: str = "1"
    language: str = "en"
    citation: str = ""
    licence: str = ""
    notes: str = ""

    @property
    def section_by_blank(self) -> dict[int, int]:
        """The section of each blank, both by number."""
        return {blank.number: blank.section for blank in self.blanks}

    @property
    def marked_text(self) -> str:
        """The whole text with the marker of every blank in its place, without the lines that open sections."""
        return skeleton.join_sections(self.skeleton, self.section_by_blank)

    def blanks_of(self, section: int) -> list[Blank]:
        """The blanks of that section in the order of the text."""
        return [blank for blank in self.blanks if blank.section == section]


def read_cloze(path: Path) -> ClozeDocument:
    """The cloze in that file. Raises DocumentError."""
    return _parse(reader.read_toml(path, guide=GUIDE), path.name)


def parse_cloze(content: str | bytes, name: str) -> ClozeDocument:
    """The cloze that the TOML says; `name` stands for the file in errors. Raises DocumentError."""
    return _parse(reader.parse_toml(content, name, guide=GUIDE), name)


def _parse(table: Mapping[str, Any], name: str) -> ClozeDocument:
    try:
        document = _document(table, Path(name))
    except RecursionError as error:
        raise DocumentError(name, "file", "is nested too deeply; a cloze needs four levels") from error
    check_cloze(document, name)
    return document


def check_cloze(document: ClozeDocument, name: str) -> None:
    """Raise DocumentError at the first thing that does not fit together."""
    if fault := next(find_faults(document), None):
        raise DocumentError(name, *fault)


def find_faults(document: ClozeDocument) -> Iterator[skeleton.Fault]:
    """What does not fit together, and where; the first is certain, later ones may follow from it."""
    yield from _faults_of_numbers("blank", [blank.number for blank in document.blanks])
    yield from _faults_of_numbers("section", [section.number for section in document.sections])
    yield from _faults_of_sections(document)
    yield from skeleton.find_faults(document.skeleton, document.section_by_blank)
    yield from _faults_of_edges(document)
    yield from _faults_of_follows(document)


def words(value: Any) -> str:
    """Words on any number of lines, without blanks around them."""
    return str(reader.text(value)).strip()


number = reader.whole_number(1, 9999)


def numbers(value: Any) -> tuple[int, ...]:
    """A list of numbers, in rising order."""
    if not isinstance(value, list):
        raise InvalidValue(f"must be a list of numbers, such as [1, 4], not {reader.name_kind(value)}")
    return tuple(sorted(number(entry) for entry in value))


READERS: dict[str, dict[str, FieldReader]] = {
    "cloze": {
        "slug": reader.slug(LONGEST_SLUG),
        "version": reader.line(LONGEST["version"]),
        "title": reader.line(LONGEST_TITLE),
        "language": reader.language,
        "citation": words,
        "licence": reader.line(200),
        "notes": words,
        "skeleton": words,
        "blanks": reader.tables(1000),
        "sections": reader.tables(50),
        "edges": reader.tables(1000),
    },
    "section": {"number": number, "title": reader.line(LONGEST["dimension"]), "constraints": reader.tables(20)},
    "constraint": {"text": words, "must": reader.boolean, "checks": reader.tables(10)},
    "check": {"text": words, "required": reader.boolean},
    "blank": {
        "number": number,
        "kind": reader.one_of(*get_args(Kind)),
        "section": number,
        "hint": words,
        "follows": numbers,
    },
    "edge": {"from": number, "to": number, "question": words},
}
OPTIONAL = {
    "version",
    "language",
    "citation",
    "licence",
    "notes",
    "edges",
    "hint",
    "follows",
    "must",
    "checks",
    "required",
}


def _fields(part: str, table: Mapping[str, Any], path: Path, location: str = "") -> dict[str, Any]:
    """The values of one part, typed, none missing that it needs; one that says nothing counts as not given."""
    typed = reader.read_table(table, READERS[part], path=path, location=location)
    reader.check_required(typed, [name for name in READERS[part] if name not in OPTIONAL], path=path, location=location)
    return {name: value for name, value in typed.items() if not is_empty(value)}


def _document(table: Mapping[str, Any], path: Path) -> ClozeDocument:
    values = _fields("cloze", table, path)
    blanks = [Blank(**_fields("blank", row, path, f"blanks[{i}]")) for i, row in enumerate(values["blanks"], 1)]
    sections = [_section(row, path, f"sections[{i}]") for i, row in enumerate(values["sections"], 1)]
    edges = [_edge(row, path, f"edges[{i}]") for i, row in enumerate(values.get("edges", []), 1)]
    parts = {
        "blanks": tuple(sorted(blanks, key=lambda blank: blank.number)),
        "sections": tuple(sorted(sections, key=lambda section: section.number)),
        "edges": tuple(sorted(edges, key=lambda edge: (edge.from_, edge.to))),
    }
    return ClozeDocument(**{**values, **parts})


def _section(table: Mapping[str, Any], path: Path, location: str) -> Section:
    values = _fields("section", table, path, location)
    constraints = enumerate(values["constraints"], 1)
    parts = [_constraint(row, path, f"{location}, constraints[{i}]") for i, row in constraints]
    return Section(**{**values, "constraints": tuple(parts)})


def _constraint(table: Mapping[str, Any], path: Path, location: str) -> Constraint:
    values = _fields("constraint", table, path, location)
    checks = enumerate(values.get("checks", []), 1)
    parts = [Check(**_fields("check", row, path, f"{location}, checks[{i}]")) for i, row in checks]
    return Constraint(**{**values, "checks": tuple(parts)})


def _edge(table: Mapping[str, Any], path: Path, location: str) -> Edge:
    values = _fields("edge", table, path, location)
    return Edge(from_=values["from"], to=values["to"], question=values["question"])


def _faults_of_numbers(part: str, numbers: Sequence[int]) -> Iterator[skeleton.Fault]:
    for number, times in Counter(numbers).items():
        if times > 1:
            yield f"{part} {number}, number", f"stands {times} times; every {part} has a number of its own"
    for expected in range(1, len(numbers) + 1):
        if expected not in numbers:
            yield (
                f"{part}s",
                f"there is no {part} {expected}, yet one of {max(numbers)}; number them from 1 without gaps",
            )


def _faults_of_sections(document: ClozeDocument) -> Iterator[skeleton.Fault]:
    last = len(document.sections)
    for blank in document.blanks:
        if blank.section > last:
            reason = f"there is no section {blank.section}, so the blank is outside every section; the last is {last}"
            yield f"blank {blank.number}, section", reason
    for section in document.sections:
        if not document.blanks_of(section.number):
            yield f"section {section.number}", "has no blanks; give it one or remove it"
    for title, times in Counter(section.title for section in document.sections).items():
        if times > 1:
            yield "sections, title", f"{quote(title)} stands {times} times; reports tell sections by their titles"


def _faults_of_edges(document: ClozeDocument) -> Iterator[skeleton.Fault]:
    last = len(document.sections)
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for (from_, to), times in Counter((edge.from_, edge.to) for edge in document.edges).items():
        location = f"edge {from_} → {to}"
        if max(from_, to) > last:
            yield location, f"there is no section {max(from_, to)}; the last is {last}"
        if times > 1:
            yield location, f"stands {times} times; ask one question of each pair of sections"
        sorter.add(to, from_)
    try:
        sorter.prepare()
    except CycleError as error:
        circle: list[int] = error.args[1][:-1]
        start = circle.index(min(circle))
        circuit = " → ".join(map(str, [*circle[start:], *circle[: start + 1]]))
        yield "edges", f"{circuit} is a cycle; what comes first cannot hang on what follows from it, remove one of them"


def _faults_of_follows(document: ClozeDocument) -> Iterator[skeleton.Fault]:
    section_by_blank = document.section_by_blank
    edges = {(edge.from_, edge.to) for edge in document.edges}
    for blank in document.blanks:
        location = f"blank {blank.number}, follows"
        for earlier, times in Counter(blank.follows).items():
            if earlier >= blank.number:
                yield location, f"{earlier} is no earlier blank; a blank follows from those that stand before it"
            if times > 1:
                yield location, f"{earlier} stands {times} times"
            pair = section_by_blank[earlier], blank.section
            if pair[0] != pair[1] and pair not in edges:
                yield (
                    location,
                    f"{earlier} is in section {pair[0]}, and there is no edge {pair[0]} → {pair[1]}; add one",
                )
