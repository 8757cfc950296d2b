"""The tables that a paper prints, for LaTeX: items by source, agreement, differences. All else stays in CSV files."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import MappingProxyType

from reports.document.latex import LatexTable
from reports.methods.sampled_units import Sampled
from reports.methods.tables.agreement import agreement_tables
from reports.methods.tables.differences import differences_tables
from reports.methods.tables.items_by_source import items_by_source_tables
from reports.results import Results

WRITERS: MappingProxyType[str, Callable[[Results, Sampled], Iterator[LatexTable]]] = MappingProxyType(
    {"items-by-source": items_by_source_tables, "agreement": agreement_tables, "differences": differences_tables}
)

MOST_SHOWN = 20_000  # letters of a table on a page


@dataclass(frozen=True)
class PaperTable:
    """One of the three. name : of its file; text : of LaTeX; a wide one is several"""

    name: str
    title: str
    text: str

    @property
    def is_long(self) -> bool:
        """Whether a page leads to its file instead of showing it."""
        return len(self.text) > MOST_SHOWN


def paper_tables(results: Results, sampled: Sampled) -> list[PaperTable]:
    """Those of the three that the study has rows for."""
    parts_by_name = {name: write_tables(name, results, sampled) for name in WRITERS}
    return [
        PaperTable(name, parts[0].title, "\n\n".join(part.text for part in parts))
        for name, parts in parts_by_name.items()
        if parts
    ]


def write_tables(name: str, results: Results, sampled: Sampled) -> list[LatexTable]:
    """One of the three by its name, a wide one in several parts; none without rows."""
    return list(WRITERS[name](results, sampled))
