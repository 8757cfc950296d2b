"""A plot as a file of its own: SVG with its styles written in, and PNG and PDF made from it.

The styles are those of the page, read from its stylesheets, on white and in the light colours; so a plot looks the same
wherever it is shown, and a new kind of mark needs no second list. PNG is drawn by resvg and PDF by fpdf2,
with the page's own font.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import Any, cast

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.translation import get_language

from reports.page.shapes import Drawing, Shape

FONTS = Path(__file__).parent / "fonts"
FONT_FILES = ("source-sans-3-regular.ttf", "source-sans-3-semibold.ttf")
FAMILY = "Source Sans 3"
BORDER = 24
LINE = 18
HEAD = 30  # of the title
LETTERS_A_LINE = 135
ZOOM = 2.0
ATTRIBUTES = {
    *("fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap"),
    *("stroke-opacity", "opacity", "font-size", "font-weight", "paint-order", "shape-rendering"),
}
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

NOT_DRAWN = re.compile(r"<(title|desc)\b.*?</\1>\n", flags=re.DOTALL)  # what fpdf2 would warn of


@dataclass(frozen=True)
class StyledShape:
    shape: Shape
    attributes: dict[str, str]


@dataclass(frozen=True)
class NoteLine:
    y: int
    words: str


def write_svg(drawing: Drawing, *, title: str, description: str, notes: Sequence[str]) -> str:
    """The drawing as an SVG document that needs nothing else, on white.

    notes : what stands below it: what must be read with it, and where it is from
    """
    styles = read_styles()
    lines = _note_lines(notes)
    context = {
        "width": drawing.width + 2 * BORDER,
        "height": drawing.height + 2 * BORDER + HEAD + LINE * len(lines) + 6,
        "border": BORDER,
        "head": BORDER + HEAD,
        "title": title,
        "description": description,
        "family": FAMILY,
        "ink": read_tokens()["ink"],
        "ink_soft": read_tokens()["ink-soft"],
        "shapes": [StyledShape(shape, _attributes(shape, styles)) for shape in drawing.shapes],
        "lines": [
            NoteLine(BORDER + HEAD + drawing.height + LINE * (n + 1) + 6, words) for n, words in enumerate(lines)
        ],
    }
    return NOT_IN_XML.sub("", render_to_string("reports/standalone.svg", context))


def height_beside(notes: Sequence[str], *, whole: int) -> int:
    """How tall a drawing is that fills a document of that height beside these notes."""
    return whole - 2 * BORDER - HEAD - LINE * len(_note_lines(notes)) - 6


def _note_lines(notes: Sequence[str]) -> list[str]:
    return [words for note in notes for words in wrap(note, LETTERS_A_LINE)]


def write_png(svg: str) -> bytes:
    """The same as pixels, twice as many as units. Letters that our font lacks are taken from the system's."""
    import resvg_py  # only whoever asks for a picture pays for it

    fonts = [str(FONTS / name) for name in FONT_FILES]
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=ZOOM, font_files=fonts, background="#ffffff"))


def write_pdf(svg: str, *, title: str, made_at: datetime) -> bytes:
    """The same as a PDF of one page, with its text as text in our fonts; a letter that these lack is an empty box.

    made_at : what it is dated, so that the same summary is the same file whenever it is asked for
    """
    import fpdf  # only whoever asks for a PDF pays for it
    from fpdf.svg import SVGObject

    drawing = SVGObject(NOT_DRAWN.sub("", svg))
    size = cast("tuple[float, float]", (drawing.width, drawing.height))  # ours has both
    pdf = fpdf.FPDF(unit="pt", format=size)
    pdf.set_title(title)
    pdf.set_creation_date(made_at)
    pdf.set_lang(get_language() or "en")
    for style, name in zip(("", "B"), FONT_FILES, strict=True):
        pdf.add_font(FAMILY, style, FONTS / name)
    pdf.set_auto_page_break(False)
    pdf.add_page()
    drawing.draw_to_page(pdf)
    return bytes(pdf.output())


def _attributes(shape: Shape, styles: dict[str, dict[str, str]]) -> dict[str, str]:
    """The presentation attributes of a shape: those of all its classes, in the order of the stylesheets."""
    classes = set(shape.css.split())
    attributes = {key: value for css, rules in styles.items() if css in classes for key, value in rules.items()}
    if shape.text:
        attributes.setdefault("fill", read_tokens()["ink"])
    return attributes


# ── the page's stylesheets ─────────────────────────────────────────────────────────────────────────────────────────


@cache
def _read_stylesheets() -> str:
    paths: list[Any] = [finders.find(f"quire/{name}.css") for name in ("quire", "research")]
    text = "".join(Path(path).read_text(encoding="utf-8") for path in paths)
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


@cache
def read_tokens() -> dict[str, str]:
    """The colours of the light page by name; the page itself is white, as paper is."""
    (block,) = re.findall(r":root \{(.*?)\}", _read_stylesheets(), flags=re.DOTALL)[:1]
    return dict(re.findall(r"--([\w-]+):\s*([^;]+);", block)) | {"page": "#ffffff"}


@cache
def read_styles() -> dict[str, dict[str, str]]:
    """What the stylesheets say of each class of mark in a plot, as presentation attributes, later rules last."""
    styles: dict[str, dict[str, str]] = {}
    for selectors, block in re.findall(r"^\s*(\.plot [^{}]*)\{([^{}]*)\}", _read_stylesheets(), flags=re.MULTILINE):
        rules = dict(re.findall(r"([\w-]+):\s*([^;]+?)\s*(?:;|$)", block.strip()))
        attributes = {name: _resolve(value) for name, value in rules.items() if name in ATTRIBUTES}
        if "font-weight" in attributes:  # as attributes have them, and as our font has two of them
            attributes["font-weight"] = f"{round(int(attributes['font-weight']), -2)}"
        for css in re.findall(r"\.([\w-]+)", selectors):
            styles.setdefault(css, {}).update(attributes)
    return styles


def _resolve(value: str) -> str:
    return re.sub(r"var\(--([\w-]+)\)", lambda match: read_tokens()[match[1]], value).removesuffix("px")
