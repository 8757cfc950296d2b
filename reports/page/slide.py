"""The summary of a report as one picture of a slide's shape, 16 to 9, for whoever shows or prints it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from django.utils.translation import gettext as _

from reports.document.phrases import plain
from reports.page.shapes import Drawing, Shape
from reports.page.summary import WIDTH as LINE_WIDTH
from reports.page.summary import DrawnBoard, DrawnLine, ReportSummary

WIDTH = 1232
TITLE_LINE, ROW, GAP = 38.0, 31.0, 26.0
NUMBERS_TO, LINES_FROM, LINES_WIDE, LETTERS_AT = 330.0, 345.0, 320.0, 680.0  # of the leaderboard
SIDE = 780.0  # where the second column begins
SIDE_LETTERS = 62  # of a line of words in it


def draw_slide(headline: str, summary: ReportSummary, *, height: int) -> Drawing:
    """The summary, of that height: the headline, who leads, whether raters agree, judges, the plan, key figures."""
    shapes: list[Shape] = []
    y = 8.0
    for words in wrap(headline, 74, max_lines=3, placeholder=" …"):
        y += TITLE_LINE
        shapes.append(Shape("slide-title", 0, y, text=words))
    top = y + GAP
    if summary.board:
        shapes += _board(summary.board, top)
    shapes += _side(summary, top)
    shapes += _key_figures(summary, height - 12.0)
    return Drawing(WIDTH, height, tuple(shapes))


def _board(board: DrawnBoard, top: float) -> Iterator[Shape]:
    yield Shape("panel-name", 0, top + 14, text=plain(board.board.title))
    y = top + 24
    for line in board.lines:
        y += ROW
        middle = y - 10
        yield Shape("item-name", 0, y - 5, text=plain(line.name))
        yield Shape("item-name", NUMBERS_TO, y - 5, text=line.words, anchor="end")
        yield from _line(line, LINES_FROM, LINES_WIDE, middle)
        yield Shape("tick", LETTERS_AT, y - 5, text=line.letters)
        yield Shape("grid", d=f"M0 {y:.1f}H{LETTERS_AT + 40}")
    yield from _ticks(board.ticks, LINES_FROM, LINES_WIDE, y + 18)
    notes = " ".join(plain(note) for note in board.board.notes)
    for n, words in enumerate(wrap(notes, 100)):
        yield Shape("tick", 0, y + 44 + 18 * n, text=words)


def _side(summary: ReportSummary, top: float) -> Iterator[Shape]:
    y = top + 14
    if summary.gauges:
        yield Shape("panel-name", SIDE, y, text=_("Do raters agree?"))
        for line in summary.gauges:
            y += ROW
            title = plain(line.name)
            yield Shape("item-name", SIDE, y, text=wrap(title, 28, max_lines=1, placeholder=" …")[0])
            yield Shape("item-name", SIDE + 245, y, text=line.words, anchor="end")
            yield from _line(line, SIDE + 255, 190, y - 5)
        yield from _ticks(summary.gauge_ticks, SIDE + 255, 190, y + 22)
        y += 22 + GAP
    answers = [(_("How sure?"), _plan(summary))]
    if summary.judge:
        answers.insert(0, (_("May a judge stand in for an expert?"), plain(summary.judge.statement.sentence)))
    for heading, sentence in answers:
        y += GAP
        yield Shape("panel-name", SIDE, y, text=heading)
        for words in wrap(sentence, SIDE_LETTERS, max_lines=5, placeholder=" …"):
            y += 21
            yield Shape("item-name", SIDE, y, text=words)
        y += 10


def _plan(summary: ReportSummary) -> str:
    if summary.n_planned:
        return _("%(n)d of the findings were planned and are confirmatory.") % {"n": summary.n_planned}
    if summary.has_plan:
        return _("An analysis plan was frozen with the protocol; none of its comparisons can be shown yet.")
    return _("No analysis plan was frozen with the protocol, so everything here is exploratory.")


def _key_figures(summary: ReportSummary, bottom: float) -> Iterator[Shape]:
    width = WIDTH / max(len(summary.highlights), 1)
    for n, (words, number) in enumerate(summary.highlights):
        yield Shape("slide-number", n * width, bottom - 22, text=number)
        yield Shape("tick", n * width, bottom, text=plain(words))


def _line(line: DrawnLine, start: float, width: float, y: float) -> Iterator[Shape]:
    def x(place: float) -> float:
        return round(start + place * width / LINE_WIDTH, 1)

    if line.upper is not None:
        yield Shape("floor", d=f"M{x(line.zero)} {y - 9:.1f}H{x(line.upper)}V{y + 9:.1f}H{x(line.zero)}z")
    if line.low is not None and line.high is not None:
        yield Shape("range" + " weak" * line.is_weak, d=f"M{x(line.low)} {y:.1f}H{x(line.high)}")
    yield Shape("value", x(line.x), y, r=5)


def _ticks(ticks: Sequence[tuple[float, str]], start: float, width: float, y: float) -> Iterator[Shape]:
    for place, words in ticks:
        yield Shape("tick", round(start + place * width / LINE_WIDTH, 1), y, text=words, anchor="middle")
