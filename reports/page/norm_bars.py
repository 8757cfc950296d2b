"""The figure of an item over studies, drawn: a stroke at the median; of five or more also a line from the least to the
third quartile, and a box between quartiles."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString

from reports.norms import Norm, NormSpread

WIDTH, HEIGHT = 160, 22
LOW, HIGH = -0.2, 1.0  # of agreement: the axis is one for all items


def draw_norm(norm: Norm) -> SafeString:
    """Agreement over studies with the study's own as a dot; the numbers stand beside it."""
    distribution = norm.distribution
    if distribution is None:
        return SafeString("")
    own = "" if norm.own is None else format_html('<circle class="own" cx="{}" cy="11" r="4.5"/>', _x(norm.own))
    return format_html(
        '<svg class="norm" viewBox="0 0 {} {}" aria-hidden="true"><path class="zero" d="M{} 2V20"/>'
        '{}<path class="median" d="M{} 4V18"/>{}</svg>',
        WIDTH,
        HEIGHT,
        _x(0),
        _draw_spread(distribution.spread) if distribution.spread else "",
        _x(distribution.median),
        own,
    )


def _draw_spread(spread: NormSpread) -> SafeString:
    least, first, third = _x(spread.least), _x(spread.first), _x(spread.third)
    return format_html(
        '<path class="range" d="M{} 11H{}"/><rect class="box" x="{}" y="5" width="{}" height="12"/>',
        least,
        third,
        first,
        round(max(third - first, 1), 1),
    )


def _x(value: float) -> float:
    return round(4 + (WIDTH - 8) * (min(max(value, LOW), HIGH) - LOW) / (HIGH - LOW), 1)
