"""The cascade as a picture: sections as boxes in layers, edges as arrows between them, one SVG.

It carries classes and no styles (a content security policy forbids style attributes), so the stylesheet can follow the
theme. All that the arrows show is said in words in its description.
"""

import textwrap
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from unicodedata import east_asian_width

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from studies.cloze.cascade import group_layers
from studies.documents.cloze import ClozeDocument, Edge, Section

WIDTH, HEIGHT = 176, 84  # of a box
GAP, LANE, DROP = 24, 18, 64  # between boxes, around an arrow that passes by a layer, between layers
MARGIN = 8
LETTERS, LINES = 21, 2  # of a title in its box; a wide letter counts twice
HEAD = 8  # of an arrow

Node = int | tuple[int, int, int]  # a section, or where the edge (from, to) passes by a layer
Point = tuple[float, float]


@dataclass(frozen=True)
class GraphLayout:
    """Where everything stands: of every node the middle of its upper side, and the size of the whole."""

    top_by_node: dict[Node, Point]
    width: float
    height: float


def draw_svg(document: ClozeDocument) -> SafeString:
    """The picture as inline SVG, the same for the same document."""
    layout = lay_out(document)
    title_id = f"cascade-{document.slug}"
    return format_html(
        '<svg class="cascade" role="img" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" '
        'aria-labelledby="{named}-title {named}-desc"><title id="{named}-title">{title}</title>'
        '<desc id="{named}-desc">{desc}</desc><g class="edges">{edges}</g>'
        '<g class="nodes" lang="{language}">{nodes}</g></svg>',
        width=round(layout.width),
        height=round(layout.height),
        named=title_id,
        language=document.language,
        title=_("The cascade of “%(title)s”") % {"title": document.title},
        desc=describe(document),
        edges=format_html_join("", "{}", ((_arrow(points),) for points in _ways(document, layout))),
        nodes=format_html_join("", "{}", ((_box(document, section, layout),) for section in document.sections)),
    )


def describe(document: ClozeDocument) -> str:
    """In words what the picture shows: every section with the number of its blanks, and what it bears on."""
    following = defaultdict(list)
    for edge in document.edges:
        following[edge.from_].append(edge.to)
    message = _("Section %(number)d, %(title)s, %(blanks)s, bears on %(others)s.")
    return " ".join(
        message
        % {
            "number": section.number,
            "title": section.title,
            "blanks": _n_blanks(document, section),
            "others": _enumerated(following[section.number]) or _("no other"),
        }
        for section in document.sections
    )


def lay_out(document: ClozeDocument) -> GraphLayout:
    """The layers under each other, each ordered so that few arrows cross, and centred."""
    rows = _ordered(document)
    widths = [sum(map(_width, row)) + GAP * (len(row) - 1) for row in rows]
    top_by_node: dict[Node, Point] = {}
    for depth, (row, width) in enumerate(zip(rows, widths, strict=True)):
        x = MARGIN + (max(widths) - width) / 2
        for node in row:
            top_by_node[node] = x + _width(node) / 2, MARGIN + depth * (HEIGHT + DROP)
            x += _width(node) + GAP
    height = len(rows) * (HEIGHT + DROP) - DROP
    return GraphLayout(top_by_node, max(widths) + 2 * MARGIN, height + 2 * MARGIN)


def _chains(document: ClozeDocument) -> dict[Edge, list[Node]]:
    """Every edge as the nodes on its way, one in each layer."""
    depth_by_section = {section: depth for depth, row in enumerate(group_layers(document)) for section in row}
    return {
        edge: [
            edge.from_,
            *((edge.from_, edge.to, d) for d in range(depth_by_section[edge.from_] + 1, depth_by_section[edge.to])),
            edge.to,
        ]
        for edge in document.edges
    }


def _ordered(document: ClozeDocument) -> list[list[Node]]:
    """The nodes of each layer, moved to and fro towards the middle of those that they are joined to."""
    rows: list[list[Node]] = [list(row) for row in group_layers(document)]
    depth_by_section = {node: depth for depth, row in enumerate(rows) for node in row}
    above, below = defaultdict[Node, list[Node]](list), defaultdict[Node, list[Node]](list)
    for chain in _chains(document).values():
        for depth, node in enumerate(chain[1:-1], start=depth_by_section[chain[0]] + 1):
            rows[depth].append(node)
        for upper, lower in pairwise(chain):
            above[lower].append(upper)
            below[upper].append(lower)
    for sweep in range(8):
        neighbours = below if sweep % 2 else above
        order = {node: place for row in rows for node, place in _places(row).items()}
        for row in reversed(rows) if sweep % 2 else rows:
            middle = {n: fmean(order[m] for m in neighbours[n]) if neighbours[n] else order[n] for n in row}
            row.sort(key=middle.__getitem__)
            order |= _places(row)
    return rows


