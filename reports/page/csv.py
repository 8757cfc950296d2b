"""CSV files of a report, unrounded: what a plot or a table of the page shows."""

import csv
import json
from collections.abc import Iterable, Iterator
from typing import Any

from reports import figures
from reports.results import Results

NESTED = (list, dict)


def find_table(results: Results, name: str) -> tuple[list[str], list[dict[str, Any]]]:
    """The columns and rows of one table of a report. Raises KeyError if there is no such table."""
    figure = figures.by_table()[name]
    result = results.figures[figure.key]
    rows = [] if result is None else list(figure.rows(result)[name])
    return list(dict.fromkeys(column for row in rows for column in row)), rows


def csv_lines(header: Iterable[str], rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The lines of a CSV file, one at a time; lists and tables in a cell as JSON, what is missing as nothing."""
    names = list(header)
    writer = csv.writer(_Echo())
    yield writer.writerow(names)
    for row in rows:
        cells = map(row.get, names)
        yield writer.writerow(
            [json.dumps(value, ensure_ascii=False) if isinstance(value, NESTED) else value for value in cells]
        )


class _Echo:
    """What the writer writes to: it hands each line back instead of keeping it."""

    def write(self, line: str) -> str:
        return line
