"""What a study has no data for: each figure that has nothing to show, with the reason, in a line and not as a table."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy, ngettext

from reports import reasons
from reports.document.model import DocumentSection, Phrase, ReportTable, find_blocks
from reports.figures import Figure, all_figures
from reports.page.outline import LATER, REFUSED, SEALED, UNANSWERED, UNASKED, ReportOutline

WHY = {
    SEALED: gettext_lazy("By source where the study asks for it, so sealed until the study is closed"),
    UNANSWERED: gettext_lazy("Nobody has answered yet"),
    LATER: gettext_lazy("Not computed when this report was stored"),
    UNASKED: gettext_lazy("The study asks or holds nothing that they are about"),
}
OF_BLIND_READERS = gettext_lazy("By source where the study asks for it, so not for readers who stay blind")


@dataclass(frozen=True)
class RefusedFigure:
    """A figure of which every row lacks its value. files : the names of its CSV files, which say it row by row"""

    figure: Figure[Any]
    reason: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class SilentFigures:
    """refused : each with its own reason; alike : the others by the reason that they share"""

    refused: tuple[RefusedFigure, ...]
    alike: tuple[tuple[Phrase, tuple[Figure[Any], ...]], ...]


def list_silent(
    outline: ReportOutline, refused: Mapping[str, Sequence[DocumentSection]], *, is_closed: bool
) -> SilentFigures:
    """refused : the descriptions of the figures that refuse every row, by their keys; is_closed : the study"""
    why = WHY | {SEALED: OF_BLIND_READERS} if is_closed else WHY
    by_code: dict[str, list[Figure[Any]]] = defaultdict(list)
    for key, code in outline.silent.items():
        by_code[code].append(all_figures()[key])
    return SilentFigures(
        tuple(_refusal(figure, refused[figure.key]) for figure in by_code[REFUSED]),
        tuple((words, tuple(by_code[code])) for code, words in why.items() if by_code[code]),
    )


def _refusal(figure: Figure[Any], description: Sequence[DocumentSection]) -> RefusedFigure:
    tables = list(find_blocks(description, ReportTable))
    files = dict.fromkeys(table.name for table in tables if table.name and table.rows)
    return RefusedFigure(figure, _commonest_reason(tables), tuple(files))


def _commonest_reason(tables: Sequence[ReportTable[Any]]) -> str:
    """The reason that most rows have, and how many have another; "" where there are no rows."""
    why = (table.why(row) for table in tables for row in table.rows)
    counts = Counter(reasons.translate_reason(reason) for reason in why if reason is not None).most_common()
    if not counts:
        return ""
    (words, n), *others = counts
    n_other = sum(count for _words, count in others)
    if not n_other:
        return words
    rest = ngettext("and %(n)d for another reason", "and %(n)d for other reasons", n_other) % {"n": n_other}
    return f"{words} ({n}; {rest})"