def _places(row: list[Node]) -> dict[Node, float]:
    """How far to the right each node stands in its row, 0 to 1; alone in the middle."""
    return {node: place / (len(row) - 1) if len(row) > 1 else 0.5 for place, node in enumerate(row)}


def _ways(document: ClozeDocument, layout: GraphLayout) -> list[list[Point]]:
    """Of every edge the points that its arrow passes, from the lower side of one box to the upper side of another."""
    top = layout.top_by_node
    chains = _chains(document)
    leaving, arriving = defaultdict[int, list[Edge]](list), defaultdict[int, list[Edge]](list)
    for edge in chains:
        leaving[edge.from_].append(edge)
        arriving[edge.to].append(edge)
    arrows = []
    for edge, chain in chains.items():
        out = sorted(leaving[edge.from_], key=lambda e: (top[chains[e][1]][0], e.to)).index(edge)
        into = sorted(arriving[edge.to], key=lambda e: (top[chains[e][-2]][0], e.from_)).index(edge)
        x, y = top[edge.from_]
        points = [(x + _port(out, len(leaving[edge.from_])), y + HEIGHT)]
        for node in chain[1:-1]:
            points += [top[node], (top[node][0], top[node][1] + HEIGHT)]
        x, y = top[edge.to]
        arrows.append([*points, (x + _port(into, len(arriving[edge.to])), y)])
    return arrows


def _port(place: int, n: int) -> float:
    """How far from the middle of a box's side the arrow in that place among n begins or ends."""
    return (place + 0.5) / n * WIDTH - WIDTH / 2


def _arrow(points: list[Point]) -> SafeString:
    x, y = points[0]
    d = f"M{x:.1f} {y:.1f}"
    for number, ((x0, y0), (x1, y1)) in enumerate(pairwise(points)):
        # Between layers it bends, beside a layer it goes straight; the last bend leaves room for the head.
        end = y1 - HEAD if number == len(points) - 2 else y1
        middle = (y0 + end) / 2
        d += f"V{y1:.1f}" if number % 2 else f"C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {end:.1f}"
    x, y = points[-1]
    head = f"M{x:.1f} {y:.1f}l{-HEAD / 2:.1f} {-HEAD}h{HEAD}z"
    return format_html(
        '<path class="edge" fill="none" stroke="currentColor" d="{}"/><path class="head" d="{}"/>', d, head
    )


def _box(document: ClozeDocument, section: Section, layout: GraphLayout) -> SafeString:
    x, y = layout.top_by_node[section.number]
    lines = wrap_title(section.title)
    texts = [
        ("number", f"{section.number}"),
        *(("name", line) for line in lines),
        ("note", _n_blanks(document, section)),
    ]
    first = y + (HEIGHT - 18 * len(texts)) / 2 + 14
    return format_html(
        '<g class="node"><rect fill="none" stroke="currentColor" x="{}" y="{}" width="{}" height="{}"/>{}</g>',
        f"{x - WIDTH / 2:.1f}",
        f"{y:.1f}",
        WIDTH,
        HEIGHT,
        format_html_join(
            "",
            '<text class="{}" x="{}" y="{}" font-size="{}" text-anchor="middle">{}</text>',
            (
                (kind, f"{x:.1f}", f"{first + 18 * n:.1f}", 15 if kind == "name" else 13, words)
                for n, (kind, words) in enumerate(texts)
            ),
        ),
    )


def wrap_title(title: str) -> list[str]:
    """The title in at most two lines that fit into a box, shortened if need be."""
    per_line = LETTERS if _breadth(title) == len(title) else LETTERS // 2
    return textwrap.wrap(title, per_line, max_lines=LINES, placeholder="…")


def _breadth(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _width(node: Node) -> int:
    return WIDTH if isinstance(node, int) else LANE


def _n_blanks(document: ClozeDocument, section: Section) -> str:
    n = len(document.blanks_of(section.number))
    return ngettext("%(n)d blank", "%(n)d blanks", n) % {"n": n}


def _enumerated(numbers: list[int]) -> str:
    words = [str(number) for number in sorted(numbers)]
    if len(words) < 2:
        return "".join(words)
    return _("%(first)s and %(last)s") % {"first": ", ".join(words[:-1]), "last": words[-1]}
