"""Every layout keeps one contract, and nobody else asks which one a step has."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from studies import layouts
from studies.vocabulary import StepLayout, StepScope

ROOT = Path(__file__).parents[3]
APPS = ("annotation", "config", "judges", "reports", "stats", "studies")


def test_every_layout_of_the_vocabulary_has_a_file_and_no_other():
    assert set(layouts.all_layouts()) == set(StepLayout.values)


def test_an_unknown_layout_is_named_with_those_there_are():
    with pytest.raises(LookupError, match="“book” is not a layout; there are cloze"):
        layouts.find_layout("book")


@pytest.mark.parametrize("layout", layouts.all_layouts().values(), ids=lambda layout: layout.key or "items")
def test_no_options_fit_every_layout(layout):
    assert {layout.find_fault({}, scope=scope) for scope in StepScope.values} == {""}


def test_the_claims_by_which_rows_are_sought_are_those_of_the_layouts():
    assert layouts.keys_that_fill_text() == ["cloze"]


def names_a_field(keyword: ast.keyword) -> bool:
    return keyword.arg is not None and keyword.arg.split("__")[-1] in ("layout", "kind")


def comparisons(source: str) -> Iterator[int]:
    """The lines on which a kind or a layout is asked for by name: `x.kind == "cloze"`, `x.layout in […]`,
    `layout=Step.Layout.CLOZE`, `case "cloze"`."""
    kinds = {key for key in layouts.all_layouts() if key} | {"CLOZE"}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            sides: list[ast.AST] = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue) or (isinstance(node, ast.keyword) and names_a_field(node)):
            sides = [node.value]
        else:
            continue
        leaves = [leaf for side in sides for leaf in ast.walk(side)]
        asked = {leaf.attr for leaf in leaves if isinstance(leaf, ast.Attribute)}
        names = {leaf.value for leaf in leaves if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str)}
        if "CLOZE" in asked or (names & kinds and (asked & {"kind", "layout"} or not isinstance(node, ast.Compare))):
            yield node.value.lineno if isinstance(node, ast.keyword | ast.MatchValue) else node.lineno


@pytest.mark.parametrize(
    "line",
    [
        'part.kind == "cloze"',
        '"cloze" != step.layout',
        'part.kind in ("desk", "cloze")',
        "step.layout == Step.Layout.CLOZE",
        "Step.objects.filter(layout=Step.Layout.CLOZE)",
        'Q(step__layout="cloze")',
        'match step.layout:\n    case "cloze": pass',
    ],
)
def test_a_line_that_asks_is_found(line):
    assert list(comparisons(line))


def test_nobody_asks_which_layout_a_step_has():
    files = [path for app in APPS for path in sorted((ROOT / app).rglob("*.py")) if "migrations" not in path.parts]
    files = [path for path in files if not path.is_relative_to(ROOT / "studies" / "layouts")]
    asking = [f"{path.relative_to(ROOT)}:{line}" for path in files for line in comparisons(path.read_text())]

    assert len(files) > 200
    assert asking == [], "give the layout a claim or a method, and ask that"
