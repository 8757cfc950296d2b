from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studies.cloze.cascade import find_affected, find_downstream, find_open_section, group_layers, sort_sections
from studies.documents.cloze import Blank, ClozeDocument, Constraint, Edge, Section, check_cloze
from tests.studies.cloze.documents import shoes
from tests.studies.cloze.generated import document as any_document

# Section 2 stands apart; 5 bears on 1, which stands before it; two ways lead from 5 to 4.
PAIRS = [(5, 1), (1, 3), (3, 4), (5, 4)]


def cascade(pairs: list[tuple[int, int]] = PAIRS, n: int = 5) -> ClozeDocument:
    """Sections of two blanks each, with these edges."""
    document = ClozeDocument(
        slug="cascade",
        title="Cascade",
        skeleton="\n\n".join(f"In {{{{{2 * s - 1}}}}} and {{{{{2 * s}}}}}." for s in range(1, n + 1)),
        blanks=tuple(Blank(number, "word", (number + 1) // 2) for number in range(1, 2 * n + 1)),
        sections=tuple(Section(s, f"Part {s}", (Constraint("It fits."),)) for s in range(1, n + 1)),
        edges=tuple(Edge(from_, to, "Do they agree?") for from_, to in pairs),
    )
    check_cloze(document, "cascade.toml")
    return document


def test_sections_hang_on_others_through_others_too() -> None:
    assert find_downstream(cascade(), 5) == {1, 3, 4}
    assert find_downstream(cascade(), 3) == {4}
    assert find_downstream(cascade(), 2) == find_downstream(cascade(), 4) == set()


def test_a_changed_blank_affects_all_blanks_of_the_sections_downstream_and_no_other() -> None:
    assert find_affected(cascade(), 1) == find_affected(cascade(), 2) == {5, 6, 7, 8}
    assert find_affected(cascade(), 9) == {1, 2, 5, 6, 7, 8}
    assert find_affected(cascade(), 3) == set()


def test_where_the_author_says_what_follows_just_that_is_affected() -> None:
    assert find_affected(shoes(), 2) == find_affected(shoes(), 3) == {4}
    assert find_affected(shoes(), 1) == find_affected(shoes(), 4) == set()


def test_the_order_keeps_to_the_edges_and_otherwise_to_the_text() -> None:
    assert sort_sections(cascade()) == [2, 5, 1, 3, 4]
    assert sort_sections(cascade([])) == [1, 2, 3, 4, 5]
    assert sort_sections(cascade([(1, 2), (2, 3), (3, 4), (4, 5)])) == [1, 2, 3, 4, 5]


def test_layers_go_by_the_longest_way() -> None:
    assert group_layers(cascade()) == [[2, 5], [1], [3], [4]]
    assert group_layers(cascade([])) == [[1, 2, 3, 4, 5]]
    assert group_layers(cascade([(1, 3), (2, 3)], n=3)) == [[1, 2], [3]]


def test_a_chain_of_the_most_sections_is_ordered() -> None:
    chain = cascade([(s, s + 1) for s in range(1, 50)], n=50)

    assert sort_sections(chain) == list(range(1, 51))
    assert find_downstream(chain, 1) == set(range(2, 51))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(0, 2**64))
def test_in_any_cascade_what_is_downstream_is_later(seed: int) -> None:
    document = any_document(Random(seed))
    rank = {section: place for place, section in enumerate(sort_sections(document))}
    depth = {section: d for d, layer in enumerate(group_layers(document)) for section in layer}

    assert set(rank) == set(depth) == {section.number for section in document.sections}
    for edge in document.edges:
        assert depth[edge.from_] < depth[edge.to]
    for section in rank:
        for other in find_downstream(document, section):
            assert rank[section] < rank[other]


@pytest.mark.parametrize(
    ("filled", "section"),
    [
        ([], 1),
        ([1], 1),
        ([1, 2, 4, 5, 6], 2),
        ([1, 2, 3, 4, 5, 6, 7], 4),
        (range(1, 11), None),
    ],
)
def test_somebody_stopped_at_the_first_section_that_is_not_complete(filled: list[int], section: int | None) -> None:
    assert find_open_section(cascade(), filled) == section
