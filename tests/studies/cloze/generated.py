"""Cloze documents of any shape, and the slips that people make in writing them.

Made from one seeded generator each: hypothesis drawing every word by itself takes four times as long.
"""

import re
from random import Random

from studies.documents.cloze import Blank, Check, ClozeDocument, Constraint, Edge, Section

# What TOML, JSON or our own markers could stumble over, beside plain words.
FRAGMENTS = [
    "word",
    "Anselm",
    "“said”",
    '"',
    '"""',
    "'''",
    "\\",
    "\\n",
    "\n",
    "\n\n",
    "{",
    "}",
    "#",
    "= 1",
    "[[edges]]",
]
FRAGMENTS += ["é", "空白", "🙂", "\t", "\u2028", "\u00a0", "1", "]", ",", "«", "עברית", "\u0301"]
SLIPS = [*FRAGMENTS, "{{1}}", "{{", "\x00", "true", "[]", "\r", "\ud800"]


def document(random: Random) -> ClozeDocument:
    """A document that fits together: up to five sections of up to three blanks, edges in one direction."""
    sizes = [random.randint(1, 3) for _ in range(random.randint(1, 5))]
    section_of = [section for section, size in enumerate(sizes, 1) for _ in range(size)]
    ranks = random.sample(range(1, len(sizes) + 1), len(sizes))
    pairs = [(a, b) for i, a in enumerate(ranks) for b in ranks[i + 1 :]]
    blanks = tuple(
        Blank(
            number,
            random.choice(["word", "sentence", "paragraph"]),
            section,
            hint=random.choice(["", text(random)]),
            follows=tuple(n for n in range(1, number) if section_of[n - 1] == section and random.random() < 0.5),
        )
        for number, section in enumerate(section_of, 1)
    )
    headings = random.random() < 0.5
    prose, end = (re.sub(r"\n[\s#]*#", "\n", text(random)) for _ in range(2))  # a line with # would open a section
    blocks = [
        (f"## {blank.section}\n" if headings and blank.section not in section_of[:i] else "")
        + f"{prose} {{{{{blank.number}}}}} and."
        for i, blank in enumerate(blanks)
    ]
    return ClozeDocument(
        slug=random.choice(["a", "seven-pairs", "x1-2"]),
        version=random.choice(["1", "2026-03 draft"]),
        title=" ".join(text(random).split()),
        skeleton="\n\n".join(blocks) + end,
        blanks=blanks,
        sections=tuple(Section(n, f"Part {n}", constraints(random)) for n in range(1, len(sizes) + 1)),
        edges=tuple(Edge(*pair, text(random)) for pair in sorted(random.sample(pairs, random.randint(0, len(pairs))))),
        language=random.choice(["en", "zh", "pt-BR"]),
        citation=random.choice(["", text(random)]),
        notes=random.choice(["", text(random)]),
    )


def constraints(random: Random) -> tuple[Constraint, ...]:
    return tuple(
        Constraint(
            text(random),
            random.random() < 0.5,
            tuple(Check(text(random), random.random() < 0.5) for _ in range(random.randint(0, 2))),
        )
        for _ in range(random.randint(1, 2))
    )


def text(random: Random) -> str:
    return " ".join(["x", *random.choices(FRAGMENTS, k=random.randint(0, 4)), "x"])


def slipped(toml: str, random: Random) -> str:
    """The TOML after one to three slips: something lost, doubled, renumbered, or put in from elsewhere."""
    for _ in range(random.randint(1, 3)):
        lines = toml.splitlines(keepends=True) or [""]
        line, place = random.randrange(len(lines)), random.randint(0, len(toml))
        digits = [i for i, letter in enumerate(toml) if letter.isdigit()] or [0]
        digit = random.choice(digits)
        toml = random.choice(
            [
                "".join(lines[:line] + lines[line + 1 :]),
                "".join(lines[: line + 1] + lines[line:]),
                toml[:digit] + str(random.randint(0, 9)) + toml[digit + 1 :],
                toml[:place] + toml[place + random.randint(1, 30) :],
                toml[:place] + random.choice(SLIPS) + toml[place:],
            ]
        )
    return toml
