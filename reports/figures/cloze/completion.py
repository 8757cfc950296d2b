"""How many writers of a cloze are still filling after each section: a curve for people and one for models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from django.utils.translation import gettext as _

from reports.document import columns, plots
from reports.document.columns import LEAD, QUIET, decimals, ends
from reports.document.model import ReportTable, TableCell, TableColumn
from reports.document.phrases import phrase
from reports.document.values import Interval
from reports.lazy import rates


class HasEnd(Protocol):
    """One text. stopped_at : the section at which its writer gave up; None if nobody did"""

    @property
    def stopped_at(self) -> int | None: ...


@dataclass(frozen=True, kw_only=True)
class CompletionPoint:
    """How many got through the section, in percent of n who have ended; Wilson's interval, one text a writer."""

    kind: str
    section: int
    title: str
    n_through: int
    n: int
    value: float
    interval: Interval


def completion_of(kind: str, texts: Sequence[HasEnd], title_by_section: dict[int, str]) -> Iterator[CompletionPoint]:
    """The curve of these texts, section by section; nothing without a text."""
    n = len(texts)
    for section, title in title_by_section.items() if n else ():
        n_through = sum(text.stopped_at is None or text.stopped_at > section for text in texts)
        yield CompletionPoint(
            kind=kind,
            section=section,
            title=title,
            n_through=n_through,
            n=n,
            value=100 * n_through / n,
            interval=_wilson(n_through, n),
        )


def _wilson(n_through: int, n: int) -> Interval:
    ends = rates.wilson(n_through, n)
    return Interval(low=ends.low, high=ends.high)


def completion_table(points: Sequence[CompletionPoint], language: str) -> ReportTable[CompletionPoint]:
    """The values of the curves. language : of the sections' titles"""
    return ReportTable(
        name="cloze-completion",
        label=_("Participants remaining after each section"),
        rows=points,
        columns=[
            section_column(language),
            columns.words("writers", _("Writers"), lambda point: point.kind, shown=lambda point: kind_name(point.kind)),
            columns.count_of("n_through", "n", n_all=lambda point: point.n),
            columns.in_file("n"),
            columns.number("percent", phrase(_("Share, %%")), lambda point: point.value, write=decimals(1), css=LEAD),
            columns.interval(lambda point: point.interval, write=ends(1), css=QUIET),
        ],
        summary=_("Table"),
    )


def section_column(language: str) -> TableColumn[Any]:
    """The section that a row is about, by its number and title."""
    return TableColumn(
        heading=_("Section"),
        cell=lambda row: TableCell(words=f"{row.section}. {row.title}", language=language),
        files={"section": lambda row: row.section, "title": lambda row: row.title},
        is_number=False,
        is_head=True,
    )


def kind_name(kind: str) -> str:
    return {"person": _("People"), "model": _("Models")}.get(kind, kind)


def completion_plot(points: Sequence[CompletionPoint]) -> plots.PanelPlot | None:
    """A curve for people and one for models, from all who have ended."""
    kinds = list(dict.fromkeys(point.kind for point in points))
    if not points:
        return None
    sections = sorted({point.section for point in points})
    curves, marks = [], []
    for n, kind in enumerate(kinds):
        of_kind = [point for point in points if point.kind == kind]
        # A little aside, so that two intervals of one section stand beside each other.
        aside = 0.12 * n
        curves.append(plots.Curve(((aside, 100.0), *((p.section + aside, p.value) for p in of_kind)), source=n))
        marks += [
            plots.Point(p.section + aside, p.value, source=n, low=p.interval.low, high=p.interval.high) for p in of_kind
        ]
    ticks = ((0.0, "0"), *((float(section), str(section)) for section in sections))
    axis = plots.Axis(-0.2, sections[-1] + 0.4, plots.spaced(ticks, apart=0.05))
    panel = plots.Panel("", curves=tuple(curves), points=tuple(marks))
    return plots.PanelPlot([panel], [kind_name(kind) for kind in kinds], axis, plots.SHARES, is_single=True)
