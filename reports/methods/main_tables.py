"""The main table of every section of a report, for LaTeX."""

from __future__ import annotations

from dataclasses import dataclass

from reports.document.latex import write_table
from reports.results import Results


@dataclass(frozen=True)
class LatexTable:
    """One table. name : as of its CSV file; text : from \\begin to \\end"""

    name: str
    title: str
    text: str
    n_rows: int


def main_tables(results: Results) -> list[LatexTable]:
    """The first table of each figure that the page shows and that has rows."""
    tables = []
    for figure, result in results.visible:
        name = figure.tables[0]
        rows = list(figure.rows(result)[name])
        if rows:
            title = f"{figure.title}. {results.study.title}"
            tables.append(LatexTable(name, str(figure.title), write_table(name, title, rows), len(rows)))
    return tables
