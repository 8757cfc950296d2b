"""A cloze as two instruments: one whose items are its blanks, and one whose items judge what was filled."""

from collections.abc import Mapping

from studies.documents.cloze import Blank, ClozeDocument, Constraint, Edge, Section
from studies.documents.instrument import InstrumentDocument, ItemDocument

METHOD = (
    "Zou, B., & Xu, C. (2026). QUIET: A Multi-Blank Cascaded Story Cloze Benchmark for LLM Creative Generation "
    "Capability. arXiv:2605.25955."
)
URL = "https://arxiv.org/abs/2605.25955"
SUGGESTED = {"word": "a word or a phrase", "sentence": "a sentence", "paragraph": "a paragraph"}
# Section 5.1 of the paper prints these six points.
SATISFACTION = {
    "0": "completely absent or conflicts with constraint",
    "1": "only sparse traces",
    "2": "halfway there",
    "3": "largely satisfied but with minor flaws",
    "4": "fully satisfied without flaws",
    "5": "fully satisfied and elegantly executed",
}
# The knock-out clause of the same section, in our words; as a background, it reaches people and models.
KNOCK_OUT = "This is a must: where the text breaks it, answer 0 or 1, however well all else is done."
# A check says "it" of what its constraint names, and a model reads each question in a call of its own.
PART_OF = "A part of this constraint:"
# The paper leaves the judging of edges to future work; this scale is ours.
CONSISTENCY = {"0": "Not at all", "5": "Fully"}
# The paper's control asks constraints in three steps (section 5.1) and does not print their words; these are ours.
THREE_STEPS = {"0": "It does not", "0.5": "In part", "1": "It does"}
CASCADE = "Cascade"


def filling_instrument(document: ClozeDocument) -> InstrumentDocument:
    """The instrument that is answered by filling the blanks: one item each, in the order of the text."""
    titles = {section.number: section.title for section in document.sections}
    items = [_blank(blank, titles[blank.section]) for blank in document.blanks]
    return _instrument(document, "fill", "the blanks", items)


def judging_instrument(document: ClozeDocument) -> InstrumentDocument:
    """The instrument that judges a filled text: constraints with their checks section by section, then the edges."""
    items = []
    for section in document.sections:
        for number, constraint in enumerate(section.constraints, start=1):
            items += _constraint(section, number, constraint)
    titles = {section.number: section.title for section in document.sections}
    items += [_edge(edge, titles) for edge in document.edges]
    return _instrument(document, "judge", "the judgement", items)


def coarse_instrument(document: ClozeDocument) -> InstrumentDocument:
    """The instrument of the paper's control: each constraint under the key that it has in the other, in three steps.

    Without the knock-out clause, which the paper's finer scale brought.
    """
    items = [
        ItemDocument(
            key=constraint_key(section.number, number),
            type="choice",
            dimension=section.title,
            title=_title(section, number),
            question=constraint.text,
            options=[{"value": value, "label": label} for value, label in THREE_STEPS.items()],
            quoted=["question"],
            adapted=["title", "options"],
        )
        for section in document.sections
        for number, constraint in enumerate(section.constraints, start=1)
    ]
    return _instrument(document, "coarse", "the judgement in three steps", items)


def number_by_key(document: ClozeDocument) -> dict[str, int]:
    """The number of each blank by the key of its item."""
    return {blank_key(blank.number): blank.number for blank in document.blanks}


def blank_key(number: int) -> str:
    return f"blank-{number:02}"


def constraint_key(section: int, constraint: int) -> str:
    return f"s{section}-c{constraint}"


def check_key(section: int, constraint: int, check: int) -> str:
    return f"{constraint_key(section, constraint)}-k{check}"


def edge_key(from_: int, to: int) -> str:
    return f"edge-{from_}-{to}"


def _instrument(document: ClozeDocument, suffix: str, part: str, items: list[ItemDocument]) -> InstrumentDocument:
    return InstrumentDocument(
        slug=f"{document.slug}-{suffix}",
        version=document.version,
        title=f"{document.title}: {part}",
        items=items,
        language=document.language,
        citation="\n".join(filter(None, [document.citation, f"The method: {METHOD}"])),
        url=URL,
        note=document.notes,
    )


def _blank(blank: Blank, section_title: str) -> ItemDocument:
    return ItemDocument(
        key=blank_key(blank.number),
        type="text",
        dimension=section_title,
        title=f"Blank {blank.number}",
        question=f"Blank {blank.number}. {blank.hint}".strip(),
        settings={"kind": blank.kind, "least": 1},
        suggested=SUGGESTED[blank.kind],
        adapted=["title", "question", "suggested"],
    )


def _constraint(section: Section, number: int, constraint: Constraint) -> list[ItemDocument]:
    """The item of a constraint, and one for each of its checks."""
    title = _title(section, number)
    whole = ItemDocument(
        key=constraint_key(section.number, number),
        type="scale",
        dimension=section.title,
        title=title,
        question=constraint.text,
        background=KNOCK_OUT if constraint.must else "",
        settings={"low": 0, "high": 5, "anchors": SATISFACTION} | ({"must": True} if constraint.must else {}),
        quoted=["question", "settings"],
        adapted=["title", "background"] if constraint.must else ["title"],
    )
    checks = [
        ItemDocument(
            key=check_key(section.number, number, place),
            type="binary",
            dimension=section.title,
            title=f"{title}, check {place}",
            question=check.text,
            background=f"{PART_OF} {constraint.text}",
            settings={"required": True} if check.required else {},
            quoted=["question"],
            adapted=["title", "background"],
        )
        for place, check in enumerate(constraint.checks, start=1)
    ]
    return [whole, *checks]


def _title(section: Section, number: int) -> str:
    return f"{section.title}, constraint {number}"


def _edge(edge: Edge, titles: Mapping[int, str]) -> ItemDocument:
    return ItemDocument(
        key=edge_key(edge.from_, edge.to),
        type="scale",
        dimension=CASCADE,
        title=f"{titles[edge.from_]} → {titles[edge.to]}",
        question=edge.question,
        settings={"low": 0, "high": 5, "anchors": CONSISTENCY},
        quoted=["question"],
        adapted=["title", "settings"],
    )
