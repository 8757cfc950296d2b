"""The CSV tables of a description for LaTeX: booktabs rules, numbers rounded as they are printed, all escaped."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

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
    "\u00a0": "~",
    "\u202f": "~",
    "’": "'",
    "‘": "`",
    "“": "``",
    "”": "''",
}
INTERVAL = "interval"  # the column in which both ends stand
GREEK = {"α": "alpha", "β": "beta", "ε": "epsilon", "κ": "kappa", "λ": "lambda", "ρ": "rho", "τ": "tau", "ω": "omega"}
TABLE = SPECIAL | {letter: f"$\\{name}$" for letter, name in GREEK.items()}


def escape(text: str) -> str:
    """The text as LaTeX prints it: nothing in it is a command, and line breaks are spaces."""
    flat = re.sub(r"\s*[\t\r\n\f\v\u2028\u2029]\s*", " ", text)
    printed = (letter for letter in flat if unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Co", "Cn"))
    return "".join(TABLE.get(letter, letter) for letter in printed)


def write_table(name: str, caption: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows of a CSV table as a LaTeX table.

    Both ends of an interval stand in one column. A column that says the same in all of several rows is told in the
    caption instead; an empty one is left out.
    """
    printed = [_print_row(row) for row in rows]
    columns = list(dict.fromkeys(column for row in printed for column in row))
    filled = [column for column in columns if any(row.get(column) for row in printed)]
    same = [c for c in filled if len(rows) > 1 and len({row.get(c, "") for row in printed}) == 1]
    shown = [column for column in filled if column not in same] or filled
    constant = "; ".join(f"{_heading(c)}: {printed[0][c]}" for c in same if c not in shown)
    is_number = {c: all(_is_number(row.get(c, "")) for row in printed) for c in shown}
    spec = "".join("r" if is_number[column] else "l" for column in shown)
    head = " & ".join(_heading(column) for column in shown) + r" \\"
    body = [" & ".join(row.get(column, "") for column in shown) + r" \\" for row in printed]
    words = escape(caption) + (f". {constant}" if constant else "")
    label = f"tab:{name}"
    return _long(spec, head, body, words, label) if len(rows) > MOST_ROWS else _short(spec, head, body, words, label)


def write_document(tables: Iterable[str], *, paragraph: str = "") -> str:
    """A whole document with the paragraph and the tables as `write_table` gives them, to be compiled as it is."""
    return "\n".join(
        [
            r"\documentclass{article}",
            r"\usepackage[utf8]{inputenc}",
            r"\usepackage[T1]{fontenc}",
            r"\usepackage{textcomp}",
            r"\usepackage{booktabs}",
            r"\usepackage{longtable}",
            r"\usepackage[landscape,margin=15mm]{geometry}",
            r"\begin{document}",
            *(f"{escape(words)}\n" for words in paragraph.splitlines() if words),
            r"\footnotesize",
            *tables,
            r"\end{document}",
            "",
        ]
    )


def _short(spec: str, head: str, body: Sequence[str], caption: str, label: str) -> str:
    begin = [r"\begin{table}", r"\centering", f"\\caption{{{caption}}}", f"\\label{{{label}}}"]
    inner = [f"\\begin{{tabular}}{{{spec}}}", r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*begin, *inner, r"\end{table}"])


def _long(spec: str, head: str, body: Sequence[str], caption: str, label: str) -> str:
    begin = [f"\\begin{{longtable}}{{{spec}}}", f"\\caption{{{caption}}}\\label{{{label}}} \\\\"]
    inner = [r"\toprule", head, r"\midrule", r"\endhead", r"\bottomrule", r"\endfoot", *body]
    return "\n".join([*begin, *inner, r"\end{longtable}"])


def _heading(column: str) -> str:
    if column == INTERVAL:
        return r"95\,\% interval"
    return escape(column.replace("_percent", ", %").replace("_", " "))


def _print_row(row: Mapping[str, Any]) -> dict[str, str]:
    """The cells of a row, escaped; `low` and `high` together."""
    cells: dict[str, str] = {}
    for column, value in row.items():
        if column == "high" and "low" in row:
            continue
        if column == "low" and "high" in row:
            low, high = _print(row["low"], row), _print(row["high"], row)
            cells[INTERVAL] = f"[{low}, {high}]" if low or high else ""
        else:
            cells[column] = _print(value, row, column)
    return cells


def _print(value: Any, row: Mapping[str, Any], column: str = "") -> str:
    """A number with the digits of the page, anything else escaped."""
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value}"
    if isinstance(value, float):
        return _round(value, column, is_percent=any("percent" in name for name in row))
    return escape(json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else str(value))


def _round(value: float, column: str, *, is_percent: bool) -> str:
    if column.startswith("p") and (column == "p" or column.startswith("p_")):
        return "$<$.001" if value < 0.0005 else f"{value:.3f}".removeprefix("0")
    percent = "percent" in column or (is_percent and column in ("", "difference"))
    return f"{value:.{1 if percent else 2}f}".replace("-", "$-$")


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"(\$-\$|\$<\$)?[\d.]*(\d)|\[.*\]|", cell) is not None
