"""What a study has no data for: each figure that has nothing to show, with the reason, in a line and not as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy, ngettext

from reports import reasons
from reports.document.model import DocumentSection, Phrase, ReportTable, find_blocks
from reports.figures import Figure, all_figures
from reports.page.outline import REFUSED, SEALED, UNANSWERED, UNASKED, Outline

WHY = {
    SEALED: gettext_lazy("By source, so sealed until the study is closed"),
    UNANSWERED: gettext_lazy("Nobody has answered yet"),
    UNASKED: gettext_lazy("The study asks or holds nothing that they are about"),
}


@dataclass(frozen=True)
class SilentFigures:
    """refused : figures of which every row lacks its value, each with the reason; alike : the others by their reason"""

    refused: tuple[tuple[Figure[Any], Phrase], ...]
    alike: tuple[tuple[Phrase, tuple[Figure[Any], ...]], ...]


def list_silent(outline: Outline, refused: Mapping[str, Sequence[DocumentSection]]) -> SilentFigures:
    """refused : the descriptions of the figures that refuse every row, by their keys"""
    silent = [(all_figures()[key], why) for key, why in outline.silent.items()]
    return SilentFigures(
        tuple((figure, _say_refusal(refused[figure.key])) for figure, why in silent if why == REFUSED),
        tuple(
            (words, figures)
            for code, words in WHY.items()
            if (figures := tuple(figure for figure, why in silent if why == code))
        ),
    )


def _say_refusal(description: Sequence[DocumentSection]) -> str:
    """The reason that most rows have."""
    tables = find_blocks(description, ReportTable)
    said = Counter(
        reasons.translate_reason(why) for table in tables for row in table.rows if (why := table.why(row)) is not None
    )
    if not said:
        return ""
    (words, n), *others = said.most_common()
    n_other = sum(count for _words, count in others)
    if not n_other:
        return words
    rest = ngettext("and %(n)d for another reason", "and %(n)d for other reasons", n_other) % {"n": n_other}
    return f"{words} ({n}; {rest})"
