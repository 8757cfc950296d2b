"""Tables for LaTeX: booktabs rules, a note below, all escaped."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

MOST_ROWS = 40  # of a table that stands on one page; longer ones break
SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": "'",
    "`": r"\textasciigrave{}",
    "-": "{-}",  # two of them would become a dash
    "−": "$-$",
    "–": "{--}",
    "—": "{---}",
    "…": r"\dots{}",
    "×": r"$\times$",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\rightarrow$",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "\u00a0": "~",
    "\u202f": "~",
    "’": "'",
    "‘": "`",
    "“": "``",
    "”": "''",
}
GREEK = {"α": "alpha", "β": "beta", "ε": "epsilon", "κ": "kappa", "λ": "lambda", "ρ": "rho", "τ": "tau", "ω": "omega"}
TABLE = SPECIAL | {letter: f"$\\{name}$" for letter, name in GREEK.items()}


def escape(text: str) -> str:
    """The text as LaTeX prints it: nothing in it is a command, and line breaks are spaces."""
    flat = re.sub(r"\s*[\t\r\n\f\v\u2028\u2029]\s*", " ", unicodedata.normalize("NFC", text))
    printed = (letter for letter in flat if unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Co", "Cn"))
    return "".join(TABLE.get(letter, letter) for letter in printed)


@dataclass(frozen=True)
class LatexCell:
    """What stands in a cell, not escaped. raised : small letters or signs behind it"""

    words: str
    raised: str = ""


Row: TypeAlias = Sequence[LatexCell | str]


@dataclass(frozen=True, kw_only=True)
class RowPanel:
    """Rows under a heading that goes over all columns; "" for none."""

    rows: Sequence[Row]
    heading: str = ""


@dataclass(frozen=True, kw_only=True)
class LatexTable:
    """A table as a paper prints it; nothing in it is escaped.

    name : of its label; title : in a few words; headings : of its columns, the first on the left, the others right
    notes : sentences below it
    """

    name: str
    title: str
    caption: str
    headings: Row
    panels: Sequence[RowPanel]
    notes: Sequence[str]

    @property
    def text(self) -> str:
        """From \\begin to \\end, with the note below; a table of many rows breaks over pages."""
        lines = [line for panel in self.panels for line in self._lines(panel)]
        write = self._long if len(lines) > MOST_ROWS else self._short
        return "\n".join(write(lines))

    def _lines(self, panel: RowPanel) -> Iterator[str]:
        if panel.heading:
            yield rf"\multicolumn{{{len(self.headings)}}}{{l}}{{\textit{{{escape(panel.heading)}}}}} \\*"
        yield from map(_row, panel.rows)

    @property
    def _spec(self) -> str:
        return "l" + "r" * (len(self.headings) - 1)

    @property
    def _caption(self) -> str:
        return rf"\caption{{{escape(self.caption)}}}\label{{tab:{self.name}}}"

    @property
    def _notes(self) -> str:
        return " ".join(map(escape, self.notes))

    def _short(self, lines: Sequence[str]) -> list[str]:
        inner = [r"\toprule", _row(self.headings), r"\midrule", *lines, r"\bottomrule", r"\end{tabular}"]
        note = [r"\par\smallskip", rf"\begin{{minipage}}{{\linewidth}}\footnotesize {self._notes}\end{{minipage}}"]
        begin = [r"\begin{table}", r"\centering", self._caption, rf"\begin{{tabular}}{{{self._spec}}}"]
        return [*begin, *inner, *note, r"\end{table}"]

    def _long(self, lines: Sequence[str]) -> list[str]:
        inner = [r"\toprule", _row(self.headings), r"\midrule", r"\endhead", r"\bottomrule", r"\endfoot", *lines]
        begin = [rf"\begin{{longtable}}{{{self._spec}}}", rf"{self._caption} \\"]
        return [*begin, *inner, r"\end{longtable}", rf"\noindent{{\footnotesize {self._notes}\par}}"]


def write_document(tables: Iterable[str], *, paragraph: str = "") -> str:
    """A whole document with the paragraph and the tables as `LatexTable.text` gives them, to be compiled as it is."""
    return "\n".join(
        [
            r"\documentclass{article}",
            r"\usepackage{iftex}",
            r"\ifPDFTeX\usepackage[utf8]{inputenc}\usepackage[T1]{fontenc}\else\usepackage{fontspec}\fi",
            r"\usepackage{textcomp}",
            r"\usepackage{booktabs}",
            r"\usepackage{longtable}",
            r"\usepackage[landscape,margin=15mm]{geometry}",
            r"\begin{document}",
            *(f"{escape(words)}\n" for words in paragraph.splitlines() if words),
            *tables,
            r"\end{document}",
            "",
        ]
    )


def _row(cells: Row) -> str:
    r"""A line of a table. A bracket or a star behind the \\ of the line before would belong to that."""
    line = " & ".join(map(_cell, cells)) + r" \\"
    return f"{{}}{line}" if line[0] in "[*" else line


def _cell(cell: LatexCell | str) -> str:
    if isinstance(cell, str):
        return escape(cell)
    raised = rf"\textsuperscript{{{escape(cell.raised)}}}" if cell.raised else ""
    return escape(cell.words) + raised
