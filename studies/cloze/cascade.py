"""What hangs on what in a cloze, what to check again after a change, and where somebody stopped."""

import heapq
from collections.abc import Collection
from graphlib import TopologicalSorter

from studies.documents.cloze import ClozeDocument


def find_downstream(document: ClozeDocument, section: int) -> set[int]:
    """The sections that hang on this one, directly or through others."""
    sections: set[int] = set()
    waiting = [section]
    while waiting:
        current = waiting.pop()
        new = {edge.to for edge in document.edges if edge.from_ == current} - sections
        sections |= new
        waiting += new
    return sections


def find_affected(document: ClozeDocument, changed: int) -> set[int]:
    """The numbers of the blanks to check again once this one has changed.

    Where the author says which blanks follow from which, those that follow from this one: whoever then changes one of
    them is asked about its own followers. Elsewhere every blank of every section downstream.
    """
    if any(blank.follows for blank in document.blanks):
        return {blank.number for blank in document.blanks if changed in blank.follows}
    hanging = find_downstream(document, document.section_by_blank[changed])
    return {blank.number for blank in document.blanks if blank.section in hanging}


def sort_sections(document: ClozeDocument) -> list[int]:
    """The sections so that none stands before one on which it hangs; otherwise in the order of the text."""
    sorter = _sorter(document)
    sorter.prepare()
    ready, sections = list(sorter.get_ready()), list[int]()
    heapq.heapify(ready)
    while ready:
        sections.append(heapq.heappop(ready))
        sorter.done(sections[-1])
        for section in sorter.get_ready():
            heapq.heappush(ready, section)
    return sections


def group_layers(document: ClozeDocument) -> list[list[int]]:
    """The sections by the length of the longest way that leads to them, each layer in the order of the text."""
    depth: dict[int, int] = {}
    for section in sort_sections(document):
        depth[section] = 1 + max((depth[edge.from_] for edge in document.edges if edge.to == section), default=-1)
    return [sorted(s for s in depth if depth[s] == d) for d in range(max(depth.values()) + 1)]


def find_open_section(document: ClozeDocument, filled: Collection[int]) -> int | None:
    """The first section with an open blank, None if there is none.

    filled : numbers of the blanks that are filled
    """
    open_ones = (blank for blank in document.blanks if blank.number not in filled)
    return min((blank.section for blank in open_ones), default=None)


def _sorter(document: ClozeDocument) -> TopologicalSorter[int]:
    sorter: TopologicalSorter[int] = TopologicalSorter({section.number: () for section in document.sections})
    for edge in document.edges:
        sorter.add(edge.to, edge.from_)
    return sorter
