"""The summary of a report as one picture of a slide's shape, 16 to 9, for whoever shows or prints it.

Nothing is cut: rows come closer where there are many, and words go on over more lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports.document.phrases import plain
from reports.page.shapes import Drawing, Shape
from reports.page.summary import WIDTH as LINE_WIDTH
from reports.page.summary import DrawnBoard, DrawnLine, ReportSummary

WIDTH = 1232
TITLE_LINE, TITLE_LETTERS = 36.0, 78
WIDEST_ROW, NARROWEST_ROW, GAP = 31.0, 20.0, 24.0
NUMBERS_TO, LINES_FROM, LINES_WIDE, LETTERS_AT = 330.0, 345.0, 320.0, 680.0  # of the leaderboard
NOTE_LETTERS = 110
SIDE = 780.0  # where the second column begins
SIDE_LETTERS = 62  # of a line of words in it
KEY_FIGURES = 62.0  # what they need at the foot


def draw_slide(headline: str, summary: ReportSummary, *, height: int) -> Drawing:
    """The summary, of that height or taller: the headline, who leads, whether raters agree, judges, the plan, key
    figures."""
    shapes: list[Shape] = []
    y = 8.0
    for words in wrap(headline, TITLE_LETTERS):
        y += TITLE_LINE
        shapes.append(Shape("slide-title", 0, y, text=words))
    top = y + GAP
    columns = [list(_side(summary, top))]
    if summary.board:
        columns.append(list(_board(summary.board, _notes(summary, summary.board), top, height - KEY_FIGURES)))
    lowest = max((shape.y for column in columns for shape in column), default=top)
    bottom = max(height, int(lowest + KEY_FIGURES + GAP))
    for column in columns:
        shapes += column
    shapes += _key_figures(summary, bottom - 12.0)
    return Drawing(WIDTH, bottom, tuple(shapes))


def _notes(summary: ReportSummary, board: DrawnBoard) -> list[str]:
    """What must be read beside the leaderboard."""
    sentences = [plain(note) for note in board.board.notes]
    if board.n_left:
        more = ngettext("%(n)s more stands below these.", "%(n)s more stand below these.", board.n_left)
        sentences.append(more % {"n": board.n_left})
    if summary.held_percent and summary.held_percent != 95:
        sentences.append(
            _("Of a hundred intervals like these, %(percent)s or more held what they estimate when simulated.")
            % {"percent": summary.held_percent}
        )
    return wrap(" ".join(sentences), NOTE_LETTERS)


def _board(board: DrawnBoard, notes: Sequence[str], top: float, bottom: float) -> Iterator[Shape]:
    yield Shape("panel-name", 0, top + 14, text=plain(board.board.title))
    room = bottom - top - 24 - 44 - 18 * len(notes)
    row = min(WIDEST_ROW, max(NARROWEST_ROW, room / len(board.lines)))
    y = top + 24
    for line in board.lines:
        y += row
        yield Shape("item-name", 0, round(y - 5, 1), text=plain(line.name))
        yield Shape("item-name", NUMBERS_TO, round(y - 5, 1), text=line.words, anchor="end")
        yield from _line(line, LINES_FROM, LINES_WIDE, y - 10)
        yield Shape("tick", LETTERS_AT, round(y - 5, 1), text=line.letters)
        yield Shape("grid", d=f"M0 {y:.1f}H{LETTERS_AT + 40}")
    yield from _ticks(board.ticks, LINES_FROM, LINES_WIDE, y + 18)
    for n, words in enumerate(notes):
        yield Shape("tick", 0, round(y + 44 + 18 * n, 1), text=words)


def _side(summary: ReportSummary, top: float) -> Iterator[Shape]:
    y = top + 14
    if summary.gauges:
        yield Shape("panel-name", SIDE, y, text=_("Do raters agree?"))
        for words in wrap(summary.gauge_words, SIDE_LETTERS):
            y += 20
            yield Shape("item-name", SIDE, y, text=words)
        for line in summary.gauges:
            for n, words in enumerate(wrap(plain(line.name), 28)):
                y += WIDEST_ROW if n == 0 else 18
                yield Shape("item-name", SIDE, y, text=words)
            yield Shape("item-name", SIDE + 245, y, text=line.words, anchor="end")
            yield from _line(line, SIDE + 255, 190, y - 5)
        yield from _ticks(summary.gauge_ticks, SIDE + 255, 190, y + 22)
        y += 44
        yield Shape("tick", SIDE, y, text=_("1 is full agreement; the grey band is what shuffled answers reach."))
    answers = [(_("How sure?"), " ".join(filter(None, [summary.lead_difference, _plan(summary)])))]
    if summary.judge:
        answers.insert(0, (_("May a judge stand in for an expert?"), _of_judges(summary)))
    for heading, sentence in answers:
        y += GAP + 6
        yield Shape("panel-name", SIDE, y, text=heading)
        for words in wrap(sentence, SIDE_LETTERS):
            y += 20
            yield Shape("item-name", SIDE, y, text=words)


def _of_judges(summary: ReportSummary) -> str:
    if summary.judge is None:
        return ""
    sentence = plain(summary.judge.statement.sentence)
    if not summary.judge.n_others:
        return sentence
    more = ngettext(
        "%(n)s more finding is about judges.", "%(n)s more findings are about judges.", summary.judge.n_others
    )
    return f"{sentence} {more % {'n': summary.judge.n_others}}"


def _plan(summary: ReportSummary) -> str:
    if summary.n_planned:
        planned = ngettext(
            "%(n)s planned comparison is reported, as confirmatory; all else is exploratory.",
            "%(n)s planned comparisons are reported, as confirmatory; all else is exploratory.",
            summary.n_planned,
        )
        return planned % {"n": summary.n_planned}
    if summary.has_plan:
        return _("An analysis plan was frozen with the protocol; none of its comparisons is in this report.")
    return _("No analysis plan was frozen with the protocol, so everything here is exploratory.")


def _key_figures(summary: ReportSummary, bottom: float) -> Iterator[Shape]:
    width = WIDTH / max(len(summary.highlights), 1)
    for n, (words, number) in enumerate(summary.highlights):
        yield Shape("slide-number", round(n * width, 1), bottom - 22, text=number)
        yield Shape("tick", round(n * width, 1), bottom, text=plain(words))


def _line(line: DrawnLine, start: float, width: float, y: float) -> Iterator[Shape]:
    def x(place: float) -> float:
        return round(start + place * width / LINE_WIDTH, 1)

    if line.upper is not None:
        yield Shape("floor", d=f"M{x(line.zero)} {y - 9:.1f}H{x(line.upper)}V{y + 9:.1f}H{x(line.zero)}z")
    if line.low is not None and line.high is not None:
        yield Shape("range" + " weak" * line.is_weak, d=f"M{x(line.low)} {y:.1f}H{x(line.high)}")
    yield Shape("value", x(line.x), round(y, 1), r=5)


def _ticks(ticks: Sequence[tuple[float, str]], start: float, width: float, y: float) -> Iterator[Shape]:
    for place, words in ticks:
        yield Shape("tick", round(start + place * width / LINE_WIDTH, 1), round(y, 1), text=words, anchor="middle")
