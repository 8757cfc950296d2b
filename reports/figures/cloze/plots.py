"""Drawings of scored texts: the ranking, the plane of satisfying and surprising, and the shades of a heat map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _

from reports.document import plots
from reports.figures.cloze.participants import ParticipantScore

N_SHADES = 4
N_CURVES = 3  # of equal totals
STEPS = 40  # of a curve


def ranking_plot(rows: Sequence[ParticipantScore]) -> plots.DotPlot | None:
    """Each participant with its interval over repeated fills; without one the range over judges left out, broken."""
    if not rows:
        return None
    kinds = sorted({row.is_model for row in rows})
    pairs = [(row, _mark(row, kinds.index(row.is_model))) for row in rows]
    axis = plots.value_axis(plots.ends_of(mark for _row, mark in pairs))
    lines = [plots.PlotRow(f"{n}. {row.participant}", "", (mark,)) for n, (row, mark) in enumerate(pairs, start=1)]
    return plots.DotPlot(lines, [_("Models") if kind else _("People") for kind in kinds], axis)


def _mark(row: ParticipantScore, kind: int) -> plots.Mark:
    if row.interval.low is not None:
        return plots.Mark.of(kind, row.total, row.interval)
    spread = row.without_a_judge
    low, high = (spread.low, spread.high) if spread else (None, None)
    return plots.Mark(kind, row.total, low, high, is_weak=True)


def plane_plot(rows: Sequence[ParticipantScore]) -> plots.PanelPlot | None:
    """Each participant by how far it satisfies, across, and surprises, upwards; curves join equal totals."""
    places = [(row, row.satisfied, row.surprising) for row in rows]
    pairs = [(row, x, y) for row, x, y in places if x is not None and y is not None]
    if not pairs:
        return None
    kinds = sorted({row.is_model for row, _x, _y in pairs})
    across = plots.value_axis([x for _row, x, _y in pairs])
    upwards = plots.value_axis([y for _row, _x, y in pairs])
    points = tuple(
        plots.Point(x, y, source=kinds.index(row.is_model), label=str(n))
        for n, (row, x, y) in enumerate(pairs, start=1)
    )
    products = [x * (1 + y) for _row, x, y in pairs]
    panel = plots.Panel("", curves=tuple(_curves(products, across, upwards)), points=points)
    names = [_("Models") if kind else _("People") for kind in kinds]
    return plots.PanelPlot([panel], names, across, upwards, is_single=True, is_tall=True)


def _curves(products: Sequence[float], across: plots.Axis, upwards: plots.Axis) -> Iterator[plots.Curve]:
    """Where satisfying × (1 + surprising) is the same: at a few values between the least and the largest."""
    low, high = min(products), max(products)
    for n in range(N_CURVES if high > low else 0):
        product = low + (high - low) * (n + 0.5) / N_CURVES
        xs = [across.low + (across.high - across.low) * step / STEPS for step in range(STEPS + 1)]
        places = [(x, product / x - 1) for x in xs if x > 0]
        inside = tuple((x, y) for x, y in places if upwards.low <= y <= upwards.high)
        if len(inside) > 1:
            yield plots.Curve(inside, source=None)


def heat_levels(values: Sequence[Sequence[float | None]]) -> list[list[int]]:
    """A shade from 1 to 4 for every value, by equal steps between the least and the largest; 0 for none."""
    present = [value for row in values for value in row if value is not None]
    low, span = min(present, default=0.0), (max(present, default=0.0) - min(present, default=0.0)) or 1.0
    return [[0 if v is None else min(N_SHADES, 1 + int(N_SHADES * (v - low) / span)) for v in row] for row in values]
