"""What raters would read in a text that is no part of the story: marks of a program, the next column, its source."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from studies.incoming_tables.problems import RowProblem, WayOut
from studies.story_import.rows import ImportRow
from studies.typography.features import MARKUP

# A source's name of fewer letters, such as “A”, is looked for at the end of a text alone, after a sign between columns.
_SHORT_NAME = 4
_AROUND = 20  # letters of quotation marks, signs and blanks around it there
_FEW_NAMES = 50
_WORD = re.compile(r"\w+")
# Texts of one source that begin or end with the same line, or the same so many letters of it, tell the source.
_EDGE, _SHORTEST_EDGE, _FEWEST_OF_SOURCE = 24, 4, 3
_DIFFERS = 0.5  # between the shares of texts of that source and of the others
# Texts that end in the same so many characters look like a table that was parted wrongly.
_TAIL, _FEWEST_ALIKE = 8, 5


def find_text_warnings(rows: Sequence[ImportRow], column: str) -> Iterator[RowProblem]:
    """Warnings by row. column : the one that holds the texts"""
    yield from _find_markup(rows, column)
    yield from _find_source_names(rows, column)
    yield from _find_other_names(rows, column)
    yield from _find_like_ends(rows, column)
    yield from _find_telling_edges(rows, column)


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


def _find_other_names(rows: Sequence[ImportRow], column: str) -> Iterator[RowProblem]:
    """Texts that hold the name of another source of the file, written as the file writes it."""
    names = {name for row in rows if len(name := row["source"].strip()) >= _SHORT_NAME}
    names_by_word: dict[str, list[str]] = defaultdict(list)
    for name in names:
        names_by_word[next(iter(_WORD.findall(name)), "")].append(name)
    rows_by_name: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        likely: Iterable[str] = names
        if len(names) > _FEW_NAMES:  # many names are looked up by their first word
            words = names_by_word.keys() & set(_WORD.findall(row["text"]))
            likely = [name for word in words for name in names_by_word[word]]
        for name in likely:
            is_there = name in row["text"] and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", row["text"])
            if is_there and name != row["source"].strip():
                rows_by_name[name].append(row.n)
    for name, numbers in sorted(rows_by_name.items(), key=lambda pair: -len(pair[1])):
        sentence = ngettext(
            "The text holds “%(source)s”, the name of another source in the file.",
            "These texts hold “%(source)s”, the name of another source in the file.",
            len(numbers),
        )
        yield RowProblem("warning", tuple(numbers), column, sentence % {"source": name[:60]})


def _holds_name(text: str, name: str) -> bool:
    """Whether the name stands in the text as a word; a short one, whether it stands in the next column at its end."""
    if len(name) >= _SHORT_NAME and name.casefold() in text.casefold():
        return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None
    end = text[-len(name) - _AROUND :].rstrip(' \n"')
    before = end[: -len(name)].rstrip(' "')
    return end[-len(name) :].casefold() == name.casefold() and before.endswith((";", ",", "\t", "|"))


def _find_like_ends(rows: Sequence[ImportRow], column: str) -> Iterator[RowProblem]:
    texts = [(row.n, text) for row in rows if len(text := row["text"].rstrip()) > _TAIL]
    if len({text for _n, text in texts}) < _FEWEST_ALIKE:
        return
    tail, n = Counter(text[-_TAIL:] for _n, text in texts).most_common(1)[0]
    if n < _FEWEST_ALIKE or 2 * n < len(texts):
        return
    sentence = _("%(n)d texts end in the same letters, “%(tail)s”. Does the column hold the story alone?")
    numbers = tuple(dict.fromkeys(row for row, text in texts if text.endswith(tail)))
    yield RowProblem("warning", numbers, column, sentence % {"n": n, "tail": tail})


def _find_telling_edges(rows: Sequence[ImportRow], column: str) -> Iterator[RowProblem]:
    """Beginnings and ends that many texts of one source have in common and few of the others."""
    texts = [(row.n, row["source"].strip(), text) for row in rows if (text := row["text"].strip())]
    n_by_source = Counter(source for _n, source, _text in texts)
    if len(n_by_source) < 2:
        return
    first, last = (
        _("%(n)d texts of one source, “%(source)s”, begin with “%(words)s”; few others do, so raters may notice."),
        _("%(n)d texts of one source, “%(source)s”, end with “%(words)s”; few others do, so raters may notice."),
    )
    for message, find_edge in ((first, _find_beginning), (last, _find_end)):
        rows_by_edge: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for n, source, text in texts:
            if len(edge := find_edge(text)) >= _SHORTEST_EDGE:
                rows_by_edge[edge][source].append(n)
        for edge, rows_by_source in rows_by_edge.items():
            n_all = sum(map(len, rows_by_source.values()))
            for source, numbers in rows_by_source.items():
                n_others = len(texts) - n_by_source[source]
                share = len(numbers) / n_by_source[source]
                if len(numbers) >= _FEWEST_OF_SOURCE and share - (n_all - len(numbers)) / n_others >= _DIFFERS:
                    names = {"n": len(numbers), "source": source[:60], "words": edge}
                    yield RowProblem("warning", tuple(numbers), column, message % names)


def _find_beginning(text: str) -> str:
    return text.partition("\n")[0][:_EDGE]


def _find_end(text: str) -> str:
    return text.rpartition("\n")[2][-_EDGE:]
