from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studies.cloze.cascade import group_layers
from studies.cloze.graph import GAP, HEIGHT, LANE, WIDTH, describe, draw_svg, lay_out, wrap_title
from studies.documents.cloze import ClozeDocument, read_cloze
from tests.studies.cloze.documents import shoes
from tests.studies.cloze.generated import document as any_document
from tests.studies.cloze.test_cascade import cascade

MYSTERY = Path(__file__).parents[3] / "studies" / "demo" / "mystery" / "cloze.toml"
NS = {"svg": "http://www.w3.org/2000/svg"}


def drawn(document: ClozeDocument) -> ElementTree.Element:
    return ElementTree.fromstring(draw_svg(document))


def test_the_mystery_has_a_box_for_every_section_and_an_arrow_for_every_edge() -> None:
    picture = drawn(read_cloze(MYSTERY))

    assert [text.text for text in picture.iterfind(".//svg:g[@class='node']/svg:text[@class='number']", NS)] == list(
        "1234567"
    )
    assert len(picture.findall(".//svg:path[@class='edge']", NS)) == 16
    assert len(picture.findall(".//svg:path[@class='head']", NS)) == 16


def test_the_picture_is_named_and_said_in_words() -> None:
    picture = drawn(shoes())
    title, desc = picture.find("svg:title", NS), picture.find("svg:desc", NS)

    assert title is not None
    assert desc is not None
    assert (picture.get("role"), picture.get("aria-labelledby")) == ("img", f"{title.get('id')} {desc.get('id')}")
    assert title.text == "The cascade of “Seven Pairs”"
    assert desc.text == describe(shoes())
    assert desc.text == (
        "Section 1, The Corridor, 2 blanks, bears on 2 and 3. Section 2, The Compartments, 2 blanks, bears on no "
        "other. Section 3, The Border, 1 blank, bears on no other."
    )


def test_titles_are_escaped() -> None:
    hostile = "</svg><b>&\"'"
    document = shoes()
    sections = (replace(document.sections[0], title=hostile), *document.sections[1:])
    document = replace(document, title=hostile, sections=sections)

    assert "<b>" not in draw_svg(document)
    assert drawn(document).findtext(".//svg:text[@class='name']", namespaces=NS) == hostile


@pytest.mark.parametrize("document", [read_cloze(MYSTERY), shoes(), cascade()], ids=lambda document: document.slug)
def test_there_are_no_styles_and_no_scripts(document: ClozeDocument) -> None:
    picture = drawn(document)

    assert {name for element in picture.iter() for name in element.attrib if name.startswith(("style", "on"))} == set()
    assert {element.tag.split("}")[1] for element in picture.iter()} == {
        "svg", "title", "desc", "g", "path", "rect", "text"
    }  # fmt: skip


def test_an_arrow_begins_at_the_lower_side_of_one_box_and_ends_at_the_upper_side_of_another() -> None:
    document = cascade([(1, 2)], n=2)
    (_, from_y), (_, to_y) = (lay_out(document).top_by_node[section] for section in (1, 2))
    edge = drawn(document).find(".//svg:path[@class='edge']", NS)
    head = drawn(document).find(".//svg:path[@class='head']", NS)

    assert edge is not None
    assert head is not None
    assert edge.attrib["d"].split("C")[0].endswith(f" {from_y + HEIGHT:.1f}")
    assert head.attrib["d"].split("l")[0].endswith(f" {to_y:.1f}")


def test_the_largest_cascade_is_drawn() -> None:
    pairs = [(a, b) for a in range(1, 51) for b in range(a + 1, 51)][:1000]

    assert len(drawn(cascade(pairs, n=50)).findall(".//svg:path[@class='edge']", NS)) == 1000


def test_a_document_without_edges_is_boxes_beside_each_other() -> None:
    layout = lay_out(cascade([], n=3))

    assert {y for _, y in layout.top_by_node.values()} == {layout.top_by_node[1][1]}
    assert drawn(cascade([], n=3)).findall(".//svg:path", NS) == []


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.integers(0, 2**64))
def test_in_any_cascade_nothing_covers_anything_and_the_same_document_gives_the_same_picture(seed: int) -> None:
    document = any_document(Random(seed))
    layout = lay_out(document)
    rows: dict[float, list[tuple[float, int]]] = {}
    for node, (x, y) in layout.top_by_node.items():
        rows.setdefault(y, []).append((x, WIDTH if isinstance(node, int) else LANE))

    assert draw_svg(document) == draw_svg(any_document(Random(seed)))
    assert len(rows) == len(group_layers(document))
    for row in rows.values():
        row.sort()
        assert row[0][0] - row[0][1] / 2 >= 0
        assert row[-1][0] + row[-1][1] / 2 <= layout.width
        for (x, width), (next_x, next_width) in pairwise(row):
            assert next_x - x == pytest.approx((width + next_width) / 2 + GAP)


@pytest.mark.parametrize(
    ("title", "lines"),
    [
        ("The Corridor", ["The Corridor"]),
        ("The Hour and Ten Minutes", ["The Hour and Ten", "Minutes"]),
        ("What the dentist in ten said of shoes he never walked in", ["What the dentist in", "ten said of shoes he…"]),
        ("第一章走廊里的七双湿鞋子没有人穿过", ["第一章走廊里的七双湿", "鞋子没有人穿过"]),
    ],
)
def test_a_title_fits_into_its_box(title: str, lines: list[str]) -> None:
    assert wrap_title(title) == lines
