"""What raters would read in a text that is no part of the story: marks of a program, the next column, its source."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from studies.incoming_tables.problems import RowProblem, WayOut
from studies.story_import.rows import ImportRow
from studies.typography.features import MARKUP

# A source's name of fewer letters, such as “A”, is looked for at the end of a text alone, after a sign between columns.
_SHORT_NAME = 4
_AROUND = 20  # letters of quotation marks, signs and blanks around it there
# Texts that end in the same so many characters look like a table that was parted wrongly.
_TAIL, _FEWEST_ALIKE = 8, 5


def find_text_warnings(rows: Sequence[ImportRow], column: str) -> Iterator[RowProblem]:
    """Warnings by row. column : the one that holds the texts"""
    yield from _find_markup(rows, column)
    yield from _find_source_names(rows, column)
    yield from _find_like_ends(rows, column)


def _find_markup(rows: Sequence[ImportRow], column: str) -> Iterator[RowProblem]:
    mark_by_row = {row.n: mark[0] for row in rows if (mark := MARKUP.search(row["text"]))}
    if not mark_by_row:
        return
    sentence = _(
        "Raters would read marks of another program, such as “%(mark)s”. Make them paragraphs and plain words."
    )
    way_out = WayOut(_("Make them plain in all"), ("normalise", "markup"))
    marks = Counter(mark_by_row.values())
    yield RowProblem(
        "warning", tuple(mark_by_row), column, sentence % {"mark": marks.most_common(1)[0][0][:24]}, (way_out,)
    )


def _find_source_names(rows: Sequence[ImportRow], column: str) -> Iterator[RowProblem]:
    rows_by_source: dict[str, list[ImportRow]] = defaultdict(list)
    for row in rows:
        if row["source"].strip():
            rows_by_source[row["source"].strip()].append(row)
    for source, members in rows_by_source.items():
        if holding := tuple(row.n for row in members if _holds_name(row["text"], source)):
            sentence = ngettext(
                "The text holds the name of its source, “%(source)s”, so that raters would read it.",
                "These texts hold the name of their source, “%(source)s”, so that raters would read it.",
                len(holding),
            )
            yield RowProblem("warning", holding, column, sentence % {"source": source[:60]})


def _holds_name(text: str, name: str) -> bool:
    """Whether the name stands in the text as a word; a short one, whether it stands in the next column at its end."""
    if len(name) >= _SHORT_NAME and name.casefold() in text.casefold():
        return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None
    end = text[-len(name) - _AROUND :].rstrip(' \n"')
    before = end[: -len(name)].rstrip(' "')
    return end[-len(name) :].casefold() == name.casefold() and before.endswith((";", ",", "\t", "|"))


def _find_like_ends(rows: Sequence[ImportRow], column: str) -> Iterator[RowProblem]:
    text_by_row = {row.n: row["text"].rstrip() for row in rows if len(row["text"].rstrip()) > _TAIL}
    if len(set(text_by_row.values())) < _FEWEST_ALIKE:
        return
    tail, n = Counter(text[-_TAIL:] for text in text_by_row.values()).most_common(1)[0]
    if n < _FEWEST_ALIKE or 2 * n < len(text_by_row):
        return
    sentence = _("%(n)d texts end in the same letters, “%(tail)s”. Does the column hold the story alone?")
    numbers = tuple(row for row, text in text_by_row.items() if text.endswith(tail))
    yield RowProblem("warning", numbers, column, sentence % {"n": n, "tail": tail})
